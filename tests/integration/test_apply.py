"""takt apply on real ROS 2: outputs leave in slots, and nothing else changes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing import shared_memory
from pathlib import Path
from typing import Any

import pytest

from children import Child
from recording import PROGRAMS, TAKT, until
from takt.documents import GatePhase, Model, ServerSlot, to_json
from takt.processes import runtime
from takt.shaping import loops, plans
from takt.shaping.dispatcher import INSIDE, Dispatcher

Json = dict[str, Any]

MODELS = Path(__file__).resolve().parents[2] / "models"
MS = 1_000_000
PERIOD = 50 * MS
MODEL: Json = {
    "format": "takt/model",
    "version": 1,
    "executors": [{"id": "e"}],
    "callbacks": [
        {
            "id": "control",
            "node": "/robot/jittery",
            "executor": "e",
            "kind": "timer",
            "registration": 0,
            "execution_time": {"curve": [30 * MS]},
            "activation": {"kind": "periodic", "period": PERIOD, "jitter": 0},
        }
    ],
    "edges": [],
    "chains": [{"id": "control", "callbacks": ["control"]}],
}
JITTERY = [sys.executable, str(PROGRAMS / "jittery.py")]


def plan(path: Path, **request: Any) -> str:
    latencies = [5 * MS + i * 250_000 for i in range(101)]
    wanted = plans.Request(grid=MS, slack=8 * MS, publish_time=MS, **request)
    made = plans.make(Model.read(MODEL), {"control": latencies}, "trace", wanted, "/command")
    path.write_text(to_json(made))
    return str(path)


def apply(plan: str, count: int, *arguments: str) -> tuple[Json, list[str]]:
    """What takt apply says, and what a consumer of /command heard."""
    there = plan + ".there"
    Path(there).unlink(missing_ok=True)
    listen = [sys.executable, str(PROGRAMS / "listen.py"), "/command", str(count), there]
    with Child(listen, stdout=subprocess.PIPE, text=True) as listener:
        assert listener.stdout is not None
        assert listener.stdout.readline() == '"ready"\n'
        done = subprocess.run(
            [*TAKT, "apply", plan, "--json", *arguments, "--", *JITTERY, str(count), there],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in (0, 1), done.stderr
        heard = [json.loads(line) for line in listener.stdout]
    applied: Json = json.loads(done.stdout)
    return applied, heard


def test_p32_every_message_leaves_once_with_the_same_content(tmp_path: Path) -> None:
    count = 40
    path = plan(tmp_path / "plan.json", bands=2, confidence=0.9)
    applied, heard = apply(path, count, "--adapt")
    assert heard == [f"command {number} ä" + "x" * number for number in range(count)]
    (chain,) = applied["chains"]
    assert chain["received"] == chain["released"] == count
    assert chain["dropped"] == 0
    assert applied["command_status"] == 0
    # Whatever the machine does, nothing leaves before its slot.
    slots = json.loads((tmp_path / "plan.json").read_text())["chains"][0]["gate"]["slots"]
    assert chain["left"]["min"] >= slots[0]["start"]
    assert chain["delay"]["min"] >= 0
    # So few outputs are no reason to choose slots anew.
    assert chain["adaptations"] == 0
    assert chain["slots"] == [{key: slot[key] for key in ("start", "end")} for slot in slots]
    assert chain["ready"]["max"] <= slots[-1]["end"]


def test_a_recording_shows_messages_on_their_way_through_the_gate(tmp_path: Path) -> None:
    there, trace = tmp_path / "there", tmp_path / "trace"
    there.touch()
    apply_plan = [*TAKT, "apply", plan(tmp_path / "plan.json"), "--", *JITTERY, "40", str(there)]
    record = [*TAKT, "record", "--backend", "ring", "-o", str(trace), "--", *apply_plan]
    recorded = subprocess.run(record, capture_output=True, text=True, check=False)
    assert recorded.returncode in (0, 1), recorded.stderr
    told = subprocess.run(
        [*TAKT, "flow", str(trace), "--json"], capture_output=True, text=True, check=True
    )
    (flow,) = json.loads(told.stdout)["flows"]
    assert (flow["from"], flow["to"]) == (
        "/robot/jittery:/command/unshaped",
        "/takt_gate:/command",
    )
    assert flow["count"] == 40
    # It waited for its slot in the gate.
    assert flow["breakdown"]["waiting_in_executor"] > flow["mean"] / 2


def test_a_burst_is_not_lost(tmp_path: Path) -> None:
    """Outputs that come all at once, while the gate waits for a slot or publishes."""
    path, count = plan(tmp_path / "plan.json"), 1000
    burst = [sys.executable, str(PROGRAMS / "burst.py"), str(count)]
    done = subprocess.run(
        [*TAKT, "apply", path, "--json", "--", *burst], capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    (chain,) = json.loads(done.stdout)["chains"]
    assert chain["received"] == chain["released"] == count
    assert chain["dropped"] == 0


def test_what_leaves_at_the_end_is_not_said_to_have_kept_its_slot(tmp_path: Path) -> None:
    """The only slot is at the end of a day."""
    day = 86400 * 10**9
    made = json.loads(Path(plan(tmp_path / "plan.json")).read_text())
    made["chains"][0]["period"] = made["cycle"] = day
    made["chains"][0]["gate"]["slots"][0] |= {"start": day - MS, "end": day}
    (tmp_path / "plan.json").write_text(json.dumps(made))
    burst = [sys.executable, str(PROGRAMS / "burst.py"), "3"]
    done = subprocess.run(
        [*TAKT, "apply", str(tmp_path / "plan.json"), "--json", "--", *burst],
        capture_output=True,
        text=True,
        check=False,
    )
    (chain,) = json.loads(done.stdout)["chains"]
    assert chain["released"] == 3
    assert chain["left"]["count"] == chain["delay"]["count"] == chain["late"] == 0


def test_cycles_that_begin_with_messages_of_a_topic(tmp_path: Path) -> None:
    path = plan(tmp_path / "plan.json", phase=GatePhase(topic="/tick"))
    count = 60
    applied, heard = apply(path, count)
    assert len(heard) == count
    (chain,) = applied["chains"]
    # The phase is known after 32 messages; from then on outputs leave in slots.
    assert 0 < chain["unphased"] < count
    assert chain["left"]["count"] + chain["unphased"] + chain["late"] == count


@pytest.mark.parametrize("kind", ["udp", "pipe", "shm", "clock"])
def test_cycles_of_a_loop_outside_of_ros_2(tmp_path: Path, kind: str) -> None:
    """A loop that begins a quarter of a period after ours would, and is a little slower."""
    quarter, slower = PERIOD // 4, 1 + 200e-6
    with told_of(kind, tmp_path) as (source, tell):
        path = plan(tmp_path / "plan.json", phase=loops.parse(source, None))
        stop = threading.Event()

        def loop() -> None:
            begin = float(time.monotonic_ns() // PERIOD * PERIOD + quarter)
            while not stop.is_set():
                begin += PERIOD * slower
                time.sleep(max(begin - time.monotonic_ns(), 0) / 1e9)
                tell(round(begin))

        thread = threading.Thread(target=loop)
        thread.start()
        try:
            count = 80
            applied, heard = apply(path, count)
        finally:
            stop.set()
            thread.join()
    assert len(heard) == count
    (chain,) = applied["chains"]
    phase = chain["phase"]
    assert phase["told"] >= 32
    # Pipe and memory tell the beginnings themselves, to the nanosecond. Datagrams are as late as
    # the machine has them: the line below them would tilt by a millisecond a cycle if each of 16
    # in a row came late, the outermost by 16 ms. The kernel corrects clocks by up to half a
    # thousandth.
    drift = 0 if kind == "clock" else 200e-6
    tolerance = {"udp": 2e-2, "clock": 1e-3}.get(kind, 1e-6)
    assert phase["drift"] == pytest.approx(drift, abs=tolerance)
    # Beginnings that were told before the gate had its publisher count, too.
    assert chain["unphased"] < count
    assert chain["left"]["count"] + chain["unphased"] + chain["late"] == count


@contextlib.contextmanager
def told_of(kind: str, folder: Path) -> Iterator[tuple[str, Callable[[int], None]]]:
    """Yields the name of a phase source, and a function with which a loop tells when a cycle
    begins.
    """
    if kind == "udp":
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]

            def send(_: int) -> None:
                with contextlib.suppress(ConnectionRefusedError):
                    sender.sendto(b"", ("127.0.0.1", port))

            yield f"udp:{port}", send
    elif kind == "pipe":
        path = folder / "cycles"
        os.mkfifo(path)
        descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK)

        def write(begin: int) -> None:
            with contextlib.suppress(BlockingIOError):
                os.write(descriptor, f"{begin}\n".encode())

        yield f"pipe:{path}", write
        os.close(descriptor)
    elif kind == "shm":
        memory = shared_memory.SharedMemory(create=True, size=8)
        try:

            def store(begin: int) -> None:
                assert memory.buf is not None
                memory.buf[:8] = begin.to_bytes(8, sys.byteorder, signed=True)

            yield f"shm:{memory.name.lstrip('/')}", store
        finally:
            memory.close()
            memory.unlink()
    else:
        yield "clock:tai", lambda _: None


def test_what_no_loop_can_tell_is_refused(tmp_path: Path) -> None:
    with told_of("pipe", tmp_path) as (source, _):
        pipe = source.partition(":")[2]
        path = plan(tmp_path / "plan.json", phase=loops.parse(source, None))
        descriptor = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
        lowest, highest = -(2**63), 2**63 - 1
        os.write(descriptor, f"{lowest}\n{highest}\n1\n".encode())
        os.write(descriptor, b"\n-\n12x\n" + b"9" * 1000 + b"\n")
        applied, heard = apply(path, 5)
        os.close(descriptor)
    assert len(heard) == 5
    (chain,) = applied["chains"]
    assert chain["unphased"] == 5
    # A text that is no number is not counted as a beginning.
    refused = {"told": 3, "refused": 3, "unreadable": 4}
    assert chain["phase"] == refused | {"drift": None, "relocks": 0}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("udp:nowhere", "not of the form udp:PORT"),
        ("pipe:/dev/null", "no named pipe"),
        ("pipe:/nonexistent", "make it with mkfifo"),
        ("shm:nonexistent", "No such file"),
        ("clock:sidereal", "realtime, tai or the path"),
        ("clock:/dev/null", "is it a PTP hardware clock"),
    ],
)
def test_loops_that_cannot_be_heard_are_named(tmp_path: Path, source: str, message: str) -> None:
    path = plan(tmp_path / "plan.json", phase=loops.parse(source, None))
    done = subprocess.run([*TAKT, "apply", path], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="real-time priorities need privileges")


@ROOT
def test_threads_are_dispatched_in_the_slots_of_the_plan(tmp_path: Path) -> None:
    applied, _ = apply(plan(tmp_path / "plan.json"), 20, "--dispatch")
    table = applied["dispatcher"]
    assert table["switches"] >= 2 * 10
    assert table["threads"] > 1
    assert table["processor_time"] > 0


@ROOT
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_dispatched_threads_are_left_as_they_were(number: signal.Signals) -> None:
    """However the dispatcher ends: a program of two threads, of which the main one is to have a
    priority nearly always and the other one always."""
    program = [sys.executable, "-c", "import threading as t; t.Thread(target=input).start()"]
    with Child[bytes](program, stdin=subprocess.PIPE, start_new_session=True) as process:
        tasks = Path(f"/proc/{process.pid}/task")
        until(lambda: len(list(tasks.iterdir())) == 2)
        threads = sorted(int(task.name) for task in tasks.iterdir())
        with dispatcher_of(process.pid) as dispatching:
            until(lambda: [priority(thread) for thread in threads] == [5, 6])
            dispatching.send_signal(number)
        until(lambda: [priority(thread) for thread in threads] == [0, 0])
        process.communicate(b"\n")


@ROOT
def test_what_a_dispatched_program_starts_is_dispatched_and_left_as_it_was() -> None:
    """A child in a session of its own, started while its parent has a priority."""
    child = "import sys; print(flush=True); input()"
    parent = (
        "import subprocess, sys; input(); "
        f"subprocess.run([sys.executable, '-c', {child!r}], start_new_session=True)"
    )
    with Child[bytes](
        [sys.executable, "-c", parent],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        with dispatcher_of(process.pid) as dispatching:
            until(lambda: priority(process.pid) == 5)
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(b"\n")
            process.stdin.flush()
            process.stdout.readline()
            (started,) = (
                Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            )
            until(lambda: priority(int(started)) == 5)
            dispatching.send_signal(signal.SIGTERM)
        until(lambda: [priority(process.pid), priority(int(started))] == [0, 0])
        process.communicate(b"\n")


@ROOT
def test_a_cycle_of_days_does_not_keep_threads_from_their_slots() -> None:
    """The cycle has begun at a time long ago, and ends long after the test."""
    program = [
        sys.executable,
        "-c",
        "input(); import threading as t; t.Thread(target=input).start()",
    ]
    with Child[bytes](program, stdin=subprocess.PIPE, start_new_session=True) as process:
        with dispatcher_of(process.pid, cycle=10**18) as dispatching:
            until(lambda: priority(process.pid) == 5)
            # Threads that come later are found as well.
            assert process.stdin is not None
            process.stdin.write(b"\n")
            process.stdin.flush()
            tasks = Path(f"/proc/{process.pid}/task")
            until(lambda: sorted(priority(int(task.name)) for task in tasks.iterdir()) == [5, 6])
            dispatching.send_signal(signal.SIGTERM)
        until(lambda: priority(process.pid) == 0)
        process.communicate(b"\n")


@ROOT
def test_a_table_is_longer_than_an_argument_may_be() -> None:
    made = plans.make(
        Model.read(MODEL),
        {"control": [30 * MS]},
        "trace",
        plans.Request(grid=MS, publish_time=MS),
        "/command",
    )
    (server,) = made.servers
    slots = tuple(ServerSlot(start=10 * MS * i, end=10 * MS * i + MS) for i in range(10_000))
    long = made.replace(cycle=10**11, servers=(server.replace(slots=slots),))
    with Child[bytes](["sleep", "60"], start_new_session=True) as process:
        with Dispatcher(long, process.pid) as dispatching:
            until(lambda: priority(process.pid) == INSIDE)
        process.kill()
    assert dispatching.result["threads"] == 1


def dispatcher_of(leader: int, cycle: int = MS) -> Child[bytes]:
    """Main threads have priority 5 nearly always, the others 6 always."""
    settings = {
        "leader": leader,
        "cycle": cycle,
        "slots": [{"start": 1, "end": cycle}],
        "inside": 5,
        "middleware": 6,
        "priority": 7,
    }
    return Child([str(runtime.dispatcher()), json.dumps(settings)], stdin=subprocess.PIPE)


def priority(thread: int) -> int:
    return os.sched_getparam(thread).sched_priority


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    path = plan(tmp_path / "plan.json")
    document = json.loads(Path(path).read_text())
    document["chains"][0]["gate"]["topic"] = None
    nowhere = tmp_path / "nowhere.json"
    nowhere.write_text(json.dumps(document))
    for arguments, message in (
        ((str(nowhere),), "plan again with 'takt shape --topic'"),
        ((path, "--dispatch"), "give it after '--'"),
        ((path, "--", "ros2", "launch", "robot"), "takes no remappings"),
        ((path, "--", "/nonexistent/program"), "cannot be started"),
    ):
        done = subprocess.run(
            [*TAKT, "apply", *arguments], capture_output=True, text=True, check=False
        )
        assert done.returncode == 2, done.stderr
        assert message in done.stderr
        assert done.stderr.count("\n") == 1


def test_a_topic_without_publishers_is_told_when_the_time_is_over(tmp_path: Path) -> None:
    path = plan(tmp_path / "plan.json")
    done = subprocess.run(
        [*TAKT, "apply", path, "--duration", "0.1"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert 'chain "control": nothing published on /command/unshaped; ' in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(("script", "status"), [("exit 3", 3), ("kill -KILL $$", 137)])
def test_the_status_of_the_command_is_passed_on(tmp_path: Path, script: str, status: int) -> None:
    path = plan(tmp_path / "plan.json")
    done = subprocess.run(
        [*TAKT, "apply", path, "--json", "--", "sh", "-c", f"echo said; {script}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == json.loads(done.stdout)["command_status"] == status
    assert done.stderr == f"said\ntakt: sh ended with status {status}\n"


def test_a_model_runs_with_the_gates_of_a_plan(tmp_path: Path) -> None:
    model = json.loads((MODELS / "pipeline.json").read_text())
    # Where the machine allows no reservations, best effort does.
    for executor in model["executors"]:
        executor["supply"] = {"kind": "dedicated"}
    motor = {**model["callbacks"][1], "id": "wheel", "node": "/wheel", "topic": "/turn"}
    model["callbacks"].append(motor)
    model["edges"].append({"from": "motor", "to": "wheel", "topic": "/turn", "delay": 0})
    document = tmp_path / "model.json"
    document.write_text(json.dumps(model))
    wanted = plans.Request(grid=MS, slack=20 * MS, publish_time=MS)
    latencies = {"image to motor": [4 * MS, 9 * MS]}
    path = tmp_path / "plan.json"
    path.write_text(to_json(plans.make(Model.read(model), latencies, "trace", wanted)))
    done = subprocess.run(
        [*TAKT, "run", str(document), "--plan", str(path), "--duration", "2", "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ran = {one["id"]: one["count"] for one in json.loads(done.stdout)["callbacks"]}
    # However late the machine is, the gate gives on what it gets, and no more.
    assert 0 < ran["wheel"] <= ran["motor/gate"] <= ran["motor"] <= ran["camera"]
