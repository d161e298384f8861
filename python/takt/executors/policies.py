"""An executor for each policy; its methods set priorities, deadlines or chains."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import takt_executors
from takt.executors.kinds import Entity, Json
from takt.executors.planned import MOST_URGENT, PlannedExecutor
from takt.executors.plans import planned_callbacks


class EventsExecutor(PlannedExecutor):
    """First released, first run."""


class FixedPriorityExecutor(PlannedExecutor):
    """Callbacks by priority, larger first; those without one last, in the order of their release.

    If no priority is set, timers are ordered by their rate.
    """

    def __init__(self, plan: str | Path | None = None, executor: str = "", **options: Any) -> None:
        self._priorities: dict[Entity, int] = {}
        super().__init__(plan, executor, **options)

    def set_priority(self, entity: Entity, priority: int) -> None:
        """From now on the entity's callback has this priority, an integer."""
        if isinstance(priority, bool) or not isinstance(priority, int):
            raise TypeError(f"set_priority: {priority!r} is not an integer")
        if not -MOST_URGENT < priority < MOST_URGENT:
            raise ValueError(f"set_priority: {priority} is not between -2**62 and 2**62")
        self._set(self._priorities, entity, priority)

    def _settings(self, schedule: Sequence[tuple[Entity, Json]]) -> Json:
        return {"rule": "priority", "callbacks": planned_callbacks(schedule, self._callback)}

    def _callback(self, entity: Entity, address: Json) -> Json | None:
        if self._priorities:
            known = self._priorities.get(entity)
            return None if known is None else {"priority": known}
        return {"priority": -address["period"]} if "period" in address else None


class EdfExecutor(PlannedExecutor):
    """Earliest deadline first.

    A deadline counts from the release of the timer or message that an instance runs on behalf of,
    directly or not. Timers without one have their period, and other callbacks run after all that
    have a deadline.
    """

    def __init__(self, plan: str | Path | None = None, executor: str = "", **options: Any) -> None:
        self._deadlines: dict[Entity, int] = {}
        super().__init__(plan, executor, **options)

    def set_deadline(self, entity: Entity, seconds: float) -> None:
        """From now on the entity's callback has this relative deadline, above 0."""
        if not 1e-9 <= seconds <= takt_executors.LONGEST_DEADLINE / 1e9:
            raise ValueError(f"set_deadline: {seconds} s is not above 0 and at most 100 years")
        self._set(self._deadlines, entity, round(seconds * 1e9))

    def _settings(self, schedule: Sequence[tuple[Entity, Json]]) -> Json:
        return {"rule": "deadline", "callbacks": planned_callbacks(schedule, self._callback)}

    def _callback(self, entity: Entity, address: Json) -> Json | None:
        deadline = self._deadlines.get(entity, address.get("period"))
        return None if deadline is None else {"deadline": deadline}


class ChainPriorityExecutor(PlannedExecutor):
    """Chains by importance and, within a chain, later callbacks first (PiCAS)."""

    def __init__(self, plan: str | Path | None = None, executor: str = "", **options: Any) -> None:
        self._chains: list[list[Entity]] = []
        super().__init__(plan, executor, **options)

    def set_chains(self, chains: Sequence[Sequence[Entity]]) -> None:
        """The chains, the most important first."""
        self._chains = [list(chain) for chain in chains]
        self._tell_policy()

    def _settings(self, schedule: Sequence[tuple[Entity, Json]]) -> Json:
        in_order = [entity for chain in reversed(self._chains) for entity in chain]
        priorities = {entity: priority for priority, entity in enumerate(in_order)}

        def callback(entity: Entity, _: Json) -> Json | None:
            return {"priority": priorities[entity]} if entity in priorities else None

        return {"rule": "priority", "callbacks": planned_callbacks(schedule, callback)}


class GraphAwareExecutor(FixedPriorityExecutor):
    """Whatever a callback triggers, directly or not, inherits the priority of its root.

    Roots are timers and what has a priority. Without any, timers are ordered by their rate; else
    undeclared ones come last. So does what comes from outside for a callback that has none. One
    thread.
    """

    def __init__(self, plan: str | Path | None = None, executor: str = "", **options: Any) -> None:
        check_for_one_thread(type(self), options)
        super().__init__(plan, executor, **options)

    def _settings(self, schedule: Sequence[tuple[Entity, Json]]) -> Json:
        return {"rule": "root_priority", "callbacks": planned_callbacks(schedule, self._root)}

    def _root(self, entity: Entity, address: Json) -> Json | None:
        return self._callback(entity, address) or root_or_child(address)


class GraphAwareEdfExecutor(EdfExecutor):
    """Whatever a callback triggers, directly or not, inherits the deadline of its root.

    Roots are timers, which have their period unless declared otherwise, and what has a deadline.
    What comes from outside for a callback that has none comes last. One thread.
    """

    def __init__(self, plan: str | Path | None = None, executor: str = "", **options: Any) -> None:
        check_for_one_thread(type(self), options)
        super().__init__(plan, executor, **options)

    def _settings(self, schedule: Sequence[tuple[Entity, Json]]) -> Json:
        return {"rule": "root_deadline", "callbacks": planned_callbacks(schedule, self._root)}

    def _root(self, entity: Entity, address: Json) -> Json | None:
        return self._callback(entity, address) or root_or_child(address)


def check_for_one_thread(executor: type, options: dict[str, Any]) -> None:
    if options.get("num_threads") not in (None, 1):
        raise ValueError(f"{executor.__name__} has one thread: leave num_threads out")


def root_or_child(address: Json) -> Json:
    """What a plan says of a callback without a declared urgency."""
    return {"root": address["kind"] == "timer"}
