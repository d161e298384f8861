"""Times as people write them."""

from __future__ import annotations

import re

import typer

_UNITS = {"ns": 1, "us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_TIME = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(ns|us|µs|ms|s)\s*")
_LONGEST = 10**15
"""Nanoseconds; no time of a model is longer."""


def parse(text: str) -> int:
    """Nanoseconds of a time with its unit, such as "5ms", "0.1 ms" or "200us". Raises
    typer.BadParameter.
    """
    match = _TIME.fullmatch(text)
    exact = float(match[1]) * _UNITS[match[2]] if match else 0.0
    value = round(exact) if exact <= _LONGEST else 0
    if value == 0:
        raise typer.BadParameter(f"{text!r} is no time above 0 with its unit; write 5ms or 200us")
    return value
