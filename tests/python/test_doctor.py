"""What the doctor says, on this machine and on poorer ones."""

from __future__ import annotations

import errno
import json
import os
import re
from pathlib import Path

import pytest

from robot import run_takt
from takt import doctor
from takt.doctor import (
    machine,
    preemption,
    privileges,
    probing,
    rclpy_executors,
    reservations,
    ros,
    scheduling,
    supply,
    tracing,
)
from takt.doctor.check import Check, State, first_line, output_of

SUBJECTS = {
    *("ros2", "lttng", "lttng_sessiond", "tracetools", "own_start", "bpf"),
    *("sched_deadline", "sched_fifo"),
    *("reservations", "budgets", "preemption"),
    *("privileges", "cores", "clocks", "cgroups", "pinning", "netns", "compilers"),
}


def test_json_is_one_document_that_agrees_with_the_status() -> None:
    done = run_takt("doctor", "--json")
    document = json.loads(done.stdout)
    assert (document["format"], document["version"]) == ("takt/doctor", 1)
    assert {check["id"] for check in document["checks"]} == SUBJECTS
    missing = [c["id"] for c in document["checks"] if c["required"] and c["state"] == "missing"]
    assert document["healthy"] == (not missing)
    assert done.returncode == (1 if missing else 0)


def test_whatever_is_missing_comes_with_its_remedy() -> None:
    for check in doctor.examine():
        assert check.detail
        assert check.state is not State.MISSING or check.remedy, check.id


def test_the_table_names_every_subject() -> None:
    shown = run_takt("doctor").stdout
    for check in doctor.examine():
        assert check.name in shown


@pytest.mark.parametrize(
    ("state", "healthy"), [("ok", True), ("limited", True), ("missing", False)]
)
def test_only_what_is_required_and_missing_is_unhealthy(state: str, healthy: bool) -> None:
    required = Check("x", "X", State(state), "detail", required=True)
    optional = Check("y", "Y", State.MISSING, "detail")
    assert doctor.healthy([required, optional]) is healthy


def test_policies_are_tried_in_a_thread_of_their_own() -> None:
    before = os.sched_getscheduler(0)
    scheduling.fifo()
    scheduling.deadline()
    assert os.sched_getscheduler(0) == before


@pytest.mark.parametrize(
    ("error", "remedy"),
    [(errno.EPERM, "CAP_SYS_NICE"), (errno.EBUSY, "sched_rt_runtime_us"), (errno.ENOSYS, "Linux")],
)
def test_a_refused_reservation_says_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch, error: int, remedy: str
) -> None:
    def refuse() -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(scheduling, "_become_deadline", refuse)
    check = scheduling.deadline()
    assert check.state is State.MISSING
    assert os.strerror(error) in check.detail
    assert remedy in (check.remedy or "")


@pytest.mark.parametrize(
    ("path", "line", "said", "remedy"),
    [
        ("/proc/sys/kernel/sched_rt_runtime_us", "200000", "20% of each", "sched_rt_runtime_us"),
        ("/sys/kernel/sched_ext/state", "enabled", "sched_ext", "end the sched_ext"),
        ("/sys/fs/cgroup/cpu.max", "50000 100000", "quota (50000 100000)", "--cpus"),
        ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000", "quota (50000)", "--cpus"),
    ],
)
def test_what_keeps_reservations_from_working_is_named(
    monkeypatch: pytest.MonkeyPatch, path: str, line: str, said: str, remedy: str
) -> None:
    files = {"/proc/sys/kernel/sched_rt_period_us": "1000000", path: line}
    monkeypatch.setattr(reservations, "first_line", files.get)
    check = reservations.reservations()
    assert check.state is State.LIMITED
    assert said in check.detail
    assert remedy in (check.remedy or "")


def test_programs_in_a_processor_set_get_no_reservations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reservations, "first_line", lambda path: None)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0})
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    check = reservations.reservations()
    assert check.state is State.LIMITED
    assert "1 of 4 processors" in check.detail
    assert "taskset" in (check.remedy or "")


def test_without_programs_they_are_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert tracing.lttng().state is State.MISSING
    assert machine.compilers().state is State.LIMITED
    assert "c++, cmake, ninja" in machine.compilers().detail


def test_what_programs_need_that_takt_does_not_start_is_said() -> None:
    check = tracing.own_start()
    assert check.state is State.OK
    assert (Path(check.facts["PYTHONPATH"]) / "sitecustomize.py").is_file()
    assert Path(check.facts["LD_PRELOAD"]).is_file()
    for value in check.facts.values():
        assert value in check.detail


