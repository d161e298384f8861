"""takt info --active-phase finds who allocates memory, and who has page faults, after start-up; and
models have how threads are scheduled.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from ctypes.util import find_library
from pathlib import Path
from typing import Any

import pytest

import takt as takt_python
from recording import PROGRAMS, Run, needs_privileges, takt

Json = dict[str, Any]

SECONDS = "3"
CALLS, BYTES, PAGES = 3, 12345, 64  # as planted.py has them
PROGRAM = [sys.executable, str(PROGRAMS / "planted.py"), SECONDS]
ALLOCATIONS = ["--event=ros2:*", "--event=takt:*", "--event=lttng_ust_libc:*"]
PLANTED, CLEAN = "/robot:timer-100ms", "/robot:timer-50ms"


def active(trace: Path) -> Json:
    said = takt("info", str(trace), "--active-phase", "--json")
    assert said.returncode == 0, said.stderr
    document: Json = json.loads(said.stdout)
    return document


def by_callback(document: Json, what: str) -> dict[str, Json]:
    """What happened in callbacks; several threads may have page faults of their own outside."""
    calls = [call for call in document["calls"] if call["what"] == what and call["callback"]]
    found = {call["callback"]: call for call in calls}
    assert len(found) == len(calls)
    return found


@pytest.mark.skipif(find_library("lttng-ust-libc-wrapper") is None, reason="no LTTng-UST helpers")
def test_a_planted_allocation_is_found_with_its_thread_and_callback(tmp_path: Path) -> None:
    run = Run.of(tmp_path / "trace", PROGRAM, backend="lttng", options=ALLOCATIONS)
    ran = json.loads(run.output)
    document = active(run.trace)
    found = by_callback(document, "memalign")
    assert found.keys() == {PLANTED}
    call = found[PLANTED]
    assert call["count"] + document["in_start_up"].get("memalign", 0) == CALLS * ran["planted"]
    assert call["bytes"] == BYTES * call["count"]
    assert call["count"] % CALLS == 0
    assert call["count"] > 0
    assert call["tid"] == call["pid"]  # the thread that spins is the program's first
    shown = takt("info", str(run.trace), "--active-phase").stdout
    assert PLANTED in shown
    assert "Page faults are not in the recording: takt record --kernel" in shown


@pytest.mark.skipif(find_library("lttng-ust-libc-wrapper") is None, reason="no LTTng-UST helpers")
def test_every_event_of_the_c_library_is_exported_and_counted(tmp_path: Path) -> None:
    run = Run.of(tmp_path / "trace", PROGRAM, backend="lttng", options=ALLOCATIONS)
    by_name = json.loads(takt("info", str(run.trace), "--json").stdout)["by_name"]
    foreign = {name: n for name, n in by_name.items() if name.startswith("lttng_ust_libc:")}
    assert sum(foreign.values()) > 1000
    for name in ("lttng_ust_libc:memalign", "lttng_ust_libc:free"):
        assert takt_python.open(str(run.trace)).events(name).read_all().num_rows == foreign[name]
    tables = tmp_path / "tables"
    done = takt("export", str(run.trace), "--format", "csv", "-o", str(tables))
    assert done.returncode == 0, done.stderr
    rows = 0
    for file in tables.glob("*.csv"):
        with file.open(newline="") as lines:
            rows += sum(1 for _ in csv.reader(lines)) - 1
    assert rows == sum(by_name.values())
    assert f"{rows} events" in done.stdout.replace("\N{NARROW NO-BREAK SPACE}", "")


@needs_privileges
@pytest.mark.parametrize("backend", ["ring", "ebpf", "lttng"])
def test_planted_page_faults_are_found_with_their_callback(backend: str, tmp_path: Path) -> None:
    run = Run.of(tmp_path / "trace", PROGRAM, backend=backend, options=["--kernel"])
    document = active(run.trace)
    found = by_callback(document, "page fault")
    runs = found[PLANTED]["count"] / PAGES
    ran = json.loads(run.output)["planted"]
    assert ran / 4 < runs < 2 * ran  # those after start-up; each run has some faults of its own
    assert found.get(CLEAN, {"count": 0})["count"] < PAGES
    assert found[PLANTED]["places"][0]["count"] > 0
    assert found[PLANTED]["first"] >= document["since"]


def test_a_recording_without_either_says_which_has_them(tmp_path: Path) -> None:
    run = Run.of(tmp_path / "trace", PROGRAM, backend="ring")
    said = takt("info", str(run.trace), "--active-phase")
    assert said.returncode == 2
    (line,) = (line for line in said.stderr.splitlines() if "warning" not in line)
    assert "--event 'lttng_ust_libc:*' -- COMMAND" in line
    assert "takt record --kernel -- COMMAND" in line


@needs_privileges
@pytest.mark.parametrize("contained", [False, True])
def test_models_have_how_threads_are_scheduled(contained: bool, tmp_path: Path) -> None:
    """In a container, too: its threads have other numbers there than outside."""
    core = sorted(os.sched_getaffinity(0))[-1]
    trace = tmp_path / "trace"
    pinned = ["taskset", "--cpu-list", str(core), "chrt", "--fifo", "20", *PROGRAM]
    recorder = ["unshare", "--pid", "--fork", "--mount-proc"] if contained else []
    words = ["record", "--backend", "ring", "--kernel", "-o", str(trace), "--", *pinned]
    done = takt_by(recorder, words)
    assert done.returncode == 0, done.stderr
    info = json.loads(takt("info", str(trace), "--json").stdout)
    assert info["by_name"]["sched_switch"] > 50
    (executor,) = info["executors"]
    expected = {"policy": "fifo", "priority": 20, "cores": str(core)}
    assert [{key: told[key] for key in expected} for told in executor["scheduling"]] == [expected]
    model = json.loads(takt("model", str(trace)).stdout)
    (modelled,) = model["executors"]
    assert modelled["cpu"] == core
    (told,) = model["provenance"]["scheduling"]
    assert {key: told[key] for key in expected} == expected
    assert told["executor"] == modelled["id"]


def takt_by(before: list[str], words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*before, sys.executable, "-m", "takt", *words], capture_output=True, text=True, check=False
    )
