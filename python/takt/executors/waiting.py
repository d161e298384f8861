"""Wait sets as waitables see them, without the events that the middleware reports."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from rclpy.context import Context
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.waitable import NumberOfEntities

# After rclpy, whose libraries it shares.
import takt_executors

REPORTED = 2**32
"""Added to the positions of events that are in no wait set."""


class Events:
    """The events of a waitable as the middleware reports them: a wait set for it, if it has nothing
    else. Raises RuntimeError if the middleware reports no events.
    """

    def __init__(self, handles: list[Any], told: takt_executors.Trigger | Any) -> None:
        """`told`: what is triggered, or the handle of a guard condition."""
        self._positions = {handle.pointer: number for number, handle in enumerate(handles)}
        self._events: list[takt_executors.Event] = []  # before what they use, as it goes first
        # Other threads may destroy them at any time, and rclpy does not while a handle is in use.
        self._in_use = ExitStack()
        try:
            for handle in handles:
                self._in_use.enter_context(handle)
            if not isinstance(told, takt_executors.Trigger):
                self._in_use.enter_context(told)
                told = told.pointer
            for handle in handles:
                self._events.append(takt_executors.Event(handle.pointer, told))
        except RuntimeError:  # InvalidHandle among them
            self.end()
            raise

    def add_event(self, handle: Any) -> int:
        return REPORTED + self._positions[handle.pointer]

    def is_ready(self, _: str, index: int) -> bool:
        """Whether the event has occurred since the last question."""
        return bool(self._events) and self._events[index - REPORTED].take()

    def look(self, waitable: Any) -> bool:
        """Whether the waitable is ready, which has nothing but events."""
        waitable.add_to_wait_set(self)
        return bool(waitable.is_ready(self))

    def end(self) -> None:
        """Handles that were destroyed meanwhile go now."""
        self._events.clear()
        self._in_use.close()


class WaitSet(rclpy_implementation.WaitSet):  # type: ignore[misc]
    """A wait set that leaves out events that the middleware reports."""

    def __init__(self, count: NumberOfEntities, context: Context) -> None:
        super().__init__(
            count.num_subscriptions,
            count.num_guard_conditions,
            count.num_timers,
            count.num_clients,
            count.num_services,
            count.num_events,
            context.handle,
        )
        self.clear_entities()
        self.reported: Events | None = None
        """Those of the waitable that is asked next."""
        self.added: list[Any] = []
        """The events that are in the wait set."""

    def add_event(self, handle: Any) -> int:
        if self.reported is not None:
            return self.reported.add_event(handle)
        self.added.append(handle)
        return int(super().add_event(handle))

    def is_ready(self, kind: str, index: int) -> bool:
        if index >= REPORTED:
            return self.reported is not None and self.reported.is_ready(kind, index)
        return bool(super().is_ready(kind, index))


def has_nothing_but_events(waitable: Any) -> bool:
    count = waitable.get_num_entities()
    return count.num_events > 0 and not any(
        getattr(count, name) for name in NumberOfEntities.__slots__ if name != "num_events"
    )
