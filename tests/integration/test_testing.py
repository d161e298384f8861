"""takt.testing: fixtures for tests of ROS 2 programs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from recording import PROGRAMS, fill, until
from takt.errors import UserError
from takt.testing import Recorded, recorded, recording

__all__ = ["recorded"]

Run = Callable[..., Recorded]


def test_events_of_a_program(recorded: Run) -> None:
    run = recorded(sys.executable, str(PROGRAMS / "talk.py"), "10")
    assert run.lost() == 0
    assert run.status == 0
    assert run.nodes() == {"/talker"}
    assert "/chatter" in run.topics()
    (publisher,) = run.events("ros2:rcl_publisher_init", topic_name="/chatter")
    handle = publisher["publisher_handle"]
    assert run.count("ros2:rcl_publish", publisher_handle=handle) == 10
    times = [event["time"] for event in run.events("ros2:rcl_publish")]
    assert times == sorted(times)


def test_programs_one_after_the_other(recorded: Run) -> None:
    load = "import ctypes; ctypes.CDLL('libtracetools.so').ros_trace_rcl_take(None)"
    assert recorded(sys.executable, "-c", load).count("ros2:rcl_take") == 1
    assert recorded(sys.executable, "-c", f"{load};{load}").count("ros2:rcl_take") == 2


def test_a_program_that_fails(recorded: Run) -> None:
    load = "import ctypes; ctypes.CDLL('libtracetools.so').ros_trace_rcl_take(None)"
    failing = (sys.executable, "-c", f"{load}; raise SystemExit(3)")
    with pytest.raises(UserError, match="status 3"):
        recorded(*failing)
    assert recorded(*failing, check=False).status == 3


def test_what_this_process_does(tmp_path: Path) -> None:
    import ctypes

    library = ctypes.CDLL("libtracetools.so")
    with recording(tmp_path / "trace") as run:
        library.ros_trace_rclcpp_executor_wait_for_work(ctypes.c_int64(42))
    assert run.count("ros2:rclcpp_executor_wait_for_work", timeout=42) == 1


def test_a_failed_block_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), recording(tmp_path / "trace"):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_becomes_full_is_no_success(
    disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def filled() -> None:
        with recording(disk / "trace", backend="lttng"):
            fill(disk)
            until(lambda: "the disk is full" in capsys.readouterr().err)

    with pytest.raises(UserError, match=r"the disk is full: .*; the recording ended after"):
        filled()
