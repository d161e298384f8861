"""takt run: timing models as real processes, what they do, and how they end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import babeltrace
from children import Child
from recording import TAKT, Run, is_gone, until

MODELS = Path(__file__).resolve().parents[2] / "models"
WITHOUT_PRIVILEGE = ["setpriv", "--bounding-set", "-sys_nice", "--inh-caps", "-sys_nice"]


def run(*arguments: str, before: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*before, *TAKT, "run", *arguments], capture_output=True, text=True, check=False
    )


def document(model: str, *options: str, before: Sequence[str] = ()) -> dict[str, Any]:
    done = run(str(MODELS / f"{model}.json"), "--json", *options, before=before)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def counts(document: dict[str, Any]) -> dict[str, int]:
    return {callback["id"]: callback["count"] for callback in document["callbacks"]}


def may_reserve() -> bool:
    """Whether this user may use SCHED_DEADLINE."""
    command = ["chrt", "-d", "-T", "100000", "-P", "100000000", "0", "true"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_more_processes_than_may_be_started_are_one_line(tmp_path: Path) -> None:
    timer = {"kind": "timer", "activation": {"kind": "periodic", "period": 50_000_000}}
    document = {
        "format": "takt/model",
        "version": 1,
        "executors": [{"id": f"e{i}", "kind": "events"} for i in range(30)],
        "callbacks": [
            {"id": f"c{i}", "executor": f"e{i}", "execution_time": {"curve": [1000]}, **timer}
            for i in range(30)
        ],
    }
    model = tmp_path / "model.json"
    model.write_text(json.dumps(document))
    done = run(str(model), "--duration", "1", before=["prlimit", "--nofile=48", "--"])
    assert done.returncode == 2
    *_, complaint = done.stderr.splitlines()
    assert "of 30, cannot be started: Too many open files; raise the limit with" in complaint


def test_nothing_is_lost_between_processes() -> None:
    ran = counts(document("pipeline", "--duration", "1"))
    assert ran["camera"] > 0
    assert ran["motor"] == ran["camera"]


def test_several_edges_along_a_topic_are_as_many_messages(tmp_path: Path) -> None:
    model = json.loads((MODELS / "pipeline.json").read_text(encoding="utf-8"))
    model["edges"] *= 3
    for callback in model["callbacks"]:
        callback["execution_time"] = {"curve": [100_000]}
    burst = tmp_path / "burst.json"
    burst.write_text(json.dumps(model))
    done = run(str(burst), "--json", "--duration", "1")
    assert done.returncode == 0, done.stderr
    ran = counts(json.loads(done.stdout))
    assert ran["camera"] > 0
    assert ran["motor"] == 3 * ran["camera"]


def test_requests_come_back_as_responses() -> None:
    ran = counts(document("service_call", "--duration", "1"))
    assert ran["decide"] > 0
    assert ran["confirm"] == ran["brake"] == ran["decide"]


def test_joins_trigger_sets_and_triggers_without_a_topic() -> None:
    ran = counts(document("fusion", "--duration", "2"))
    assert ran["filter"] == ran["sweep"] + ran["self test"]
    assert ran["log"] == ran["self test"] > 0
    # The newest frame and the newest target: as often as the slower of them comes.
    assert 0 < ran["fuse"] <= min(ran["frame"], ran["sweep"])


MS = 1_000_000


def test_a_surge_makes_a_callback_slow_for_a_while() -> None:
    surge = ("--surge", "camera=5@0.2-0.6", "--surge", "camera=0.1@0.6-9")
    ran = document("pipeline", "--duration", "1", *surge)
    (slow,) = (callback for callback in ran["callbacks"] if callback["id"] == "camera")
    model = json.loads((MODELS / "pipeline.json").read_text())
    (one,) = (callback for callback in model["callbacks"] if callback["id"] == "camera")
    # Processor time: the machine's speed does not matter.
    assert slow["longest"] > 4.9 * one["execution_time"]["curve"][0]
    assert slow["overruns"] > 0


@pytest.mark.parametrize(
    ("surge", "said"),
    [
        ("camera=5", "not of the form"),
        ("camera=5@3-2", "FROM is before TO"),
        ("camera=5.5.5@2-3", "not of the form"),
        ("nobody=5@2-3", 'no callback "nobody"'),
    ],
)
def test_a_surge_that_cannot_be_is_one_line(surge: str, said: str) -> None:
    done = run(str(MODELS / "pipeline.json"), "--duration", "1", "--surge", surge)
    assert done.returncode == 2
    assert said in done.stderr.splitlines()[-1]


def timer_and_subscription(executor: dict[str, Any]) -> dict[str, Any]:
    """A timer whose messages a subscription of another node gets, on one executor."""
    timer = {
        "id": "tick",
        "node": "/ticking",
        "kind": "timer",
        "executor": "e",
        "execution_time": {"curve": [MS]},
        "activation": {"kind": "periodic", "period": 40 * MS},
    }
    subscription = {
        "id": "on_tick",
        "node": "/listening",
        "kind": "subscription",
        "executor": "e",
        "execution_time": {"curve": [MS]},
    }
    return {
        "format": "takt/model",
        "version": 1,
        "executors": [{"id": "e", **executor}],
        "callbacks": [timer, subscription],
        "edges": [{"from": "tick", "to": "on_tick"}],
    }


SLOTS = [
    {"start": 0, "end": 10 * MS, "callback": "tick"},
    {"start": 20 * MS, "end": 30 * MS, "callback": "on_tick"},
]


@pytest.mark.parametrize(
    "executor",
    [
        {"kind": "multi_threaded", "threads": 2},
        {"kind": "table_driven", "table": {"cycle": 40 * MS, "slots": SLOTS}},
        {"kind": "events"},
        {"kind": "edf"},
    ],
    ids=lambda executor: executor["kind"],
)
def test_every_kind_of_executor_runs(executor: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(timer_and_subscription(executor)))
    done = run(str(path), "--duration", "1", "--json")
    assert done.returncode == 0, done.stderr
    ran = counts(json.loads(done.stdout))
    assert ran["on_tick"] == ran["tick"] > 0


def test_a_table_driven_executor_needs_its_table() -> None:
    done = run(str(MODELS / "pipeline.json"), "--executor", "table_driven")
    assert done.returncode == 2
    assert "is table-driven: give its slots" in done.stderr


def test_callbacks_take_the_modelled_processor_time() -> None:
    model = json.loads((MODELS / "pipeline.json").read_text())
    ran = {c["id"]: c for c in document("pipeline", "--duration", "1")["callbacks"]}
    for callback in model["callbacks"]:
        # Never less, for it counts what the thread got; more only by interrupts and the like.
        assert ran[callback["id"]]["longest"] >= 0.9 * callback["execution_time"]["curve"][0]


def may_use(*scheduling: str) -> bool:
    return subprocess.run(["chrt", *scheduling, "true"], capture_output=True).returncode == 0


@pytest.mark.skipif(not may_use("-r", "7"), reason="real-time priorities need privileges")
def test_a_dedicated_executor_is_scheduled_as_it_was_started(tmp_path: Path) -> None:
    model = json.loads((MODELS / "pipeline.json").read_text())
    for executor in model["executors"]:
        executor["supply"] = {"kind": "dedicated"}
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model))
    running = Running(str(path), before=["chrt", "-r", "7"])
    children = running.children(2)
    until(lambda: are_at_work(children))
    tasks = [task for child in children for task in Path(f"/proc/{child}/task").iterdir()]
    policies = {
        (os.sched_getscheduler(thread), os.sched_getparam(thread).sched_priority)
        for thread in (int(task.name) for task in tasks)
    }
    running.process.send_signal(signal.SIGINT)
    running.process.communicate()
    assert policies == {(os.SCHED_RR, 7)}


@pytest.mark.alone
@pytest.mark.skipif(not may_reserve(), reason="SCHED_DEADLINE needs CAP_SYS_NICE")
def test_reservations_are_granted_and_told_to_the_trace(tmp_path: Path) -> None:
    recorded = Run.of(
        tmp_path / "trace",
        [*TAKT, "run", str(MODELS / "pipeline.json"), "--duration", "1", "--json"],
    )
    ran = json.loads(recorded.output)
    assert [executor["granted"] for executor in ran["executors"]] == [True, True]
    assert ran["conditions"] == []
    events = list(babeltrace.events(recorded.trace))
    announced = {
        event.fields["executor"]: event.fields
        for event in events
        if event.name == "takt:executor_init"
    }
    assert announced.keys() == {"sensing", "acting"}
    sensing = announced["sensing"]
    assert (sensing["policy"], sensing["runtime"]) == ("deadline", 3_000_000)
    assert (sensing["period"], sensing["deadline"]) == (10_000_000, 10_000_000)
    assert (sensing["kind"], sensing["timers"]) == ("single_threaded", "polled")


def test_the_trace_has_every_instance_of_every_callback(tmp_path: Path) -> None:
    recorded = Run.of(
        tmp_path / "trace",
        [*TAKT, "run", str(MODELS / "service_call.json"), "--duration", "1", "--json"],
    )
    names: dict[tuple[int, int], str] = {}
    started: Counter[str] = Counter()
    ended: Counter[str] = Counter()
    for event in babeltrace.events(recorded.trace):
        if event.name == "ros2:rclcpp_callback_register":
            names[event.process, event.fields["callback"]] = event.fields["symbol"]
        elif event.name == "ros2:callback_start":
            started[names[event.process, event.fields["callback"]]] += 1
        elif event.name == "ros2:callback_end":
            ended[names[event.process, event.fields["callback"]]] += 1
    assert started == ended == counts(json.loads(recorded.output))


def test_without_privilege_it_runs_and_says_that_bounds_are_conditional() -> None:
    done = run(
        str(MODELS / "pipeline.json"), "--duration", "0.5", "--json", before=WITHOUT_PRIVILEGE
    )
    assert done.returncode == 0, done.stderr
    ran = json.loads(done.stdout)
    assert [executor["granted"] for executor in ran["executors"]] == [False, False]
    assert "CAP_SYS_NICE" in ran["executors"][0]["refusal"]
    assert counts(ran)["motor"] == counts(ran)["camera"] > 0
    assert "bounds are conditional" in done.stderr


@pytest.mark.parametrize(
    ("kind", "priorities"),
    [("single_threaded", (49, 50, 60)), ("events", (49, 50, 51, 60))],
)
def test_executors_have_their_priority_and_what_delivers_to_them_a_higher_one(
    kind: str, priorities: tuple[int, ...], tmp_path: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("real-time priorities need privileges")
    model = json.loads((MODELS / "pipeline.json").read_text())
    for executor in model["executors"]:
        executor |= {"kind": kind, "supply": {"kind": "dedicated"}}
        executor.pop("order", None)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model))
    command = [*TAKT, "run", str(path), "--duration", "2", "--json", "--priority", "50"]
    with Child(command, stdout=subprocess.PIPE, text=True) as process:
        found: set[tuple[int, ...]] = set()
        while process.poll() is None:
            # The priorities of each process: of its main thread, then of all others.
            found |= {
                (priority(child), *sorted({priority(task) for task in tasks(child)} - {0}))
                for child in children(process.pid)
            }
            time.sleep(0.02)
        assert process.stdout is not None
        ran = json.loads(process.stdout.read())
    # While a process starts, its main thread is what delivers messages.
    # What delivers messages is above the executors, and so is what releases timers if a thread of
    # its own does it; what recurs in DDS is below them.
    assert (0, *priorities) in found
    assert all(one["granted"] for one in ran["executors"])


def test_executors_at_fixed_priorities_have_those_of_the_model(tmp_path: Path) -> None:
    model = json.loads((MODELS / "pipeline.json").read_text())
    wanted = {41, 42}
    for executor, thread_priority in zip(model["executors"], sorted(wanted), strict=True):
        executor["cpu"] = 0
        executor["supply"] = {"kind": "fixed_priority", "priority": thread_priority}
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model))
    command = [*TAKT, "run", str(path), "--duration", "1", "--json"]
    refused = run(*command[len(TAKT) + 1 :], before=WITHOUT_PRIVILEGE)
    assert refused.returncode == 0, refused.stderr
    assert not any(one["granted"] for one in json.loads(refused.stdout)["executors"])
    if os.geteuid() != 0:
        pytest.skip("real-time priorities need privileges")
    with Child(command, stdout=subprocess.PIPE, text=True) as process:
        found: set[int] = set()
        while process.poll() is None:
            found |= {priority(task) for child in children(process.pid) for task in tasks(child)}
            time.sleep(0.02)
        assert process.stdout is not None
        ran = json.loads(process.stdout.read())
    assert wanted <= found
    assert all(one["granted"] for one in ran["executors"])
    supplies = [one["supply"] for one in ran["executors"]]
    assert supplies == [{"kind": "fixed_priority", "priority": one} for one in sorted(wanted)]


def children(process: int) -> list[int]:
    listed = Path(f"/proc/{process}/task/{process}/children")
    return [int(one) for one in listed.read_text().split()] if listed.exists() else []


def tasks(process: int) -> list[int]:
    try:
        return [int(task.name) for task in Path(f"/proc/{process}/task").iterdir()]
    except FileNotFoundError:
        return []


def priority(thread: int) -> int:
    """The priority of a thread; 0: it has none, or has ended."""
    try:
        return os.sched_getparam(thread).sched_priority
    except ProcessLookupError:
        return 0


def test_reservations_beyond_the_gfb_test_are_warned_of(tmp_path: Path) -> None:
    model = json.loads((MODELS / "pipeline.json").read_text())
    processors = len(os.sched_getaffinity(0))
    template = model["executors"][0]
    model["callbacks"] = model["callbacks"][:1]
    model["edges"] = model["chains"] = []
    supply = {"kind": "reservation", "budget": 9_000_000, "period": 10_000_000}
    model["executors"] = [{**template, "supply": supply}] + [
        {**template, "id": f"other {i}", "supply": supply} for i in range(processors)
    ]
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model))
    done = run(str(path), "--duration", "0.2")
    assert done.returncode == 0, done.stderr
    assert "(GFB test); lower the budgets; bounds are conditional in this run" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.json"], "nowhere.json: cannot be read: No such file or directory"),
        ([str(MODELS)], "models: not a trace: no file named 'metadata' in it or below"),
        (["pipeline", "--executor", "fast"], "--executor fast: no such kind of executor"),
        (["pipeline", "--executor", "event_source"], "no such kind of executor"),
        (["pipeline", "--duration", "0"], "'--duration'"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], message: str) -> None:
    model = MODELS / f"{arguments[0]}.json"
    done = run(*([str(model), *arguments[1:]] if model.exists() else arguments))
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_model_that_is_none_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    for text in ("", "{", '{"format": "takt/bounds"}', "\x00\xff"):
        path.write_text(text)
        done = run(str(path))
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert str(path) in done.stderr


class Running:
    """A `takt run` without a duration."""

    def __init__(self, *arguments: str, before: Sequence[str] = ()) -> None:
        self.process = subprocess.Popen(
            [*before, *TAKT, "run", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def children(self, count: int) -> list[int]:
        """Its processes, as soon as it has that many."""
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        while len(children := [int(pid) for pid in path.read_text().split()]) < count:
            assert self.process.poll() is None, self.process.communicate()[1]
            time.sleep(0.01)
        return children


def are_at_work(pids: list[int]) -> bool:
    """Whether the executors' threads run: each process has burnt more processor time since it began
    than any start takes.
    """
    hertz = os.sysconf("SC_CLK_TCK")
    times = [Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split() for pid in pids]
    return all((int(fields[11]) + int(fields[12])) / hertz > 0.2 for fields in times)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_good_order(number: signal.Signals) -> None:
    running = Running(str(MODELS / "pipeline.json"), "--json")
    children = running.children(2)
    until(lambda: are_at_work(children))
    running.process.send_signal(number)
    output, errors = running.process.communicate()
    assert running.process.returncode == 0, errors
    ran = counts(json.loads(output))
    assert ran["motor"] == ran["camera"]
    assert all(is_gone(pid) for pid in children)


def test_its_processes_end_with_it_however_it_ends() -> None:
    running = Running(str(MODELS / "pipeline.json"))
    children = running.children(2)
    running.process.kill()
    running.process.communicate()
    until(lambda: all(is_gone(pid) for pid in children))


def test_a_process_that_dies_ends_the_run_with_one_line() -> None:
    running = Running(str(MODELS / "pipeline.json"))
    children = running.children(2)
    until(lambda: are_at_work(children))
    os.kill(children[0], signal.SIGKILL)
    _, errors = running.process.communicate()
    assert running.process.returncode == 2
    assert "process sensing: ended with status -9" in errors
    assert all(is_gone(pid) for pid in children)


def test_its_sockets_are_on_loopback_alone() -> None:
    running = Running(str(MODELS / "pipeline.json"))
    children = running.children(2)
    until(lambda: are_at_work(children))
    listing = subprocess.run(["ss", "-Huanp"], capture_output=True, text=True, check=True).stdout
    running.process.send_signal(signal.SIGINT)
    running.process.communicate()
    ours = [
        line.split()[3]
        for line in listing.splitlines()
        if any(f"pid={pid}," in line for pid in children)
    ]
    assert ours
    assert all(address.startswith("127.0.0.1:") for address in ours), ours
