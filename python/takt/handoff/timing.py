"""How long a hand-over takes, from a plant's file or from the bound of a callback in a model."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from takt import pipeline, processors
from takt.documents import Callback, Model
from takt.documents.names import labels
from takt.errors import UserError
from takt.handoff.plant import Timing
from takt.inputs import ModelText


@dataclass(frozen=True)
class Window:
    """Delta, what it is the sum of, and where the parts come from. Times in nanoseconds."""

    timing: Timing
    jitter: int = 0
    response: int = 0
    """The bound of the callback's response time: from its activation to its output."""
    callback: str = ""

    @property
    def length(self) -> int:
        """k T_s + R: an input that leaves K just after a sample is seen at the next one, which its
        jitter may delay; the answer k - 1 periods later takes as long as the callback's bound says.
        """
        return self.timing.window + self.jitter + self.response

    def document(self) -> dict[str, Any]:
        return {
            "period": self.timing.period,
            "load_periods": self.timing.load_periods,
            "actuation_delay": self.timing.actuation_delay,
            "jitter": self.jitter,
            "response_bound": self.response,
            "callback": self.callback,
            "window": self.length,
        }


def from_model(timing: Timing, text: ModelText, name: str, analysis: str) -> Window:
    """The window with the period, jitter and bound of a callback. UserError if it has no bound."""
    model = text.parsed()
    callback = find(model, name, text.source)
    bounds = pipeline.analyze(text.text, text.source, analysis)
    bound = next(one for one in bounds.callbacks if one.id == callback.id)
    if bound.bound is None:
        raise UserError(
            f"{text.source}: the response time of {name} has no bound: {bound.reason or 'overload'}"
        )
    activation = callback.activation
    period, jitter = timing.period, 0
    if activation is not None and activation.kind == "periodic" and activation.period:
        period, jitter = activation.period, activation.jitter
    elif callback.kind == "timer":
        raise UserError(f"{text.source}: {name} is a timer that is not periodic")
    return Window(replace(timing, period=period), jitter, bound.bound, callback.id)


def find(model: Model, name: str, source: str) -> Callback:
    """Finds a callback by id, name, node or printed name. UserError unless exactly one fits."""
    printed = labels(model.callbacks)
    found = [
        one
        for one in model.callbacks
        if name in (one.id, one.name, one.node, one.node.lstrip("/"), printed[one.id])
    ]
    exact = [one for one in found if name == one.id]
    found = exact or found
    if not found:
        known = ", ".join(printed[one.id] for one in model.callbacks[:10])
        raise UserError(f"{source}: no callback is called '{name}'; there are {known}")
    if len(found) > 1:
        several = ", ".join(one.id for one in found)
        raise UserError(f"{source}: several callbacks are called '{name}'; give an id: {several}")
    return found[0]


def reservation(text: ModelText, window: Window, longest: int, analysis: str) -> dict[str, Any]:
    """The smallest reservation with which the hand-over takes at most `longest`."""
    goal = longest - window.timing.window - window.jitter
    if goal <= 0:
        return {"met": False, "goal": goal}
    document = json.loads(text.text)
    chain = {"id": "takt handoff", "callbacks": [window.callback], "goal": goal, "rank": 1}
    document["chains"] = [chain]
    found, _ = pipeline.budget(
        json.dumps(document),
        text.source,
        analysis=analysis,
        available=processors.find(json.loads(text.text).get("provenance", {})),
    )
    return {"met": found["met"], "goal": goal, "executors": found["executors"]}
