"""What helps the latest chain of a robot, found in what was recorded of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import takt_native
from takt import pipeline, processors
from takt.documents import Bounds, Callback, Chain, Model
from takt.documents.names import labels
from takt.inputs import ModelText

Json = dict[str, Any]


PROMPT = takt_native.PROMPT
"""Nanoseconds that a message takes at most to a receiver that runs; whether it does is checked in
the next recording.
"""


@dataclass(frozen=True)
class Proposal:
    """A change, as `takt analyze --what-if` takes it, and what the analysis says of it."""

    change: str
    text: str
    """In words."""
    before: int | None
    """The bound of the chain without the change; None: there is none."""
    bound: int
    """The bound of the chain with the change, in nanoseconds. Both bounds assume a processor for
    each executor.
    """
    goal: int

    @property
    def suffices(self) -> bool:
        """Whether the bound is within the goal."""
        return self.bound <= self.goal


def prompt(model: ModelText) -> ModelText:
    """The recorded model as if each executor had a processor whenever it needs one: a message seems
    to travel for as long as its receiver waits for a processor, so none takes longer than PROMPT.
    """
    made = json.loads(model.text)
    for edge in made["edges"]:
        edge["delay"] = min(edge["delay"], PROMPT)
    return ModelText(json.dumps(made), model.source)


def find(model: ModelText, chain: Chain) -> Proposal | None:
    """The executor of its own for one callback that lowers the chain's bound most, as takt latency
    advises it. None: there is no such callback, or the bound is within the goal.
    """
    before, goal = bound_of(model, chain), chain.goal or 0
    if before is not None and before <= goal:
        return None
    found = pipeline.own_executors(*model, chain.id)
    if not found:
        return None
    change, bound = found[0]["change"], found[0]["bound"]
    name = labels(model.parsed().callbacks)[change.removeprefix("split(").removesuffix(")")]
    return Proposal(change, f"an executor of its own for {name}", before, bound, goal)


def bound_of(model: ModelText, chain: Chain) -> int | None:
    """The bound of a chain of the model, in nanoseconds; None: it has none."""
    bounds = pipeline.analyze(*model)
    return next(one.bound for one in bounds.chains if one.id == chain.id)


@dataclass(frozen=True)
class Allowance:
    """By how much a robot may do worse than it was recorded to, while its bounds hold."""

    percent: int
    extra: int
    """Callbacks, and executors around them, take so much longer, and this many nanoseconds."""
    delay: int
    """Messages between executors take up to this, in nanoseconds, if their receivers run."""

    def of(self, model: ModelText) -> ModelText:
        """The model with it."""
        made = json.loads(model.text)

        def longer(times: list[int]) -> list[int]:
            return [-(-time * (100 + self.percent) // 100) + self.extra for time in times]

        for executor in made["executors"]:
            executor["overhead"] = longer(executor["overhead"])
        for callback in made["callbacks"]:
            callback["execution_time"]["curve"] = longer(callback["execution_time"]["curve"])
        executor_of = {callback["id"]: callback["executor"] for callback in made["callbacks"]}
        for edge in made["edges"]:
            if executor_of[edge["from"]] != executor_of[edge["to"]]:
                edge["delay"] = self.delay
        return ModelText(json.dumps(made), model.source)


ALLOWANCES = (
    Allowance(20, 500_000, 20_000_000),
    Allowance(10, 500_000, 10_000_000),
    Allowance(5, 0, 5_000_000),
)
"""The most room first."""


@dataclass(frozen=True)
class Plan:
    """The recorded model with a change, room for worse, and reservations if there are any."""

    model: ModelText
    allowance: Allowance
    budget: Json | None
    """The takt/budget document; None: it was not asked for."""
    bounds: Bounds

    @property
    def has_reservations(self) -> bool:
        return self.budget is not None and self.budget["met"]


def plan(model: ModelText, change: Proposal | None, *, reserve: bool) -> Plan:
    """The plan with the most room for which `takt budget` finds reservations that `takt run` can
    have: those that need not be kept on cores. Without any there, or without `reserve`, the plan
    has no reservations.
    """
    text, source = model
    if change is not None:
        model = ModelText(pipeline.change(text, source, change.change), source)
    asked = None
    for allowance in ALLOWANCES if reserve else ():
        asked, planned = pipeline.budget(*allowance.of(model), available=processors.find({}))
        if asked["met"] and asked["processors"]["mapping"] == "global":
            return _plan(ModelText(planned, source), allowance, asked)
    return _plan(ALLOWANCES[0].of(model), ALLOWANCES[0], asked and {**asked, "met": False})


def _plan(model: ModelText, allowance: Allowance, budget: Json | None) -> Plan:
    return Plan(model, allowance, budget, pipeline.analyze(*model))


def applied(robot: Json, change: Proposal, recorded: Model) -> Json:
    """The robot with a change of the recorded model, whose callbacks have other ids. Raises
    takt_native.InputError.
    """
    moved = next(one for one in recorded.callbacks if change.change == f"split({one.id})")
    text = f"split({_own_id(robot, moved)})"
    made: Json = json.loads(pipeline.change(json.dumps(robot), "the robot", text))
    return made


def with_reservations(robot: Json, planned: Model) -> Json:
    """The robot with the reservations of a model that was recorded of it and planned since."""
    executors = {executor.id: executor for executor in planned.executors}
    own = {callback["id"]: callback["executor"] for callback in robot["callbacks"]}
    found = {own[_own_id(robot, one)]: executors[one.executor] for one in planned.callbacks}
    made: Json = json.loads(json.dumps(robot))
    for executor in made["executors"]:
        if (one := found.get(executor["id"])) is not None:
            executor["supply"] = one.supply.json()
            executor["cpu"] = one.cpu
    return made


def _own_id(robot: Json, recorded: Callback) -> str:
    """The id of the callback in the robot's own model: that of the same node, kind, topic and
    period.
    """
    alike = [
        one
        for one in robot["callbacks"]
        if (one["node"], one["kind"], one.get("topic"))
        == (recorded.node, recorded.kind, recorded.topic)
    ]
    period = getattr(recorded.activation, "period", None)
    exactly = [one for one in alike if (one.get("activation") or {}).get("period") == period]
    return str((exactly or alike)[0]["id"])
