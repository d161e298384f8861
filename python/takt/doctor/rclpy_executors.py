"""What rclpy's executors do."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path

from takt.doctor import probing
from takt.doctor.check import Check
from takt.doctor.probing import ANOTHER_ORDER, NO_BOUND, Ran
from takt.text.formatting import count

PROBE = Path(__file__).with_name("rclpy_probe.py")
SINGLE_THREADED = "rclpy.executors:SingleThreadedExecutor"
MULTI_THREADED = "rclpy.executors:MultiThreadedExecutor"
TURNS = ("timer", "subscription", "client", "service")
"""The kinds of callbacks in the order in which rclpy looks at those of a node."""

Window = list[Ran]


def examine(
    single_threaded: str = SINGLE_THREADED, multi_threaded: str = MULTI_THREADED
) -> list[Check]:
    """Runs rclpy's executors, or others in their place (MODULE:CLASS)."""
    try:
        seen = probing.run([sys.executable, str(PROBE), single_threaded, multi_threaded])
    except probing.NotChecked as reason:
        return [probing.unchecked("rclpy", str(reason))]
    windows: list[Window] = seen["windows"]
    if not windows:
        return [probing.unchecked("rclpy", "nothing was ready together")]
    late, overlaps = seen["late"], seen["overlaps"]
    checks = [
        probing.of_windows(f"rclpy_{id_}", f"rclpy: {name}", windows, holds, list, remedy)
        for id_, name, holds, remedy in PROPERTIES
    ]
    checks.append(
        probing.result(
            "rclpy_polling_points",
            "rclpy: timers run if they were due at the last wait",
            late == 0,
            f"{count(late, 'timer')} ran that became due later",
            NO_BOUND,
        )
    )
    if overlaps < 0:
        checks.append(probing.unchecked("rclpy_exclusion", "too few callbacks ran"))
    else:
        checks.append(
            probing.result(
                "rclpy_exclusion",
                "rclpy: callbacks of a mutually exclusive group exclude each other",
                overlaps == 0,
                f"{count(overlaps, 'callback')} began while another one ran",
                NO_BOUND,
            )
        )
    return checks


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


PROPERTIES: tuple[tuple[str, str, Callable[[Window], bool], str], ...] = (
    ("once", "a callback runs once between two waits", _once, NO_BOUND),
    ("by_node", "nodes are served one after the other", _by_node, ANOTHER_ORDER),
    (
        "categories",
        "of a node, timers go first, then subscriptions, clients, services",
        _in_turns,
        ANOTHER_ORDER,
    ),
)
