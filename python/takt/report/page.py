"""What documents say, put into words for the page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from takt.documents import Bounds, Measurement, Model, losses
from takt.documents.names import labels
from takt.text.formatting import count, duration, grouped
from takt.verdicts import assumptions
from takt.verdicts.assumptions import Finding, Standing, Subject
from takt.verdicts.verdict import Status, Verdict

View = dict[str, Any]


def tone(verdict: Verdict) -> str:
    """How the page marks a chain: `good`, `warn`, `bad` or `none`."""
    if verdict.idle or verdict.status is Status.BOUNDED:
        return "none"
    if verdict.answer == Status.MISSED.value:
        return "bad"
    return "good" if verdict.status is Status.MET else "warn"


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


def facts(model: Model, bounds: Bounds, measurement: Measurement | None) -> list[str]:
    """Where, when and how the numbers came about, for the line beside the title."""
    analysis = f"{bounds.analysis.replace('_', ' ')} analysis" if bounds.analysis else "no analysis"
    if measurement is None:
        sizes = {"chain": model.chains, "callback": model.callbacks, "executor": model.executors}
        numbers = [count(len(things), noun) for noun, things in sizes.items() if things]
        return ["from a model, nothing measured", analysis, *numbers]
    words = measurement.provenance
    hosts = words.get("hosts")
    where = [f"recorded on {', '.join(map(str, hosts))}"] if isinstance(hosts, list) else []
    when = [str(words["recorded"])] if "recorded" in words else []
    return [*where, *when, analysis]


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
                "lines": ["The bound rests on this:", *verdict.reasons],
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
