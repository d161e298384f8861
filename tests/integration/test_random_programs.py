"""Bounds beside stock rclpy: an adversary that shares no line with the simulator or the analysis.

Random programs run on rclpy's own executor and are recorded, and bounds of the model of that
recording are held against it. Nothing that was recorded may be above its bound, and nothing may
refute the model. TAKT_PROGRAMS says how many programs run; usually a few. TAKT_SEED chooses others.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from recording import PROGRAMS, Run
from takt import assumptions, pipeline
from takt.assumptions import Standing
from takt.documents import Bounds, Measurement

SEED = int(os.environ.get("TAKT_SEED", "1"))
COUNT = int(os.environ.get("TAKT_PROGRAMS", "3"))
pytestmark = [pytest.mark.alone, pytest.mark.timeout(100 + 40 * COUNT)]
SECONDS = 6
PRIORITY = 10
MOST_TAKEN = 5_000_000
"""Nanoseconds: well within what the other order costs the control (20 ms in the mean)."""
ENOUGH = 50
"""Programs of which shares and medians say something."""


@dataclass(frozen=True)
class Response:
    what: str
    measured: int
    bound: int | None


@dataclass(frozen=True)
class Seen:
    responses: list[Response]
    refuted: list[str]
    taken: int
    """Nanoseconds for which callbacks had begun but had no processor, by the program's clocks."""

    def above(self) -> list[Response]:
        """Responses above their bound by more than what the machine took from the program."""
        return [
            response
            for response in self.responses
            if response.bound is not None and response.measured > response.bound + self.taken
        ]


def run(seed: int, folder: Path) -> Run:
    command = [sys.executable, str(PROGRAMS / "rclpy_nodes.py")]
    trace = folder / f"trace-{seed}"
    return Run.of(trace, [*command, str(seed), str(SECONDS), str(PRIORITY)], backend="ring")


def judge(recorded: Run, changes: str | None = None) -> Seen:
    """`changes` are made to the model of the recording before it is analysed."""
    traces, source = [str(recorded.trace)], str(recorded.trace)
    model = json.dumps(pipeline.synthesize(traces))
    if changes:
        model = pipeline.change(model, source, changes)
    bounds = pipeline.analyze(model, source)
    measurement = pipeline.measure(traces, model, source)
    findings = assumptions.examine(pipeline.read_model(model, source), bounds, measurement)
    return Seen(
        list(_responses(bounds, measurement)),
        [finding.text for finding in findings if finding.standing is Standing.VIOLATED],
        sum(int(line) for line in recorded.output.split()),
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


@pytest.fixture(autouse=True, scope="module")
def _privileged() -> None:
    try:
        scheduler = os.sched_getscheduler(0), os.sched_getparam(0)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
        os.sched_setscheduler(0, *scheduler)
    except PermissionError:
        pytest.skip("programs that others preempt show nothing: SCHED_FIFO needs privileges")


def test_no_response_of_stock_rclpy_is_above_its_bound(tmp_path: Path) -> None:
    callbacks: list[Response] = []
    faults: list[str] = []
    for seed in range(SEED, SEED + COUNT):
        seen = judge(run(seed, tmp_path))
        assert seen.responses, f"program {seed} did nothing"
        faults += [f"program {seed}: {text}" for text in (*map(str, seen.above()), *seen.refuted)]
        callbacks += [each for each in seen.responses if each.what.startswith("callback")]
    tightness = [each.measured / each.bound for each in callbacks if each.bound]
    finite = len(tightness) / len(callbacks)
    print(f"{COUNT} programs, {len(callbacks)} callbacks, {finite:.1%} bounded")
    print(f"median of measured over bound: {statistics.median(tightness):.2f}")
    assert not faults, "\n".join(faults)
    if COUNT >= ENOUGH:
        assert finite >= 0.95
        assert statistics.median(tightness) >= 0.4


def test_bounds_for_another_order_are_found_to_be_too_low(tmp_path: Path) -> None:
    """The control: a hunt that does not find this finds nothing."""
    recorded = run(0, tmp_path)
    assert not judge(recorded).above()
    wrong = judge(recorded, "order=any_in_category")
    assert any(
        order.startswith("order: any_in_category is contradicted") for order in wrong.refuted
    )
    if wrong.taken > MOST_TAKEN:
        pytest.skip(f"the machine took {wrong.taken} ns from the program")
    assert wrong.above(), wrong
