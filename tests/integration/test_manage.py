"""takt watch, manage and status on real ROS 2 programs."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from children import Child
from recording import TAKT, is_gone, needs_privileges
from running_robots import PROGRAMS_OF, RCLCPP, Robot, end, folder_of_all
from takt import documents, loopback
from takt.processes import runtime
from takt.shaping import plans

Json = dict[str, Any]

pytestmark = pytest.mark.alone
PIPELINE = Path(__file__).parents[2] / "models" / "pipeline.json"
GOALS = "period: 1s\nchains: [{name: image, from: /camera, to: /motor, latency: 5s}]\n"
FIFO, DEADLINE = 1, 6  # SCHED_FIFO and SCHED_DEADLINE in sched(7)
MS = 1_000_000
CONTROL: Json = {
    "format": "takt/model",
    "version": 1,
    "executors": [{"id": "control"}],
    "callbacks": [
        {
            "id": "control",
            "node": "/control",
            "executor": "control",
            "kind": "timer",
            "registration": 0,
            "execution_time": {"curve": [3 * MS]},
            "activation": {"kind": "periodic", "period": 50 * MS, "jitter": 0},
        }
    ],
    "edges": [],
    "chains": [{"id": "control", "callbacks": ["control"]}],
}
PATIENCE = 60.0


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """DDS on this machine alone, and a control socket of this test alone."""
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    return {**os.environ, **loopback.environment(), "XDG_RUNTIME_DIR": str(runtime)}


@pytest.fixture
def goals(tmp_path: Path) -> Path:
    path = tmp_path / "goals.yaml"
    path.write_text(GOALS)
    return path


def takt(*arguments: str | Path) -> list[str]:
    return [*TAKT, *map(str, arguments)]


def run_takt(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        takt(*arguments), env=environment or None, capture_output=True, text=True, check=False
    )


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model without reservations, which the manager makes here."""
    document = json.loads(PIPELINE.read_text())
    for executor in document["executors"]:
        executor["supply"] = {"kind": "dedicated"}
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document))
    return path


def robot(model: Path, seconds: int) -> list[str]:
    return takt("run", model, "--duration", str(seconds), "--json")


def status(environment: dict[str, str]) -> Json | None:
    done = subprocess.run(
        takt("status", "--json"), env=environment, capture_output=True, text=True, check=False
    )
    found: Json | None = json.loads(done.stdout) if done.stdout else None
    if found is not None:
        good = set(states(found).values()) == {"guaranteed"}
        assert done.returncode == (0 if good else 1)
    return found


def scheduling(process: int, thread: int) -> int | None:
    """The thread's policy; None: it has ended."""
    try:
        text = Path(f"/proc/{process}/task/{thread}/stat").read_text()
    except OSError:
        return None
    return int(text.rpartition(")")[2].split()[38])


def threads(found: Json) -> list[tuple[int, int]]:
    return [(e["process"], t) for e in found["executors"] for t in e["threads"]]


def states(found: Json | None) -> dict[str, str]:
    """By the names of the chains."""
    return {chain["id"]: chain["state"] for chain in found["chains"]} if found else {}


def policies(found: Json) -> set[int | None]:
    return {scheduling(*thread) for thread in threads(found)}


def until(what: str, turn: float = 0.2) -> Iterator[None]:
    """Yields again and again, `turn` seconds apart, while a test waits for another process; fails
    after PATIENCE.
    """
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        yield
        time.sleep(turn)
    pytest.fail(f"{what} did not happen within {PATIENCE} s")


@contextmanager
def managing(
    environment: dict[str, str], *arguments: str | Path
) -> Iterator[subprocess.Popen[bytes]]:
    """Runs this command, a manager or a program that starts one, during the block. pytest prints
    what it says, all changes of a manager, where the test fails.
    """
    manager = subprocess.Popen([*map(str, arguments)], env=environment)
    try:
        yield manager
    finally:
        manager.send_signal(signal.SIGINT)
        manager.wait(PATIENCE)


def status_with_a_guarantee(environment: dict[str, str]) -> Json:
    """The status once the manager guarantees its only chain, whose threads have reservations then.
    A later decision may take them between the two looks, where events are lost, say.
    """
    found = None
    for _ in until("a guarantee with its reservations"):
        found = status(environment)
        if found and [*states(found).values()] == ["guaranteed"] and policies(found) == {DEADLINE}:
            break
    assert found is not None
    return found


