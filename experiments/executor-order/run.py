"""Order of callbacks in the default executor: Figures 3.2 and 3.3 of ROS-Llama. See README.md."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import takt_design
from takt import loopback
from takt.errors import UserError
from takt.trials.experiments import Row, Rows

Json = dict[str, Any]
Spans = tuple[tuple[str, float, float], ...]

SECOND = 1_000_000_000
RUN = SECOND // 2
TIMERS = {"t1": 0.2, "t2": 0.2, "t3": 2.3, "t4": 2.3}
"""When they expire, in s."""
FIRST = ("L", "M", "H", "SH", "SL") * 2
SECOND_BATCH = ("SM", "SM", "H")
"""Messages and requests, sent at 0 s and at 1.5 s."""
LATER = 1.5
POLLED = ("H", "M", "L", "SH", "SM", "SL")
"""In the order of their priorities."""
PROGRAM = Path(__file__).with_name("node.py")
PATIENCE = 120


def run() -> Rows:
    dashing, foxy = (simulated(timers) for timers in ("privileged", "polled"))
    return [
        *_dashing("simulated", dashing),
        *_foxy("simulated", foxy),
        *_foxy("stock rclpy", on_rclpy()),
    ]


def simulated(timers: str) -> Spans:
    """Who ran when, in s, by the simulator."""
    releases: dict[str, list[int]] = {name: [] for name in (*TIMERS, *POLLED)}
    for name, expiry in TIMERS.items():
        releases[name].append(round(expiry * SECOND))
    for name in FIRST:
        releases[name].append(0)
    for name in SECOND_BATCH:
        releases[name].append(round(LATER * SECOND))
    callbacks = [
        {
            "id": name,
            "executor": "e",
            "kind": _kind(name),
            "registration": number,
            "execution_time": {"curve": [RUN]},
            "queue_depth": 10,
            "activation": {"kind": "periodic", "period": 100 * SECOND},
        }
        for number, name in enumerate(releases)
    ]
    model = {
        "format": "takt/model",
        "version": 1,
        "executors": [{"id": "e", "order": "registered", "timers": timers}],
        "callbacks": callbacks,
    }
    options = {"duration": 20 * SECOND, "timeline": 100, "release_times": releases}
    found = json.loads(takt_design.simulate(json.dumps(model), "model", json.dumps(options)))
    return tuple(
        (one["callback"], one["start"] / SECOND, one["end"] / SECOND) for one in found["timeline"]
    )


def _kind(name: str) -> str:
    if name in TIMERS:
        return "timer"
    return "service" if name.startswith("S") else "subscription"


def on_rclpy() -> Spans:
    """The same on this machine's rclpy, in a fifth of the time, in s as if in all of it."""
    events = {"timers": TIMERS, "first": FIRST, "second": SECOND_BATCH, "later": LATER}
    done = subprocess.run(
        [sys.executable, str(PROGRAM), json.dumps(events)],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        env=loopback.environment(),
    )
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["it said nothing"]
        raise UserError(f"the node of rclpy cannot be run: {said[-1]}")
    return tuple((name, start, end) for name, start, end in json.loads(done.stdout))


def _starts(spans: Spans, name: str) -> list[float]:
    return [start for other, start, _ in spans if other == name]


def _before(spans: Spans, moment: float, names: Sequence[str]) -> int:
    return sum(start < moment - 0.01 for name, start, _ in spans if name in names)


def _dashing(how: str, spans: Spans) -> Rows:
    place = "section 3.1.2, with Figure 3.2"
    h = _starts(spans, "H")
    return [
        Row(f"Dashing, {how}: first polling point, when H runs again", 4.5, h[1], "s", place),
        Row(f"Dashing, {how}: second polling point, when H runs again", 7.5, h[2], "s", place),
        Row(f"Dashing, {how}: SM first runs at", 6.5, _starts(spans, "SM")[0], "s", place),
        Row(
            f"Dashing, {how}: t2 and t3 that run before the first polling point",
            "both",
            _before(spans, h[1], ("t2", "t3")),
            place=place,
            meaning="≥ 2",
        ),
        Row(f"Dashing, {how}", None, _order(spans), "s", figure="Figure 3.2", spans=spans),
    ]


def _foxy(how: str, spans: Spans) -> Rows:
    place = "section 3.1.2, with Figure 3.3"
    lowest = next(end for name, _, end in spans if name == "SL")
    return [
        Row(f"Foxy, {how}: first polling point, after SL", 2.5, lowest, "s", place),
        Row(
            f"Foxy, {how}: timers that run in the first window",
            "none",
            _before(spans, lowest, tuple(TIMERS)),
            place=place,
            meaning="≤ 0",
        ),
        Row(
            f"Foxy, {how}: polled callbacks in the order of Figure 3.2",
            "the same",
            "the same" if _polled(spans) == _polled(simulated("privileged")) else "another",
            place=place,
        ),
        Row(f"Foxy, {how}", None, _order(spans), "s", figure="Figure 3.3", spans=spans),
    ]


def _polled(spans: Spans) -> list[str]:
    return [name for name, _, _ in spans if name not in TIMERS]


def _order(spans: Spans) -> str:
    return " ".join(name for name, _, _ in spans)
