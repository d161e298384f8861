"""The thread that waits for entities whose events the middleware does not report."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack

from rclpy.context import Context
from rclpy.exceptions import InvalidHandle
from rclpy.guard_condition import GuardCondition
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.waitable import NumberOfEntities

from takt.executors.entry import Entry


class Watcher:
    """Waits for guard conditions, waitables and signals, which the middleware does not report."""

    def __init__(
        self,
        context: Context,
        signals: GuardCondition,
        on_signal: Callable[[], None],
        on_failure: Callable[[], None],
    ) -> None:
        self._context = context
        self._signals = signals
        self._on_signal = on_signal
        self._on_failure = on_failure
        self._interrupt = GuardCondition(callback=None, callback_group=None, context=context)
        self._lock = threading.Lock()
        self._watched: list[Entry] = []
        self._triggered: set[Entry] = set()
        self._failure: Exception | None = None
        """What a waitable raised. Until somebody has asked for it, signals alone are waited for."""
        self._ended = False
        self._thread = threading.Thread(target=self._work, daemon=True, name="takt watcher")
        self._thread.start()

    def watch(self, entries: list[Entry]) -> None:
        """Replaces the entries that the thread waits for."""
        with self._lock:
            if self._watched == entries:
                return
            self._watched = entries
            self._triggered &= set(entries)
        self._interrupt.trigger()

    def look_again(self, entry: Entry) -> None:
        """The entry has been served, and is waited for again."""
        with self._lock:
            self._triggered.discard(entry)
        self._interrupt.trigger()

    def take_failure(self) -> Exception | None:
        """What a waitable has raised. From now on all are waited for again."""
        failure, self._failure = self._failure, None
        if failure is not None:
            self._interrupt.trigger()
        return failure

    def end(self) -> None:
        self._ended = True
        try:
            self._interrupt.trigger()
        except InvalidHandle:
            return
        self._thread.join()
        self._interrupt.destroy()

    def _work(self) -> None:
        while not self._ended and self._context.ok():
            with self._lock:
                entries = [entry for entry in self._watched if entry not in self._triggered]
            if self._failure is not None:
                entries = []
            try:
                self._wait(entries)
            except InvalidHandle:
                continue
            except Exception as failure:
                if not self._context.ok():
                    break
                self._failure = failure
                self._on_failure()
        self._on_signal()

    def _wait(self, entries: list[Entry]) -> None:
        guards = [entry for entry in entries if entry.kind == "guard"]
        waitables = [entry for entry in entries if entry.kind == "waitable"]
        count = NumberOfEntities(0, len(guards) + 2)
        for entry in waitables:
            count += entry.entity.get_num_entities()
        # rclpy does not destroy a handle that is in use.
        with ExitStack() as in_use:
            handles = [self._context.handle, self._signals.handle, self._interrupt.handle]
            for used in [*handles, *(entry.entity for entry in waitables)]:
                in_use.enter_context(used)
            wait_set = rclpy_implementation.WaitSet(
                count.num_subscriptions,
                count.num_guard_conditions,
                count.num_timers,
                count.num_clients,
                count.num_services,
                count.num_events,
                self._context.handle,
            )
            wait_set.clear_entities()
            wait_set.add_guard_condition(self._signals.handle)
            wait_set.add_guard_condition(self._interrupt.handle)
            for entry in guards:
                wait_set.add_guard_condition(entry.entity.handle)
            for entry in waitables:
                entry.entity.add_to_wait_set(wait_set)
            wait_set.wait(-1)
            ready = wait_set.get_ready_entities("guard_condition")
            if self._signals.handle.pointer in ready:
                self._on_signal()
            came = [entry for entry in guards if entry.entity.handle.pointer in ready]
            came += [entry for entry in waitables if entry.entity.is_ready(wait_set)]
        with self._lock:
            self._triggered.update(came)
        for entry in came:
            entry.executable.trigger()