def manage_until(
    environment: dict[str, str],
    enough: Callable[[Json], bool],
    robot: list[str],
    *arguments: str | Path,
) -> subprocess.CompletedProcess[str]:
    """Manages a robot until its status is `enough`, however long that takes here."""
    command = takt("manage", *arguments, "--", *robot)
    with Child(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as manager:
        for _ in until("that there is enough to see"):
            found = status(environment)
            if found and enough(found):
                break
        manager.send_signal(signal.SIGINT)
        output, said = manager.communicate()
    return subprocess.CompletedProcess(command, manager.returncode, output, said)


def test_watch_shows_chains_as_they_are(
    environment: dict[str, str], goals: Path, model: Path
) -> None:
    done = run_takt("watch", "--goals", goals, "--json", "--", *robot(model, 6), **environment)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["format"], document["version"]) == ("takt/watch", 1)
    assert document["lost"] == {"events": 0, "programs": 0}
    (chain,) = document["chains"]
    assert chain["id"] == "image"
    assert chain["goal"] == 5_000_000_000
    assert chain["total"] > 0
    # All but the worst are of the last ten seconds, and programs may take longer to end.
    figures = [chain[word] for word in ("p50", "p99", "max", "worst") if chain[word] is not None]
    assert figures == sorted(figures)
    assert figures[0] > 0
    assert figures[-1] == chain["worst"]
    assert {executor["id"] for executor in document["executors"]} == {"sensing", "acting"}


@pytest.mark.parametrize("command", ["watch", "manage"])
def test_fields_of_goals_that_nobody_knows_are_said(
    environment: dict[str, str], goals: Path, command: str
) -> None:
    goals.write_text(GOALS.replace("period", "priod"))
    done = run_takt(command, "--goals", goals, "--duration", "1", **environment)
    assert f"{goals}: " in done.stderr
    assert "priod" in done.stderr


# It is another user before the library is loaded, as a robot that is started as that user is. This
# user may not read where this checkout lies.
OTHER_USERS_ROBOT = """
import ctypes, os, sys, tempfile
with open(sys.argv[1], "rb") as file:
    code = file.read()
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
with tempfile.NamedTemporaryFile(dir="/tmp") as copy:
    copy.write(code)
    copy.flush()
    library = ctypes.CDLL(copy.name)
library.ros_trace_rcl_node_init(ctypes.c_void_p(1), ctypes.c_void_p(2), b"talker", b"/")
print("ready", flush=True)
sys.stdin.readline()
for i in range(1000):
    library.ros_trace_rclcpp_executor_wait_for_work(ctypes.c_int64(i))
"""


def rings(process: int) -> set[int]:
    """The inodes of the rings that a process has mapped."""
    lines = Path(f"/proc/{process}/maps").read_text().splitlines()
    return {int(line.split()[4]) for line in lines if "/memfd:takt-ring" in line}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root hears programs of other users")
