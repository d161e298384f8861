"""Predicts by simulation which callbacks a plan would starve, and finds a plan that starves none.

A callback starves if it loses messages in its full queue (or expiries) that it does not lose under
the default executor of ROS 2, or if it is a timer that samples data, as in a control loop, and ends
much later than there. Under priorities urgent callbacks run first, and a queue of one message has
no room for messages that arrive meanwhile.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from takt import documents, pipeline
from takt.documents import Executor, Model, Simulation
from takt.text.formatting import duration, significant

Json = dict[str, Any]

SIMULATED = 10_000_000_000
"""Nanoseconds of each simulation."""
STARTS = 10
"""The number of simulations in which activations from outside begin anywhere within their periods,
and of those in which they begin within TOGETHER.
"""
TOGETHER = 5_000_000
"""Nanoseconds within which a program starts the timers of all its nodes. Queues are fullest after
such a start, so random phases alone would miss the losses of such programs.
"""
LOST = 0.01
"""The additional share of its activations that a callback may lose, compared with the default
executor.
"""
LATER = 0.1
"""By what share of its period a sampling timer may end later than under the default executor."""
COSTLY = 0.1
"""The relative growth of a chain's longest latency above which another plan is sought."""


@dataclass(frozen=True)
class Fate:
    """The worst losses and response time of a callback in all simulations."""

    lost: float
    """Share of the activations."""
    longest: int
    """Response time in nanoseconds."""


@dataclass(frozen=True)
class Starved:
    callback: str
    planned: Fate
    default: Fate

    def __str__(self) -> str:
        if self.planned.lost - self.default.lost > LOST:
            lost, before = (_percent(fate.lost) for fate in (self.planned, self.default))
            return (
                f"{self.callback} would lose up to {lost} of what activates it "
                f"(under the default executor {before})"
            )
        longest, before = (duration(fate.longest) for fate in (self.planned, self.default))
        return f"{self.callback} would take up to {longest} (under the default executor {before})"


@dataclass(frozen=True)
class Relief:
    """A plan that starves no callback."""

    plan: Json
    raised: tuple[str, ...]
    """Callbacks that got a higher priority, just high enough."""
    apart: tuple[str, ...]
    """Nodes on executors of their own."""
    chains: dict[str, tuple[int, int]]
    """Longest latency of each chain in nanoseconds: as planned first, and under this plan."""

    @property
    def growth(self) -> float:
        """The largest factor by which the longest latency of a chain grows."""
        return max((after / max(before, 1) for before, after in self.chains.values()), default=1.0)


def predict(model: Model, source: str, plan: Json, options: Json) -> list[Starved]:
    """The callbacks that `plan`, made from the model with these options, would starve, in the
    model's order. Raises takt_native.InputError if the model cannot be simulated.
    """
    return _starved(
        model,
        _fates(_simulate(_with_default_executors(model, plan), source, {})),
        _fates(_simulate(model, source, options)),
    )


def relieve(model: Model, source: str, plan: Json, options: Json) -> list[Relief]:
    """The plan with raised priorities of the callbacks that starve. If that makes a chain much
    longer, also a plan that puts the nodes of callbacks raised to the top on executors of their
    own, if chains then grow less. The last plan is the best. Empty: no executor uses priorities, or
    something starves even so. Raises takt_native.InputError.
    """
    if all(executor["rule"] != "priority" for executor in plan["executors"]):
        return []
    search = _Search(model, source, plan, options)
    floors = search.raised()
    if floors is None:
        return []
    floors = search.lowered(floors)
    reliefs = [search.relief(floors, ())]
    if reliefs[0].growth > 1 + COSTLY:
        nodes = search.nodes_of({name for name in floors if floors[name] == search.top[name]})
        kept = {n: floor for n, floor in floors.items() if search.node[n] not in nodes}
        if nodes and not search.starved(kept, nodes):
            apart = search.relief(kept, nodes)
            if apart.growth < reliefs[0].growth:
                reliefs.append(apart)
    return reliefs


