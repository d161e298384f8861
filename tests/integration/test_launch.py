"""ROS 2's own habits: a launch action, and `ros2 takt …`. They need launch and ros2cli, which no
package registry has: they come with an installation of ROS 2.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import babeltrace
from children import Child
from recording import PROGRAMS, fill

pytest.importorskip("ros2launch", reason="ROS 2's launch is not installed")

ROS2 = [sys.executable, "-c", "from ros2cli.cli import main; raise SystemExit(main())"]
PRINTED = re.compile(r"^\[python3?[\w.]*-1\] (\d+)$", re.MULTILINE)
TALK = f"'{sys.executable}', '{PROGRAMS / 'talk.py'}'"
TICK = f"'{sys.executable}', '{PROGRAMS / 'tick.py'}'"

PYTHON = f"""
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess
from launch.substitutions import LaunchConfiguration
from takt.launch import Record

def generate_launch_description():
    return LaunchDescription([
        DeclareLaunchArgument("trace"),
        DeclareLaunchArgument("backend", default_value="ring"),
        Record(output=LaunchConfiguration("trace"), backend=LaunchConfiguration("backend")),
        ExecuteProcess(cmd=[{TALK}, "20"], output="screen"),
        ExecuteProcess(cmd=[{TALK}, "30"], output="screen"),
    ])
"""

XML = f"""
<launch>
  <arg name="trace"/>
  <executable cmd="{sys.executable} {PROGRAMS / "talk.py"} 10"/>
  <takt_record output="$(var trace)" backend="ring" events="ros2:rcl_publish ros2:rcl_*_init"
      if="true"/>
  <executable cmd="{sys.executable} {PROGRAMS / "talk.py"} 20"/>
