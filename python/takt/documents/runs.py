"""Tells recordings of runs that followed one another from parts of one recording."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterable
from typing import Any

Json = dict[str, Any]


def in_a_row(infos: Iterable[tuple[str, Json]]) -> str | None:
    """A warning if one of several traces begins after another one of the same host has ended, and
    has none of its programs. `infos`: each trace with its takt/info document.
    """
    known = sorted(infos, key=lambda one: int(one[1]["begin"]))
    for (one, its), (other, others) in itertools.combinations(known, 2):
        is_over = its["begin"] + its["duration"] < others["begin"]
        if is_over and _hosts(its) & _hosts(others) and not _programs(its) & _programs(others):
            merge = shlex.join(["takt", "model", *(trace for trace, _ in known), "--merge"])
            return (
                f"{other} began after {one}, of the same host, had ended: they are read as one "
                "recording, in which start-up is that of the first; if they are runs of their own, "
                f"make a model of them by: {merge}"
            )
    return None


def _hosts(info: Json) -> set[tuple[str, str]]:
    return {(host["name"], host["clock"]) for host in info["hosts"]}


def _programs(info: Json) -> set[tuple[str, int]]:
    return {(node["host"], node["pid"]) for node in info["nodes"]}
