"""The acceptance fact on extraction that is about tracepoints: P-1 of performance-engineering.md,
section 8. The table in docs/model-synthesis.md says where the others are tested.
"""

from __future__ import annotations

import re
from pathlib import Path

from test_message_flow_facts import names_in_the_library

LISTS = Path(__file__).resolve().parents[2] / "libtakt/tracepoints/include/takt/tracepoints"
NAME = re.compile(r"^TAKT_TRACEPOINT\((\w+), ", re.M)

STARTS, ENDS, TAKES = {2, 5, 9, 12}, {4, 8, 11, 15}, {6, 10, 13}
OURS = {
    1: "rcl_node_init",
    **dict.fromkeys(STARTS, "callback_start"),
    3: "rclcpp_timer_callback_added",
    **dict.fromkeys(ENDS, "callback_end"),
    6: "rmw_take",
    10: "rmw_take_request",
    13: "rmw_take_response",
    14: "rmw_take_response",
    16: "rmw_publish",
}
"""The tracepoint that stands for each of the document's probes but the seventh, the synchroniser's
call in message_filters: that is template code in applications, and Takt infers it. The owner of a
callback is known from its registration; whether a response is for this client, from the field
"taken"; writes of requests and responses have events of their own, rmw_send_request and
rmw_send_response.
"""


def tracepoints() -> set[str]:
    return {name for path in LISTS.glob("*.def") for name in NAME.findall(path.read_text("utf-8"))}


def test_p01_fifteen_of_the_sixteen_probes_have_a_tracepoint() -> None:
    assert set(OURS) == set(range(1, 17)) - {7}
    assert not STARTS & ENDS
    assert set(OURS.values()) | {"rmw_send_request", "rmw_send_response"} <= tracepoints()
    # Calls of services have no tracepoints in ROS 2: the library stands before the middleware.
    called = {name for name in OURS.values() if name.startswith("rmw_take_re")}
    traced = {f"ros_trace_{name}" for name in set(OURS.values()) - called}
    assert called | traced | {"rmw_send_request", "rmw_send_response"} <= names_in_the_library()
    assert {OURS[probe] for probe in TAKES} == {"rmw_take", "rmw_take_request", "rmw_take_response"}
    response = next(
        line
        for line in (LISTS / "ros2_services.def").read_text("utf-8").splitlines()
        if line.startswith("TAKT_TRACEPOINT(rmw_take_response,")
    )
    assert "(flag, taken)" in response
    assert {"sched_switch", "sched_wakeup", "sched_process_fork"} <= tracepoints()
