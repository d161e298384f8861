"""The order of registration in several runs.

The default executor looks at its callbacks in the order of their registration within each kind. A
run numbers the callbacks that ran.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]


def number_registrations(models: Sequence[Json], callbacks: Sequence[Json]) -> list[str]:
    """Numbers the merged callbacks so that they are in the order of every run. Returns the
    executors where the orders of the runs contradict each other; there the first run's counts.
    """
    places: dict[tuple[str, str], list[Json]] = {}
    for callback in callbacks:
        places.setdefault((callback["executor"], callback["kind"]), []).append(callback)
    runs = [_orders(model) for model in models]
    contradicting: dict[str, None] = {}
    for place, here in places.items():
        orders = [run.get(place, []) for run in runs]
        merged = {callback["id"]: callback.get("registration", 0) for callback in here}
        if all(merged[id_] == number for order in orders for number, id_ in order):
            continue  # as in each run
        sequence, is_certain = _sequence(list(merged), [_ranks(order) for order in orders])
        if not is_certain:
            contradicting[place[0]] = None
        number_of = {id_: number for number, id_ in enumerate(sequence)}
        for callback in here:
            callback["registration"] = number_of[callback["id"]]
    return list(contradicting)


def _orders(model: Json) -> dict[tuple[str, str], list[tuple[int, str]]]:
    """Number and id of the callbacks, by executor and kind."""
    orders: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for callback in model["callbacks"]:
        place = (callback["executor"], callback["kind"])
        orders.setdefault(place, []).append((callback.get("registration", 0), callback["id"]))
    return orders


def _ranks(order: list[tuple[int, str]]) -> list[list[str]]:
    """The callbacks in their order; those of one number have none among them."""
    ranks: dict[int, list[str]] = {}
    for number, id_ in sorted(order, key=lambda entry: entry[0]):
        ranks.setdefault(number, []).append(id_)
    return list(ranks.values())


def _sequence(ids: list[str], orders: Sequence[list[list[str]]]) -> tuple[list[str], bool]:
    """The ids in an order that agrees with all the given ones; where nothing is known, and in a
    contradiction, as they are. Whether there is no contradiction.
    """
    after: dict[str, set[str]] = {id_: set() for id_ in ids}
    for order in orders:
        for earlier, later in itertools.pairwise(order):
            for id_ in earlier:
                after[id_].update(later)
    waits_for = dict.fromkeys(ids, 0)
    for successors in after.values():
        for id_ in successors:
            waits_for[id_] += 1
    place_of = {id_: place for place, id_ in enumerate(ids)}
    ready = [place for place, id_ in enumerate(ids) if waits_for[id_] == 0]
    left = dict.fromkeys(ids)
    is_certain = True
    sequence = []
    while left:
        if ready:
            id_ = ids[heapq.heappop(ready)]
            if id_ not in left:
                continue
        else:
            is_certain = False
            id_ = next(iter(left))
        del left[id_]
        sequence.append(id_)
        for successor in after[id_]:
            waits_for[successor] -= 1
            if waits_for[successor] == 0 and successor in left:
                heapq.heappush(ready, place_of[successor])
    return sequence, is_certain
