"""Acceptance facts of the message flow specification that are about instrumented programs and the
library that traces them. Those about a launch file are in test_launch.py.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import babeltrace
from recording import PROGRAMS, TAKT, Run

ROOT = Path(__file__).resolve().parents[2]
TALK = [sys.executable, str(PROGRAMS / "talk.py"), "20"]

INSTRUMENTED = {
    # Code as in packages of ROS 2 and in Takt's own executors.
    "package.cpp": """
        #include <tracetools/tracetools.h>
        void publish(const void* publisher, const void* message) {
          TRACETOOLS_TRACEPOINT(rcl_publish, publisher, message);
        }""",
    "traced.cpp": """
        #include "takt/executor/traced_callback.hpp"
        void run(const takt::executor::TracedCallback<int>& callback) {
          callback.announce();
          callback(1);
        }""",
    "decision_trace.cpp": (ROOT / "ros/executor/src/decision_trace.cpp").read_text("utf-8"),
    "announcement.cpp": (ROOT / "ros/executor/src/announcement.cpp").read_text("utf-8"),
}
FOLDERS = (
    *(f"libtakt/{module}/include" for module in ("base", "linux", "scheduling", "time")),
    *("ros/executor/include", "ros/executor/src", "ros/tracetools/include"),
)


def prefixes() -> list[Path]:
    return [Path(prefix) for prefix in os.environ["AMENT_PREFIX_PATH"].split(os.pathsep)]


def calls_of_tracing(source: Path, *options: str) -> set[str]:
    """Functions of the tracing library that the object of a source file asks for."""
    include = [ROOT / folder for folder in FOLDERS]
    for prefix in prefixes():
        include += [prefix / "include", *(prefix / "include").glob("*/")]
    made = source.with_suffix(".o")
    compiler = ["c++", "-std=c++20", "-c", "-O0", *options, str(source), "-o", str(made)]
    subprocess.run([*compiler, *(f"-I{folder}" for folder in include)], check=True)
    listed = subprocess.run(["nm", "-u", made], capture_output=True, text=True, check=True)
    names = {line.split()[-1] for line in listed.stdout.splitlines()}
    return {name for name in names if "ros_trace_" in name or "takt_trace_" in name}


@pytest.mark.parametrize("name", INSTRUMENTED)
def test_fact_4_without_tracing_nothing_calls_the_tracing_library(
    tmp_path: Path, name: str
) -> None:
    source = tmp_path / name
    source.write_text(INSTRUMENTED[name], "utf-8")
    assert calls_of_tracing(source)
    # ROS 2's build defines this with the option, and on targets other than Linux.
    assert not calls_of_tracing(source, "-DTRACETOOLS_DISABLED")


def test_fact_5_another_tracing_library_alone_is_another_backend(tmp_path: Path) -> None:
    """The same program runs with the same libraries of ROS 2, except the tracing library."""
    files = [Path(TALK[1]), *(file for p in prefixes() for file in (p / "lib").glob("librcl*.so"))]
    assert len(files) > 2

    def contents() -> list[str]:
        return [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]

    before = contents()
    ring = Run.of(tmp_path / "ring", TALK, backend="ring")
    lttng = Run.of(tmp_path / "lttng", TALK, backend="lttng")
    assert contents() == before
    names = [{event.name for event in babeltrace.events(run.trace)} for run in (ring, lttng)]
    assert names[0] == names[1]
    assert "ros2:rcl_publish" in names[0]
    # ROS 2's own library goes to LTTng alone: without ours there is nothing for the ring.
    libraries = os.pathsep.join(str(prefix / "lib") for prefix in prefixes())
    stock = ["env", "-u", "LD_PRELOAD", f"LD_LIBRARY_PATH={libraries}", *TALK]
    done = subprocess.run(
        [*TAKT, "record", "--backend", "ring", "-o", str(tmp_path / "stock"), "--", *stock],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "nothing was recorded" in done.stderr


@pytest.mark.parametrize("backend", ["ring", "lttng"])
def test_fact_7_a_recording_ends_when_the_launched_system_has_ended(
    tmp_path: Path, backend: str
) -> None:
    """Also with what the command left behind, up to its last event."""
    talk = " ".join(TALK)
    script = (
        f"ROS_DOMAIN_ID=43 {talk} > {tmp_path}/1 & ROS_DOMAIN_ID=44 {talk} > {tmp_path}/2; wait"
    )
    run = Run.of(tmp_path / "trace", ["sh", "-c", script], backend=backend)
    events = babeltrace.events(run.trace)
    talkers = {event.process for event in events if event.name == "ros2:rcl_node_init"}
    assert len(talkers) == 2
    sessions = subprocess.run(["lttng", "list"], capture_output=True, text=True)
    assert str(tmp_path) not in sessions.stdout


def test_fact_8_an_event_of_the_c_library_preloads_its_helper_for_every_program(
    tmp_path: Path,
) -> None:
    talk = " ".join(TALK)
    script = (
        f"ROS_DOMAIN_ID=43 {talk} > {tmp_path}/1 & ROS_DOMAIN_ID=44 {talk} > {tmp_path}/2; wait"
    )
    options = ["--event", "ros2:rcl_node_init", "--event", "lttng_ust_libc:free"]
    run = Run.of(tmp_path / "trace", ["sh", "-c", script], backend="lttng", options=options)
    events = babeltrace.events(run.trace, lossy=True)  # more of them than any disk takes
    talkers = {event.process for event in events if event.name == "ros2:rcl_node_init"}
    freeing = {event.process for event in events if event.name == "lttng_ust_libc:free"}
    assert len(talkers) == 2
    assert talkers <= freeing


def test_fact_8_other_backends_have_no_events_of_the_c_library(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(*TAKT, "record", "--backend", "ring", "--event", "lttng_ust_libc:malloc"),
            *("-o", str(tmp_path / "trace"), "--", "true"),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "lttng_ust_libc: events that LTTng alone has" in done.stderr
