"""Which properties of the timing model the installed executors have (takt doctor --executors).

The bounds of default executors rest on them (docs/analysis.md, "The order of what is ready
together"). A program of its own runs the executors and logs what they do.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from takt import loopback
from takt.doctor.check import Check, State
from takt.formatting import count

PROBE = Path(__file__).with_name("rclpy_probe.py")
LONGEST = 55
"""Seconds that the probe may take."""
SINGLE_THREADED = "rclpy.executors:SingleThreadedExecutor"
MULTI_THREADED = "rclpy.executors:MultiThreadedExecutor"
TURNS = ("timer", "subscription", "client", "service")
"""The kinds of callbacks in the order in which rclpy looks at those of a node."""

Ran = list[str]
"""Node, kind and name of a callback."""
Window = list[Ran]


def examine(
    single_threaded: str = SINGLE_THREADED, multi_threaded: str = MULTI_THREADED
) -> list[Check]:
    """Runs rclpy's executors, or others in their place (MODULE:CLASS). Takes at most a minute."""
    return [*_rclpy(single_threaded, multi_threaded), *_rclcpp()]


def _rclpy(single_threaded: str, multi_threaded: str) -> list[Check]:
    command = [sys.executable, str(PROBE), single_threaded, multi_threaded]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=LONGEST,
            env=loopback.environment(),
            check=True,
        )
        seen: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        return [_unchecked("rclpy", f"not checked: it took longer than {LONGEST} s")]
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        return [_unchecked("rclpy", f"not checked: {_reason(error)}")]
    windows: list[Window] = seen["windows"]
    if not windows:
        return [_unchecked("rclpy", "not checked: nothing was ready together")]
    late, overlaps = seen["late"], seen["overlaps"]
    checks = [
        _property(f"rclpy_{id_}", f"rclpy: {name}", windows, holds)
        for id_, name, holds in PROPERTIES
    ]
    checks.append(
        _result(
            "rclpy_polling_points",
            "rclpy: timers run if they were due at the last wait",
            late == 0,
            f"{count(late, 'timer')} ran that became due later",
        )
    )
    if overlaps < 0:
        checks.append(_unchecked("rclpy_exclusion", "not checked: too few callbacks ran"))
    else:
        checks.append(
            _result(
                "rclpy_exclusion",
                "rclpy: callbacks of a mutually exclusive group exclude each other",
                overlaps == 0,
                f"{count(overlaps, 'callback')} began while another one ran",
            )
        )
    return checks


def _rclcpp() -> list[Check]:
    return [_unchecked("rclcpp", "not checked: built without rclcpp")]


def _once(window: Window) -> bool:
    return len({tuple(ran) for ran in window}) == len(window)


def _by_node(window: Window) -> bool:
    nodes = [node for node, _ in itertools.groupby(node for node, _, _ in window)]
    return len(set(nodes)) == len(nodes)


def _in_turns(window: Window) -> bool:
    turns: dict[str, list[int]] = {}
    for node, kind, _ in window:
        turns.setdefault(node, []).append(TURNS.index(kind))
    return all(order == sorted(order) for order in turns.values())


PROPERTIES: tuple[tuple[str, str, Callable[[Window], bool]], ...] = (
    ("once", "a callback runs once between two waits", _once),
    ("by_node", "nodes are served one after the other", _by_node),
    ("categories", "of a node, timers go first, then subscriptions, clients, services", _in_turns),
)


def _property(id_: str, name: str, windows: list[Window], holds: Callable[[Window], bool]) -> Check:
    failed = [window for window in windows if not holds(window)]
    of = f"{len(failed)} of {count(len(windows), 'ready set')}"
    example = " ".join("/".join(ran) for ran in failed[0]) if failed else ""
    return _result(id_, name, not failed, f"contradicted by {of}: {example}" if failed else of)


def _result(id_: str, name: str, holds: bool, seen: str) -> Check:
    if holds:
        return Check(id_, name, State.OK, "holds", required=True)
    remedy = 'bounds of its executors are too low: give them the order "unknown" in the model'
    return Check(id_, name, State.MISSING, seen, remedy, required=True)


def _unchecked(id_: str, detail: str) -> Check:
    return Check(id_, id_.partition("_")[0], State.LIMITED, detail)


def _reason(error: Exception) -> str:
    printed = getattr(error, "stderr", None)
    lines = printed.strip().splitlines() if isinstance(printed, str) else []
    return lines[-1] if lines else str(error)
