"""What the report's template shows, put into words and numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from takt import assumptions, losses
from takt.assumptions import Finding, Standing, Subject
from takt.documents import (
    Bounds,
    Callback,
    Executor,
    MeasuredCallback,
    MeasuredChain,
    Measurement,
    Model,
)
from takt.formatting import NONE, count, duration, goal_of, grouped
from takt.names import executor_labels, labels
from takt.report.graph import rate
from takt.verdict import Status, Verdict

View = dict[str, Any]

TONES = {
    Status.MET: "good",
    Status.BOUNDED: "none",
    Status.NOT_GUARANTEED: "warn",
    Status.MISSED: "bad",
    Status.VIOLATED: "bad",
    Status.UNFOUNDED: "warn",
    Status.UNBOUNDED: "warn",
    Status.UNSEEN: "warn",
}

DOUBTS = {
    Standing.VIOLATED: "The recording refutes what the bounds rest on",
    Standing.UNSECURED: "The bounds are conditional",
}

WALL_TIME = (
    "The recording does not hold the thread CPU time of every callback. Where it is missing, time "
    "during which a callback was preempted counts as its execution time."
)

MEANINGS = {
    Subject.SUPPLY: (
        "Supply",
        "Every executor gets the processor time that the model gives it.",
    ),
    Subject.EXECUTION_TIME: (
        "Execution times",
        "No callback runs longer than its execution-time curve.",
    ),
    Subject.SUSPENSION: (
        "Suspension",
        "No callback sleeps, or waits for an answer, a lock or a device, longer or more often than "
        "the model says.",
    ),
    Subject.ACTIVATION: (
        "Activations",
        "No timer fires, and no message arrives from outside, more densely than its curve.",
    ),
    Subject.ORDER: (
        "Order of callbacks",
        "Every executor runs what is ready together in the order that the model gives it.",
    ),
    Subject.DELAY: (
        "Transport",
        "No message takes longer from publication to arrival than its edge says, a timer reads the "
        "newest that has arrived, and none is lost.",
    ),
    Subject.RECORDING: (
        "Completeness of the recording",
        "A curve measured from a trace knows no more than the trace.",
    ),
}


def tiles(verdicts: list[Verdict], model: Model, measurement: Measurement | None) -> Iterator[View]:
    """The figures at the top."""
    goals = [verdict for verdict in verdicts if verdict.chain.goal is not None]
    if goals:
        met = sum(verdict.good for verdict in goals)
        tone = "good" if met == len(goals) else "warn"
        if any(verdict.status in (Status.MISSED, Status.VIOLATED) for verdict in goals):
            tone = "bad"
        yield _tile("Goals met", f"{met} of {len(goals)}", tone)
    yield _tile("Chains", str(len(model.chains)))
    yield _tile("Callbacks", str(len(model.callbacks)))
    yield _tile("Executors", str(len(model.executors)))
    if measurement is not None:
        yield _tile("Callback runs", grouped(sum(entry.count for entry in measurement.callbacks)))
        length = measurement.provenance.get("duration")
        if isinstance(length, int):
            yield _tile("Recorded", duration(length))
        lost = losses.in_words(measurement.losses)
        yield _tile("Lost", lost or "nothing", "warn" if lost else "none")


def _tile(name: str, value: str, tone: str = "none") -> View:
    return {"name": name, "value": value, "tone": tone}


def notices(
    verdicts: list[Verdict],
    findings: list[Finding],
    bounds: Bounds,
    model: Model,
    measurement: Measurement | None,
) -> Iterator[View]:
    """What a reader must know before believing the numbers."""
    for verdict in verdicts:
        if verdict.status is Status.VIOLATED and verdict.measured and verdict.bound:
            longest, bound = duration(verdict.measured.max), duration(verdict.bound.bound)
            yield {
                "tone": "bad",
                "title": f"Chain {verdict.chain.id}: {longest} was measured, the bound is {bound}",
                "lines": [f"Violated assumption: {verdict.explanation}."],
            }
    exceeded = list(_callbacks_above_bound(model, bounds, measurement))
    if exceeded:
        yield {"tone": "bad", "title": "Callbacks above their bounds", "lines": exceeded}
    reasons = [e.reason or "no reason given" for e in bounds.callbacks if e.bound is None]
    if reasons:
        title = f"No bound for {count(len(reasons), 'callback')}"
        yield {"tone": "warn", "title": title, "lines": list(dict.fromkeys(reasons))}
    if any(bound.bound is not None for bound in bounds.callbacks):
        for standing, title in DOUBTS.items():
            if doubts := [f.text for f in findings if f.standing is standing]:
                yield {"tone": "warn", "title": title, "lines": doubts}
    if measurement is not None:
        if measurement.provenance.get("execution_time") in ("wall_time", "mixed"):
            yield {"tone": "none", "title": "Execution times are wall times", "lines": [WALL_TIME]}
        lost = [
            f"{name.replace('_', ' ')}: {grouped(number)}"
            for name, number in measurement.losses.items()
            if number and name not in losses.KINDS
        ]
        if lost:
            yield {"tone": "none", "title": "Not everything recorded could be used", "lines": lost}


def chain_rows(verdicts: list[Verdict], model: Model) -> Iterator[View]:
    by_id = {callback.id: callback for callback in model.callbacks}
    widest = max((value for verdict in verdicts for value in _marks(verdict)), default=1) or 1
    for verdict in verdicts:
        measured = verdict.measured or MeasuredChain(id=verdict.chain.id, count=0)
        bound = verdict.bound.bound if verdict.bound else None
        goal = verdict.chain.goal
        span = None
        if measured.p50 is not None and measured.max is not None:
            span = (_percent(measured.p50, widest), _percent(measured.max - measured.p50, widest))
        steps = [by_id[step] for step in verdict.chain.callbacks if step in by_id]
        yield {
            "id": verdict.chain.id,
            "route": " → ".join(_node(step) for step in steps),
            "count": grouped(measured.count),
            "incomplete": grouped(measured.incomplete) if measured.incomplete else None,
            "p50": duration(measured.p50),
            "p99": duration(measured.p99),
            "max": duration(measured.max),
            "bound": duration(bound),
            "goal": goal_of(goal, verdict.chain.kind),
            "gauge": {
                "range": span,
                "bound": None if bound is None else _percent(bound, widest),
                "goal": None if goal is None else _percent(goal, widest),
            },
            "status": verdict.summary,
            "tone": TONES[verdict.status],
            "explanation": "; ".join(filter(None, (verdict.explanation, *verdict.advice))),
        }


def callback_groups(
    model: Model, bounds: Bounds, measurement: Measurement | None
) -> Iterator[View]:
    """The callback table, one group of rows for each executor."""
    bound_of = {bound.id: bound for bound in bounds.callbacks}
    measured_of = {entry.id: entry for entry in measurement.callbacks} if measurement else {}
    names, executors = labels(model.callbacks), executor_labels(model)
    for i, executor in enumerate(model.executors):
        rows = []
        for callback in model.callbacks:
            if callback.executor != executor.id:
                continue
            measured = measured_of.get(callback.id) or MeasuredCallback(id=callback.id, count=0)
            bound = bound_of.get(callback.id)
            limit = bound.bound if bound else None
            response = measured.response_time.max
            curve = callback.execution_time.curve
            exceeded = limit is not None and response is not None and response > limit
            rows.append(
                {
                    "name": names[callback.id],
                    "kind": callback.kind,
                    "rate": rate(callback.activation) or NONE,
                    "count": grouped(measured.count),
                    "p50": duration(measured.execution_time.p50),
                    "p99": duration(measured.execution_time.p99),
                    "max": duration(measured.execution_time.max),
                    "assumed": duration(curve[0] if curve else None),
                    "response": duration(response),
                    "bound": duration(limit),
                    "by": (bound.by or bound.reason or NONE).replace("_", " ") if bound else NONE,
                    "tone": "bad" if exceeded else None,
                }
            )
        yield {
            "name": executors[executor.id],
            "supply": _supply(executor),
            "hue": i % 8,
            "rows": rows,
        }


def way_rows(model: Model, measurement: Measurement | None) -> Iterator[View]:
    """The ways of messages that events of Fast DDS split into parts."""
    names = labels(model.callbacks)
    for edge in measurement.edges if measurement else ():
        if edge.way is not None:
            parts = (edge.way.sending, edge.way.transport, edge.way.waiting)
            yield {
                "source": names.get(edge.source, edge.source),
                "target": names.get(edge.target, edge.target),
                "count": grouped(edge.way.count),
                "parts": [(duration(part.p50), duration(part.max)) for part in parts],
            }


def assumption_rows(findings: list[Finding], measurement: Measurement | None) -> Iterator[View]:
    """Each assumption, and how it fared."""
    checked = assumptions.checked(measurement) if measurement else set()
    for subject, (name, meaning) in MEANINGS.items():
        about = [finding for finding in findings if finding.subject is subject]
        if any(finding.standing is Standing.VIOLATED for finding in about):
            standing, tone = "violated", "bad"
        elif about:
            standing, tone = "not guaranteed", "warn"
        elif subject not in checked:
            standing, tone = "not checked", "none"
        elif subject is Subject.SUPPLY:
            standing, tone = "guaranteed by the kernel", "good"
        else:
            standing, tone = "held in the recording", "good"
        lines = [finding.text for finding in about]
        yield {"name": name, "meaning": meaning, "standing": standing, "tone": tone, "lines": lines}


def origin(documents: list[Model | Bounds | Measurement]) -> Iterator[tuple[str, str]]:
    """The provenance of every document, flattened."""
    for document in documents:
        yield document.format, f"version {document.version}"
        for path, value in _flattened(document.provenance):
            yield f"\u2003{path.replace('_', ' ')}", value


TIMES = ("duration", "start_up", "horizon")
"""Members of a provenance that are nanoseconds."""
MOST_LISTED = 3
"""The most texts of a list that are shown; of the others only the number is."""


def _flattened(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flattened(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        texts = [item for item in value if isinstance(item, str)]
        if texts:
            more = f" and {count(len(texts) - MOST_LISTED, 'other')}"
            yield path, ", ".join(texts[:MOST_LISTED]) + (more if len(texts) > MOST_LISTED else "")
        for i, item in enumerate(value):
            if not isinstance(item, str):
                yield from _flattened(item, f"{path}[{i}]")
    elif path in TIMES and isinstance(value, int):
        yield path, duration(value)
    elif value is not None:
        yield path, str(value)


def _callbacks_above_bound(
    model: Model, bounds: Bounds, measurement: Measurement | None
) -> Iterator[str]:
    if measurement is None:
        return
    names = labels(model.callbacks)
    bound_of = {bound.id: bound.bound for bound in bounds.callbacks}
    for measured in measurement.callbacks:
        longest, bound = measured.response_time.max, bound_of.get(measured.id)
        if longest is not None and bound is not None and longest > bound:
            name = names.get(measured.id, measured.id)
            yield f"{name}: {duration(longest)} was measured, the bound is {duration(bound)}"


def _marks(verdict: Verdict) -> list[int]:
    values = (
        verdict.chain.goal,
        verdict.bound.bound if verdict.bound else None,
        verdict.measured.max if verdict.measured else None,
    )
    return [value for value in values if value is not None]


def _percent(value: int, whole: int) -> float:
    return round(99 * value / whole, 2)


def _node(callback: Callback) -> str:
    return (callback.node or callback.name or callback.id).lstrip("/")


def _supply(executor: Executor) -> str:
    if executor.supply.kind == "dedicated":
        return "assumes a processor of its own"
    supply = executor.supply
    if supply.kind == "slots":
        supplied = sum(slot.end - slot.start for slot in supply.slots)
        return f"slots: {duration(supplied)} every {duration(supply.cycle)}"
    if supply.kind == "fixed_priority":
        return f"what others leave at priority {supply.priority}"
    return f"reservation: {duration(supply.budget)} every {duration(supply.period)}"