def test_a_robot_that_another_user_starts_later_is_heard(
    environment: dict[str, str], goals: Path
) -> None:
    def found() -> Json:
        return status(environment) or {}

    with managing(environment, *takt("manage", "--goals", goals, "--dry-run")):
        for _ in until("that the manager hears what starts"):
            if found():
                break
        manager = found()["process"]
        robot = [sys.executable, "-c", OTHER_USERS_ROBOT, str(runtime.tracetools())]
        with Child(robot, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout
            assert other.stdout.readline() == "ready\n"
            for _ in until("that the manager finds the robot"):
                if rings(other.pid) & rings(manager):
                    break
            before = found()["events"]
            other.communicate("go\n")
        for _ in until("that the manager has its events"):
            if found()["events"] >= before + 1000:
                break


def test_a_dry_run_decides_and_changes_nothing(
    environment: dict[str, str], goals: Path, model: Path
) -> None:
    log = goals.with_name("decisions.jsonl")
    arguments = ("--goals", goals, "--dry-run", "--json", "--log", log)
    done = manage_until(
        environment, lambda found: found["decisions"] > 0, robot(model, 100), *arguments
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["format"], document["dry_run"]) == ("takt/status", True)
    assert document["decisions"] > 0
    assert "takt: chain image: " in done.stderr
    replayed = run_takt("manage", "--replay", log)
    assert replayed.returncode == 0, replayed.stderr
    assert "chain image: " in replayed.stdout


@needs_privileges
@pytest.mark.parametrize("client", ["rclpy", "rclcpp"])
def test_a_robot_that_runs_already_is_managed_and_let_go(
    environment: dict[str, str], tmp_path: Path, client: str
) -> None:
    if client == "rclcpp" and not RCLCPP.exists():
        pytest.skip("CMake found no rclcpp, so its programs are not built")
    goals = tmp_path / "goals.yaml"
    goals.write_text(
        "period: 1s\n"
        "chains: [{name: relay, from: /alone/t0, to: '/alone/n/n/n/n/n:/alone/t4', latency: 5s}]\n"
    )
    program = PROGRAMS_OF[client]["alone"]
    with ExitStack() as stack:
        robot = Robot("alone", program, folder_of_all(tmp_path), stack, period=0.5)
        command = takt("manage", "--backend", "ebpf", "--goals", goals, "--json")
        with managing(environment, *command):
            found = status_with_a_guarantee(environment)
            assert found["backend"] == "ebpf"
            assert {executor["process"] for executor in found["executors"]} == {robot.process}
        for _ in until("that all threads are best effort"):
            if policies(found) <= {0, None}:
                break
        end([robot])


@pytest.mark.skipif(os.geteuid() != 0, reason="reservations need root")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_threads_get_back_what_they_had(
    environment: dict[str, str], goals: Path, model: Path, how: signal.Signals
) -> None:
    command = takt("manage", "--goals", goals, "--json", "--", *robot(model, 100))
    with managing(environment, *command):
        found = status_with_a_guarantee(environment)
        os.kill(found["process"], how)  # the program that changed them
        for _ in until("that all threads are best effort"):
            if policies(found) <= {0, None}:
                break
    assert status(environment) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="reservations need root")
def test_a_robot_that_is_started_again_is_managed_again(
    environment: dict[str, str], goals: Path, model: Path, tmp_path: Path
) -> None:
    """Its chains are those of what runs now, not also those of what has ended."""
    first, again = (shlex.join(robot(model, seconds)) for seconds in (100, 101))
    script = f"{first} & echo $! >{tmp_path}/first; wait; exec {again}"
    with managing(environment, *takt("manage", "--goals", goals, "--", "sh", "-c", script)):
        before = threads(status_with_a_guarantee(environment))
        os.kill(int((tmp_path / "first").read_text()), signal.SIGINT)
        for _ in until("that the first robot has ended"):
            if {scheduling(*thread) for thread in before} == {None}:
                break
        for _ in until("a decision without it"):
            found = status(environment)
            if found and not set(before) & set(threads(found)):
                break
        found = status_with_a_guarantee(environment)
    assert {executor["id"] for executor in found["executors"]} == {"sensing", "acting"}


@pytest.mark.skipif(os.geteuid() != 0, reason="reservations need root")
def test_a_robot_in_a_container_is_managed(
    environment: dict[str, str], goals: Path, model: Path
) -> None:
    """Its threads have other numbers than they think."""
    contained = ["unshare", "--pid", "--fork", *robot(model, 40)]  # ends by itself alone
    with managing(environment, *takt("manage", "--goals", goals, "--", *contained)):
        for _ in until("a guarantee, and a reservation in each process"):
            found = status(environment)
            if found and [*states(found).values()] == ["guaranteed"]:
                processes = [executor["process"] for executor in found["executors"]]
                if all(DEADLINE in policies_of(process) for process in processes):
                    break


