"""The executor that does what a plan says, in the place of rclpy's."""

from __future__ import annotations

import functools
import json
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import rclpy.executors
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.context import Context
from rclpy.exceptions import InvalidHandle
from rclpy.executors import ExternalShutdownException, TimeoutObject, await_or_execute
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.logging import get_logger
from rclpy.task import Future, Task

# After rclpy, whose libraries it shares.
import takt_executors
from takt.executors.entry import Entry, entities, scheduled_entity, snapshot
from takt.executors.helpers import Helpers
from takt.executors.kinds import Entity, Json
from takt.executors.plans import read_plan
from takt.executors.tasks import Tasks
from takt.executors.watcher import Watcher

OWN = "takt/"
"""What the ids of the executor's own callbacks begin with."""
MOST_URGENT = 2**62
PATIENCE = 5.0
"""How long after the last change of entities more of them are waited for, in seconds."""


class Wake:
    """Replaces the guard condition that rclpy triggers whenever something has changed."""

    def __init__(self, maintenance: takt_executors.Trigger) -> None:
        self.changed = True
        self._maintenance = maintenance

    def trigger(self) -> None:
        self.changed = True
        self._maintenance.trigger()

    def destroy(self) -> None:
        """Nothing is to be destroyed."""


class _Here(threading.local):
    """What is known of the calling thread."""

    ran = False
    """Whether something began for which the innermost spin_once() waits."""


