"""Programs that end with the one that started them, killed though it is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from takt.processes import lifeline
from takt.processes.competing_load import competing_load

LOAD = """
from takt.processes.competing_load import competing_load
with competing_load() as raise_to:
    raise_to(3)
    print("ready", flush=True)
    input()
"""
BOUND = """
import signal, subprocess, sys
from takt.processes import lifeline
subprocess.Popen(lifeline.bound([sys.executable, "-c", sys.argv[1]], signal.SIGTERM))
input()
"""


def descendants(process: int) -> set[int]:
    """The processes that descend from this one now."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])

    def descends(one: int) -> bool:
        while one in parents:
            one = parents[one]
            if one == process:
                return True
        return False

    return {one for one in parents if descends(one)}


def runs(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def wait_for_the_end(processes: set[int]) -> None:
    deadline = time.monotonic() + 60
    while any(map(runs, processes)):
        assert time.monotonic() < deadline, processes
        time.sleep(0.01)


def test_a_load_ends_with_the_process_that_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LOAD], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as asker:
        assert asker.stdout is not None
        assert asker.stdout.readline() == b"ready\n"
        load = descendants(asker.pid)
        assert len(load) == 4  # and the one that forks them
        asker.kill()
        wait_for_the_end(load)


def test_a_load_grows_and_ends_with_its_block() -> None:
    with competing_load() as raise_to:
        raise_to(1)
        few = descendants(os.getpid())
        raise_to(3)
        more = descendants(os.getpid())
        assert len(more - few) == 2
    wait_for_the_end(more)


def test_a_bound_program_is_told_to_end_by_its_signal(tmp_path: Path) -> None:
    said = tmp_path / "said"
    program = (
        "import pathlib, signal, sys\n"
        f"said = pathlib.Path({str(said)!r})\n"
        "signal.signal(signal.SIGTERM, lambda *_: (said.write_text('ended'), sys.exit()))\n"
        "said.write_text('ready')\n"
        "while True: signal.pause()\n"
    )
    with subprocess.Popen([sys.executable, "-c", BOUND, program], stdin=subprocess.PIPE) as starter:
        deadline = time.monotonic() + 60
        while not said.exists() or said.read_text() != "ready":
            assert time.monotonic() < deadline
            time.sleep(0.01)
        bound = descendants(starter.pid)
        starter.kill()
        wait_for_the_end(bound)
    assert said.read_text() == "ended"


def test_nothing_runs_once_the_starter_has_ended(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    words = lifeline.bound(["touch", str(marker)], signal.SIGTERM)
    words[words.index(str(os.getpid()))] = "1"  # as if another process had adopted it
    assert subprocess.run(words, check=False).returncode == 0
    assert not marker.exists()
    own = lifeline.bound(["touch", str(marker)], signal.SIGTERM)
    assert subprocess.run(own, check=False).returncode == 0
    assert marker.exists()


@pytest.mark.parametrize("word", ["false", "true"])
def test_the_status_is_that_of_the_program(word: str) -> None:
    words = lifeline.bound([word], signal.SIGTERM)
    assert subprocess.run(words, check=False).returncode == (word == "false")
