"""Callback groups of several runs.

Callbacks of a node are in one group until a run shows two of them at a time. What no run shows at a
time stays together, so groups of different runs cannot be compared by their names.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]
Group = str | None

REENTRANT = "reentrant"


def merged_groups(models: Sequence[Json]) -> dict[str, Group]:
    """The group of each callback, by id: two that a run keeps apart are apart, and one that may run
    beside itself in a run may do so. O(sum of the squares of the nodes' callbacks · runs).
    """
    nodes: dict[str, list[dict[str, Group]]] = {}
    for model in models:
        runs: dict[str, dict[str, Group]] = {}
        for callback in model["callbacks"]:
            groups = runs.setdefault(callback.get("node", ""), {})
            groups[callback["id"]] = callback.get("callback_group")
        for node, groups in runs.items():
            nodes.setdefault(node, []).append(groups)
    merged: dict[str, Group] = {}
    for node, of_runs in nodes.items():
        merged |= _of_node(node, of_runs)
    return merged


def _of_node(node: str, runs: Sequence[dict[str, Group]]) -> dict[str, Group]:
    together: dict[str, Group] = {}
    for groups in runs:
        together |= groups
    if all(groups[id_] == together[id_] for groups in runs for id_ in groups):
        return together
    apart: set[tuple[str, str]] = set()
    reentrant: set[str] = set()
    for groups in runs:
        reentrant |= {id_ for id_, group in groups.items() if group == REENTRANT}
        for (one, its), (other, others) in itertools.permutations(groups.items(), 2):
            if its != others:
                apart.add((one, other))
    merged: dict[str, Group] = {}
    number_of: dict[str, int] = {}
    for id_ in together:
        if id_ in reentrant:
            merged[id_] = REENTRANT
            continue
        taken = {number for other, number in number_of.items() if (id_, other) in apart}
        number_of[id_] = next(n for n in itertools.count() if n not in taken)
        merged[id_] = f"{node} {number_of[id_] + 1}" if number_of[id_] else None
    return merged