def policies_of(process: int) -> set[int | None]:
    """The policies of its threads."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    return {scheduling(process, int(task.name)) for task in tasks}


CAPABILITIES = {"nice": 23, "ptrace": 19, "read": 2}
KEPT = sum(1 << number for number in CAPABILITIES.values())


def capabilities(process: int) -> int:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith("CapEff:"))
    return int(line.split()[1], 16)


@pytest.mark.skipif(os.geteuid() != 0, reason="reservations need root")
def test_a_manager_whose_guard_is_killed_says_so_and_fails(
    environment: dict[str, str], goals: Path, tmp_path: Path
) -> None:
    """The command goes on; then the last line is true, and systemd starts the service again."""
    end = tmp_path / "end"
    waiting = ["sh", "-c", f"while [ ! -e {end} ]; do sleep 0.05; done; exit 0"]
    command = takt("manage", "--goals", goals, "--", *waiting)
    with Child(command, env=environment, stderr=subprocess.PIPE, text=True) as manager:
        found = None
        for _ in until("the manager"):
            with suppress(AssertionError):
                found = status(environment)
            if found:
                break
        assert found is not None
        process = found["process"]
        for _ in until("its guard, which is named once it runs"):
            children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
            names = {Path(f"/proc/{child}/comm").read_text(): int(child) for child in children}
            if "takt-guard\n" in names:
                break
        os.kill(names["takt-guard\n"], signal.SIGKILL)
        for _ in until("the manager's end"):
            if is_gone(process):
                break
        assert manager.poll() is None
        end.touch()
        _, said = manager.communicate()
    assert manager.returncode == 2
    assert said.splitlines()[-1].startswith("takt: nothing is managed any more: the process that")


@pytest.mark.skipif(os.geteuid() != 0, reason="reservations need root")
def test_it_needs_three_capabilities_and_keeps_no_more(
    environment: dict[str, str], goals: Path, model: Path
) -> None:
    kept = "-all,+sys_nice,+sys_ptrace,+dac_read_search"
    limited = ["setpriv", "--bounding-set", kept, "--inh-caps", kept]
    command = takt("manage", "--goals", goals, "--json", "--", *robot(model, 100))
    for before in ([], limited):
        with managing(environment, *before, *command):
            found = status_with_a_guarantee(environment)
            assert capabilities(found["process"]) & ~KEPT == 0


def test_diagnostics_tell_of_each_chain(
    environment: dict[str, str], goals: Path, model: Path
) -> None:
    arguments = ("--goals", goals, "--dry-run", "--json", "--diagnostics")
    with managing(environment, *takt("manage", *arguments, "--", *robot(model, 100))):
        heard = subprocess.run(
            [sys.executable, Path(__file__).parent / "programs" / "diagnostics_listener.py"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )
    document = json.loads(heard.stdout)
    assert [one["name"] for one in document] == ["takt: chain image", "takt: manager"]
    assert document[0]["values"].keys() >= {"bound (ms)", "promises kept"}
    assert "p50 (ms)" in document[0]["values"]


def test_a_goal_that_fits_nothing_that_ran_is_said(
    environment: dict[str, str], goals: Path, model: Path
) -> None:
    goals.write_text(
        "chains:\n- {name: image, from: /camera, to: /motor, latency: 5s}\n"
        "- {name: nobody, from: /camera, to: /nobody, latency: 5s}\n"
    )
    done = manage_until(
        environment,
        lambda found: "guaranteed" in states(found).values(),
        robot(model, 100),
        *("--goals", goals, "--dry-run"),
    )
    assert done.returncode == 1
    assert "no program had a chain for: nobody (to: no topic, node or callback" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="reservations need root")
def test_a_promise_that_is_broken_is_withdrawn_and_says_why(
    environment: dict[str, str], goals: Path, tmp_path: Path
) -> None:
    """The callback takes 100 ms of processor time where 2 ms were seen before."""
    longer = tmp_path / "longer"
    goals.write_text(
        "period: 1s\nchains: [{name: work, from: /worker, to: /worker:/work, latency: 90ms}]\n"
    )
    program = Path(__file__).parent / "programs" / "lengthening.py"
    command = (sys.executable, program, longer)
    with managing(environment, *takt("manage", "--goals", goals, "--", *command)):
        before = status_with_a_guarantee(environment)["chains"][0]
        assert before["promises"]["since"] is not None
        longer.touch()
        # The host may have broken one before, and breaks any that is given before this callback
        # ran.
        for _ in until("a promise that this callback breaks"):
            found = status(environment)
            chain = found["chains"][0] if found else before
            promises = chain["promises"]
            reason = promises["breach"]["reason"] if promises["breach"] else ""
            if " ran " in reason and promises["longest"] >= 100 * MS:
                break
    assert promises["broken"] > before["promises"]["broken"]
    assert promises["since"] is None
    assert promises["breach"]["latency"] > promises["breach"]["bound"]
    assert chain["state"] != "guaranteed"
    assert chain["bound"] is None


@pytest.mark.skipif(os.geteuid() != 0, reason="reservations need root")
def test_a_reservation_that_is_not_served_is_why_a_promise_is_broken(
    environment: dict[str, str], goals: Path, tmp_path: Path
) -> None:
    """Somebody else gives the thread a hundredth of a core, until the manager's next decision."""
    goals.write_text(
        "period: 1s\nchains: [{name: work, from: /worker, to: /worker:/work, latency: 90ms}]\n"
    )
    program = Path(__file__).parent / "programs" / "lengthening.py"
    command = (sys.executable, program, tmp_path / "never")
    starve = ["chrt", "-R", "-d", "-T", "1000000", "-D", "100000000", "-P", "100000000", "-p", "0"]
    with managing(environment, *takt("manage", "--goals", goals, "--", *command)):
        before = status_with_a_guarantee(environment)["chains"][0]["promises"]
        for _ in until("a promise that is broken as its thread has no processor", turn=1):
            found = status(environment)
            promises = found["chains"][0]["promises"] if found else before
            breach = promises["breach"] or {"reason": ""}
            if " later than its reservation grants it" in breach["reason"]:
                break
            if found and found["chains"][0]["state"] == "guaranteed":
                for _, thread in threads(found):
                    subprocess.run([*starve, str(thread)], check=True)
    assert found
    assert promises["broken"] > before["broken"]
    assert breach["late_supply"] > 0
    # It comes first where it is enough.
    is_enough = breach["late_supply"] >= breach["latency"] - breach["bound"]
    worker = found["executors"][0]["id"]
    assert breach["reason"].startswith(f"{worker} got its processor time") == is_enough


