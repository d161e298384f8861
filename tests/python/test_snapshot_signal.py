"""takt snapshot asks the recorder that it found, and nobody else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from robot import run_takt
from takt.commands import snapshot
from takt.errors import UserError
from takt.recordings import recorder

IGNORES = "import signal; signal.signal(signal.SIGUSR1, signal.SIG_IGN); print(flush=True); input()"
DIES = "print(flush=True); input()"


@pytest.fixture(params=[IGNORES])
def process(request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    """A program that is no recorder."""
    with subprocess.Popen(
        [sys.executable, "-c", request.param],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as started:
        assert started.stdout is not None
        started.stdout.readline()
        yield started
        started.kill()


def announce(folder: Path, process: int, began: int | None) -> Path:
    file = folder / f"{process}.json"
    state: dict[str, object] = {"began": began, "asked": 0, "snapshots": [], "error": None}
    file.write_text(json.dumps(state))
    return file


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return recorder.snapshot_files()


@pytest.mark.parametrize("process", [DIES], indirect=True)
def test_a_program_with_the_id_of_a_killed_recorder_is_left_alone(
    process: subprocess.Popen[str], folder: Path
) -> None:
    began = recorder.began(process.pid)
    assert began is not None
    announce(folder, process.pid, began - 1)
    done = run_takt("snapshot")
    assert done.returncode == 2
    assert "no snapshot recording runs" in done.stderr
    assert process.poll() is None


def test_a_recorder_that_does_not_answer_is_not_waited_for_for_ever(
    process: subprocess.Popen[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = announce(folder, process.pid, recorder.began(process.pid))
    monkeypatch.setattr(snapshot, "PATIENCE", 0.0)
    with pytest.raises(UserError, match=f"the recorder {process.pid} has not answered"):
        snapshot._ask(file)


@pytest.mark.parametrize("process", [DIES], indirect=True)
def test_a_recorder_that_is_killed_meanwhile_is_not_waited_for(
    process: subprocess.Popen[str], folder: Path
) -> None:
    file = announce(folder, process.pid, recorder.began(process.pid))
    with pytest.raises(UserError, match="has ended before it could write"):
        snapshot._ask(file)
    assert process.wait() == -signal.SIGUSR1


def test_processes_differ_by_when_they_began(process: subprocess.Popen[str]) -> None:
    began = recorder.began(os.getpid())
    assert began is not None
    assert began <= (recorder.began(process.pid) or 0)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert recorder.began(process.pid) is None  # though nobody has reaped it
