"""Runs a model as real ROS 2 programs beside a competing load, once under the kernel's default
scheduler and once under `takt manage`. `takt demo` shows the comparison.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from takt import documents, tables
from takt.documents import Model
from takt.formatting import duration
from takt.scheduling_trials import Chain, Goal, Way, load, measure
from takt.terminal import Table

Json = dict[str, Any]

LOADS_PER_CORE = 4
WARM_UP = 15.0
"""Seconds in which the manager learns and reserves. The run without it waits as long."""

BY_DEFAULT = Way("default scheduler")
MANAGED = Way("takt manage", managed=True)


@dataclass(frozen=True)
class Comparison:
    """How one chain fared under both ways of scheduling."""

    chain: str
    goal: int
    """In nanoseconds."""
    by_default: Chain
    managed: Chain


def compare(model: Model, seconds: float, say: Callable[[str], None]) -> list[Comparison]:
    """Runs the model twice beside processes that fill all cores. Leaves out chains without a goal
    and the model's own reservations. UserError if the model cannot be run.
    """
    chains = [chain for chain in model.chains if chain.goal is not None]
    if not chains:
        return []
    free = json.loads(documents.to_json(model))
    for executor in free["executors"]:
        executor["supply"] = {"kind": "dedicated"}
    nodes = {callback.id: callback.node for callback in model.callbacks}
    ordered = sorted(chains, key=lambda chain: chain.rank or len(chains) + 1)
    goals = {
        chain.id: Goal(nodes[chain.callbacks[0]], nodes[chain.callbacks[-1]], chain.goal / 1e6)
        for chain in ordered
        if chain.goal is not None
    }
    processes = LOADS_PER_CORE * len(os.sched_getaffinity(0))
    outcomes = []
    with load(processes):
        for way in (BY_DEFAULT, MANAGED):
            say(
                f"Running it beside {processes} processes that do nothing but compute, "
                f"by {way.name}, for {WARM_UP + seconds:g} s"
            )
            outcomes.append(measure(free, goals, way, WARM_UP, seconds))
    return [
        Comparison(
            chain.id,
            chain.goal or 0,
            outcomes[0].chains[chain.id],
            outcomes[1].chains[chain.id],
        )
        for chain in ordered
    ]


HEADER = ("Chain", "Goal", "Default: max", "missed", "Managed: max", "missed", "bound", "state")


def rows(compared: list[Comparison]) -> list[list[str]]:
    """The cells of the table, in the order of HEADER."""
    return [
        [
            one.chain,
            duration(one.goal),
            _milliseconds(one.by_default.worst),
            f"{one.by_default.missed} of {one.by_default.completed}",
            _milliseconds(one.managed.worst),
            f"{one.managed.missed} of {one.managed.completed}",
            _milliseconds(one.managed.bound),
            ", ".join(sorted(one.managed.states)),
        ]
        for one in compared
    ]


def table(compared: list[Comparison]) -> Table:
    """The table for a terminal."""
    result = Table()
    for i, title in enumerate(HEADER):
        result.add_column(title, right=i not in (0, len(HEADER) - 1))
    for row in rows(compared):
        result.add_row(*map(tables.cell, row))
    return result


def document(compared: list[Comparison]) -> Json:
    """The table `comparison` of takt/viewer documents."""
    return {
        "title": "Beside a load that fills all cores: the default scheduler, and takt manage",
        "header": ["Chain and its goal", BY_DEFAULT.name, MANAGED.name],
        "rows": [
            [
                f"{one.chain}: {duration(one.goal)}",
                _words(one.by_default),
                f"{_words(one.managed)}; {', '.join(sorted(one.managed.states))}"
                + (f": at most {_milliseconds(one.managed.bound)}" if one.managed.bound else ""),
            ]
            for one in compared
        ],
    }


def _words(chain: Chain) -> str:
    missed = (
        f"{chain.missed} of {chain.completed}" if chain.missed else f"none of {chain.completed}"
    )
    return f"longest {_milliseconds(chain.worst)}, {missed} missed"


def _milliseconds(time: float | None) -> str:
    return duration(None if time is None else round(time * 1e6))
