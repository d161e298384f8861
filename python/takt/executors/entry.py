"""Entities of rclpy as the core runs them."""

from __future__ import annotations

import functools
import inspect
import threading
import weakref
from collections.abc import Sequence
from typing import Any, Protocol

from rclpy.exceptions import InvalidHandle
from rclpy.executors import await_or_execute

try:
    from rclpy.timer import TimerInfo  # From Kilted on.
except ImportError:
    TimerInfo = None

# After rclpy, whose libraries it shares.
import takt_executors
from takt.executors.kinds import Entity, Json


class Runner(Protocol):
    """The interface of the executor that runs entries."""

    def run_entry(self, entry: Entry, which: int) -> None:
        """Runs one instance of an entity; see Entry.take()."""

    def take_from(self, entry: Entry) -> Any:
        """The call for what the entity has received; None: nothing."""


class Entry:
    """An entity that is scheduled."""

    def __init__(self, entity: Entity, kind: str, address: Json, handle: Any) -> None:
        self.entity = entity
        self.kind = kind
        self.address = address
        self._handle = handle
        self.executable: Any = None
        self.deferred = 0
        """Instances that wait for the end of a coroutine of the callback group."""
        self._taken: dict[int, Any] = {}
        """Messages, by number, that were taken early to reach newer ones."""
        self._next = 0
        """The number of the next message that the middleware gives."""
        self._taking = threading.Lock()

    @property
    def is_watched(self) -> bool:
        """Whether a thread waits for it, because the middleware does not report its events."""
        return self.kind in ("guard", "waitable")

    @staticmethod
    def of(executor: Runner, node: Any, kind: str, entity: Entity) -> Entry | None:
        """The entry of an entity; None: the entity is being destroyed."""
        handle = entity if kind == "waitable" else entity.handle
        try:
            # rclpy does not destroy a handle that is in use.
            handle.__enter__()
        except InvalidHandle:
            return None
        address = {"node": node.get_fully_qualified_name(), "kind": kind}
        if kind == "timer":
            address["period"] = entity.timer_period_ns
        elif kind == "subscription":
            address["topic"] = entity.topic_name
        elif kind in ("service", "client"):
            address["topic"] = node.resolve_service_name(entity.srv_name)
        else:
            address["kind"] = "waitable"
        entry = Entry(entity, kind, address, handle)
        weak_executor, weak_entry = weakref.ref(executor), weakref.ref(entry)

        def run(which: int, oldest: int = 0, displaced: Sequence[int] = ()) -> None:
            running, this = weak_executor(), weak_entry()
            if running is not None and this is not None:
                this.forget(oldest, displaced)
                running.run_entry(this, which)

        make = {
            "timer": takt_executors.Timer,
            "subscription": takt_executors.Subscription,
            "service": takt_executors.Service,
            "client": takt_executors.Client,
        }.get(kind)
        entry.executable = (
            takt_executors.Trigger(run) if make is None else make(handle.pointer, run)
        )
        return entry

    def release(self) -> None:
        """Lets rclpy destroy the entity, which is not scheduled any more."""
        self._handle.__exit__(None, None, None)

    def take(self, executor: Runner, which: int) -> Any:
        """The call for an instance; None: there is nothing to do.

        `which`: when a timer was due, in ns of its clock; else the number of the message, in the
        order in which messages came.
        """
        if self.kind == "timer":
            # An expiry may have come before the timer was cancelled.
            if self.entity.is_canceled():
                return None
            # Its release has advanced the timer already.
            return timer_call(self.entity, which)
        if self.kind != "subscription":
            return executor.take_from(self)
        with self._taking:
            while self._next <= which:
                self._taken[self._next] = executor.take_from(self)
                self._next += 1
            return self._taken.pop(which, None)

    def forget(self, oldest: int, displaced: Sequence[int]) -> None:
        """The middleware has lost the messages before `oldest` that were not taken, and no instance
        asks for those in `displaced` any more.
        """
        with self._taking:
            self._next = max(self._next, oldest)
            for number in displaced:
                self._taken.pop(number, None)


def timer_call(timer: Any, due: int) -> Any:
    """The call of a timer's callback, which may ask for rclpy's TimerInfo where that exists."""
    callback = timer.callback
    if TimerInfo is not None:
        for name, parameter in inspect.signature(callback).parameters.items():
            if parameter.annotation in (TimerInfo, "TimerInfo"):
                info = TimerInfo(
                    expected_call_time=due,
                    actual_call_time=timer.clock.now().nanoseconds,
                    clock_type=timer.clock.clock_type,
                )
                callback = functools.partial(callback, **{name: info})
                break
    return lambda: await_or_execute(callback)


def entities(node: Any) -> list[tuple[str, list[Entity]]]:
    """The entities of a node by kind, each in the order of their making."""
    return [
        ("timer", list(node.timers)),
        ("subscription", list(node.subscriptions)),
        ("service", list(node.services)),
        ("client", list(node.clients)),
        ("guard", list(node.guards)),
        ("waitable", list(node.waitables)),
    ]


def scheduled_entity(executable: Any, address: Json, group: int | None) -> Any:
    return takt_executors.ScheduledEntity(executable, group=group, **address)
