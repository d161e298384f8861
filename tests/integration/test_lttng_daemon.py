"""The session daemon of LTTng that a recorder needs: it ends with those that need it."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from children import Child
from recording import TAKT, Run, is_gone, until

EMIT = "import ctypes; ctypes.CDLL('libtracetools.so').ros_trace_rcl_init(ctypes.c_void_p(1))"
PROGRAM = [sys.executable, "-c", EMIT]
NUMBER = Path("/var/run/lttng/lttng-sessiond.pid")

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="root's daemon is the one looked at")


def answers() -> bool:
    listed = ["lttng", "--no-sessiond", "list"]
    return subprocess.run(listed, capture_output=True, check=False).returncode == 0


@pytest.fixture(autouse=True)
def no_daemon() -> Iterator[None]:
    """None runs at the beginning, and none is left."""
    end()
    yield
    end()


def end() -> None:
    """One that no longer answers still removes its files, and those of another one."""
    if answers():
        number = int(NUMBER.read_text())
        os.kill(number, signal.SIGTERM)
        until(lambda: is_gone(number))


def test_a_daemon_that_takt_started_ends_with_the_recording(tmp_path: Path) -> None:
    for number in range(2):
        run = Run.of(tmp_path / f"t{number}", PROGRAM)
        assert not any(run.document["losses"].values())
        assert not answers()


def test_one_that_somebody_uses_stays(tmp_path: Path) -> None:
    """For a session that was started beside the recording."""
    create = f"lttng create other -o {tmp_path / 'other'} > {tmp_path / 'created'}"
    Run.of(tmp_path / "t", ["sh", "-c", f'{create}; exec {sys.executable} -c "{EMIT}"'])
    assert answers()


def test_one_that_somebody_started_stays(tmp_path: Path) -> None:
    subprocess.run(["lttng-sessiond", "--daemonize"], check=True)
    until(answers)
    Run.of(tmp_path / "t", PROGRAM)
    assert answers()


def test_it_ends_when_the_recorder_is_killed(tmp_path: Path) -> None:
    waiting = ["sh", "-c", "sleep 1000"]
    command = [*TAKT, "record", "-o", str(tmp_path / "t"), "--", *waiting]
    with Child(command, stderr=subprocess.DEVNULL) as recorder:
        until(answers)
        until(lambda: (tmp_path / "t.partial").exists())
        number = int(NUMBER.read_text())
        recorder.kill()
    until(lambda: is_gone(number))


def test_none_is_started_while_another_is_ending(tmp_path: Path) -> None:
    """It would lose its files to that one, which no longer answers but still runs."""
    ending = tmp_path / "lttng-sessiond"
    ending.symlink_to(shutil.which("sleep") or "")
    started = tmp_path / "started"
    starts = tmp_path / "starts"
    starts.write_text(
        f'#!/bin/sh\nls /proc/$(cat {NUMBER})/exe > {started} 2>&1; exec lttng-sessiond "$@"\n'
    )
    starts.chmod(0o700)
    with Child([str(ending), "1000"]) as process:
        NUMBER.parent.mkdir(exist_ok=True)
        NUMBER.write_text(f"{process.pid}\n")
        command = [*TAKT, "record", "-o", str(tmp_path / "t"), "--", *PROGRAM]
        environment = {**os.environ, "LTTNG_SESSIOND_PATH": str(starts)}
        with Child(command, env=environment, stderr=subprocess.DEVNULL) as recorder:
            time.sleep(2)  # it may come later: then there is nothing to wait for
            assert not started.exists()
            process.kill()
            process.wait()
            assert recorder.wait() == 0
    assert "No such file" in started.read_text()


def test_who_ends_it_after_a_kill_keeps_others_from_using_it_meanwhile(tmp_path: Path) -> None:
    """It is stopped between the last look at its sessions and its end, and does not end yet."""
    # A signal to end it that came before it has really stopped would not wait.
    stops = tmp_path / "lttng"
    stops.write_text(
        f'#!/bin/sh\n{shutil.which("lttng")} "$@"; status=$?\n'
        f"case $* in *xml*list) number=$(cat {NUMBER}); kill -STOP $number\n"
        "while kill -0 $number && ! grep -q '^State:.T' /proc/$number/status; do sleep 0.01; done\n"
        ";; esac; exit $status\n"
    )
    stops.chmod(0o700)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = [*TAKT, "record", "-o", str(tmp_path / "t"), "--", "sh", "-c", "sleep 1000"]
    with Child(command, env=environment, stderr=subprocess.DEVNULL) as recorder:
        until(answers)
        until(lambda: (tmp_path / "t.partial").exists())
        number = int(NUMBER.read_text())
        recorder.kill()
    try:
        until(lambda: has_pending(number, signal.SIGTERM))
        time.sleep(0.5)  # for who does not wait for its end
        with NUMBER.open() as use, pytest.raises(BlockingIOError):
            fcntl.flock(use, fcntl.LOCK_SH | fcntl.LOCK_NB)
    finally:
        os.kill(number, signal.SIGCONT)
    until(lambda: is_gone(number))


def has_pending(process: int, wanted: signal.Signals) -> bool:
    status = Path(f"/proc/{process}/status").read_text()
    masks = [int(line.split()[1], 16) for line in status.splitlines() if "Pnd:" in line]
    return any(mask >> (wanted - 1) & 1 for mask in masks)