def test_a_python_without_rclpy_has_no_ros(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ros, "PROBE", "import a_module_that_is_not_there")
    check = ros.ros()
    assert (check.state, check.required) == (State.MISSING, True)
    assert "setup.bash" in (check.remedy or "")


def test_capabilities_are_those_of_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    def status(self: Path) -> str:
        return "Name:\tx\nCapEff:\t0000000000800000\n"

    monkeypatch.setattr(Path, "read_text", status)
    assert privileges.capabilities() == {"CAP_SYS_NICE"}
    check = privileges.privileges()
    assert check.state is State.LIMITED
    assert "without CAP_NET_ADMIN, CAP_IPC_LOCK, CAP_SYS_ADMIN" in check.detail


def test_programs_that_fail_or_hang_print_nothing() -> None:
    assert output_of("sh", "-c", "echo 3") == "3"
    assert (
        output_of("printf", r"\303\251 \377")
        == "\N{LATIN SMALL LETTER E WITH ACUTE} \N{REPLACEMENT CHARACTER}"
    )
    assert output_of("sh", "-c", "echo 3; exit 1") is None
    assert output_of("sleep", "100", seconds=0.1) is None
    assert output_of("a-program-that-is-not-there") is None


def test_unreadable_files_have_no_first_line(tmp_path: Path) -> None:
    assert first_line(str(tmp_path / "nothing")) is None
    assert re.fullmatch(r"\d+", first_line("/proc/sys/kernel/pid_max") or "")


VIOLATIONS = """
import threading

from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor

KINDS = ("Timer", "Subscription", "Client", "Service")


def kind(ready):
    name = type(ready[1]).__name__
    return KINDS.index(name) if name in KINDS else len(KINDS)


class Reordering(SingleThreadedExecutor):
    def _wait_for_ready_callbacks(self, *arguments, **named):
        ready, end = [], None
        try:
            for one in super()._wait_for_ready_callbacks(*arguments, **named):
                ready.append(one)
        except Exception as error:
            end = error
        yield from self.reorder(ready)
        if end:
            raise end


class ServicesFirst(Reordering):
    def reorder(self, ready):
        return sorted(ready, key=kind, reverse=True)


class NodesInTurns(Reordering):
    def reorder(self, ready):
        return sorted(ready, key=kind)


class TimersTwice(Reordering):
    def reorder(self, ready):
        for one in ready:
            yield one
            if kind(one) == 0 and not one[1].is_canceled():
                yield self._make_handler(one[1], one[2], self._take_timer), one[1], one[2]


class TimersAtOnce(SingleThreadedExecutor):
    def _wait_for_ready_callbacks(self, *arguments, **named):
        for one in super()._wait_for_ready_callbacks(*arguments, **named):
            yield one
            for node in self.get_nodes():
                for timer in node.timers:
                    if timer is not one[1] and timer.handle.is_timer_ready():
                        yield self._make_handler(timer, node, self._take_timer), timer, node


class WithoutExclusion(MultiThreadedExecutor):
    def add_node(self, node):
        for timer in node.timers:
            timer.callback_group.beginning_execution = lambda entity: True
            timer.callback_group.can_execute = lambda entity: True
            timer.callback_group.ending_execution = lambda entity: None
        return super().add_node(node)
"""


