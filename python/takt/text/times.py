"""Times as people write them."""

from __future__ import annotations

import math
import re
from typing import Any

import click
from click import BadParameter

from takt.text.formatting import UNITS

LONGEST = 10**15
"""Nanoseconds; no time of a model is longer."""

_UNITS = UNITS | {"us": UNITS["µs"]}
_TIME = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(ns|us|µs|ms|s)\s*", re.ASCII)


def nanoseconds(text: str) -> int | None:
    """The nanoseconds of a time with its unit, such as "5ms", "0.1 ms" or "200us"; LONGEST + 1 for
    whatever is longer than LONGEST. None: it is no time.
    """
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    exact = float(match[1]) * _UNITS[match[2]]
    return round(exact) if exact <= LONGEST else LONGEST + 1


def parse(text: str, option: str) -> int:
    """The nanoseconds of an option of the command line. Raises BadParameter."""
    value = nanoseconds(text)
    if value is None or not 0 < value <= LONGEST:
        wrong = f"{text!r} is no time above 0 with its unit; write 5ms or 200us"
        raise BadParameter(wrong, param_hint=option)
    return value


class Finite(click.FloatRange):
    """A finite number of the command line, from `min` to `max`. FloatRange takes NaN for one."""

    def convert(self, value: Any, *context: Any) -> Any:
        number = super().convert(value, *context)
        if not math.isfinite(number):
            self.fail(f"{value!r} is no finite number", *context)
        return number


class Span(Finite):
    """A time of the command line as a number of `unit` nanoseconds: "1.5s", "200ms", or the number
    alone.
    """

    def __init__(self, unit: int, shortest: float | None, longest: float | None) -> None:
        super().__init__(shortest, longest)
        self._unit = unit

    def convert(self, value: Any, *context: Any) -> Any:
        time = nanoseconds(str(value))
        if time is not None and time > LONGEST:
            self.fail(f"{value!r} is longer than {LONGEST // 10**9} s", *context)
        try:
            number = float(value) if time is None else time / self._unit
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            self.fail(f"{value!r} is no time; write 3s, 200ms or a number alone", *context)
        return super().convert(number, *context)
