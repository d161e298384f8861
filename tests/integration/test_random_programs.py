"""Bounds beside stock executors: an adversary that shares no line with the simulator or the
analysis.

Random programs run on rclpy's own executor, and on rclcpp's where CMake finds it, and are recorded.
Bounds of the model of that recording are held against it. Nothing that was recorded may be above
its bound, and nothing may refute the model. TAKT_PROGRAMS says how many programs run; usually a
few. TAKT_SEED chooses others.
"""

from __future__ import annotations

import os
import statistics
import sys
from pathlib import Path

import pytest

from own_bounds import Response, judge
from recording import PROGRAMS, Run, needs_privileges
from takt.verdicts.assumptions import Subject

SEED = int(os.environ.get("TAKT_SEED", "1"))
COUNT = int(os.environ.get("TAKT_PROGRAMS", "3"))
pytestmark = [pytest.mark.alone, pytest.mark.timeout(160 + 60 * COUNT)]
SECONDS = 6
PRIORITY = 10
NODES = Path(__file__).resolve().parents[2] / "build/release/tests/programs/rclcpp_nodes"
THREADS = 2
"""Of the executor with several of them."""
needs_rclcpp = pytest.mark.skipif(
    not NODES.exists(), reason="CMake found no rclcpp, so its programs are not built"
)
needs_processors = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) <= THREADS + 1,
    reason="bounds take each thread to have a processor to itself: the world needs one as well, "
    "and what else runs",
)
EXECUTORS = (
    "rclpy",
    pytest.param("single", marks=needs_rclcpp),
    pytest.param("events", marks=needs_rclcpp),
    pytest.param("multi", marks=[needs_rclcpp, needs_processors]),
)
MOST_TAKEN = 5_000_000
"""Nanoseconds: well within what the other order costs the control (20 ms in the mean)."""
ENOUGH = 50
"""Programs of which shares and medians say something."""


def run(seed: int, folder: Path, planted: str = "", executor: str = "rclpy") -> Run:
    """`executor`: rclpy, or one of rclcpp's, see EXECUTORS."""
    command = [sys.executable, str(PROGRAMS / "rclpy_nodes.py"), str(seed), str(SECONDS)]
    robot = [] if executor == "rclpy" else [str(NODES), executor]
    trace = folder / f"trace-{executor}-{seed}{planted}"
    kernel = [] if needs_privileges.mark.args[0] else ["--kernel"]
    return Run.of(trace, [*command, str(PRIORITY), planted, *robot], backend="ring", options=kernel)


@pytest.fixture(autouse=True, scope="module")
def _privileged() -> None:
    try:
        scheduler = os.sched_getscheduler(0), os.sched_getparam(0)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
        os.sched_setscheduler(0, *scheduler)
    except PermissionError:
        pytest.skip("programs that others preempt show nothing: SCHED_FIFO needs privileges")


@pytest.mark.parametrize("executor", EXECUTORS)
def test_no_response_of_stock_executors_is_above_its_bound(executor: str, tmp_path: Path) -> None:
    callbacks: list[Response] = []
    faults: list[str] = []
    for seed in range(SEED, SEED + COUNT):
        seen = judge(run(seed, tmp_path, executor=executor))
        assert seen.responses, f"program {seed} did nothing"
        above = seen.above()
        if above:
            # Several short times without a processor add up to more than the longest. A bound that
            # is too small is so in another run, too.
            print(f"program {seed}, once more: {', '.join(map(str, above))}")
            (tmp_path / "again").mkdir(exist_ok=True)
            again = judge(run(seed, tmp_path / "again", executor=executor)).above()
            above = [each for each in again if each.what in {one.what for one in above}]
        faults += [f"program {seed}: {text}" for text in (*map(str, above), *seen.refuted)]
        callbacks += [each for each in seen.responses if each.what.startswith("callback")]
    tightness = [each.measured / each.bound for each in callbacks if each.bound]
    finite = len(tightness) / len(callbacks)
    print(f"{executor}: {COUNT} programs, {len(callbacks)} callbacks, {finite:.1%} bounded")
    print(f"median of measured over bound: {statistics.median(tightness):.2f}")
    assert not faults, "\n".join(faults)
    if COUNT >= ENOUGH:
        assert finite >= 0.95
        assert statistics.median(tightness) >= 0.4


PLANTED = {
    "suspension": Subject.SUSPENSION,
    "execution": Subject.EXECUTION_TIME,
    "activation": Subject.ACTIVATION,
    "load": Subject.SUPPLY,
}


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("planted", PLANTED)
def test_what_a_program_does_beyond_its_model_is_named(
    planted: str, executor: str, tmp_path: Path
) -> None:
    """The model is that of the same program without it."""
    for number in range(max(1, COUNT // len(PLANTED))):
        seed = SEED + number
        known = run(seed, tmp_path, executor=executor)
        seen = judge(run(seed, tmp_path, planted, executor), of=known)
        assert seen.responses, f"program {seed} did nothing"
        print(planted, seed, seen.refuted, [str(each) for each in seen.exceeded()])
        if planted != "load":
            assert PLANTED[planted] in seen.named, f"program {seed}: {seen.refuted}"
        if seen.exceeded():
            assert PLANTED[planted] in seen.named, f"program {seed}: {seen}"


def test_bounds_for_another_order_are_found_to_be_too_low(tmp_path: Path) -> None:
    """The control: a hunt that does not find this finds nothing. An instance that takes longer
    beside other work makes the wrong bound larger than what waits for it: then it runs again.
    """
    for attempt in range(3):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        recorded = run(0, folder)
        assert not judge(recorded).above()
        wrong = judge(recorded, "order=any_in_category")
        contradicted = "order: any_in_category is contradicted"
        assert any(order.startswith(contradicted) for order in wrong.refuted), wrong
        if wrong.above():
            return
    if wrong.taken > MOST_TAKEN:
        pytest.skip(f"the machine took {wrong.taken} ns from the program")
    pytest.fail(str(wrong))
