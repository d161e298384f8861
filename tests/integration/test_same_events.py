"""One run of a system of several processes, seen by all tracers at once: they tell the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import babeltrace
from children import Child
from recording import PROGRAMS, TAKT, needs_privileges, until

MESSAGES = 50
TALK = f"{sys.executable} {PROGRAMS / 'talk.py'} {MESSAGES}"

# Events that not every tracer can see; see docs/tracing.md.
OF_ONE_TRACER = {"takt:thread_cpu_time", "dds:write", "dds:receive", "rcl:call"}

Threads = dict[tuple[int, int], list[tuple[str, dict[str, Any]]]]


def by_thread(trace: Path, processes: set[int]) -> Threads:
    threads: Threads = defaultdict(list)
    for event in babeltrace.events(trace):
        if event.process in processes and event.name not in OF_ONE_TRACER:
            threads[event.process, event.thread].append((event.name, event.fields))
    return dict(threads)


@needs_privileges
def test_three_tracers_tell_the_same(tmp_path: Path) -> None:
    lttng, ebpf, ring = (tmp_path / name for name in ("lttng", "ebpf", "ring"))
    everything = [*TAKT, "record", "--backend", "lttng", "-o", str(lttng)]
    # Two talkers that do not hear each other.
    system = (
        f"ROS_DOMAIN_ID=41 {TALK} > {tmp_path}/1 & ROS_DOMAIN_ID=42 {TALK} > {tmp_path}/2; wait"
    )
    with Child(everything, stderr=subprocess.PIPE, text=True) as recorder:
        until(lambda: _traces(recorder.pid) or recorder.poll() is not None)
        done = subprocess.run(
            [
                *(*TAKT, "record", "--backend", "ebpf", "-o", str(ebpf), "--"),
                *(*TAKT, "record", "--backend", "ring", "-o", str(ring), "--", "sh", "-c", system),
            ],
            capture_output=True,
            text=True,
        )
        recorder.send_signal(signal.SIGINT)
        _, said = recorder.communicate()
    assert done.returncode == 0, done.stderr
    assert recorder.returncode == 0, said

    processes = {event.process for event in babeltrace.events(ring)}
    assert len(processes) == 2
    expected = by_thread(ring, processes)
    assert by_thread(lttng, processes) == expected
    assert by_thread(ebpf, processes) == expected

    events = [event for thread in expected.values() for event in thread]
    publishers = {
        fields["publisher_handle"]
        for name, fields in events
        if name == "ros2:rcl_publisher_init" and fields["topic_name"] == "/chatter"
    }
    published = sum(
        name == "ros2:rcl_publish" and fields["publisher_handle"] in publishers
        for name, fields in events
    )
    counted = [json.loads((tmp_path / name).read_text()) for name in ("1", "2")]
    assert published == sum(count["published"] for count in counted) == 2 * MESSAGES
    assert sum(count["heard"] for count in counted) == 2 * MESSAGES


def _traces(recorder: int) -> bool:
    """Whether this recorder's LTTng session is active."""
    listed = subprocess.run(["lttng", "list"], capture_output=True, text=True, env=os.environ)
    return any(f"takt-{recorder}-" in x and "[active]" in x for x in listed.stdout.splitlines())
