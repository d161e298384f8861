"""Acceptance facts of the message flow specification about the catalogue of tracepoints: the
tracing library that programs load has them.
"""

from __future__ import annotations

import re
from pathlib import Path

from takt.processes import runtime

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "libtakt/tracepoints/include/takt/tracepoints/ros2.def"
ENTRY = re.compile(r"^TAKT_TRACEPOINT\((\w+), \w+, (initialisation|run_time),", re.M)
LATER = {"rclcpp_intra_publish", "rclcpp_ipb_to_subscription", "rclcpp_buffer_to_ipb"}
"""Events that are newer than the document, except those with ring buffers in their names."""


def documented() -> dict[str, str]:
    """The catalogue's events that the document has, with their types."""
    found = dict(ENTRY.findall(LIST.read_text("utf-8")))
    return {
        name: kind
        for name, kind in found.items()
        if name not in LATER and "ring_buffer" not in name
    }


def names_in_the_library() -> set[str]:
    """Its strings, the names of its functions among them; loading it would trace this process."""
    strings = runtime.tracetools().read_bytes().split(b"\0")
    return {one.decode() for one in strings if one.isascii()}


def layer(name: str) -> str:
    return "rclcpp" if name.startswith("callback_") else name.partition("_")[0]


def test_fact_1_the_library_has_the_28_points_of_the_catalogue() -> None:
    events = documented()
    assert len(events) == 28
    assert {f"ros_trace_{name}" for name in events} <= names_in_the_library()
    kinds = list(events.values())
    assert (kinds.count("initialisation"), kinds.count("run_time")) == (16, 12)
    layers = [layer(name) for name in events]
    assert [layers.count(name) for name in ("rclcpp", "rcl", "rmw")] == [13, 11, 4]


def test_fact_3_two_run_time_events_are_not_on_the_hot_path() -> None:
    events = documented()
    hot = {name for name, kind in events.items() if kind == "run_time"}
    hot -= {"callback_end", "rcl_lifecycle_transition"}
    assert len(hot) == 10
    assert {name for name in hot if "publish" in name} == {
        f"{layer}_publish" for layer in ("rclcpp", "rcl", "rmw")
    }
