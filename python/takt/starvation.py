"""Predicts by simulation which callbacks a plan would starve, and raises their priorities.

A callback starves if it loses messages in its full queue (or expiries) that it does not lose under
the default executor of ROS 2, or if it is a timer that samples data, as that of a control loop, and
ends much later than there. What is urgent comes first under priorities, and a queue of one message
has no room for what comes meanwhile.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from takt import pipeline
from takt.documents import Simulation
from takt.formatting import duration, significant

Json = dict[str, Any]

SIMULATED = 10_000_000_000
"""Nanoseconds of each simulation."""
STARTS = 10
"""How many times what is activated from outside begins anywhere within its period, and how many
times within TOGETHER."""
TOGETHER = 5_000_000
"""Nanoseconds within which a program that has made all its nodes starts all their timers. Queues
are fullest then, so that chances over whole periods would miss what such programs lose."""
LOST = 0.01
"""What share of its activations a callback may lose more than under the default executor."""
LATER = 0.1
"""By what share of its period a sampling timer may end later than under the default executor."""


@dataclass(frozen=True)
class Fate:
    """What became of a callback, the worst of all simulations."""

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
    """Callbacks that it puts above all others."""
    chains: dict[str, tuple[int, int]]
    """Longest latency of each chain in nanoseconds: as planned first, and under this plan."""


def predict(model: str, source: str, plan: Json, options: Json) -> list[Starved]:
    """What `plan`, made from the model with these options, would starve, in the model's order.
    Raises takt_native.InputError if the model cannot be simulated.
    """
    return _starved(
        json.loads(model),
        _fates(_simulate(_with_default_executors(model, plan), source, {})),
        _fates(_simulate(model, source, options)),
    )


def relieve(model: str, source: str, plan: Json, options: Json) -> Relief | None:
    """The plan with the priorities of what starves raised above all others; none: no executor goes
    by priorities, or something starves even so. Raises takt_native.InputError.
    """
    if all(executor["rule"] != "priority" for executor in plan["executors"]):
        return None
    others = {name: value for name, value in options.items() if name != "executor"}
    default = _fates(_simulate(_with_default_executors(model, plan), source, {}))
    before = _simulate(model, source, options)
    raised: list[str] = []
    candidate, results = model, before
    while starved := _starved(json.loads(model), default, _fates(results)):
        new = [one.callback for one in starved if one.callback not in raised]
        if not new:
            return None
        raised += new
        candidate = _with_priorities(model, plan, raised)
        results = _simulate(candidate, source, others)
    latencies = (_latencies(before), _latencies(results))
    chains = {
        chain: (latencies[0][chain], latencies[1][chain])
        for chain in latencies[0]
        if chain in latencies[1]
    }
    return Relief(pipeline.plan(candidate, source, others), tuple(raised), chains)


def _with_default_executors(model: str, plan: Json) -> str:
    """The model as ROS 2 would run it without a plan."""
    document: Json = json.loads(model)
    planned = {executor["id"] for executor in plan["executors"]}
    for executor in document["executors"]:
        if executor["id"] in planned:
            many = executor.get("threads", 1) > 1
            executor["kind"] = "multi_threaded" if many else "single_threaded"
    return json.dumps(document)


def _with_priorities(model: str, plan: Json, raised: Sequence[str]) -> str:
    """The model with the plan's kinds and priorities written out, these callbacks above all others
    of their executor.
    """
    document: Json = json.loads(model)
    planned = {executor["id"]: executor for executor in plan["executors"]}
    priorities: dict[str, int] = {}
    for executor in plan["executors"]:
        if executor["rule"] != "priority":
            continue
        own = [c["priority"] for c in executor["callbacks"] if "priority" in c]
        least, most = min(own, default=0), max(own, default=0)
        for callback in executor["callbacks"]:
            name = callback["id"]
            priorities[name] = most + 1 if name in raised else callback.get("priority", least - 1)
    for executor in document["executors"]:
        if executor["id"] in planned:
            same = planned[executor["id"]]
            executor["threads"] = same["threads"]
            executor["kind"] = "fixed_priority" if same["rule"] == "priority" else same["kind"]
    for callback in document["callbacks"]:
        if callback["id"] in priorities:
            callback["priority"] = priorities[callback["id"]]
    return json.dumps(document)


def _simulate(model: str, source: str, options: Json) -> list[Simulation]:
    wanted = options | {"duration": SIMULATED, "execution": "worst_case"}
    return [pipeline.simulate(model, source, wanted | start) for start in _starts(model)]


def _starts(model: str) -> list[Json]:
    """Options of the simulator: from which phases the simulations begin."""
    activated = [c["id"] for c in json.loads(model)["callbacks"] if c.get("activation")]
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


def _starved(model: Json, default: dict[str, Fate], planned: dict[str, Fate]) -> list[Starved]:
    sampling = _sampling_timers(model)
    starved = []
    for callback in model["callbacks"]:
        name = callback["id"]
        one = Starved(name, planned[name], default[name])
        is_late = False
        if name in sampling:
            later = one.planned.longest - one.default.longest
            is_late = later > LATER * callback["activation"]["period"]
        if is_late or one.planned.lost - one.default.lost > LOST:
            starved.append(one)
    return starved


def _sampling_timers(model: Json) -> set[str]:
    """Timers that the model gives data, or whose node receives messages beside."""
    receiving = {edge["to"] for edge in model.get("edges") or ()}
    nodes = {c.get("node") for c in model["callbacks"] if c["kind"] == "subscription"} - {None}
    return {
        callback["id"]
        for callback in model["callbacks"]
        if callback["kind"] == "timer"
        and "period" in callback["activation"]
        and (callback["id"] in receiving or callback.get("node") in nodes)
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