@pytest.mark.parametrize(
    ("single_threaded", "multi_threaded", "lacking"),
    [
        (rclpy_executors.SINGLE_THREADED, rclpy_executors.MULTI_THREADED, set()),
        ("violations:ServicesFirst", rclpy_executors.MULTI_THREADED, {"rclpy_categories"}),
        ("violations:NodesInTurns", rclpy_executors.MULTI_THREADED, {"rclpy_by_node"}),
        ("violations:TimersTwice", rclpy_executors.MULTI_THREADED, {"rclpy_once"}),
        ("violations:TimersAtOnce", rclpy_executors.MULTI_THREADED, {"rclpy_polling_points"}),
        (rclpy_executors.SINGLE_THREADED, "violations:WithoutExclusion", {"rclpy_exclusion"}),
    ],
)
def test_executors_that_lack_a_property_are_found(
    single_threaded: str,
    multi_threaded: str,
    lacking: set[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "violations.py").write_text(VIOLATIONS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(probing, "LONGEST", 600)  # on a busy machine
    found = {check.id: check for check in rclpy_executors.examine(single_threaded, multi_threaded)}
    assert {id_ for id_, check in found.items() if check.state is State.OK} >= (
        {"rclpy_exclusion"} - lacking
    )
    failed = {id_ for id_, check in found.items() if check.state is State.MISSING}
    assert (failed >= lacking) if lacking else (failed == set())
    assert doctor.healthy(list(found.values())) is not bool(lacking)


def test_what_a_budget_lacks_is_told_once_and_for_each_period() -> None:
    """The clock of a thread with 10 of every 50, as it was before each period's end."""
    samples = [(100, 1000), (149, 1007), (199, 1015), (230, 1022), (310, 1034)]
    shortfalls = supply.lacking(samples, budget=10, period=50)
    assert shortfalls == [10 - 7, 20 - 15, 30 - 22, 40 - 22]
    found = supply.of([3, 5, 7, 19, 21, 23], stolen=0.5)
    assert (found.once, found.each_period, found.worst, found.stolen) == (3, 2, 23, 0.5)
    ahead = supply.of([-4, -4, -4], stolen=0)
    assert (ahead.once, ahead.each_period, ahead.worst) == (0, 0, 0)


def test_budgets_lack_nothing_in_each_period() -> None:
    """On the kernel of this machine; a host that takes the processor now and then is no cost of
    each period.
    """
    check = supply.budgets()
    print(check.detail)
    assert check.state is State.OK or "each_period" not in check.facts, check


def test_budgets_that_lack_much_are_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(each: int, stolen: float = 0) -> Check:
        monkeypatch.setattr(supply, "measure", lambda: supply.Supply(38_000, each, 99_000, stolen))
        return supply.budgets()

    assert found(0).state is State.OK
    assert found(0).detail == "1 ms of every 5 ms lack 0, and 38 µs once"
    assert found(0, stolen=0.03).detail.endswith("; the host took the processors for 30 ms")
    limited = found(40_001)
    assert limited.state is State.LIMITED
    assert limited.remedy is not None
    assert "--margin 5," in limited.remedy


def test_budgets_are_not_tried_where_reservations_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(budget: int, period: int) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(supply, "become_deadline", refuse)
    check = supply.budgets()
    assert check.state is State.LIMITED
    assert "Operation not permitted" in check.detail


DYNAMIC = "Linux version 6.18.0 (gcc) #1 SMP PREEMPT_DYNAMIC"
CHOICES = "sys/kernel/debug/sched/preempt"


@pytest.mark.parametrize(
    ("files", "mode", "state", "remedy"),
    [
        ({CHOICES: "none voluntary (full) lazy"}, "full", State.OK, None),
        ({CHOICES: "none voluntary full (lazy)"}, "lazy", State.OK, None),
        ({CHOICES: "(none) voluntary full"}, "none", State.LIMITED, "preempt=full"),
        ({"proc/cmdline": "quiet preempt=voluntary"}, "voluntary", State.LIMITED, "preempt=full"),
        ({"proc/cmdline": "preempt=none preempt=full"}, "full", State.OK, None),
        ({"boot/config-6.18.0": "CONFIG_PREEMPT_NONE=y"}, "none", State.LIMITED, "preempt=full"),
        (
            {"boot/config-6.18.0": "# CONFIG_PREEMPT_NONE is not set\nCONFIG_PREEMPT=y"},
            "full",
            State.OK,
            None,
        ),
        (
            {
                "proc/version": "Linux version 5.4 SMP",
                "boot/config-6.18.0": "CONFIG_PREEMPT_NONE=y",
            },
            "none",
            State.LIMITED,
            "CONFIG_PREEMPT",
        ),
        ({"proc/version": "Linux version 6.18 SMP PREEMPT_RT"}, "real-time", State.OK, None),
        ({"proc/version": "Linux version 5.15 SMP PREEMPT"}, "full", State.OK, None),
        ({"sys/kernel/realtime": "1"}, "real-time", State.OK, None),
        ({"proc/config.gz": "no archive"}, None, State.LIMITED, "debugfs"),
        ({}, None, State.LIMITED, "debugfs"),
    ],
)
def test_preemption_is_what_the_kernel_says_of_itself(
    tmp_path: Path, files: dict[str, str], mode: str | None, state: State, remedy: str | None
) -> None:
    known = {"proc/version": DYNAMIC, "proc/sys/kernel/osrelease": "6.18.0", **files}
    for name, text in known.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    check = preemption.preemption(tmp_path)
    assert (check.facts["mode"], check.state) == (mode, state)
    assert (remedy is None) == (check.remedy is None)
    assert remedy is None or remedy in (check.remedy or "")