@pytest.mark.skipif(os.geteuid() != 0, reason="reservations need root")
def test_a_surge_degrades_and_its_end_restores(
    environment: dict[str, str], goals: Path, tmp_path: Path
) -> None:
    """A callback takes 100 ms every 50 ms for a while, and then 2 ms as before."""
    surge = tmp_path / "surge"
    goals.write_text(
        "period: 1s\nchains: [{name: work, from: /worker, to: /worker:/work, latency: 90ms}]\n"
    )
    program = Path(__file__).parent / "programs" / "lengthening.py"
    command = (sys.executable, program, surge)
    with managing(environment, *takt("manage", "--goals", goals, "--", *command)):
        status_with_a_guarantee(environment)
        surge.touch()
        needs: Json | None = None
        for _ in until("that the chain is degraded as its callback takes too long"):
            found = status(environment)
            needs = found["chains"][0]["needs"] if found else None
            if needs and needs["execution_time"]:
                break
        assert found
        assert needs
        assert found["chains"][0]["state"] == "degraded"
        surge.unlink()
        restored = status_with_a_guarantee(environment)["chains"][0]
    assert restored["bound"] <= 90 * MS
    # Meanwhile the manager said what would make it fit.
    assert 0 < needs["all_execution_times_percent"] < 100
    assert needs["execution_time"]["callback"] == "/worker:/work"
    assert restored["needs"] is None


@pytest.mark.skipif(os.geteuid() != 0, reason="reservations need root")
def test_a_degraded_chain_hurries_no_decision(
    environment: dict[str, str], goals: Path, tmp_path: Path
) -> None:
    """It misses its goal ten times a second, and decisions are due every eight seconds."""
    surge = tmp_path / "surge"
    goals.write_text(
        "period: 8s\nchains: [{name: work, from: /worker, to: /worker:/work, latency: 90ms}]\n"
    )
    program = Path(__file__).parent / "programs" / "lengthening.py"
    command = (sys.executable, program, surge)
    with managing(environment, *takt("manage", "--goals", goals, "--", *command)):
        status_with_a_guarantee(environment)
        surge.touch()
        for _ in until("that the chain is degraded"):
            before = status(environment)
            if before and list(states(before).values()) == ["degraded"]:
                break
        assert before
        misses = before["chains"][0]["measured"]["missed"] + 40
        for _ in until("that it has missed its goal again and again"):
            found = status(environment)
            if found and found["chains"][0]["measured"]["missed"] >= misses:
                break
    assert found
    due = (found["seconds"] - before["seconds"]) / 8
    assert found["decisions"] - before["decisions"] <= due + 1


