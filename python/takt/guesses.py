"""Links that are only inferred, as people are told of them: a timer that seems to use what a
callback stores. Only the program knows whether it does.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from takt.documents import Chain, Model
from takt.formatting import count
from takt.tables import cell

MARK = "?"
"""Stands behind what rests on a guess."""
MOST_NAMED = 3

Guess = tuple[str, str]
"""The callback that stores, and the timer."""


def of_chain(model: Model, chain: Chain) -> list[Guess]:
    """The guesses over which a chain of a model leads."""
    steps = {*itertools.pairwise(chain.callbacks)}
    edges = (edge for edge in model.edges if edge.confidence is not None)
    return [ends for edge in edges if (ends := (edge.source, edge.target)) in steps]


def told(guesses: Iterable[Guess]) -> Iterator[str]:
    """A line that explains the mark; none if there is nothing to explain."""
    named = [f"{cell(source)} → {cell(target)}" for source, target in dict.fromkeys(guesses)]
    if named:
        others = len(named) - MOST_NAMED
        more = f" and {count(others, 'other')}" if others > 0 else ""
        yield (
            f"takt: {MARK}: guessed from behaviour, as no event shows what a timer reads: "
            f"{', '.join(named[:MOST_NAMED])}{more}; declare or deny it: --links"
        )