class PlannedExecutor(rclpy.executors.Executor):  # type: ignore[misc]
    """Runs callbacks in the order that an executor of a plan decides.

    `plan` is the path of a plan and `executor` the id of one of its executors, which may be left
    out if there is one alone. Entities that the plan does not name run after all others.
    `num_threads` threads run callbacks, as many as the plan says unless given, and callback groups
    are respected. `missed_expiries` says what becomes of a timer's expiry while an earlier one
    waits to run: with "all" it runs, too, as long as no more than 100 wait; with "skip" it does
    not; with "latest" it takes the place of the earlier one. Table-driven executors are not
    supported: tables leave no time for rclpy's own work. ValueError for a plan that cannot be
    followed.
    """

    # Attributes of rclpy's base class, which has no types.
    _guard: Any
    _sigint_gc: Any = None

    def __init__(
        self,
        plan: str | Path | None = None,
        executor: str = "",
        *,
        num_threads: int | None = None,
        missed_expiries: str = "all",
        context: Context | None = None,
    ) -> None:
        self._plan = None if plan is None else read_plan(Path(plan), executor)
        self._warning = threading.Timer(PATIENCE, lambda: None)
        self._has_warned = False
        threads = (self._plan or {}).get("threads", 1) if num_threads is None else num_threads
        if threads < 1:
            raise ValueError(f"num_threads: {threads} is not at least 1")
        self._core = takt_executors.Executor(threads, missed_expiries)
        self._missed = missed_expiries
        super().__init__(context=context)
        self.runs = True
        """Whether callbacks may begin: the executor and the context have not been shut down."""
        self._changed_settings = True
        self._names: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._entries: dict[Entity, Entry] = {}
        self._scheduling = threading.Lock()
        self._grouping = threading.Lock()
        self._deferred: dict[Any, deque[tuple[Entry, int]]] = {}
        """Instances that wait, by the callback group of which a coroutine has not ended."""
        self._here = _Here()
        myself = weakref.ref(self)

        def maintenance(*_: object) -> None:
            if (executor := myself()) is not None:
                executor._maintain()

        self._maintenance = takt_executors.Trigger(maintenance, merges=True)
        self._running = Tasks(self)
        self._helpers = Helpers(threads) if threads > 1 else None
        # rclpy triggers its guard condition whenever something has changed.
        self._guard.destroy()
        self._guard = self._wake = Wake(self._maintenance)
        self._ended_by_callback = False
        self._context.on_shutdown(self._context_ended)
        self._watcher = Watcher(
            self._context, self._sigint_gc, self._core.cancel, self._maintenance.trigger
        )
        self._refresh()
        # Before it spins, the program may take its time to make nodes.
        self._warning.cancel()
        self._ending: threading.Thread | None = None
        """Waits for what runs and lets go of everything, from the first shutdown() on."""
        self._end = weakref.finalize(
            self, let_go, self._core, self._watcher, self._entries, self._scheduling
        )

    def __del__(self) -> None:
        if (end := getattr(self, "_end", None)) is not None:
            end()
        # It may have been destroyed with its context.
        with suppress(InvalidHandle, AttributeError):
            super().__del__()

    # --- What rclpy's users call

    def spin(self) -> None:
        """Runs callbacks until the executor or the context is shut down."""
        while self._context.ok() and not self._is_shutdown:
            self._refresh()
            try:
                self._core.spin()
            except rclpy_implementation.RCLError as failure:
                if self._context.ok():
                    raise
                # What was running needed the context.
                raise ExternalShutdownException from failure
            if self._is_shutdown or self._context.ok() or self._ended_by_callback:
                continue
            raise ExternalShutdownException

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Waits for one callback and runs it."""
        self._spin_once(timeout_sec, lambda: False)

    def spin_until_future_complete(self, future: Future, timeout_sec: float | None = None) -> None:
        """Runs callbacks until `future` is done or cancelled, `timeout_sec` at most."""
        end = None if timeout_sec is None or timeout_sec < 0 else time.monotonic() + timeout_sec
        while self._context.ok() and not (future.done() or future.cancelled() or self._is_shutdown):
            left = None if end is None else max(0.0, end - time.monotonic())
            self.spin_once_until_future_complete(future, left)
            if end is not None and time.monotonic() >= end:
                return

    def spin_once_until_future_complete(
        self, future: Future, timeout_sec: float | TimeoutObject | None = None
    ) -> None:
        """Waits for one callback and runs it, but no longer than `future` is pending."""
        self._running.when_done(future, self._nudge)
        seconds = timeout_sec.timeout if isinstance(timeout_sec, TimeoutObject) else timeout_sec
        self._spin_once(seconds, lambda: future.done() or future.cancelled())

    def create_task(self, callback: Any, *args: Any, **kwargs: Any) -> Task:
        """Runs a callback or coroutine while the executor spins; the task is its future."""
        task = Task(callback, args, kwargs, executor=self)
        self._running.begin(task)
        return task

    def shutdown(self, timeout_sec: float | None = None) -> bool:
        """Stops executing callbacks and waits for the running ones, `timeout_sec` at most."""
        self._is_shutdown = True
        self._stop()
        self._warning.cancel()
        with self._grouping:
            if self._ending is None:
                self._ending = threading.Thread(target=self._end, daemon=True)
                self._ending.start()
        # A callback that calls this must not wait for itself.
        if not self._core.is_running_here():
            self._ending.join(None if timeout_sec is None or timeout_sec < 0 else timeout_sec)
            if self._ending.is_alive():
                return False
        if self._helpers is not None:
            self._helpers.end()
        super().shutdown(timeout_sec)
        return True

    def remove_node(self, node: Any) -> None:
        """Its callbacks do not begin any more."""
        super().remove_node(node)
        # Two must not wait for one waitable, and nobody may spin this executor for long.
        self._watcher.forget(
            [self._entries.get(entity) for entity in snapshot(lambda: node.waitables)]
        )

    # --- What the policy is told

    def _settings(self, schedule: Sequence[tuple[Entity, Json]]) -> Json:
        """The executor entry of a plan for settings made by methods, without a plan file."""
        return {"rule": "first_released"}

    def _set(self, values: dict[Entity, Any], entity: Entity, value: Any) -> None:
        values[entity] = value
        self._tell_policy()

    def _tell_policy(self) -> None:
        self._changed_settings = True
        self.wake()

    # --- What is run

    def _context_ended(self) -> None:
        """With the context's lock held."""
        self._ended_by_callback = self._core.is_running_here()
        self._stop()

    def _stop(self) -> None:
        self.runs = False
        self._core.cancel()
        if self._helpers is not None:
            self._helpers.nudge()

    def _nudge(self) -> None:
        """Whoever waits for a callback looks whether what else it waits for has come."""
        self._core.interrupt()
        if self._helpers is not None:
            self._helpers.nudge()

    def _spin_once(self, timeout: float | None, done: Callable[[], bool]) -> None:
        end = None if timeout is None or timeout < 0 else time.monotonic() + timeout
        self._refresh()
        if self._helpers is not None and not self._core.is_running_here():
            began = self._context.ok()
            self._helpers.take_turn(lambda over: self._run_one(end, lambda: over() or done()), done)
            # The context that has just ended may have nudged the turn before it was served.
            if not (began or done() or self._is_shutdown):
                raise ExternalShutdownException
            return
        ran_before, self._here.ran = self._here.ran, False
        try:
            self._run_one(end, lambda: self._here.ran or done())
        finally:
            self._here.ran |= ran_before

    def _run_one(self, end: float | None, over: Callable[[], bool]) -> None:
        has_caught_up = False
        began = self._context.ok()
        while True:
            # What comes after this look interrupts the waiting.
            since = self._core.interruptions()
            if over() or self._is_shutdown:
                return
            left = None if end is None else max(0, round((end - time.monotonic()) * 1e9))
            came = self._core.spin_once(left, since)
            if not self._context.ok():
                if began and self._ended_by_callback:
                    return  # as with rclpy's executors, the next one raises
                raise ExternalShutdownException
            if not came and end is not None and time.monotonic() >= end:
                # What was triggered before is on its way.
                if has_caught_up or not self._watcher.catch_up():
                    return
                has_caught_up = True

    def note_run(self) -> None:
        """Something begins for which spin_once() waits."""
        self._here.ran = True
        if self._helpers is not None:
            self._helpers.begin()

    def note_step(self) -> None:
        """A task has taken a step."""
        self._watcher.look_at_timers()

    def _maintain(self) -> None:
        if self._is_shutdown or not self._context.ok():
            self._stop()
            return
        self._refresh()
        self._running.poll()
        if (failure := self._watcher.take_failure()) is not None:
            raise failure

    def run_entry(self, entry: Entry, which: int, *, again: bool = False) -> bool | None:
        """Runs one instance of an entity up to its end, or its first `await` that has to wait.
        Whether there was anything to run; None: it is put off, as its group is busy.
        """
        if not self.runs or entry.is_released or not self._context.ok():
            return False
        entity = entry.entity
        group = entity.callback_group
        with self._grouping:
            if not group.beginning_execution(entity):
                self._defer(group, entry, which, again)
                return None
        call = coroutine = None
        try:
            call = entry.take(self, which)
            if call is not None:
                self.note_run()
                coroutine = call()
                try:
                    coroutine.send(None)
                except StopIteration:
                    coroutine = None
                except BaseException:
                    coroutine = None
                    raise
        finally:
            if coroutine is None:
                self._leave(group, entity)
        if coroutine is not None:
            self._running.go_on(coroutine, functools.partial(self._leave, group, entity))
        self._running.poll()
        return call is not None

    def take_from(self, entry: Entry) -> Any:
        """The call for what the entity has received; None: nothing."""
        takes = {
            "subscription": self._take_subscription,
            "service": self._take_service,
            "client": self._take_client,
            "guard": self._take_guard_condition,
            "waitable": self._take_waitable,
        }
        try:
            return takes[entry.kind](entry.entity)
        finally:
            if entry.is_watched:
                self._watcher.look_again(entry)

    def _take_service(self, service: Any) -> Any:
        with service.handle:
            request, header = service.handle.service_take_request(service.srv_type.Request)
        if header is None:
            return None

        async def serve() -> None:
            response = service.srv_type.Response()
            response = await await_or_execute(service.callback, request, response)
            # A service that was destroyed meanwhile has nobody to answer.
            with suppress(InvalidHandle):
                service.send_response(response, header)

        return serve

    def _take_client(self, client: Any) -> Any:
        with client.handle:
            header, response = client.handle.take_response(client.srv_type.Response)
        if header is None:
            return None

        async def answer() -> None:
            # Without a request it was cancelled.
            with suppress(KeyError):
                future = client.get_pending_request(header.request_id.sequence_number)
                future._set_executor(self)
                future.set_result(response)

        return answer

    def _defer(self, group: Any, entry: Entry, which: int, again: bool) -> None:
        """A coroutine of the group has not ended, or a callback that spins the executor."""
        if again:
            entry.deferred += 1
            self._deferred.setdefault(group, deque()).appendleft((entry, which))
        elif entry.kind != "timer" or entry.deferred < self._most_deferred():
            entry.deferred += 1
            self._deferred.setdefault(group, deque()).append((entry, which))
        elif self._missed == "latest":
            waiting = self._deferred[group]
            position = next(i for i, (other, _) in enumerate(waiting) if other is entry)
            waiting[position] = (entry, which)

    def _most_deferred(self) -> int:
        return takt_executors.MOST_WAITING if self._missed == "all" else 1

    def _leave(self, group: Any, entity: Entity) -> None:
        """A callback of the group has ended: what it held up may begin."""
        with self._grouping:
            group.ending_execution(entity)
            waits = group in self._deferred
        if waits:
            self._running.run(functools.partial(self._run_deferred, group))

    def _run_deferred(self, group: Any) -> None:
        """Runs the first instance that waits for the group. Those of what was destroyed hold up
        nobody.
        """
        is_gone = True
        while is_gone:
            with self._grouping:
                waiting = self._deferred.get(group)
                if waiting is None:
                    return
                entry, which = waiting.popleft()
                entry.deferred -= 1
                if not waiting:
                    del self._deferred[group]
            if not (is_gone := entry.is_released):
                self._run_put_off(entry, which)
                is_gone = entry.is_released  # perhaps before it began

    def _run_put_off(self, entry: Entry, which: int) -> None:
        found: bool | None = True  # what raises does so because of a message
        try:
            found = self.run_entry(entry, which, again=True)
        finally:
            if found is not None:
                entry.looked(found)

    def _refresh(self) -> None:
        """Schedules the entities that the nodes have now, if they may have changed."""
        # Another thread that does so looks again before it leaves; who waited for it could keep a
        # callback from ending for which that thread waits.
        while self._wake.changed and self._scheduling.acquire(blocking=False):
            try:
                if self._is_shutdown:  # what was let go stays so
                    return
                self._wake.changed = False
                self._look_at_nodes()
            finally:
                self._scheduling.release()

    def _look_at_nodes(self) -> None:
        entries: dict[Entity, Entry] = {}
        for name, node in sorted(self._named_nodes(), key=lambda named: named[0]):
            for kind, alike in entities(node):
                for entity in alike:
                    entry = self._entries.get(entity) or Entry.of(self, name, kind, entity)
                    if entry is not None:
                        entries[entity] = entry
        gone = [entry for entity, entry in self._entries.items() if entity not in entries]
        if gone or len(entries) != len(self._entries) or self._changed_settings:
            self._changed_settings = False
            self._entries.clear()
            self._entries.update(entries)
            self._schedule()
        self._watcher.watch([entry for entry in self._entries.values() if entry.is_watched])
        for entry in gone:
            entry.release()

    def _named_nodes(self) -> list[tuple[str, Any]]:
        named = []
        for node in self.get_nodes():
            # A node that is destroyed has no name any more, but may have waitables.
            with suppress(InvalidHandle):
                if node not in self._names:
                    self._names[node] = node.get_fully_qualified_name()
                named.append((self._names[node], node))
        return named

    def _schedule(self) -> None:
        groups: dict[int, int] = {}
        own = {"node": "", "kind": "waitable"}
        scheduled = [
            scheduled_entity(self._maintenance, own, 0),
            scheduled_entity(self._running.executable, own, None),
        ]
        schedule = []
        for entity, entry in self._entries.items():
            group = entity.callback_group
            number = None
            if not isinstance(group, ReentrantCallbackGroup):
                number = groups.setdefault(id(group), len(groups) + 1)
            scheduled.append(scheduled_entity(entry.executable, entry.address, number))
            schedule.append((entity, entry.address))
        planned = dict(self._plan) if self._plan is not None else self._settings(schedule)
        urgency = {"priority": MOST_URGENT, "deadline": 1}
        mine = [
            {"id": f"{OWN}{ordinal}", **own, "ordinal": ordinal, **urgency} for ordinal in range(2)
        ]
        planned["callbacks"] = [*planned.get("callbacks", []), *mine]
        document = {"format": "takt/plan", "version": 1, "executors": [{"id": "", **planned}]}
        missing = self._core.replace(scheduled, json.dumps(document), planned.get("id", ""))
        self._warn_later(missing)

    def _warn_later(self, missing: str | None) -> None:
        """Logs once that callbacks of the plan are missing, unless they come soon."""
        self._warning.cancel()
        if missing is None or self._plan is None or self._has_warned:
            return
        myself = weakref.ref(self)

        def warn() -> None:
            if (executor := myself()) is not None:
                executor._has_warned = True
                get_logger("takt").warning(missing)

        self._warning = threading.Timer(PATIENCE, warn)
        self._warning.daemon = True
        self._warning.start()


def let_go(
    core: takt_executors.Executor,
    watcher: Watcher,
    entries: dict[Entity, Entry],
    scheduling: threading.Lock,
) -> None:
    """Releases all entities; after that nothing is reported to the core."""
    nothing: Json = {"id": "", "rule": "first_released", "callbacks": []}
    plan = json.dumps({"format": "takt/plan", "version": 1, "executors": [nothing]})
    with scheduling:
        watcher.end()
        core.replace([], plan, "")
        for entry in entries.values():
            entry.release()
        entries.clear()
