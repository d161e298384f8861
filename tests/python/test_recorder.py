"""Who is in charge of a recorded command: of its end, of what it leaves, and of its recording."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import takt_native
from robot import run_takt
from takt.commands import record as record_command
from takt.errors import UserError
from takt.processes import supervision
from takt.recordings import recorder
from takt.recordings.recorder import Request, Running, supervise

# An orphan ends after its parent. Its number is free again when the one that it was left to has
# reaped it.
ORPHAN = """
(sh -c 'while [ ! -e go ]; do sleep 0.01; done' & echo $! > orphan)
touch go
read orphan < orphan
while [ -e /proc/$orphan ]; do sleep 0.01; done
"""

SI_TKILL = -6
"""How a signal is marked that a thread has sent to a thread (asm-generic/siginfo.h)."""

STATUS = '{"bytes": 1, "failure": "", "unrecorded": [], "discarded_events": 0}'
FULL = '{"bytes": 1, "failure": "the disk is full", "unrecorded": [], "discarded_events": 2}'


def shell(script: str) -> Request:
    return Request("ring", Path(), command=("sh", "-c", script))


def goes_on() -> bool:
    return True


def test_a_command_is_not_started_if_its_end_came_first(tmp_path: Path) -> None:
    """Ctrl-C while the recorder makes itself ready: the terminal tells what is there already."""
    started = tmp_path / "started"
    with supervision.signals_kept():
        signal.raise_signal(signal.SIGINT)  # to this thread: a test's worker has others
        with pytest.raises(KeyboardInterrupt):
            supervise(shell(f"touch {started}; sleep 60"), os.environ, goes_on)
    assert not started.exists()


def test_a_signal_that_came_before_the_command_was_there_is_passed_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def spawn_late(*words: Any, **how: Any) -> int:
        signal.raise_signal(signal.SIGTERM)  # which no caller has this process ignore
        return spawn(*words, **how)

    spawn = os.posix_spawnp
    monkeypatch.setattr(os, "posix_spawnp", spawn_late)
    monkeypatch.setattr(supervision, "FROM_THE_KERNEL", SI_TKILL)  # as if the terminal sent it
    assert supervise(shell("sleep 60"), os.environ, goes_on) == 0


def until_gone(process: int) -> None:
    """Returns when it has ended; a process that nobody ends fails the test."""
    while recorder.began(process) is not None:
        time.sleep(0.01)


@pytest.fixture
def child() -> Iterator[Callable[[str], subprocess.Popen[bytes]]]:
    """Starts processes of the test's own."""
    started: list[subprocess.Popen[bytes]] = []

    def start(script: str) -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen(["sh", "-c", script]))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# The command


