"""The one change of a robot that helps its latest chain, found in what was recorded of it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import takt_native
from takt import pipeline
from takt.assumptions import influencing
from takt.commands.budget import CAPACITY
from takt.documents import Bounds, Callback, Chain, Model
from takt.inputs import Evaluation, ModelText
from takt.names import executor_labels, labels

Json = dict[str, Any]

CHANGE = re.compile(r"(?P<verb>\w+)\((?P<of>.*)\)(?:=(?P<value>.*))?")


@dataclass(frozen=True)
class Proposal:
    """A change, as `takt analyze --what-if` takes it, and what the analysis says of it."""

    change: str
    text: str
    """In words."""
    before: int | None
    """The bound of the chain without the change; None: there is none."""
    bound: int
    """With it, in nanoseconds."""
    goal: int

    @property
    def suffices(self) -> bool:
        """Whether the bound is within the goal."""
        return self.bound <= self.goal


def find(evaluation: Evaluation, chain: Chain) -> Proposal | None:
    """The cheapest change that brings the chain's bound within its goal, as remedies name it. If
    there is none: the executor of its own for one callback that lowers the bound most, if any does.
    """
    text, source = evaluation.text
    before = _bound(evaluation.bounds, chain)
    goal = chain.goal or 0
    found = takt_native.remedy(text, source, evaluation.analysis, chain.id)
    if found is None:
        found = min(_splits(evaluation, chain), key=lambda one: one[1], default=None)
        if found is not None and before is not None and found[1] >= before:
            found = None
    if found is None:
        return None
    change, bound = found
    return Proposal(change, in_words(change, evaluation.model), before, bound, goal)


def _splits(evaluation: Evaluation, chain: Chain) -> Iterator[tuple[str, int]]:
    """Each executor of its own that a callback could get, with the chain's bound then."""
    text, source = evaluation.text
    involved = influencing(evaluation.model, chain.callbacks)
    for callback in evaluation.model.callbacks:
        if callback.executor not in involved:
            continue
        change = f"split({callback.id})"
        changed = pipeline.change(text, source, change)
        bound = _bound(pipeline.analyze(changed, source, evaluation.analysis), chain)
        if bound is not None:
            yield change, bound


def _bound(bounds: Bounds, chain: Chain) -> int | None:
    return next(one.bound for one in bounds.chains if one.id == chain.id)


def in_words(change: str, model: Model) -> str:
    """The change as an owner would make it."""
    parts = CHANGE.fullmatch(change)
    if parts is None:
        return change
    of, value = parts["of"], parts["value"]
    callback = labels(model.callbacks).get(of, of)
    executor = executor_labels(model).get(of, of)
    match parts["verb"]:
        case "split":
            return f"an executor of its own for {callback}"
        case "executor":
            return f"an executor of kind {value} for {executor}"
        case "priority":
            return f"priority {value} for {callback}"
        case _:
            return change


@dataclass(frozen=True)
class Allowance:
    """By how much a robot may do worse than it was recorded to, while its bounds hold."""

    percent: int
    """Callbacks and executors take so much longer."""
    delay: int
    """Messages between executors take as long as this, in nanoseconds, or as the longest took."""

    def of(self, model: ModelText) -> ModelText:
        """The model with it."""
        made = json.loads(model.text)

        def longer(times: list[int]) -> list[int]:
            return [-(-time * (100 + self.percent) // 100) for time in times]

        for executor in made["executors"]:
            executor["overhead"] = longer(executor["overhead"])
        for callback in made["callbacks"]:
            callback["execution_time"]["curve"] = longer(callback["execution_time"]["curve"])
        executor_of = {callback["id"]: callback["executor"] for callback in made["callbacks"]}
        for edge in made["edges"]:
            if executor_of[edge["from"]] != executor_of[edge["to"]]:
                edge["delay"] = max(edge["delay"], self.delay)
        return ModelText(json.dumps(made), model.source)


ALLOWANCES = (Allowance(20, 20_000_000), Allowance(5, 0))
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


def plan(evaluation: Evaluation, change: Proposal | None, *, reserve: bool) -> Plan:
    """The plan with the most room for which `takt budget` finds reservations that `takt run` can
    have: those that need not be kept on cores. Without any there, or without `reserve`, the plan
    has no reservations.
    """
    text, source = evaluation.text
    model = ModelText(pipeline.change(text, source, change.change) if change else text, source)
    asked = None
    for allowance in ALLOWANCES if reserve else ():
        asked, planned = pipeline.budget(
            *allowance.of(model), cores=os.cpu_count() or 1, capacity=CAPACITY / 100
        )
        if asked["met"] and asked["processors"]["mapping"] == "global":
            return _plan(ModelText(planned, source), allowance, asked)
    return _plan(ALLOWANCES[0].of(model), ALLOWANCES[0], asked and {**asked, "met": False})


def _plan(model: ModelText, allowance: Allowance, budget: Json | None) -> Plan:
    return Plan(model, allowance, budget, pipeline.analyze(*model))


def applied(robot: Json, change: str, recorded: Model) -> Json:
    """The robot with a change that names a callback by the id that it has in the recorded model.
    Raises takt_native.InputError.
    """
    parts = CHANGE.fullmatch(change)
    by_id = {callback.id: callback for callback in recorded.callbacks}
    if parts is not None and parts["of"] in by_id:
        start, end = parts.span("of")
        change = change[:start] + _own_id(robot, by_id[parts["of"]]) + change[end:]
    made: Json = json.loads(pipeline.change(json.dumps(robot), "the robot", change))
    return made


def with_reservations(robot: Json, planned: Model) -> Json:
    """The robot with the reservations of a model that was recorded of it and planned since."""
    executors = {executor.id: executor for executor in planned.executors}
    own = {callback["id"]: callback["executor"] for callback in robot["callbacks"]}
    found = {own[_own_id(robot, one)]: executors[one.executor] for one in planned.callbacks}
    made: Json = json.loads(json.dumps(robot))
    for executor in made["executors"]:
        if (one := found.get(executor["id"])) is not None:
            executor["supply"] = json.loads(one.supply.model_dump_json(exclude_none=True))
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
