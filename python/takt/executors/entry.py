"""Entities of rclpy as the core runs them."""

from __future__ import annotations

import functools
import inspect
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
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

MESSAGES = {
    "subscription": takt_executors.Subscription,
    "service": takt_executors.Service,
    "client": takt_executors.Client,
}
HEARD: weakref.WeakSet[Entity] = weakref.WeakSet()
"""Entities of which some executor has been told what came."""


class Runner(Protocol):
    """The interface of the executor that runs entries."""

    def run_entry(self, entry: Entry, which: int) -> bool | None:
        """Runs one instance of an entity; see Entry.take(). Whether there was anything to run;
        None: it is put off.
        """

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
        self.events: Any = None
        """The events of a waitable that has nothing else, if the middleware reports them."""
        self.is_released = False
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
    def of(executor: Runner, name: str, kind: str, entity: Entity) -> Entry | None:
        """The entry of an entity of the node of that name; None: the entity is being destroyed."""
        handle = entity if kind == "waitable" else entity.handle
        try:
            # rclpy does not destroy a handle that is in use.
            handle.__enter__()
        except InvalidHandle:
            return None
        address = {"node": name, "kind": kind}
        try:
            if kind == "timer":
                address["period"] = entity.timer_period_ns
            elif kind == "subscription":
                address["topic"] = entity.topic_name
            elif kind in ("service", "client"):
                address["topic"] = entity.service_name
            else:
                address["kind"] = "waitable"
        except InvalidHandle:
            handle.__exit__(None, None, None)
            return None
        entry = Entry(entity, kind, address, handle)
        weak_executor, weak_entry = weakref.ref(executor), weakref.ref(entry)

        def run(which: int, oldest: int = 0, displaced: Sequence[int] = ()) -> bool | None:
            running, this = weak_executor(), weak_entry()
            if running is None or this is None:
                return False
            if oldest:
                this.forget(oldest, displaced)
            return running.run_entry(this, which)

        if kind == "timer":
            entry.executable = takt_executors.Timer(handle.pointer, run)
        elif (make := MESSAGES.get(kind)) is not None:
            entry.executable = make(handle.pointer, run, entity in HEARD)
            HEARD.add(entity)
        else:
            entry.executable = takt_executors.Trigger(run)
        return entry

    def release(self) -> None:
        """Lets rclpy destroy the entity, which is not scheduled any more."""
        self.is_released = True
        self.events = None
        self._handle.__exit__(None, None, None)

    def take(self, executor: Runner, which: int) -> Any:
        """The call for an instance; None: there is nothing to do, as the entity is destroyed, say.

        `which`: when a timer was due, in ns of its clock; else the number of the message, in the
        order in which messages came.
        """
        try:
            return self._take(executor, which)
        except InvalidHandle:
            return None

    def _take(self, executor: Runner, which: int) -> Any:
        if self.kind == "timer":
            # An expiry may have come before the timer was cancelled.
            if self.entity.is_canceled():
                return None
            # Its release has advanced the timer already.
            return timer_call(self.entity, which)
        if self.events is not None and not self.events.look(self.entity):
            return None
        if self.kind != "subscription":
            return executor.take_from(self)
        with self._taking:
            while self._next <= which:
                self._taken[self._next] = executor.take_from(self)
                self._next += 1
            return self._taken.pop(which, None)

    def looked(self, found: bool) -> None:
        """An instance that was put off has run, or found nothing to run."""
        if self.kind in MESSAGES:
            self.executable.looked(found)

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
        ("timer", snapshot(lambda: node.timers)),
        ("subscription", snapshot(lambda: node.subscriptions)),
        ("service", snapshot(lambda: node.services)),
        ("client", snapshot(lambda: node.clients)),
        ("guard", snapshot(lambda: node.guards)),
        ("waitable", snapshot(lambda: node.waitables)),
    ]


def snapshot(of: Callable[[], Iterable[Entity]]) -> list[Entity]:
    """What there is at some moment. Who walks through entities while another thread removes one
    passes one over that stays, which would lose its messages.
    """
    found, again = list(of()), list(of())
    while found != again:
        found, again = again, list(of())
    return found


def scheduled_entity(executable: Any, address: Json, group: int | None) -> Any:
    return takt_executors.ScheduledEntity(executable, group=group, **address)