def test_an_error_ends_the_command_and_what_it_started(
    here: Path,
    child: Callable[[str], subprocess.Popen[bytes]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(supervision, "PATIENCE", 0.05)  # what it started is deaf to SIGINT
    other = child("exec sleep 1000")

    def look() -> bool:
        if Path("all").exists():
            raise ZeroDivisionError
        return True

    with pytest.raises(ZeroDivisionError):
        supervise(
            shell(
                "sleep 1000 & echo $$ $! > some; mv some all; trap 'exit 0' INT; "
                "while :; do sleep 0.01; done"
            ),
            os.environ,
            look,
            0.01,
        )
    for process in Path("all").read_text().split():
        until_gone(int(process))
    assert other.poll() is None


def test_what_a_command_that_ignores_signals_leaves_is_ended_at_once(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had to be killed, so what has its deafness from it is not asked in vain again."""
    sent: list[tuple[int, int]] = []
    kill = os.kill

    def note(process: int, number: int) -> None:
        sent.append((process, number))
        kill(process, number)

    monkeypatch.setattr(supervision, "PATIENCE", 0.05)
    monkeypatch.setattr(os, "kill", note)
    deaf = "trap '' INT TERM; sleep 1000 & echo $! > left; mv left all; while :; do sleep 1; done"

    def look() -> bool:
        if Path("all").exists():
            raise ZeroDivisionError
        return True

    with pytest.raises(ZeroDivisionError):
        supervise(shell(deaf), os.environ, look, 0.01)
    left = int(Path("all").read_text())
    until_gone(left)
    assert [number for process, number in sent if process == left] == [signal.SIGKILL]
    first = [number for process, number in sent if process == sent[0][0]]
    assert first == [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]


def test_a_recorder_that_cannot_be_asked_for_snapshots_starts_no_command(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.chmod(0o700)
    (here / "takt-snapshots").mkdir()
    (here / "takt-snapshots").chmod(0o777)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(here))
    request = Request(
        "ring", here / "robot", command=("touch", str(here / "started")), snapshot_size=1 << 20
    )
    with pytest.raises(UserError, match="not a directory of this user alone"):
        recorder.record(request, lambda *_: None)
    assert not (here / "started").exists()


@pytest.mark.parametrize("name", ["PIPE", "XFSZ"])
def test_a_signal_that_python_ignores_ends_a_command(name: str) -> None:
    number = signal.Signals[f"SIG{name}"]
    assert supervise(shell(f"kill -{name} $$"), os.environ, goes_on) == 128 + number


def test_who_watches_is_told_before_the_command_is_asked_to_end(
    here: Path,
) -> None:
    sent: list[bool] = []
    told: list[bool] = []
    script = "trap 'touch asked; exit' INT TERM; touch ready"
    command = shell(script + "; while :; do sleep 0.01; done")

    def look() -> bool:
        if Path("ready").exists() and not sent:
            sent.append(True)
            signal.raise_signal(signal.SIGTERM)
        return True

    supervise(command, os.environ, look, 0.01, lambda: told.append(Path("asked").exists()))
    assert told == [False]
    supervise(shell("true"), os.environ, goes_on, 0.01, lambda: told.append(True))
    assert told == [False]


# What it leaves


def test_orphans_are_reaped_while_the_command_runs(here: Path) -> None:
    assert supervise(shell(ORPHAN), os.environ, goes_on) == 0


def test_an_older_child_is_left_to_those_who_started_it(
    here: Path, child: Callable[[str], subprocess.Popen[bytes]]
) -> None:
    """Though it has ended, and so is the first that the kernel shows."""
    older = child("exit 7")
    os.waitid(os.P_PID, older.pid, os.WEXITED | os.WNOWAIT)
    assert supervise(shell(ORPHAN), os.environ, goes_on) == 0
    assert older.wait() == 7


def test_a_child_of_another_thread_is_left_to_it(here: Path) -> None:
    over = threading.Event()
    statuses: list[int] = []

    def start() -> None:
        process = subprocess.Popen(["sh", "-c", "exit 7"])
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        Path("ended").touch()
        over.wait()
        statuses.append(process.wait())

    thread = threading.Thread(target=start)

    def look() -> bool:
        if thread.ident is None:
            thread.start()
        return True

    script = "while [ ! -e ended ]; do sleep 0.01; done" + ORPHAN
    assert supervise(shell(script), os.environ, look, 0.01) == 0
    over.set()
    thread.join()
    assert statuses == [7]


# The recording


class Recording:
    """Says what it is told to say; an exception is raised."""

    def __init__(self, states: list[str | Exception], end: str | Exception) -> None:
        self.states = iter(states)
        self.end = end

    def status(self) -> str:
        return self._said(next(self.states))

    def stop(self) -> str:
        return self._said(self.end)

    @staticmethod
    def _said(what: str | Exception) -> str:
        if isinstance(what, Exception):
            raise what
        return what


GONE = takt_native.InputError("LTTng cannot say what it lost")


@pytest.mark.parametrize(
    ("state", "end", "reason", "losses"),
    [
        (FULL, FULL, "the disk is full", "2 discarded events"),
        (GONE, STATUS, "LTTng cannot say what it lost", "nothing lost"),
        (GONE, GONE, "LTTng cannot say what it lost", "an unknown number of events lost"),
    ],
)
@pytest.mark.parametrize("by_itself", [False, True])
def test_a_recording_that_fails_ends_and_says_so_once(
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    state: str | Exception,
    end: str | Exception,
    reason: str,
    losses: str,
    by_itself: bool,
) -> None:
    monkeypatch.setattr(recorder, "TICK", 0.001)
    (here / "trace.partial").mkdir()
    said: list[str] = []
    over = threading.Event()

    def say(message: str) -> None:
        said.append(message)
        over.set()

    recording: Any = Recording([STATUS, state], end)
    running = Running(recording, here / "trace", say)
    if by_itself:
        running.look_by_itself()
        over.wait()
    else:
        assert running.look() is not None
        assert running.look() is None
    assert running.look() is None
    assert said == [f"{reason}: the recording ends"]
    with pytest.raises(UserError) as failed:
        running.stop()
    message = str(failed.value)
    assert message.startswith(f"{reason}; the recording ended after ")
    assert message.endswith(f"{losses} until then: {here / 'trace'}.partial")


def test_a_command_goes_on_when_its_recording_has_failed(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends only after its recording has."""
    monkeypatch.setattr(recorder, "TICK", 0.001)

    class Failing(Recording):
        def __init__(self, *_: object, **__: object) -> None:
            super().__init__([GONE], GONE)

        def environment(self) -> dict[str, str]:
            return {}

        def stop(self) -> str:
            Path("failed").touch()
            return super().stop()

    monkeypatch.setattr(takt_native, "Recording", Failing)
    script = "while [ ! -e failed ]; do sleep 0.01; done; touch whole"
    with pytest.raises(UserError, match="LTTng cannot say what it lost; the recording ended"):
        recorder.record(
            Request("lttng", here / "trace", command=("sh", "-c", script)), lambda *_: None
        )
    assert Path("whole").exists()


def test_why_a_recording_took_longer_than_was_asked_for_is_said() -> None:
    here = Path()
    plain = Request("ebpf", here, duration=6.0)
    command = Request("ring", here, command=("sh", "-c", "x"), duration=6.0)
    took = [
        (plain, 6.1, 0.2, "6.1 s"),
        (plain, 20.4, 14.3, "20.4 s (14.3 s of them to find what ran already)"),
        (command, 6.2, 0.0, "6.2 s"),
        (command, 9.1, 0.0, "9.1 s (3.1 s of them until sh had ended)"),
        (shell("x"), 9.1, 0.0, "9.1 s"),
    ]
    for request, seconds, searched, said in took:
        recorded = recorder.Recorded(here, seconds, 1, {}, searched=searched)
        assert record_command._time(request, recorded) == said


def test_a_trace_is_a_folder_not_standard_output(here: Path) -> None:
    done = run_takt("record", "-o", "-", "--", "true")
    assert (done.returncode, done.stderr) == (2, "takt: -o -: name a folder for the trace\n")
    assert not list(here.iterdir())
