"""How near our figures are to published ones.

| a row is | if ours of every run |
|---|---|
| reproduced | is within 10 % of the published figure, keeps the limit, or is the same words |
| in tendency | has its sign and is within a factor of two, or is within 10 % of the limit |
| not reproduced | is neither |

So runs that vary much reproduce nothing. Two quotients (takt.trials.experiments.RATIO) are compared
by their distances from 1: a gain of 16 % is not near one of 6 %, though 1.16 is near 1.06.

A table or figure is reproduced if all its rows are and nothing of it is left out; in tendency if at
least half of its rows are reproduced or in tendency. Rows that cannot be measured here do not count
for that.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from enum import Enum

from takt.trials.experiments import RATIO

Value = float | str

NEAR = 0.1
"""As a share of the published figure."""
FACTOR = 2.0
WHOLE_PER_CENT = 0.005
"""Half of the last digit of published quotients."""

_NUMBER = r"[-+]?\d+(?:\.\d+)?"
_LIMIT = re.compile(rf"([<>≤≥])\s*({_NUMBER})(?:\s*\S+)?")
_ABOUT = re.compile(rf"(?:about|around|close to|almost)\s+({_NUMBER})(?:\s*\S+)?")
_RANGE = re.compile(rf"({_NUMBER}) to ({_NUMBER})(?:\s*\S+)?")
_SHARE = re.compile(r"(\d+)\s*(?:/|of)\s*(\d+)")


class Verdict(Enum):
    REPRODUCED = "reproduced"
    TENDENCY = "in tendency"
    NOT = "not reproduced"
    CANNOT = "cannot be here"
    OPEN = "not compared"
    """There is nothing of ours yet that could be compared."""


_BEST_FIRST = (Verdict.REPRODUCED, Verdict.TENDENCY, Verdict.NOT)


def of_row(
    published: Value, ours: Sequence[Value], cannot: bool = False, unit: str = ""
) -> Verdict:
    """The verdict on a row whose value was `ours` in one run or several: that of the worst run."""
    if cannot:
        return Verdict.CANNOT
    return max((_of_run(published, value, unit) for value in ours), key=_rank)


def _rank(verdict: Verdict) -> int:
    return _BEST_FIRST.index(verdict) if verdict in _BEST_FIRST else len(_BEST_FIRST)


def _of_run(published: Value, ours: Value, unit: str) -> Verdict:
    """Words of ours beside a published figure mean that it was not measured."""
    if isinstance(ours, str):
        return _of_words(published, ours) if isinstance(published, str) else Verdict.OPEN
    if isinstance(published, str):
        return _of_claim(published, ours)
    if unit == RATIO:
        return _of_number(published - 1, ours - 1, WHOLE_PER_CENT)
    return _of_number(published, ours)


def _of_number(published: float, ours: float, rounding: float = 0.0) -> Verdict:
    if abs(ours - published) <= max(NEAR * abs(published), rounding) * (1 + 1e-9):
        return Verdict.REPRODUCED
    if ours * published > 0 and 1 / FACTOR <= ours / published <= FACTOR:
        return Verdict.TENDENCY
    return Verdict.NOT


def _of_claim(published: str, ours: float) -> Verdict:
    """Published words that are a limit, a range, or nearly a figure."""
    if limit := _LIMIT.fullmatch(published):
        return _of_limit(limit[1], float(limit[2]), ours)
    if about := _ABOUT.fullmatch(published):
        return _of_number(float(about[1]), ours)
    if found := _RANGE.fullmatch(published):
        low, high = float(found[1]), float(found[2])
        verdicts = (_of_limit("≥", low, ours), _of_limit("≤", high, ours))
        return max(verdicts, key=_rank)
    return Verdict.OPEN


def _of_limit(sign: str, limit: float, ours: float) -> Verdict:
    if sign in "≤≥" if ours == limit else (ours < limit) == (sign in "<≤"):
        return Verdict.REPRODUCED
    return Verdict.TENDENCY if abs(ours - limit) <= NEAR * abs(limit) else Verdict.NOT


def _of_words(published: str, ours: str) -> Verdict:
    """Words that are the same, shares such as "3 of 5480", or the same words with other figures."""
    if published.strip().lower() == ours.strip().lower():
        return Verdict.REPRODUCED
    theirs, mine = _SHARE.fullmatch(published), _SHARE.fullmatch(ours)
    if theirs and mine:
        return _of_shares(_share(theirs), _share(mine))
    if re.sub(_NUMBER, "#", published) != re.sub(_NUMBER, "#", ours):
        return Verdict.NOT
    pairs = zip(re.findall(_NUMBER, published), re.findall(_NUMBER, ours), strict=True)
    return max((_of_number(float(a), float(b)) for a, b in pairs), key=_rank)


def _share(found: re.Match[str]) -> float:
    """NaN of nothing."""
    return int(found[1]) / int(found[2]) if int(found[2]) else math.nan


def _of_shares(published: float, ours: float) -> Verdict:
    """Shares of what was counted: none and some are different things, how many is a tendency."""
    if math.isnan(published) or math.isnan(ours):
        return Verdict.OPEN
    if (published == 0) != (ours == 0):
        return Verdict.NOT
    near = _of_number(published, ours)
    return Verdict.REPRODUCED if near is Verdict.REPRODUCED else Verdict.TENDENCY


def of_item(rows: Sequence[Verdict], is_whole: bool) -> Verdict:
    """The verdict on a table or figure by those on its rows; `is_whole`: nothing is left out."""
    judged = [row for row in rows if row in _BEST_FIRST]
    if not judged:
        return Verdict.CANNOT if Verdict.CANNOT in rows else Verdict.OPEN
    if is_whole and len(judged) == len(rows) and set(judged) == {Verdict.REPRODUCED}:
        return Verdict.REPRODUCED
    some = sum(row is not Verdict.NOT for row in judged)
    return Verdict.TENDENCY if 2 * some >= len(judged) else Verdict.NOT
