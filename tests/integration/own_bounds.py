"""What a recording shows, held against bounds of the model that was made from it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from recording import Run
from takt import pipeline
from takt.documents import Bounds, Measurement
from takt.verdicts import assumptions
from takt.verdicts.assumptions import Finding, Standing, Subject


@dataclass(frozen=True)
class Response:
    what: str
    measured: int
    bound: int | None


@dataclass(frozen=True)
class Seen:
    responses: list[Response]
    findings: list[Finding]
    taken: int
    """Nanoseconds for which callbacks had begun but had no processor, by the program's clocks, and
    the longest time for which an executor was ready and had none, by the kernel's events.
    """

    @property
    def refuted(self) -> list[str]:
        return [each.text for each in self.findings if each.standing is Standing.VIOLATED]

    @property
    def named(self) -> set[Subject]:
        """What is refuted or not guaranteed."""
        return {each.subject for each in self.findings}

    def exceeded(self) -> list[Response]:
        return [each for each in self.responses if each.bound and each.measured > each.bound]

    def above(self) -> list[Response]:
        """Responses above their bound by more than what the machine took from the program."""
        return [
            response
            for response in self.responses
            if response.bound is not None and response.measured > response.bound + self.taken
        ]


def judge(recorded: Run, changes: str | None = None, of: Run | None = None) -> Seen:
    """`changes` are made to the model before it is analysed, which is that of the recording, or of
    another one.
    """
    traces, source = [str(recorded.trace)], str(recorded.trace)
    model = json.dumps(pipeline.synthesize([str(of.trace)] if of else traces))
    if changes:
        model = pipeline.change(model, source, changes)
    bounds = pipeline.analyze(model, source)
    measurement = pipeline.measure(traces, model, source)
    findings = assumptions.examine(pipeline.read_model(model, source), bounds, measurement)
    return Seen(
        list(_responses(bounds, measurement)),
        findings,
        sum(int(line) for line in recorded.output.split())
        + max((wait.longest for wait in measurement.processor_waits), default=0),
    )


def _responses(bounds: Bounds, measurement: Measurement) -> Iterator[Response]:
    of_callbacks = {callback.id: callback.bound for callback in bounds.callbacks}
    for callback in measurement.callbacks:
        if callback.response_time.max is not None:
            name = f"callback {callback.id}"
            yield Response(name, callback.response_time.max, of_callbacks[callback.id])
    of_chains = {chain.id: chain.bound for chain in bounds.chains}
    for chain in measurement.chains:
        if chain.max is not None:
            yield Response(f"chain {chain.id}", chain.max, of_chains[chain.id])
