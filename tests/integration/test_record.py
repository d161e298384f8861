"""takt record: commands and running programs, ends of all kinds, and mistakes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import babeltrace
from children import Child
from recording import (
    PROGRAMS,
    TAKT,
    TICK,
    Run,
    needs_privileges,
    probe_is_placed,
    record,
    until,
)

# The same, but deaf to SIGINT until it ticks: a duration may end before the program has begun.
TICK_FOR_SURE = ["env", "--ignore-signal=INT", *TICK]


def line(process: subprocess.Popen[str]) -> str:
    """The next line that a program prints."""
    assert process.stdout
    return process.stdout.readline()


def sessions() -> str:
    return subprocess.run(["lttng", "list"], capture_output=True, text=True).stdout


def guards_of(session: str) -> list[int]:
    """The processes that destroy a session when its recorder is killed."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            command = entry.read_bytes().decode(errors="replace")
            if "takt-guard" in command and session in command:
                found.append(int(entry.parent.name))
    return found


def has_events(trace: Path) -> bool:
    """Whether the recorder has written packets of events; LTTng adds the metadata at the end."""
    partial = Path(f"{trace}.partial")
    streams = [*partial.glob("ust/*/*/*/takt_*"), *partial.glob("*/*/thread_*")]
    return any(stream.stat().st_size > 0 for stream in streams)


@pytest.fixture(params=["lttng", "ring"])
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_labels_stay_with_the_recording(backend: str, tmp_path: Path) -> None:
    trace, wanted = tmp_path / "trace", ["--label", "robot=r7", "--label", "version=1.4"]
    place = ["--backend", backend, "-o", str(trace)]
    place += ["--duration", "1"]
    done = record(*place, *wanted, "--", *TICK_FOR_SURE, TAKT_LABELS="site=Ulm,version=1")
    assert done.returncode == 0, done.stderr
    info = subprocess.run(
        [*TAKT, "info", str(trace), "--json"], capture_output=True, text=True, check=True
    )
    (told,) = json.loads(info.stdout)["labels"]
    assert told["labels"] == {"site": "Ulm", "version": "1.4", "robot": "r7"}
    assert told["ros"] == os.environ.get("ROS_DISTRO")
    assert re.fullmatch(r"\d+\.\d+\.\d+", told["packages"]["rcl"])
    # What other readers of the format see is a trace as before.
    assert any(event.name == babeltrace.TICKED for event in babeltrace.events(trace))


def test_a_label_that_is_none_starts_no_command(tmp_path: Path) -> None:
    sign = tmp_path / "ran"
    done = record("-o", str(tmp_path / "t"), "--label", "robot", "--", "touch", str(sign))
    assert done.returncode == 2
    assert done.stderr.startswith("takt: --label: 'robot': write KEY=VALUE")
    assert done.stderr.count("\n") == 1
    assert not sign.exists()


