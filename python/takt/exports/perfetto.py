"""Timelines as traces that ui.perfetto.dev and chrome://tracing open (the Trace Event Format)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from takt.documents import Instance, Model
from takt.documents.names import executor_labels

Event = dict[str, Any]


def trace(model: Model, timeline: Iterable[Instance]) -> str:
    """Executors as processes, their threads as threads, callback instances as slices that carry
    their activation and response time.
    """
    lines = ",\n".join(
        json.dumps(event, ensure_ascii=False)
        for event in (*_executors(model), *_slices(model, timeline))
    )
    return f'{{"displayTimeUnit": "ns", "traceEvents": [\n{lines}\n]}}\n'


def _executors(model: Model) -> Iterator[Event]:
    for number, name in enumerate(executor_labels(model).values()):
        yield {"ph": "M", "name": "process_name", "pid": number, "args": {"name": name}}


def _slices(model: Model, timeline: Iterable[Instance]) -> Iterator[Event]:
    process = {executor.id: number for number, executor in enumerate(model.executors)}
    callbacks = {callback.id: callback for callback in model.callbacks}
    for instance in timeline:
        callback = callbacks[instance.callback]
        arguments: dict[str, Any] = {"callback": callback.id}
        if instance.activation is not None:
            arguments["activation_ns"] = instance.activation
            arguments["response_time_ns"] = instance.end - instance.activation
        yield {
            "ph": "X",
            "name": callback.name or callback.id,
            "cat": callback.kind,
            "pid": process[instance.executor],
            "tid": instance.thread,
            # Microseconds, with fractions.
            "ts": instance.start / 1000,
            "dur": (instance.end - instance.start) / 1000,
            "args": arguments,
        }
