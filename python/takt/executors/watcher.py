"""The thread that waits for entities whose events the middleware does not report."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any

from rclpy.context import Context
from rclpy.exceptions import InvalidHandle
from rclpy.guard_condition import GuardCondition
from rclpy.waitable import NumberOfEntities

from takt.executors.entry import Entry
from takt.executors.waiting import Events, WaitSet, has_nothing_but_events


class Watcher:
    """Waits for guard conditions, waitables and signals, which the middleware does not report.

    It does not wait for QoS events in a wait set, see takt_executors.Event; they are looked for
    there once, as what came before the middleware is asked to report them would be lost.
    """

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
        self._looked: set[Entry] = set()
        """Waitables whose events have been looked for once."""
        self._reported: dict[Entry, Events] = {}
        """What the middleware reports: the events of waitables."""
        self._failure: Exception | None = None
        """What a waitable raised. Until somebody has asked for it, signals alone are waited for."""
        self._ended = False
        self._is_over = False
        self._has_timers = False
        self._turns = 0
        self._turned = threading.Condition(self._lock)
        self.waits = 0
        """How often it has begun to wait."""
        self._thread = threading.Thread(target=self._work, daemon=True, name="takt watcher")
        self._thread.start()

    def watch(self, entries: list[Entry]) -> None:
        """Replaces the entries that the thread waits for."""
        with self._lock:
            if self._watched == entries:
                return
            self._watched = entries
            self._triggered &= set(entries)
            self._looked &= set(entries)
            for entry in self._reported.keys() - set(entries):
                self._reported.pop(entry).end()
        self._interrupt_wait()

    def _interrupt_wait(self) -> None:
        # When it has ended, nobody waits.
        with suppress(InvalidHandle):
            self._interrupt.trigger()

    def look_again(self, entry: Entry) -> None:
        """The entry has been served, and is waited for again."""
        if entry.events is not None:
            return
        with self._lock:
            self._triggered.discard(entry)
        self._interrupt_wait()

    def forget(self, entries: list[Entry | None]) -> None:
        """Waits for these no longer."""
        self.watch([entry for entry in self._watched if entry not in entries])

    def catch_up(self) -> bool:
        """Lets the thread notice what was triggered before this call. False: nothing is watched."""
        with self._lock:
            if all(entry.events is not None for entry in self._watched):
                return False
            # The first turn may have begun before.
            for _ in range(2):
                turn = self._turns
                if self._is_over:
                    return False
                self._interrupt_wait()
                self._turned.wait_for(lambda: self._turns > turn or self._is_over)  # noqa: B023
            return True

    def look_at_timers(self) -> None:
        """A waitable's timer may expire earlier than it was to, of which rcl tells nobody:
        an action server's does when a goal ends.
        """
        if self._has_timers:
            self._interrupt_wait()

    def take_failure(self) -> Exception | None:
        """What a waitable has raised. From now on all are waited for again."""
        failure, self._failure = self._failure, None
        if failure is not None:
            self._interrupt_wait()
        return failure

    def end(self) -> None:
        self._ended = True
        try:
            self._interrupt.trigger()
        except InvalidHandle:  # it has ended before
            return
        self._thread.join()
        for events in self._reported.values():
            events.end()
        self._interrupt.destroy()

    def _work(self) -> None:
        while not self._ended and self._is_there():
            with self._lock:
                entries = [entry for entry in self._watched if entry not in self._triggered]
            if self._failure is not None:
                entries = []
            try:
                came = self._look(entries) or self._wait(entries, -1)[0]
            except InvalidHandle:
                came = []
            except Exception as failure:
                if not self._is_there():
                    break
                came = []
                self._failure = failure
                self._on_failure()
            with self._lock:
                self._triggered.update(came)
            for entry in came:
                entry.executable.trigger()
            with self._lock:
                self._turns += 1
                self._turned.notify_all()
        with self._lock:
            self._is_over = True
            self._turned.notify_all()
        self._on_signal()

    def _is_there(self) -> bool:
        try:
            return bool(self._context.ok())
        except InvalidHandle:
            return False

    def _look(self, entries: list[Entry]) -> list[Entry]:
        """A waitable whose events have occurred. Those of others are reported from now on."""
        for entry in entries:
            if entry.kind != "waitable" or entry in self._looked:
                continue
            with suppress(InvalidHandle):
                # rclpy does not destroy a handle that is in use.
                with entry.entity:
                    if entry.entity.get_num_entities().num_events > 0:
                        came, events = self._wait([entry], 0)
                        if came:
                            return came
                        self._report(entry, events)
                self._looked.add(entry)
        return []

    def _report(self, entry: Entry, handles: list[Any]) -> None:
        alone = has_nothing_but_events(entry.entity)
        with self._lock:
            if entry not in self._watched:
                return
            # Some middlewares report no events.
            with suppress(RuntimeError):
                told = entry.executable if alone else self._interrupt.handle
                self._reported[entry] = events = Events(handles, told)
                if alone:
                    entry.events = events

    def _wait(self, entries: list[Entry], timeout: int) -> tuple[list[Entry], list[Any]]:
        """What is ready within so many nanoseconds (-1: without limit), and the events in the wait
        set.
        """
        handles = [self._context.handle, self._signals.handle, self._interrupt.handle]
        guards: list[Entry] = []
        waitables: list[Entry] = []
        count = NumberOfEntities(0, 2)
        # rclpy does not destroy a handle that is in use.
        with ExitStack() as in_use:
            for used in handles:
                in_use.enter_context(used)
            for entry in entries:
                if entry.events is not None:
                    continue
                # What is being destroyed will not be watched much longer.
                with suppress(InvalidHandle):
                    if entry.kind == "guard":
                        in_use.enter_context(entry.entity.handle)
                        guards.append(entry)
                    else:
                        in_use.enter_context(entry.entity)
                        waitables.append(entry)
            count.num_guard_conditions += len(guards)
            for entry in waitables:
                count += entry.entity.get_num_entities()
            self._has_timers = count.num_timers > 0
            wait_set = WaitSet(count, self._context)
            wait_set.add_guard_condition(self._signals.handle)
            # A glance must not take from the next waiting what interrupts it.
            if timeout != 0:
                wait_set.add_guard_condition(self._interrupt.handle)
            for entry in guards:
                wait_set.add_guard_condition(entry.entity.handle)
            for entry in waitables:
                wait_set.reported = self._reported.get(entry)
                entry.entity.add_to_wait_set(wait_set)
            self.waits += 1
            wait_set.wait(timeout)
            ready = wait_set.get_ready_entities("guard_condition")
            if self._signals.handle.pointer in ready:
                self._on_signal()
            came = [entry for entry in guards if entry.entity.handle.pointer in ready]
            for entry in waitables:
                wait_set.reported = self._reported.get(entry)
                if entry.entity.is_ready(wait_set):
                    came.append(entry)
            return came, wait_set.added
