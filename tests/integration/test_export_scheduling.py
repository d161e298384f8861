"""takt export --format perfetto shows what the processors ran, if the kernel was recorded."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from perfetto.protos.perfetto.trace import perfetto_trace_pb2

import babeltrace
from recording import PROGRAMS, TAKT, Run, needs_privileges

Fields = tuple[Any, ...]

# The names of the recording's fields in Perfetto's events.
FIELDS = {
    "sched_switch": {
        **{name: name for name in ("prev_comm", "prev_prio", "prev_state", "next_comm")},
        "next_prio": "next_prio",
        "prev_tid": "prev_pid",
        "next_tid": "next_pid",
    },
    "sched_wakeup": {"comm": "comm", "tid": "pid", "prio": "prio", "target_cpu": "target_cpu"},
}


@needs_privileges
def test_perfetto_has_every_switch_and_wakeup(tmp_path: Path) -> None:
    talk = [sys.executable, str(PROGRAMS / "talk.py"), "50"]
    run = Run.of(tmp_path / "trace", talk, backend="ring", options=["--kernel"])
    exported = tmp_path / "trace.pftrace"
    command = [*TAKT, "export", str(run.trace), "--format", "perfetto", "-o", str(exported)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

    trace = perfetto_trace_pb2.Trace()
    trace.ParseFromString(exported.read_bytes())
    shown: dict[str, list[Fields]] = {"sched_switch": [], "sched_wakeup": []}
    for packet in trace.packet:
        bundle = packet.ftrace_events
        times = [event.timestamp for event in bundle.event]
        assert times == sorted(times)
        for event in bundle.event:
            name = "sched_switch" if event.HasField("sched_switch") else "sched_wakeup"
            fields = getattr(event, name)
            values = (getattr(fields, field) for field in FIELDS[name].values())
            shown[name].append((event.timestamp, bundle.cpu, *values))

    recorded = babeltrace.events(run.trace, lossy=True)
    for name, fields in FIELDS.items():
        expected = [
            (event.clock, event.processor, *(event.fields[field] for field in fields))
            for event in recorded
            if event.name == name
        ]
        assert len(expected) > 0
        assert sorted(shown[name]) == sorted(expected)
    # The purpose of it all: the program's own threads are among those that ran.
    threads = {event.thread for event in recorded if event.process}
    ran = {e.fields["next_tid"] for e in recorded if e.name == "sched_switch"}
    assert threads & ran


@needs_privileges
def test_perfetto_keeps_the_processors_of_two_hosts_apart(tmp_path: Path) -> None:
    """A recording beside itself, as if made on another host."""
    run = Run.of(
        tmp_path / "one",
        [sys.executable, str(PROGRAMS / "talk.py"), "20"],
        backend="ring",
        options=["--kernel"],
    )
    other = shutil.copytree(run.trace, tmp_path / "other")
    for metadata in other.rglob("metadata"):
        text = metadata.read_bytes()
        metadata.write_bytes(re.sub(rb'hostname = "[^"]*"', b'hostname = "another"', text))

    def switches(*traces: Path) -> dict[int, list[tuple[int, int, int]]]:
        """By processor: when, and from which thread to which."""
        exported = tmp_path / "trace.pftrace"
        command = [*TAKT, "export", *map(str, traces), "--format", "perfetto", "-o", str(exported)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        trace = perfetto_trace_pb2.Trace()
        trace.ParseFromString(exported.read_bytes())
        found: dict[int, list[tuple[int, int, int]]] = {}
        for packet in trace.packet:
            for event in packet.ftrace_events.event:
                if event.HasField("sched_switch"):
                    change = event.sched_switch
                    row = event.timestamp, change.prev_pid, change.next_pid
                    found.setdefault(packet.ftrace_events.cpu, []).append(row)
        return found

    alone, both = switches(run.trace), switches(run.trace, other)
    assert len(both) == 2 * len(alone) > 0
    # Those of the first host are as they were.
    assert {processor: both[processor] for processor in alone} == alone
    first, second = (
        {row[2] for processor, rows in both.items() if (processor in alone) == own for row in rows}
        for own in (True, False)
    )
    # Only the idle thread has one number everywhere.
    assert first & second <= {0}
