"""The chains of Abaza, chapter 4, as models: five synthetic callbacks, parking, a graph."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

Json = dict[str, Any]

MS = 1_000_000
PERIOD = 100 * MS
PUBLISH = MS // 10

# Longest execution times (ms) and cores of the parking chain, Table 4.2.
PARKING = {
    "rear": (19.9, 1),
    "front": (30.7, 0),
    "fusion": (3.3, 1),
    "voxel": (9.2, 1),
    "localiser": (50.8, 1),
}
THROTTLE = 0.6
# Lengths of their slots as printed: rounded up, the rear filter's to 21.
SLOTS = (21, 31, 4, 10, 51)
# The shortest execution time as a share of the longest: 32.9 of 94.6 ms, as latencies have it.
SHORTEST = 0.35


def _ros_name(name: str) -> str:
    return "/" + name.replace(" ", "_")


class Model:
    """A takt/model document that grows callback by callback, each on an executor of its own."""

    def __init__(self) -> None:
        self.executors: list[Json] = []
        self.callbacks: list[Json] = []
        self.edges: list[Json] = []
        self.joins: list[Json] = []
        self.chains: list[Json] = []

    def add(
        self,
        name: str,
        longest: float,
        after: tuple[str, ...] = (),
        *,
        period: int = PERIOD,
        slot: tuple[float, float] | None = None,
    ) -> None:
        """Times in ms; without predecessors, a timer. Several predecessors are joined."""
        executor: Json = {"id": name}
        if slot is not None:
            start, end = slot
            executor["supply"] = {
                "kind": "slots",
                "cycle": period,
                "slots": [{"start": round(start * MS), "end": round(end * MS)}],
            }
        self.executors.append(executor)
        callback: Json = {
            "id": name,
            "node": _ros_name(name),
            "executor": name,
            "kind": "subscription" if after else "timer",
            "topic": _ros_name(after[0]) if after else None,
            "registration": 0,
            "execution_time": {"curve": [max(round(longest * MS), 1)]},
        }
        if not after:
            callback["activation"] = {"kind": "periodic", "period": period, "jitter": 0}
        self.callbacks.append(callback)
        self.edges += [{"from": one, "to": name, "topic": _ros_name(one)} for one in after]
        if len(after) > 1:
            self.joins.append({"callback": name, "kind": "and", "inputs": list(after)})

    def document(self, *chain: str) -> Json:
        self.chains = [{"id": "chain", "callbacks": list(chain)}]
        return {"format": "takt/model", "version": 1} | vars(self)


def synthetic(slots: list[tuple[float, float]] | None = None) -> Model:
    """Five callbacks, U[5, 15] ms each; cb_1 every 100 ms."""
    model = Model()
    for number in range(5):
        after = (f"cb{number}",) if number else ()
        model.add(f"cb{number + 1}", 15, after, slot=slots[number] if slots else None)
    return model


FIVE = tuple(f"cb{number + 1}" for number in range(5))


def parking(slots: dict[str, tuple[float, float]] | None = None) -> Json:
    """Throttlers, filters, fusion, voxel grid, localiser; the front filter is on core 0."""
    model = Model()
    given = slots or {}
    for side in ("rear", "front"):
        model.add(f"throttle {side}", THROTTLE)
        model.add(side, PARKING[side][0], (f"throttle {side}",), slot=given.get(side))
    model.add("fusion", PARKING["fusion"][0], ("rear", "front"), slot=given.get("fusion"))
    model.add("voxel", PARKING["voxel"][0], ("fusion",), slot=given.get("voxel"))
    model.add("localiser", PARKING["localiser"][0], ("voxel",), slot=given.get("localiser"))
    return model.document("throttle front", "front", "fusion", "voxel", "localiser")


GRAPH_PERIOD = 764 * MS


def random_graph(*, ordered: bool = False) -> tuple[Json, dict[str, int]]:
    """One timer, every other callback after one to three earlier ones, all before the last.
    `ordered`: those of a core also follow each other, as if an optimiser had added these edges
    (4.5.4), so that which of two that are ready at once comes first is not left to chance.
    """
    numbers = random.Random(4)
    times = [numbers.uniform(20, 75) for _ in range(18)]
    model = Model()
    cores = {f"v{number}": number % 2 for number in range(18)}
    needed = set(range(17))
    for number, time in enumerate(times):
        before = sorted(numbers.sample(range(number), min(number, numbers.randint(1, 3))))
        if number == 17:
            before = sorted(needed)
        needed -= set(before)
        if ordered and number > 1:
            before = sorted({*before, number - 2})
        model.add(f"v{number}", time, tuple(f"v{one}" for one in before), period=GRAPH_PERIOD)
    path = [17]
    reached = {edge["to"]: edge["from"] for edge in model.edges}
    while path[0]:
        path.insert(0, int(reached[f"v{path[0]}"][1:]))
    assert all(a < b for a, b in pairwise(path))
    return model.document(*(f"v{number}" for number in path)), cores
