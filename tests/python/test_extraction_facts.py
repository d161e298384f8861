"""Acceptance facts on extraction that are about the list of tracepoints and published numbers:
P-n of performance-engineering.md, section 8, and F-n of ros-llama.md, section 7. The table in
docs/model-synthesis.md says where the others are tested.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from test_message_flow_facts import experiment

LISTS = Path(__file__).resolve().parents[2] / "libtakt/tracepoints/include/takt/tracepoints"
NAME = re.compile(r"^TAKT_TRACEPOINT\((\w+), ", re.M)

STARTS, ENDS, TAKES = {2, 5, 9, 12}, {4, 8, 11, 15}, {6, 10, 13}
OURS = {
    1: "rcl_node_init",
    **dict.fromkeys(STARTS, "callback_start"),
    3: "rclcpp_timer_callback_added",
    **dict.fromkeys(ENDS, "callback_end"),
    6: "rmw_take",
    7: "message_link_partial_sync",
    10: "rmw_take_request",
    13: "rmw_take_response",
    14: "rmw_take_response",
    16: "rmw_publish",
}
"""The tracepoint that stands for each of the document's probes. The owner of a callback is known
from its registration; whether a response is for this client, from the field "taken"; writes of
requests and responses have events of their own, rmw_send_request and rmw_send_response.
"""


def tracepoints() -> set[str]:
    return {name for path in LISTS.glob("*.def") for name in NAME.findall(path.read_text("utf-8"))}


def test_p01_all_sixteen_probes_have_a_tracepoint() -> None:
    assert set(OURS) == set(range(1, 17))
    assert not STARTS & ENDS
    assert set(OURS.values()) | {"rmw_send_request", "rmw_send_response"} <= tracepoints()
    assert {OURS[probe] for probe in TAKES} == {"rmw_take", "rmw_take_request", "rmw_take_response"}
    response = next(
        line
        for line in (LISTS / "ros2_services.def").read_text("utf-8").splitlines()
        if line.startswith("TAKT_TRACEPOINT(rmw_take_response,")
    )
    assert "(flag, taken)" in response
    assert {"sched_switch", "sched_wakeup", "sched_process_fork"} <= tracepoints()


def test_p14_the_front_filter_is_27_percent_of_a_core() -> None:
    run = experiment("model-extraction")
    _least, mean, _most = run.PUBLISHED[run.FILTER]
    assert round(run.load(mean * run.MS)) == run.LOAD == 27


def test_p16_the_published_overheads_agree() -> None:
    run = experiment("model-extraction")
    megabytes_a_second, share = run.MEGABYTES / 60, 0.003
    assert megabytes_a_second == pytest.approx(0.15)
    cores = run.CORES / share
    assert cores == pytest.approx(2.67, abs=0.005)


def test_f30_the_published_costs_of_a_cycle() -> None:
    """The costs of extractor, analysis and budgets, each once in 6 s."""
    assert [round(100 * seconds / 6) for seconds in (1.86, 2.63, 2.71)] == [31, 44, 45]