</launch>
"""

YAML = f"""
launch:
- arg: {{name: trace}}
- takt_record: {{output: $(var trace), backend: ring, kernel: false}}
- executable: {{cmd: "{sys.executable} {PROGRAMS / "talk.py"} 20"}}
"""


def launch(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [*ROS2, "launch", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def published(trace: Path) -> list[int]:
    """How many messages each process published on /chatter."""
    recorded = babeltrace.events(trace)
    handles = {
        (event.process, event.fields["publisher_handle"])
        for event in recorded
        if event.name == "ros2:rcl_publisher_init" and event.fields["topic_name"] == "/chatter"
    }
    return sorted(
        sum(
            event.name == "ros2:rcl_publish"
            and (event.process, event.fields["publisher_handle"]) == handle
            for event in recorded
        )
        for handle in handles
    )


@pytest.mark.parametrize("backend", ["lttng", "ring"])
def test_what_a_launch_file_starts_is_recorded(tmp_path: Path, backend: str) -> None:
    file = tmp_path / "robot.launch.py"
    file.write_text(PYTHON)
    done = launch(file, f"trace:={tmp_path / 'trace'}", f"backend:={backend}")
    assert done.returncode == 0, done.stdout + done.stderr
    # Both hear each other's messages too, and end when they have heard enough.
    assert len(published(tmp_path / "trace")) == 2
    assert f"nothing lost: {tmp_path / 'trace'}" in done.stdout + done.stderr


def test_xml_names_it_takt_record(tmp_path: Path) -> None:
    """Only the program that is started after it is recorded, with the events that it names."""
    file = tmp_path / "robot.launch.xml"
    file.write_text(XML)
    done = launch(file, f"trace:={tmp_path / 'trace'}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(published(tmp_path / "trace")) == 1
    names = {event.name for event in babeltrace.events(tmp_path / "trace")}
    assert {"ros2:rcl_publish", "ros2:rcl_node_init"} <= names
    assert not any(name.startswith("ros2:rmw_") for name in names)


def test_yaml_names_it_takt_record(tmp_path: Path) -> None:
    file = tmp_path / "robot.launch.yaml"
    file.write_text(YAML)
    done = launch(file, f"trace:={tmp_path / 'trace'}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert published(tmp_path / "trace") == [20]


TICKING = PYTHON.replace("ExecuteProcess(cmd", "#").replace(
    "    ])", f"    ExecuteProcess(cmd=[{TICK}], output='screen')])"
)


def test_ctrl_c_loses_nothing(tmp_path: Path) -> None:
    """What programs do between launch's end and theirs is in the trace."""
    file = tmp_path / "robot.launch.py"
    file.write_text(TICKING)
    trace = tmp_path / "trace"
    command = [*ROS2, "launch", str(file), f"trace:={trace}"]
    with Child(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as launched:
        assert launched.stdout
        for line in launched.stdout:
            if PRINTED.search(line):  # its process id: it ticks
                break
        launched.send_signal(signal.SIGINT)
        rest, _ = launched.communicate()
    assert launched.returncode == 0, rest
    (emitted,) = (int(number) for number in PRINTED.findall(rest))
    ticks = babeltrace.ticks(trace)
    assert ticks == list(range(emitted))


def test_a_disk_that_becomes_full_ends_the_recording_and_not_the_launch(
    tmp_path: Path, disk: Path
) -> None:
    file = tmp_path / "robot.launch.py"
    file.write_text(TICKING)
    trace = disk / "trace"
    command = [*ROS2, "launch", str(file), f"trace:={trace}", "backend:=lttng"]
    with Child(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as launched:
        assert launched.stdout
        for line in launched.stdout:
            if PRINTED.search(line):
                fill(disk)
            if "the disk is full" in line:
                break
        launched.send_signal(signal.SIGINT)
        rest, _ = launched.communicate()
    assert launched.returncode == 0, rest
    assert PRINTED.search(rest)  # the program's last line: it went on until it was told to end
    assert "; the recording ended after" in rest


def test_a_recording_that_cannot_start_ends_the_launch(tmp_path: Path) -> None:
    file = tmp_path / "robot.launch.py"
    file.write_text(PYTHON)
    (tmp_path / "trace").mkdir()
    done = launch(file, f"trace:={tmp_path / 'trace'}")
    assert done.returncode == 1
    assert f"{tmp_path / 'trace'}: exists already" in done.stdout + done.stderr


def test_ros2_takt_is_takt(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    load = "import ctypes; ctypes.CDLL('libtracetools.so').ros_trace_rcl_take(None)"
    record = ["record", "--backend", "ring", "-o", str(trace), "--", sys.executable, "-c", load]
    done = subprocess.run([*ROS2, "takt", *record], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [event.name for event in babeltrace.events(trace)] == ["ros2:rcl_take"]
    for arguments in (["info", str(trace)], ["info", "no-such-trace"], ["--help"], ["info", "-h"]):
        ours = [sys.executable, "-m", "takt", *arguments]
        takt, ros2 = (
            subprocess.run(command, capture_output=True, text=True)
            for command in (ours, [*ROS2, "takt", *arguments])
        )
        assert (ros2.returncode, ros2.stdout, ros2.stderr) == (
            (takt.returncode, takt.stdout, takt.stderr)
        )


def test_fact_7_the_recording_ends_when_the_launched_system_has_ended(tmp_path: Path) -> None:
    file = tmp_path / "robot.launch.py"
    file.write_text(PYTHON)
    done = launch(file, f"trace:={tmp_path / 'trace'}", "backend:=lttng")
    assert done.returncode == 0, done.stdout + done.stderr
    sessions = subprocess.run(["lttng", "list"], capture_output=True, text=True)
    assert str(tmp_path) not in sessions.stdout
    assert len(published(tmp_path / "trace")) == 2


def test_fact_8_an_event_of_the_c_library_preloads_its_helper_for_every_node(
    tmp_path: Path,
) -> None:
    file = tmp_path / "robot.launch.py"
    asked = 'events=["ros2:rcl_node_init", "lttng_ust_libc:free"], output='
    file.write_text(PYTHON.replace("output=", asked, 1))
    done = launch(file, f"trace:={tmp_path / 'trace'}", "backend:=lttng")
    assert done.returncode == 0, done.stdout + done.stderr
    events = babeltrace.events(tmp_path / "trace")
    nodes = {event.process for event in events if event.name == "ros2:rcl_node_init"}
    freeing = {event.process for event in events if event.name == "lttng_ust_libc:free"}
    assert len(nodes) == 2
    assert nodes <= freeing
