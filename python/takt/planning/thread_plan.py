"""Proposes a `takt/threads` file: the reservations of `takt budget`, by names of nodes."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any, NamedTuple

from takt import pipeline, processors
from takt.documents import Bounds, Callback, Model
from takt.documents.names import executor_labels
from takt.errors import UserError
from takt.text.formatting import exact_duration, printable

Json = dict[str, Any]

MIDDLEWARE = {"policy": "rr", "priority": 1}
"""What delivers messages must not wait for best effort (ros-llama S-4.5.1)."""


class Proposal(NamedTuple):
    """A takt/threads document, and what it guarantees."""

    document: Json
    budget: Json
    """The takt/budget document that it follows."""
    bounds: Bounds
    """Of the model with exactly these reservations."""

    def yaml(self) -> str:
        """The document as people write it."""
        lines = ["format: takt/threads", "version: 1", "threads:"]
        lines += ["  - {" + _fields(row) + "}" for row in self.document["threads"]]
        return "\n".join(lines) + "\n"


def propose(text: str, source: str) -> Proposal:
    """The reservations that guarantee the model's goals, as far as they can be. UserError where
    names of nodes do not tell an executor's threads; raises takt_native.InputError.
    """
    model = pipeline.read_model(text, source)
    available = processors.find(json.loads(text).get("provenance", {}))
    budget, planned = pipeline.budget(text, source, available=available, leave_core=True)
    names = _Names(model, source)
    rows: list[Json] = []
    for executor in budget["executors"]:
        row = names.subject(executor["id"])
        row |= {"policy": "deadline", "reservation": _reservation(executor)}
        if executor["core"] is not None:
            row["cores"] = str(executor["core"])
        rows.append(row)
    nodes = dict.fromkeys(next(iter(row.values())) for row in rows)
    rows += [{"middleware": node, **MIDDLEWARE} for node in nodes]
    document = {"format": "takt/threads", "version": 1, "threads": rows}
    return Proposal(document, budget, pipeline.analyze(planned, source))


class _Names:
    """How rows call the executors of a model."""

    def __init__(self, model: Model, source: str) -> None:
        self._source = source
        self._labels = executor_labels(model)
        self._kinds = {executor.id: executor.kind for executor in model.executors}
        self._threads = {executor.id: executor.threads for executor in model.executors}
        self._callbacks: dict[str, list[Callback]] = defaultdict(list)
        self._executors: dict[str, set[str]] = defaultdict(set)
        for callback in model.callbacks:
            if callback.node:
                self._callbacks[callback.executor].append(callback)
                self._executors[callback.node].add(callback.executor)

    def subject(self, executor: str) -> Json:
        """The fields of a row that is about this executor alone."""
        callbacks = self._callbacks[executor]
        is_source = self._kinds[executor] == "event_source"
        for callback in callbacks:
            if self._executors[callback.node] == {executor}:
                return {"node" if is_source else "executor": callback.node}
        if is_source or self._threads[executor] > 1 or len({c.node for c in callbacks}) != 1:
            raise UserError(
                f"{self._source}: executor {self._labels[executor]}: no node is on it alone, so no "
                "name tells its threads; give one of its nodes no other executor"
            )
        return {"node": callbacks[0].node, "group": _group(callbacks[0])}


def _group(callback: Callback) -> str:
    """A name of a callback's group, see takt/threads/row.hpp."""
    if callback.topic:
        return callback.topic
    period = getattr(callback.activation, "period", None)
    if callback.kind == "timer" and period:
        return f"timer-{exact_duration(period)}"
    return callback.name or callback.id


def _reservation(executor: Json) -> str:
    budget, deadline, period = (executor[key] for key in ("budget", "deadline", "period"))
    within = [] if deadline == period else [deadline]
    return "/".join(map(exact_duration, [budget, *within, period]))


def _fields(row: Json) -> str:
    return ", ".join(f"{key}: {_scalar(value)}" for key, value in row.items())


def _scalar(value: object) -> str:
    """A value in YAML: plain where nothing in it can mean anything else."""
    text = printable(str(value))
    plain = text and all(c.isalnum() or c in "_/.-" for c in text) and text.isascii()
    return text if plain and text[0] not in "-." else json.dumps(text)