@pytest.fixture
def ticking(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A recording of a program that ticks, and the trace's name."""
    trace = tmp_path / "trace"
    recorder = subprocess.Popen(
        [*TAKT, "record", "-o", str(trace), "--", *TICK],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    yield recorder, trace
    recorder.kill()
    recorder.wait()


# What is recorded


def test_unmodified_rclpy_program(tmp_path: Path, backend: str) -> None:
    talk = [sys.executable, str(PROGRAMS / "talk.py"), "200"]
    run = Run.of(tmp_path / "trace", talk, backend=backend)
    counted = json.loads(run.output)
    recorded = babeltrace.events(run.trace)
    assert len(recorded) == run.document["events"]
    assert not any(run.document["losses"].values())

    (publisher,) = (
        e.fields["publisher_handle"]
        for e in recorded
        if e.name == "ros2:rcl_publisher_init" and e.fields["topic_name"] == "/chatter"
    )
    (subscription,) = (
        e.fields["rmw_subscription_handle"]
        for e in recorded
        if e.name == "ros2:rcl_subscription_init" and e.fields["topic_name"] == "/chatter"
    )
    (rmw_publisher,) = (
        e.fields["rmw_publisher_handle"]
        for e in recorded
        if e.name == "ros2:rcl_publisher_init" and e.fields["topic_name"] == "/chatter"
    )
    published = [
        e
        for e in recorded
        if e.name == "ros2:rcl_publish" and e.fields["publisher_handle"] == publisher
    ]
    sent = [
        e.fields["timestamp"]
        for e in recorded
        if e.name == "ros2:rmw_publish" and e.fields["rmw_publisher_handle"] == rmw_publisher
    ]
    taken = [
        e.fields["source_timestamp"]
        for e in recorded
        if e.name == "ros2:rmw_take"
        and e.fields["rmw_subscription_handle"] == subscription
        and e.fields["taken"] == 1
    ]
    assert len(published) == len(sent) == counted["published"]
    assert taken == sent
    assert len(taken) == counted["heard"]


def test_two_commands_at_once_are_kept_apart(tmp_path: Path, backend: str) -> None:
    recorders = [
        subprocess.Popen(
            [*TAKT, "record", "--backend", backend, "-o", str(tmp_path / name), "--", *TICK],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("a", "b")
    ]
    processes = [int(line(recorder)) for recorder in recorders]
    for recorder in recorders:
        recorder.send_signal(signal.SIGINT)
    for recorder, process, name in zip(recorders, processes, ("a", "b"), strict=True):
        printed, said = recorder.communicate()
        assert recorder.returncode == 0, said
        recorded = babeltrace.events(tmp_path / name)
        assert {event.process for event in recorded} == {process}
        assert babeltrace.ticks(tmp_path / name, process) == list(range(int(printed)))


def test_the_trace_may_be_beside_this_folder(
    tmp_path: Path, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    talk = [sys.executable, str(PROGRAMS / "talk.py"), "1"]
    run = Run.of(Path("../trace"), talk, backend=backend)
    assert run.document["trace"] == "../trace"
    assert (tmp_path / "trace").is_dir()


def test_what_already_runs(tmp_path: Path, backend: str) -> None:
    with Child(TICK, stdout=subprocess.PIPE, text=True) as program:
        process = int(line(program))
        trace = tmp_path / "trace"
        command = [*TAKT, "record", "--backend", backend, "-o", str(trace)]
        with Child(command, stderr=subprocess.PIPE, text=True) as recorder:
            until(lambda: has_events(trace) or recorder.poll() is not None)
            recorder.send_signal(signal.SIGINT)
            _, said = recorder.communicate()
        assert recorder.returncode == 0, said
        program.send_signal(signal.SIGTERM)
        emitted = int(line(program))
    recorded = babeltrace.ticks(trace, process)
    first = recorded[0]
    assert recorded == list(range(first, first + len(recorded)))
    assert first + len(recorded) <= emitted


def test_a_process_that_starts_while_the_recorder_runs(tmp_path: Path) -> None:
    """The ring of a process that the recorder did not start is complete, too."""
    trace = tmp_path / "trace"
    command = [*TAKT, "record", "--backend", "ring", "-o", str(trace)]
    with (
        Child(TICK, stdout=subprocess.PIPE, text=True) as older,
        Child(command, stderr=subprocess.PIPE, text=True) as recorder,
    ):
        until(lambda: has_events(trace) or recorder.poll() is not None)
        with Child(TICK, stdout=subprocess.PIPE, text=True) as program:
            process = int(line(program))
            program.send_signal(signal.SIGINT)
            emitted = int(line(program))
        recorder.send_signal(signal.SIGINT)
        _, said = recorder.communicate()
        older.send_signal(signal.SIGINT)
    assert recorder.returncode == 0, said
    assert babeltrace.ticks(trace, process) == list(range(emitted))


def test_a_process_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    """Its ring outlives it."""
    suicide = (
        "import ctypes, os, signal\n"
        "emit = ctypes.CDLL('libtracetools.so').ros_trace_rclcpp_executor_wait_for_work\n"
        "for i in range(1000): emit(ctypes.c_int64(i))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    trace = tmp_path / "trace"
    done = record("--backend", "ring", "-o", str(trace), "--", sys.executable, "-c", suicide)
    assert done.returncode == 128 + signal.SIGKILL
    recorded = babeltrace.ticks(trace)
    assert recorded == list(range(1000))


def test_forked_children_have_events_of_their_own(tmp_path: Path) -> None:
    fork = (
        "import ctypes, os\n"
        "emit = ctypes.CDLL('libtracetools.so').ros_trace_rclcpp_executor_wait_for_work\n"
        "emit(ctypes.c_int64(1))\n"
        "child = os.fork()\n"
        "emit(ctypes.c_int64(2 if child else 3))\n"
        "child and os.waitpid(child, 0)\n"
    )
    trace = tmp_path / "trace"
    done = record("--backend", "ring", "-o", str(trace), "--", sys.executable, "-c", fork)
    assert done.returncode == 0, done.stderr
    by_process: dict[int, list[int]] = {}
    for event in babeltrace.events(trace):
        by_process.setdefault(event.process, []).append(event.fields["timeout"])
    assert sorted(by_process.values()) == [[1, 2], [3]]


@pytest.mark.skipif(
    not os.access("/proc/sys/kernel/ns_last_pid", os.W_OK),
    reason="only root of the machine may choose process ids",
)
@pytest.mark.parametrize("tracer", ["lttng", "ring", pytest.param("ebpf", marks=needs_privileges)])
def test_a_process_id_that_is_used_again(tmp_path: Path, tracer: str) -> None:
    """Nothing of either process is lost."""
    reuse = [sys.executable, str(PROGRAMS / "reuse.py")]
    run = Run.of(tmp_path / "trace", reuse, backend=tracer)
    assert not any(run.document["losses"].values())
    assert babeltrace.ticks(run.trace, int(run.output)) == list(range(2000))


# Probes in the kernel


@needs_privileges
def test_processes_that_have_ended_are_forgotten_without_a_loss(tmp_path: Path) -> None:
    """Each child of the program leaves the recorder buffers of 40 kB, until that looks, every five
    seconds, which processes have ended. One look may come late: then a batch of 100 is added.
    """
    trace = tmp_path / "trace"
    command = [*TAKT, "record", "--json", "--backend", "ebpf", "-o", str(trace), "--"]
    memory = []
    with Child(
        [*command, sys.executable, str(PROGRAMS / "short_lived.py")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as recorder:
        assert recorder.stderr
        for said in recorder.stderr:  # the program's standard output, too, because of --json
            if said == "batch\n":
                status = Path(f"/proc/{recorder.pid}/status").read_text()
                memory += [int(kilobytes) for kilobytes in re.findall(r"VmRSS:\s*(\d+)", status)]
        document = json.loads(recorder.stdout.read()) if recorder.stdout else {}
    assert recorder.returncode == 0
    assert not any(document["losses"].values())
    assert len(memory) == 3
    assert memory[-1] - memory[0] < 1.5 * 100 * 40  # without forgetting, two batches
    emitted: dict[int, list[int]] = {}
    for event in babeltrace.events(trace):
        if event.name == babeltrace.TICKED:
            emitted.setdefault(event.process, []).append(event.fields["timeout"])
    assert len(emitted) == 3 * 100
    assert all(numbers == list(range(1000)) for numbers in emitted.values())


@needs_privileges
@pytest.mark.parametrize("tracer", ["lttng", "ring", "ebpf"])
def test_scheduling_events_fit_the_tracers(tmp_path: Path, tracer: str) -> None:
    """One clock: when a thread emits an event, the scheduler last switched to it, not from it. A
    kernel without an event for some switches has been seen; as many are counted as lost.
    """
    trace = tmp_path / "trace"
    printed = tmp_path / "printed"
    tick = ["sh", "-c", f'exec "$@" > {printed}', "sh", *TICK]
    command = ["record", "--json", "--backend", tracer, "--kernel", "-o", str(trace), "--", *tick]
    with Child(
        [*TAKT, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as recorder:
        until(
            lambda: (has_events(trace) and bool(printed.read_text())) or recorder.poll() is not None
        )
        recorder.send_signal(signal.SIGINT)
        said, complained = recorder.communicate()
    assert recorder.returncode == 0, complained
    process = int(printed.read_text().split()[0])
    lost = json.loads(said)["losses"]["discarded_events"]
    running = None
    ticked = misfits = 0
    for event in babeltrace.events(trace, lossy=lost > 0):
        if event.name == "sched_switch":
            if event.fields["next_tid"] == process:
                running = True
            elif event.fields["prev_tid"] == process:
                running = False
        elif event.name == babeltrace.TICKED and event.process == process:
            ticked += 1
            if running is False:
                # The switch to the process is missing. That is one misfit for the whole slice.
                misfits += 1
                running = True
    assert ticked > 0
    assert running is not None
    assert misfits <= lost


@needs_privileges
def test_p17_no_switch_among_strangers_is_recorded(tmp_path: Path) -> None:
    """performance-engineering fact 17. What the recorder starts is recorded: the program, and a
    helper of its own.
    """
    trace = tmp_path / "trace"
    tick = (
        "import glob, os, time\n"
        "for _ in range(100): time.sleep(0.002)\n"
        "children = glob.glob(f'/proc/{os.getppid()}/task/*/children')\n"
        "print(*os.listdir('/proc/self/task'), *(open(path).read() for path in children))"
    )
    done = record(
        *("--backend", "ring", "--kernel", "-o", str(trace), "--"), sys.executable, "-c", tick
    )
    assert done.returncode == 0, done.stderr
    said = "takt: these are the scheduler's events alone: no process with ROS 2's tracepoints did"
    assert said in done.stderr
    own = {int(thread) for thread in done.stdout.splitlines()[0].split()}
    events = babeltrace.events(trace, lossy=True)
    switches = [event.fields for event in events if event.name == "sched_switch"]
    assert len(switches) > 100
    strangers = [each for each in switches if not own & {each["prev_tid"], each["next_tid"]}]
    assert not strangers


@pytest.fixture
def kernels_own_tracer(tmp_path: Path) -> Iterator[Path]:
    """An instance of the kernel's function tracer that records the scheduler's events."""
    mounted = tmp_path / "tracefs"
    mounted.mkdir()
    subprocess.run(["mount", "-t", "tracefs", "nodev", str(mounted)], check=True)
    instance = mounted / "instances" / f"takt-{os.getpid()}"
    instance.mkdir()
    (instance / "buffer_size_kb").write_text("16384")
    for event in ("sched_switch", "sched_wakeup", "sched_wakeup_new"):
        (instance / "events" / "sched" / event / "enable").write_text("1")
    yield instance
    instance.rmdir()
    subprocess.run(["umount", str(mounted)], check=True)


@needs_privileges
def test_no_scheduling_event_is_missing_that_the_kernels_own_tracer_has(
    tmp_path: Path, kernels_own_tracer: Path
) -> None:
    """Except events while a thread of process 1 runs: in a virtual machine where that is the host's
    supervisor, the kernel has been seen to run no probes then, and to give its own tracer only a
    part.
    """
    trace = tmp_path / "trace"
    tick = "import os, time\nprint(os.getpid())\nfor _ in range(300): time.sleep(0.002)"
    done = record(
        *("--backend", "ring", "--kernel", "-o", str(trace), "--"), sys.executable, "-c", tick
    )
    assert done.returncode == 0, done.stderr
    process = int(done.stdout.split()[0])
    (kernels_own_tracer / "tracing_on").write_text("0")
    for stats in kernels_own_tracer.glob("per_cpu/cpu*/stats"):
        assert "\noverrun: 0\n" in stats.read_text()
    supervisor = {int(thread.name) for thread in Path("/proc/1/task").iterdir()}
    current = re.compile(r"-(\d+) +\[\d+\]")
    switch = re.compile(r"sched_switch: .*prev_pid=(\d+).* next_pid=(\d+)")
    wakeup = re.compile(r"(sched_wakeup(?:_new)?): .* pid=(\d+)")
    expected: list[tuple[str | int, int]] = []
    for entry in (kernels_own_tracer / "trace").read_text().splitlines():
        if (found := current.search(entry)) and int(found[1]) in supervisor:
            continue
        if found := switch.search(entry):
            threads = (int(found[1]), int(found[2]))
            if process in threads:
                expected.append(threads)
        elif (found := wakeup.search(entry)) and int(found[2]) == process:
            expected.append((found[1], process))
    recorded: list[tuple[str | int, int]] = []
    for event in babeltrace.events(trace, lossy=True):
        fields = event.fields
        if event.name == "sched_switch" and process in (fields["prev_tid"], fields["next_tid"]):
            recorded.append((fields["prev_tid"], fields["next_tid"]))
        elif event.name.startswith("sched_wakeup") and fields["tid"] == process:
            recorded.append((event.name, process))
    assert len(recorded) > 600
    assert len(expected) > 300
    rest = iter(recorded)
    missing = [entry for entry in expected if entry not in rest]  # `in` goes on to the entry
    assert not missing


@needs_privileges
def test_probes_go_with_a_killed_recorder(tmp_path: Path) -> None:
    with Child(TICK, stdout=subprocess.PIPE, text=True) as program:
        process = int(line(program))
        assert not probe_is_placed(process)
        command = [*TAKT, "record", "--backend", "ebpf", "-o", str(tmp_path / "trace")]
        with Child(command, stderr=subprocess.PIPE) as recorder:
            until(lambda: probe_is_placed(process) or recorder.poll() is not None)
            recorder.kill()
        until(lambda: not probe_is_placed(process))
        program.send_signal(signal.SIGINT)
        assert int(line(program)) > 0
        assert program.wait() == 0


# How a recording ends


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_reaches_the_command_and_the_trace_is_whole(
    ticking: tuple[subprocess.Popen[str], Path], number: signal.Signals
) -> None:
    recorder, trace = ticking
    process = int(line(recorder))
    recorder.send_signal(number)
    emitted, said = recorder.communicate()
    assert recorder.returncode == 0, said
    assert babeltrace.ticks(trace, process) == list(range(int(emitted)))
    assert str(trace) in said
    assert f"takt-{recorder.pid}-" not in sessions()
    assert not Path(f"{trace}.partial").exists()


def test_duration_ends_the_command(tmp_path: Path) -> None:
    done = record("-o", str(tmp_path / "trace"), "--duration", "0.5", "--", *TICK_FOR_SURE)
    assert done.returncode == 0, done.stderr
    process, emitted = map(int, done.stdout.split())
    assert babeltrace.ticks(tmp_path / "trace", process) == list(range(emitted))


def test_the_commands_status_is_ours(tmp_path: Path) -> None:
    load = "import ctypes; ctypes.CDLL('libtracetools.so').ros_trace_rcl_take(None)"
    command = [sys.executable, "-c", f"{load}; raise SystemExit(3)"]
    done = record("-o", str(tmp_path / "trace"), "--", *command)
    assert done.returncode == 3
    assert "ended with status 3" in done.stderr
    assert [e.name for e in babeltrace.events(tmp_path / "trace")] == ["ros2:rcl_take"]


def check_partial(partial: Path, program: int) -> None:
    """What a killed recorder left of a program that ticks can be read, and what is read says so."""
    done = subprocess.run([*TAKT, "info", "--json", str(partial)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["warnings"] == [
        f"{partial}: of a recording that was interrupted, or goes on: its last second is missing, "
        "or all since its disk was full"
    ]
    recorded = babeltrace.ticks(partial, program)
    assert len(recorded) > 0
    assert recorded == list(range(len(recorded)))


@pytest.mark.parametrize("tracer", ["ring", pytest.param("ebpf", marks=needs_privileges)])
def test_a_killed_recorder_leaves_its_trace(tmp_path: Path, tracer: str) -> None:
    trace = tmp_path / "trace"
    command = [*TAKT, "record", "--backend", tracer, "-o", str(trace), "--", *TICK]
    with Child(command, stdout=subprocess.PIPE, text=True) as recorder:
        program = int(line(recorder))
        until(lambda: has_events(trace))
        recorder.kill()
        os.kill(program, signal.SIGKILL)
    check_partial(Path(f"{trace}.partial"), program)


def test_a_killed_recorder_leaves_its_trace_and_the_next_one_clears_its_session(
    ticking: tuple[subprocess.Popen[str], Path], tmp_path: Path
) -> None:
    # The guard that ends a killed recorder's session has been killed, too.
    recorder, trace = ticking
    program = int(line(recorder))
    until(lambda: has_events(trace))
    for guard in guards_of(f"takt-{recorder.pid}-"):
        os.kill(guard, signal.SIGKILL)
    recorder.kill()
    recorder.wait()
    os.kill(program, signal.SIGKILL)
    assert f"takt-{recorder.pid}-" in sessions()
    again = record("-o", str(trace), "--", *TICK)
    assert again.returncode == 2
    assert again.stderr.splitlines()[-1] == (
        f"takt: {trace}.partial: left by an interrupted recording; move or remove it"
    )
    record("-o", str(tmp_path / "other"), "--", "true")
    assert f"takt-{recorder.pid}-" not in sessions()
    check_partial(Path(f"{trace}.partial"), program)


# Mistakes


def complaint(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 2, done.stderr
    (message,) = (x for x in done.stderr.splitlines() if x.startswith("takt: "))
    assert "Traceback" not in done.stderr
    return message


def test_output_exists(tmp_path: Path) -> None:
    (tmp_path / "trace").mkdir()
    done = record("-o", str(tmp_path / "trace"), "--", "true")
    assert complaint(done) == (
        f"takt: {tmp_path}/trace: exists already; name another directory with -o, or remove it"
    )


def test_output_has_no_parent(tmp_path: Path) -> None:
    done = record("-o", str(tmp_path / "nowhere" / "trace"), "--", "true")
    assert "cannot be created: No such file or directory" in complaint(done)


def test_no_such_command(tmp_path: Path) -> None:
    done = record("-o", str(tmp_path / "trace"), "--", "no-such-command")
    assert complaint(done) == (
        "takt: no-such-command: cannot be started: No such file or directory"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_command_without_ros(tmp_path: Path) -> None:
    done = record("-o", str(tmp_path / "trace"), "--", "true")
    assert done.returncode == 1
    assert "nothing was recorded" in done.stderr


def test_not_the_name_of_an_event(tmp_path: Path) -> None:
    done = record("-o", str(tmp_path / "trace"), "--event", "x" * 300, "--", "true")
    assert "is not the name of an event" in complaint(done)
    assert list(tmp_path.iterdir()) == []


# Without privileges


def test_ordinary_user_gets_a_daemon_of_their_own(tmp_path: Path, ordinary_user: list[str]) -> None:
    trace = tmp_path / "trace"
    done = subprocess.run(
        [
            *ordinary_user,
            *TAKT,
            "record",
            "-o",
            str(trace),
            "--duration",
            "0.5",
            "--",
            *TICK_FOR_SURE,
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    process, emitted = map(int, done.stdout.split())
    assert babeltrace.ticks(trace, process) == list(range(emitted))


def test_probes_need_privileges(tmp_path: Path, ordinary_user: list[str]) -> None:
    trace = tmp_path / "trace"
    done = subprocess.run(
        [*ordinary_user, *TAKT, "record", "--backend", "ebpf", "-o", str(trace), "--", "true"],
        capture_output=True,
        text=True,
    )
    assert complaint(done) == (
        "takt: not allowed to load probes: missing CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, "
        "CAP_DAC_READ_SEARCH; run it as root"
    )


def test_lttng_is_not_installed(tmp_path: Path, ordinary_user: list[str]) -> None:
    missing = [*ordinary_user, "LTTNG_SESSIOND_PATH=lttng-sessiond-is-missing"]
    done = subprocess.run(
        [*missing, *TAKT, "record", "-o", str(tmp_path / "trace"), "--", "true"],
        capture_output=True,
        text=True,
    )
    assert complaint(done) == (
        "takt: LTTng is not installed (no program 'lttng-sessiond-is-missing'); "
        "install it with 'apt install lttng-tools'"
    )
    assert not (tmp_path / "trace.partial").exists()


def test_another_daemon_starts_at_the_same_moment(tmp_path: Path, ordinary_user: list[str]) -> None:
    """Ours finds that one's lock, and ends before that one answers."""
    ours = tmp_path / "ours"
    ours.write_text(
        "#!/bin/sh\n"
        "(sleep 0.1; exec lttng-sessiond --daemonize) >/dev/null 2>&1 </dev/null &\n"
        "echo 'another one runs' >&2\n"
        "exit 1\n"
    )
    ours.chmod(0o755)
    done = subprocess.run(
        [
            *(*ordinary_user, f"LTTNG_SESSIOND_PATH={ours}", *TAKT),
            *("record", "-o", str(tmp_path / "trace"), "--duration", "0.5", "--", *TICK_FOR_SURE),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_daemon_cannot_start(tmp_path: Path, ordinary_user: list[str]) -> None:
    done = subprocess.run(
        [
            *ordinary_user,
            "HOME=/proc",
            *TAKT,
            "record",
            "-o",
            str(tmp_path / "trace"),
            "--",
            "true",
        ],
        capture_output=True,
        text=True,
    )
    assert "LTTng's session daemon does not start" in complaint(done)