Floors = dict[str, int]
"""For each raised callback, the priority just above which it is put."""


class _Search:
    """Which callbacks have to be raised, and how far."""

    def __init__(self, model: Model, source: str, plan: Json, options: Json) -> None:
        self._model, self._source, self._plan = model, source, plan
        self._options = {name: value for name, value in options.items() if name != "executor"}
        self._default = _fates(_simulate(_with_default_executors(model, plan), source, {}))
        self._before = _simulate(model, source, options)
        self.node = {callback.id: callback.node for callback in model.callbacks}
        self._levels = _levels(plan)
        self.top = {name: levels[-1] for name, levels in self._levels.items()}

    def starved(self, floors: Floors, nodes: Sequence[str] = ()) -> list[str]:
        results = _simulate(self._candidate(floors, nodes), self._source, self._options)
        return [one.callback for one in _starved(self._model, self._default, _fates(results))]

    def raised(self) -> Floors | None:
        """Raises starving callbacks above all others, again and again until none starves; None:
        that does not help.
        """
        floors: Floors = {}
        before = _starved(self._model, self._default, _fates(self._before))
        starved = [one.callback for one in before]
        while starved:
            new = [name for name in starved if name not in floors and name in self.top]
            if not new:
                return None
            floors |= {name: self.top[name] for name in new}
            starved = self.starved(floors)
        return floors

    def lowered(self, floors: Floors) -> Floors:
        """Lowers each floor as far as nothing starves, so that urgent chains wait less often."""
        for name in floors:
            levels = self._levels[name]
            low, high = 0, len(levels) - 1  # the last one is known to be enough
            while low < high:
                middle = (low + high) // 2
                if self.starved(floors | {name: levels[middle]}):
                    low = middle + 1
                else:
                    high = middle
            floors = floors | {name: levels[high]}
        return floors

    def nodes_of(self, callbacks: Collection[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(node for n in callbacks if (node := self.node[n])))

    def relief(self, floors: Floors, nodes: Sequence[str]) -> Relief:
        candidate = self._candidate(floors, nodes)
        before = _latencies(self._before)
        after = _latencies(_simulate(candidate, self._source, self._options))
        return Relief(
            pipeline.plan(documents.to_json(candidate), self._source, self._options),
            tuple(floors),
            tuple(nodes),
            {chain: (before[chain], after[chain]) for chain in before if chain in after},
        )

    def _candidate(self, floors: Floors, nodes: Sequence[str]) -> Model:
        return _apart(_with_priorities(self._model, self._plan, floors), nodes)


def _with_default_executors(model: Model, plan: Json) -> Model:
    """The model as ROS 2 would run it without a plan."""
    planned = {executor["id"] for executor in plan["executors"]}
    return model.replace(
        executors=tuple(
            one.replace(kind="multi_threaded" if one.threads > 1 else "single_threaded")
            if one.id in planned
            else one
            for one in model.executors
        )
    )


def _priorities(executor: Json) -> dict[str, int]:
    """The priority of each callback; callbacks without one in the plan come last."""
    callbacks: list[Json] = executor["callbacks"]
    least = min((c["priority"] for c in callbacks if "priority" in c), default=0)
    return {c["id"]: c.get("priority", least - 1) for c in callbacks}


def _levels(plan: Json) -> dict[str, list[int]]:
    """For callbacks on executors with priorities, the executor's priorities from theirs up."""
    levels: dict[str, list[int]] = {}
    for executor in plan["executors"]:
        if executor["rule"] == "priority":
            priorities = _priorities(executor)
            known = sorted(set(priorities.values()))
            levels |= {name: known[known.index(own) :] for name, own in priorities.items()}
    return levels


def _with_priorities(model: Model, plan: Json, floors: Floors) -> Model:
    """The model with the plan's kinds and priorities written out. Each callback with a floor runs
    before callbacks of the floor's priority and after those of a higher one.
    """
    planned = {executor["id"]: executor for executor in plan["executors"]}
    priorities: dict[str, int] = {}
    for executor in plan["executors"]:
        if executor["rule"] != "priority":
            continue
        own = _priorities(executor)
        inserted = {floors[name] for name in own if name in floors}
        for name, priority in own.items():
            base = floors.get(name, priority)
            room = sum(floor < base for floor in inserted)
            priorities[name] = base + room + (name in floors)

    def as_planned(executor: Executor) -> Executor:
        same = planned.get(executor.id)
        if same is None:
            return executor
        kind = "fixed_priority" if same["rule"] == "priority" else same["kind"]
        return executor.replace(threads=same["threads"], kind=kind)

    return model.replace(
        executors=tuple(map(as_planned, model.executors)),
        callbacks=tuple(
            one.replace(priority=priorities[one.id]) if one.id in priorities else one
            for one in model.callbacks
        ),
    )


def _apart(model: Model, nodes: Sequence[str]) -> Model:
    """The model with each of these nodes on an executor like the one that it leaves."""
    executors = {executor.id: executor for executor in model.executors}
    callbacks = []
    for callback in model.callbacks:
        if callback.node in nodes:
            left = executors[callback.executor]
            own = left.replace(id=f"{left.id}{callback.node}")
            executors.setdefault(own.id, own)
            callback = callback.replace(executor=own.id)
        callbacks.append(callback)
    used = {callback.executor for callback in callbacks}
    return model.replace(
        executors=tuple(one for name, one in executors.items() if name in used),
        callbacks=tuple(callbacks),
    )


def _simulate(model: Model, source: str, options: Json) -> list[Simulation]:
    wanted = options | {"duration": SIMULATED, "execution": "worst_case"}
    text = documents.to_json(model)
    return [pipeline.simulate(text, source, wanted | start) for start in _starts(model)]


def _starts(model: Model) -> list[Json]:
    """Options of the simulator: from which phases the simulations begin."""
    activated = [callback.id for callback in model.callbacks if callback.activation]
    starts: list[Json] = [{"releases": "random", "seed": n} for n in range(STARTS)]
    for n in range(STARTS):
        generator = random.Random(n)
        offsets = {name: generator.randrange(TOGETHER) for name in activated}
        starts.append({"releases": "synchronous", "offsets": offsets})
    return starts


def _fates(simulations: list[Simulation]) -> dict[str, Fate]:
    worst: dict[str, Fate] = {}
    for simulation in simulations:
        for callback in simulation.callbacks:
            lost = (callback.skipped + callback.discarded) / max(callback.activations, 1)
            known = worst.get(callback.id, Fate(0, 0))
            worst[callback.id] = Fate(
                max(known.lost, lost), max(known.longest, round(callback.max or 0))
            )
    return worst


def _starved(model: Model, default: dict[str, Fate], planned: dict[str, Fate]) -> list[Starved]:
    sampling = _sampling_timers(model)
    starved = []
    for callback in model.callbacks:
        name = callback.id
        one = Starved(name, planned[name], default[name])
        later = one.planned.longest - one.default.longest
        is_late = name in sampling and later > LATER * sampling[name]
        if is_late or one.planned.lost - one.default.lost > LOST:
            starved.append(one)
    return starved


def _sampling_timers(model: Model) -> dict[str, int]:
    """Periods of timers with an incoming edge, or whose node also has subscriptions."""
    receiving = {edge.target for edge in model.edges}
    nodes = {one.node for one in model.callbacks if one.kind == "subscription"} - {""}
    return {
        one.id: one.activation.period
        for one in model.callbacks
        if one.kind == "timer"
        and one.activation
        and one.activation.period is not None
        and (one.id in receiving or one.node in nodes)
    }


def _latencies(simulations: list[Simulation]) -> dict[str, int]:
    longest: dict[str, int] = {}
    for simulation in simulations:
        for chain in simulation.chains:
            if chain.max is not None:
                longest[chain.id] = max(longest.get(chain.id, 0), round(chain.max))
    return longest


def _percent(share: float) -> str:
    return "nothing" if share == 0 else f"{significant(100 * share)} %"
