"""What rclcpp's executors do. A program that is built where CMake finds rclcpp runs them; its
ros/probe/probe.hpp says what it prints.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from takt import built
from takt.doctor import probing
from takt.doctor.check import Check, State
from takt.doctor.probing import ANOTHER_ORDER, NO_BOUND, Ran
from takt.text.formatting import count

TURNS = ("timer", "subscription", "service", "client", "waitable")
"""The kinds of callbacks in the order in which rclcpp looks at them."""
ENOUGH = 20
"""Callbacks of a mutually exclusive group that say something."""
VALIDATED = (
    {"H", "M", "L", "SH", "SL"},
    {"t1", "t2", "t3", "t4", "H", "M", "L", "SH", "SM", "SL"},
    {"H", "SM"},
)
"""What runs between two waits in the validation scenario of ros-llama, Section 3.1.2."""


@dataclass(frozen=True)
class Window:
    """Indices of callbacks in the order of their registration."""

    entities: list[Ran]
    ready: list[int]
    """At the wait with which it begins."""
    ran: list[int]
    """Until the next wait."""

    def kinds(self) -> list[int]:
        return [TURNS.index(self.entities[index][1]) for index in self.ran]

    def shown(self) -> list[Ran]:
        return [self.entities[index] for index in self.ran]

    def missing(self) -> list[Ran]:
        """What was ready and did not run."""
        return [self.entities[index] for index in self.ready if index not in self.ran]


def examine(program: Path | None = None, *arguments: str) -> list[Check]:
    """Runs rclcpp's executors, by the program that Takt is built with, or another one."""
    program = program or built.find("takt-probe")
    if program is None:
        return [probing.unchecked("rclcpp", "built without rclcpp")]
    try:
        seen = probing.run([str(program), *arguments])
    except probing.NotChecked as reason:
        return [probing.unchecked("rclcpp", str(reason))]
    return [*_single_threaded(seen), *_multi_threaded(seen), *_events(seen)]


def _single_threaded(seen: dict[str, Any]) -> Iterator[Check]:
    systems = [seen["scenario"], *seen["random"]]
    windows = [window for system in systems for window in _windows(system)]
    scenario = [window for window in _windows(seen["scenario"]) if window.ran]
    validated = [{name for _, _, name in window.shown()} for window in scenario]
    yield probing.result(
        "rclcpp_scenario",
        "rclcpp: the validation scenario runs in the windows of the model",
        validated == list(VALIDATED),
        "ran " + " | ".join(" ".join(sorted(names)) for names in validated),
        NO_BOUND,
    )
    for id_, name, holds, shown, remedy in PROPERTIES:
        yield probing.of_windows(f"rclcpp_{id_}", f"rclcpp: {name}", windows, holds, shown, remedy)
    lost = sum(len(system["lost"]) for system in systems)
    yield probing.result(
        "rclcpp_lost",
        "rclcpp: whatever is ready runs",
        lost == 0,
        f"{count(lost, 'callback')} never ran",
        NO_BOUND,
    )
    registered = probing.of_windows(
        "rclcpp_registered",
        "rclcpp: callbacks of one kind go in the order of their registration",
        windows,
        _registered,
        Window.shown,
        "",
    )
    # No bound rests on it: models of rclcpp's executors say "any_in_category".
    state = State.OK if registered.state is State.OK else State.LIMITED
    yield Check(registered.id, registered.name, state, registered.detail)


def _multi_threaded(seen: dict[str, Any]) -> Iterator[Check]:
    ran, overlaps = seen["exclusion"]["ran"], seen["exclusion"]["overlaps"]
    if ran < ENOUGH:
        yield probing.unchecked("rclcpp_exclusion", "too few callbacks ran")
    else:
        yield probing.result(
            "rclcpp_exclusion",
            "rclcpp: callbacks of a mutually exclusive group exclude each other",
            overlaps == 0,
            f"{count(overlaps, 'callback')} of {ran} began while another one ran",
            NO_BOUND,
        )
    yield probing.result(
        "rclcpp_conserving",
        "rclcpp: no thread rests while a callback waits that may run",
        not seen["resting"],
        f"a thread rested beside a waiting {', '.join(seen['resting'])}",
        NO_BOUND,
    )


def _events(seen: dict[str, Any]) -> Iterator[Check]:
    order, apart = seen["events"], seen["timer_thread"]
    yield probing.result(
        "rclcpp_events",
        "rclcpp: EventsExecutor runs callbacks in the order in which they became ready",
        order["came"] == order["ran"] and not order["lost"],
        f"became ready: {_numbers(order['came'])}; ran: {_numbers(order['ran'])}",
        NO_BOUND,
    )
    found = probing.result(
        "rclcpp_timer_thread",
        "rclcpp: EventsExecutor with a thread for timers runs them there alone",
        sorted(apart["came"]) == sorted(apart["ran"])
        and apart["threads"] == 1
        and not apart["shared"],
        f"{len(apart['ran'])} of {count(len(apart['came']), 'timer')} that came due ran, on "
        f"{count(apart['threads'], 'thread')}" + (" with others" if apart["shared"] else ""),
        NO_BOUND,
    )
    if found.state is State.OK and apart["overlaps"]:
        detail = "holds; they run beside callbacks of their mutually exclusive group"
        found = Check(found.id, found.name, State.OK, detail, required=True)
    yield found


def _numbers(indices: list[int]) -> str:
    return " ".join(map(str, indices))


def _windows(system: dict[str, Any]) -> list[Window]:
    entities = system["entities"]
    return [Window(entities, window["ready"], window["ran"]) for window in system["windows"]]


def _once(window: Window) -> bool:
    return len(set(window.ran)) == len(window.ran)


def _was_ready(kinds: Callable[[str], bool]) -> Callable[[Window], bool]:
    """Whatever ran of these kinds was ready at the wait."""

    def holds(window: Window) -> bool:
        later = set(window.ran) - set(window.ready)
        return not any(kinds(window.entities[index][1]) for index in later)

    return holds


def _served(window: Window) -> bool:
    return not window.missing()


def _in_categories(window: Window) -> bool:
    return window.kinds() == sorted(window.kinds())


def _registered(window: Window) -> bool:
    turns = [
        list(same) for _, same in itertools.groupby(window.ran, lambda i: window.entities[i][1])
    ]
    return all(turn == sorted(turn) for turn in turns)


PROPERTIES: tuple[
    tuple[str, str, Callable[[Window], bool], Callable[[Window], list[Ran]], str], ...
] = (
    ("once", "a callback runs once between two waits", _once, Window.shown, NO_BOUND),
    (
        "polled_timers",
        "timers run if they were due at the last wait",
        _was_ready(lambda kind: kind == "timer"),
        Window.shown,
        NO_BOUND,
    ),
    (
        "polled_messages",
        "other callbacks run if they were ready at the last wait",
        _was_ready(lambda kind: kind != "timer"),
        Window.shown,
        NO_BOUND,
    ),
    (
        "served",
        "whatever is ready at a wait runs before the next one",
        _served,
        Window.missing,
        NO_BOUND,
    ),
    (
        "categories",
        "timers go first, then subscriptions, services, clients, waitables",
        _in_categories,
        Window.shown,
        ANOTHER_ORDER,
    ),
)
