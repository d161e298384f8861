"""Runs of a store with their figures, as matrices and in documents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy

from takt.documents.types import Summary
from takt.fleet import comparison, statistics
from takt.fleet.comparison import Figure, Figures
from takt.fleet.store import Entry

Json = dict[str, Any]


class Run(NamedTuple):
    entry: Entry
    summary: Summary
    figures: Figures


def matrix(figures: Sequence[Figure], runs: Sequence[Run]) -> statistics.Floats:
    """The logarithms of times: a row for each run, NaN where it lacks the figure."""
    rows = [[run.figures.get(figure, math.nan) for figure in figures] for run in runs]
    logs: statistics.Floats = numpy.log(numpy.maximum(numpy.array(rows), comparison.SHORTEST))
    return logs


def is_of_chain(figure: Figure) -> bool:
    return figure.subject.kind == "chain"


def named(figure: Figure) -> Json:
    kind, key = figure.subject
    return {"kind": kind, "name": key, "quantity": figure.quantity}


def causes(figure: Figure, before: Sequence[Run], after: Sequence[Run]) -> list[Json]:
    """What a chain's mean latency grew by; nothing for a callback."""
    if not is_of_chain(figure):
        return []
    sides = ([run.summary for run in side] for side in (before, after))
    return comparison.causes(next(sides), next(sides), figure.subject.key)
