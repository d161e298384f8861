"""Guarded sequences on all processors, each process with seeds of its own."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

from takt.handoff.attack import Attack, Outcome

AT_ONCE = 10_000
"""Sequences of one seed."""

_attack: Attack | None = None
"""What the forked processes play: its compiled functions cannot be sent to them."""


def play(attack: Attack, sequences: int) -> Outcome:
    """Plays at least so many, of which the worst one is told; seeds count from 1."""
    global _attack
    _attack = attack
    seeds = range(1, -(-sequences // AT_ONCE) + 1)
    processes = len(os.sched_getaffinity(0))
    with ProcessPoolExecutor(processes, get_context("fork")) as pool:
        parts = list(pool.map(_play, seeds))
    return replace(
        max(parts, key=lambda part: part.largest),
        sequences=sum(part.sequences for part in parts),
        violations=sum(part.violations for part in parts),
    )


def _play(seed: int) -> Outcome:
    assert _attack is not None
    return _attack.run(AT_ONCE, seed)
