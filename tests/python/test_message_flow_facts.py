"""Acceptance facts of the message flow specification about published numbers and the catalogue of
tracepoints: these agree with each other and with the project's numbers.
"""

from __future__ import annotations

import re
import sys
from importlib import util
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "libtakt/tracepoints/include/takt/tracepoints/ros2.def"
ENTRY = re.compile(r"^TAKT_TRACEPOINT\((\w+), \w+, (initialisation|run_time),", re.M)
LATER = {"rclcpp_intra_publish", "rclcpp_ipb_to_subscription", "rclcpp_buffer_to_ipb"}
"""Events that are newer than the document, except those with ring buffers in their names."""

EVENT = 158e-6
"""Milliseconds that LTTng takes for an event, as the document quotes."""


def experiment(name: str) -> Any:
    path = ROOT / "experiments" / name / "run.py"
    spec = util.spec_from_file_location("facts_" + name.replace("-", "_"), path)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def documented() -> dict[str, str]:
    """The catalogue's events that the document has, with their types."""
    found = dict(ENTRY.findall(LIST.read_text("utf-8")))
    return {
        name: kind
        for name, kind in found.items()
        if name not in LATER and "ring_buffer" not in name
    }


def layer(name: str) -> str:
    return "rclcpp" if name.startswith("callback_") else name.partition("_")[0]


def test_fact_1_the_catalogue_has_28_points() -> None:
    events = documented()
    assert len(events) == 28
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


def test_fact_38_ten_events_take_1_58_us() -> None:
    hot = [name for name, kind in documented().items() if kind == "run_time"]
    assert (len(hot) - 2) * EVENT == pytest.approx(1.58e-3)


def test_facts_39_and_40_the_table_of_overheads_gives_the_mean() -> None:
    table = experiment("tracing-overhead").TABLE_A1
    assert len(table) == 16
    added = {key: on - off for key, (off, on) in table.items()}
    rates = sum(rate for _size, rate in table)
    weighted = sum(rate * added[size, rate] for size, rate in table) / rates
    assert weighted == pytest.approx(0.0034, abs=5e-5)
    # Rounding in the table: half of its last digit in each of two means.
    assert weighted == pytest.approx(experiment("tracing-end-to-end").TRANSPORT, abs=1e-3)
    assert 0.0010 < weighted < 0.0056
    shares = [100 * added[key] / off for key, (off, _on) in table.items()]
    assert (round(min(shares), 1), round(max(shares), 1)) == (1.5, 13.9)


def test_fact_41_the_corners_of_the_table() -> None:
    table = experiment("tracing-overhead").TABLE_A1
    assert table[1, 100] == (0.036, 0.041)
    assert table[256, 2000] == (0.133, 0.138)
    means = [on for size in (1, 32, 64, 256) for on in (table[size, 1000][1],)]
    assert means == sorted(means)  # larger messages take longer


def test_fact_42_what_thirteen_events_predict_for_five_transports() -> None:
    by_transports, by_events = experiment("tracing-end-to-end").predictions()
    assert round(by_events, 4) == 0.0103
    assert round(by_transports, 4) == 0.0215


def test_fact_43_tracing_adds_less_than_a_thousandth_from_end_to_end() -> None:
    chain = experiment("tracing-end-to-end")
    assert round(100 * chain.MEAN_ADDED / chain.LATENCY, 3) == 0.061
    assert round(100 * chain.MEDIAN_ADDED / chain.LATENCY, 3) == 0.020


def test_fact_44_what_a_second_thread_gains() -> None:
    flow = experiment("reference-system-flow")
    gain = flow.PUBLISHED_FIRST - flow.PUBLISHED_TWO_THREADS
    assert gain == 72
    assert round(100 * gain / flow.PUBLISHED_FIRST, 1) == 19.5
    assert flow.PUBLISHED_LAST - flow.PUBLISHED_FIRST == 201