@pytest.mark.skipif(os.geteuid() != 0, reason="reservations need root")
def test_both_of_two_fused_inputs_are_guaranteed(environment: dict[str, str], goals: Path) -> None:
    """Also that whose message always waits for the other, which is the more important one."""
    goals.write_text(
        "period: 1s\nchains:\n"
        "- {name: left, from: /left_sensor, to: /motor, latency: 200ms}\n"
        "- {name: right, from: /right_sensor, to: /motor, latency: 200ms}\n"
        "links: [{join: '/fusion:/left', with: ['/fusion:/right']}]\n"
    )
    program = Path(__file__).parent / "programs" / "fusing.py"
    command = takt("manage", "--goals", goals, "--", sys.executable, program)
    with managing(environment, *command):
        for _ in until("a guarantee for both, and messages of the right one"):
            found = status(environment)
            chains = {c["id"]: c for c in found["chains"]} if found else {}
            totals = {name: (c["measured"] or {}).get("total", 0) for name, c in chains.items()}
            # A left message that the host holds up comes second now and then.
            seldom = totals.get("left", 0) < totals.get("right", 0)
            if set(states(found).values()) == {"guaranteed"} and seldom:
                break
    assert chains["left"]["bound"] <= 200 * MS


@pytest.mark.skipif(os.geteuid() != 0, reason="reservations need root")
def test_the_last_words_say_what_held_to_the_end(
    environment: dict[str, str], goals: Path, model: Path, tmp_path: Path
) -> None:
    """The programs end, and several decisions later the manager does."""
    after = tmp_path / "after.json"
    ask = f"{shlex.join(takt('status', '--json'))} >{after}"
    decided = f"grep -q 'its program has ended' {after}"
    wait = f"for turn in {{1..60}}; do {ask}; {decided} && break; sleep 0.5; done"
    command = ["bash", "-c", f"{shlex.join(robot(model, 20))}; {wait}; sleep 2; {ask}; true"]
    manager = run_takt("manage", "--goals", goals, "--", *command, **environment)
    assert manager.returncode == 0, manager.stderr
    (chain,) = json.loads(after.read_text())["chains"]
    assert (chain["state"], chain["reason"]) == ("unmanaged", "its program has ended")
    assert manager.stderr.count("its program has ended") == 1
    assert "its program has ended" not in manager.stdout
    (line,) = (line for line in manager.stdout.splitlines() if line.startswith("image: "))
    assert " of 5 s; the longest of " in line
    if chain["promises"]["broken"]:
        # The host took the processor from a callback, for longer than was ever seen before.
        assert f", and {chain['promises']['broken']} more than its bound, the last " in line
    else:
        assert " and to the end: at most " in line
        assert "Alert" not in manager.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="reservations need root")
def test_a_second_way_takes_no_reservation_away(
    environment: dict[str, str], goals: Path, tmp_path: Path
) -> None:
    """A node joins that also links the sensor and the motor, and is not known for two seconds."""
    goals.write_text(
        "period: 1s\nchains: [{name: drive, from: /sensor, to: /motor, latency: 200ms}]\n"
    )
    program = Path(__file__).parent / "programs" / "relay.py"
    joins = tmp_path / "joins"
    nodes = [
        shlex.join((sys.executable, str(program), *node))
        for node in (
            ("sensor", "", "/scan"),
            ("control", "/scan", "/cmd"),
            ("motor", "/cmd", ""),
            ("planner", "/scan", "/cmd"),
        )
    ]
    script = (
        "trap 'kill -KILL $(jobs -p)' INT TERM; "
        + "".join(f"{node} & " for node in nodes[:3])
        + f"while [ ! -e {joins} ]; do sleep 0.1; done; {nodes[3]} & wait"
    )
    with managing(environment, *takt("manage", "--goals", goals, "--", "bash", "-c", script)):
        reserved = threads(status_with_a_guarantee(environment))
        joins.touch()
        for _ in until("a guarantee for both ways"):
            assert {scheduling(*thread) for thread in reserved} == {DEADLINE}
            ways = states(status(environment))
            if list(ways.values()) == ["guaranteed", "guaranteed"]:
                break
    assert set(ways) == {"drive via /control", "drive via /planner"}


def test_reloading_broken_goals_leaves_the_manager_as_it_was(
    environment: dict[str, str], goals: Path, model: Path
) -> None:
    command = takt("manage", "--goals", goals, "--dry-run", "--json", "--", *robot(model, 100))
    with managing(environment, *command):
        for _ in until("the manager's chain"):
            found = status(environment)
            if found and [chain["id"] for chain in found["chains"]] == ["image"]:
                break
        goals.write_bytes(b"chains: [{name: \xff\xfe, from: /camera")
        refused = run_takt("status", "--reload", **environment)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert str(goals) in refused.stderr
        assert len(refused.stderr.splitlines()) == 1
        found = status(environment)
        assert found is not None
        assert [chain["id"] for chain in found["chains"]] == ["image"]
        goals.write_text(GOALS.replace("name: image", "name: picture"))
        assert run_takt("status", "--reload", **environment).returncode == 0
        for _ in until("the new goals"):
            found = status(environment)
            if found and [chain["id"] for chain in found["chains"]] == ["picture"]:
                break


def test_mistakes_are_one_line(environment: dict[str, str], tmp_path: Path) -> None:
    for arguments, said in (
        (["manage"], "--goals"),
        (["manage", "--goals", str(tmp_path / "none.yaml")], "no such file"),
        (["manage", "--goals", str(PIPELINE), "--period", "0.2"], "enforces budgets at its ticks"),
        (["manage", "--replay", str(PIPELINE)], "takt/decisions"),
        (["status"], "no takt manage"),
    ):
        done = run_takt(*arguments, **environment)
        assert done.returncode == 2
        assert done.stdout == ""
        assert said in done.stderr
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="reservations need root")
def test_a_shaped_chain_runs_beside_a_guaranteed_one(
    environment: dict[str, str], model: Path, tmp_path: Path
) -> None:
    """The dispatcher schedules the one, the manager the other, and neither touches both."""
    goals = tmp_path / "both.yaml"
    goals.write_text(
        GOALS.replace("}]", "}, {name: control, from: /control, to: /control, latency: 1s}]")
    )
    shaped = tmp_path / "control.json"
    shaped.write_text(json.dumps(CONTROL))
    plan = tmp_path / "plan.json"
    request = plans.Request(grid=MS, slack=8 * MS, publish_time=MS)
    made = plans.make(
        documents.Model.read(CONTROL), {"control": [5 * MS, 9 * MS]}, "trace", request, "/command"
    )
    plan.write_text(documents.to_json(made))
    traced = {**environment, "LD_PRELOAD": str(runtime.tracetools())}
    # A shell swallows the remapping arguments of gates, which `takt run` does not take.
    control = ["bash", "-c", f"exec {' '.join(takt('run', shaped, '--duration', '120'))}"]
    with (
        managing(traced, *takt("apply", plan, "--dispatch", "--", *control)),
        managing(traced, *robot(model, 120)),
        managing(environment, *takt("manage", "--goals", goals, "--plan", plan)),
    ):
        for _ in until("the guarantee of one chain beside the other, which is shaped"):
            found = status(environment)
            chains = {one["id"]: one for one in found["chains"]} if found else {}
            if states(found) != {"image": "guaranteed", "control": "unmanaged"}:
                continue
            by_executor = {one["id"]: one for one in found["executors"]} if found else {}
            reserved = [one for one in by_executor.values() if one["reservation"]]
            if (
                "its chain is shaped" in chains["control"]["reason"]
                and {one["id"] for one in reserved} == {"sensing", "acting"}
                and policies({"executors": reserved}) == {DEADLINE}
            ):
                break
        (thread,) = by_executor["control"]["threads"]
        # Slots come every 50 ms: turns of 200 ms would look at the same moment of each, for ever.
        for _ in until("a slot of the shaped chain", turn=0.0007):
            if scheduling(by_executor["control"]["process"], thread) == FIFO:
                break
