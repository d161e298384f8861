"""The executor that does what a plan says, in the place of rclpy's."""

from __future__ import annotations

import json
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import rclpy.executors
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, TimeoutObject
from rclpy.logging import get_logger
from rclpy.task import Future, Task

# After rclpy, whose libraries it shares.
import takt_executors
from takt.executors.coroutines import Rest, Wake
from takt.executors.entry import Entry, entities, scheduled_entity
from takt.executors.kinds import Entity, Json
from takt.executors.plans import read_plan
from takt.executors.watcher import Watcher

HOUSEKEEPING = "takt/housekeeping"
MOST_URGENT = 2**62
PATIENCE = 5.0
"""How long after the last change of entities more of them are waited for, in seconds."""


class PlannedExecutor(rclpy.executors.Executor):  # type: ignore[misc]
    """Runs callbacks in the order that an executor of a plan decides.

    `plan` is the path of a plan and `executor` the id of one of its executors, which may be left
    out if there is one alone. Entities that the plan does not name run after all others.
    `num_threads` threads run callbacks, as many as the plan says unless given, and callback groups
    are respected. Table-driven executors are not supported: tables leave no time for rclpy's own
    work. ValueError for a plan that cannot be followed.
    """

    # Attributes of rclpy's base class, which has no types.
    _guard: Any
    _sigint_gc: Any = None
    _tasks: list[tuple[Task, Any, Any]]

    def __init__(
        self,
        plan: str | Path | None = None,
        executor: str = "",
        *,
        num_threads: int | None = None,
        context: Context | None = None,
    ) -> None:
        self._plan = None if plan is None else read_plan(Path(plan), executor)
        self._warning = threading.Timer(PATIENCE, lambda: None)
        self._has_warned = False
        threads = (self._plan or {}).get("threads", 1) if num_threads is None else num_threads
        super().__init__(context=context)
        self._core = takt_executors.Executor(threads)
        self._changed_settings = True
        self._entries: dict[Entity, Entry] = {}
        self._entries_lock = threading.RLock()
        self._deferred: deque[tuple[Entry, int]] = deque()
        self._ran = False
        self._awaited: weakref.WeakSet[Future] = weakref.WeakSet()
        """Futures that wake the executor when they are done."""
        myself = weakref.ref(self)

        def housekeeping(*_: object) -> None:
            if (executor := myself()) is not None:
                executor._keep_house()

        self._housekeeping = takt_executors.Trigger(housekeeping)
        # rclpy triggers its guard condition whenever something has changed.
        self._guard.destroy()
        self._guard = Wake(self._housekeeping)
        self._watcher = Watcher(
            self._context, self._sigint_gc, self._core.cancel, self._housekeeping.trigger
        )
        self._schedule()
        # Before it spins, the program may take its time to make nodes.
        self._warning.cancel()
        self._end = weakref.finalize(self, let_go, self._core, self._watcher, self._entries)

    # --- What rclpy's users call

    def spin(self) -> None:
        """Runs callbacks until the executor or the context is shut down."""
        while self._context.ok() and not self._is_shutdown:
            self._refresh()
            self._core.spin()
            if not self._is_shutdown and not self._context.ok():
                raise ExternalShutdownException

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Waits for one callback and runs it."""
        self._spin_once(timeout_sec, lambda: False)

    def spin_once_until_future_complete(
        self, future: Future, timeout_sec: float | TimeoutObject | None = None
    ) -> None:
        """Waits for one callback and runs it, but no longer than `future` is pending."""
        self._wake_when_done(future)
        self._spin_once_until_future_complete(future, timeout_sec)

    def _spin_once_until_future_complete(
        self, future: Future, timeout_sec: float | TimeoutObject | None = None
    ) -> None:
        """The same for a future that wakes this executor already; rclpy's own name from Kilted on,
        whose spin_until_future_complete calls it.
        """
        seconds = timeout_sec.timeout if isinstance(timeout_sec, TimeoutObject) else timeout_sec
        self._spin_once(seconds, future.done)

    def shutdown(self, timeout_sec: float | None = None) -> bool:
        """Stops executing callbacks and waits for the running ones, `timeout_sec` at most."""
        self._is_shutdown = True
        self._warning.cancel()
        self._core.cancel()
        # A callback that calls this must not wait for itself.
        ending = threading.Thread(target=self._end, daemon=True)
        ending.start()
        ending.join(None if timeout_sec is None or timeout_sec < 0 else timeout_sec)
        if ending.is_alive():
            return False
        super().shutdown(timeout_sec)
        return True

    # --- What the policy is told

    def _settings(self, schedule: Sequence[tuple[Entity, Json]]) -> Json:
        """The executor entry of a plan for settings made by methods, without a plan file."""
        return {"rule": "first_released"}

    def _set(self, values: dict[Entity, Any], entity: Entity, value: Any) -> None:
        values[entity] = value
        self._changed_settings = True
        self.wake()

    # --- What is run

    def _spin_once(self, timeout: float | None, done: Callable[[], bool]) -> None:
        end = None if timeout is None or timeout < 0 else time.monotonic() + timeout
        self._refresh()
        self._ran = False
        while not self._ran and not done() and not self._is_shutdown:
            left = None if end is None else max(0, round((end - time.monotonic()) * 1e9))
            came = self._core.spin_once(left)
            if not self._context.ok():
                raise ExternalShutdownException
            if not came and left is not None and time.monotonic() >= (end or 0):
                return

    def _keep_house(self) -> None:
        if self._is_shutdown or not self._context.ok():
            self._core.cancel()
            return
        self._refresh()
        self._run_tasks()
        for _ in range(len(self._deferred)):
            entry, which = self._deferred.popleft()
            entry.deferred -= 1
            self.run_entry(entry, which)
        if (failure := self._watcher.take_failure()) is not None:
            raise failure

    def run_entry(self, entry: Entry, which: int) -> None:
        """Runs one instance of an entity up to its end, or its first `await` that has to wait."""
        if self._is_shutdown or not self._context.ok():
            return
        group = entry.entity.callback_group
        if not group.beginning_execution(entry.entity):
            # A coroutine of its callback group is still running.
            if entry.kind != "timer" or entry.deferred < takt_executors.MOST_WAITING:
                entry.deferred += 1
                self._deferred.append((entry, which))
            return
        self._ran = True
        suspended = False
        try:
            call = entry.take(self, which)
            if call is not None:
                coroutine = call()
                try:
                    coroutine.send(None)
                except StopIteration:
                    pass
                else:
                    suspended = True
                    self._add_task(Task(self._finish, (coroutine, entry), executor=self))
                    self._wake_for(coroutine)
        finally:
            if not suspended:
                group.ending_execution(entry.entity)
            if self._tasks or self._deferred:
                self._housekeeping.trigger()

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

    async def _finish(self, coroutine: Any, entry: Entry) -> None:
        try:
            await Rest(coroutine)
        finally:
            entry.entity.callback_group.ending_execution(entry.entity)

    def _wake_for(self, coroutine: Any) -> None:
        """Wakes the executor when the future that the coroutine awaits is done, in any thread."""
        awaited = coroutine
        while True:
            while (inner := getattr(awaited, "cr_await", None)) is not None:
                awaited = inner
            frame = getattr(awaited, "gi_frame", None)
            owner = frame.f_locals.get("self") if frame is not None else None
            if not isinstance(owner, Rest):
                break
            awaited = owner.coroutine
        if isinstance(owner, Future):
            self._wake_when_done(owner)

    def _wake_when_done(self, future: Future) -> None:
        if future not in self._awaited:
            self._awaited.add(future)
            future.add_done_callback(lambda _: self.wake())

    def _add_task(self, task: Task) -> None:
        with self._tasks_lock:
            self._tasks.append((task, None, None))

    def _run_tasks(self) -> None:
        """Advances every task by a step, and repeats that as long as one of them ends."""
        ended = True
        while ended:
            ended = False
            with self._tasks_lock:
                tasks = [task for task, _, _ in self._tasks]
            for task in tasks:
                if not task.executing() and not task.done() and not task.cancelled():
                    task()
                if not (task.done() or task.cancelled()):
                    self._wake_for(task._handler)
                    continue
                with self._tasks_lock:
                    self._tasks = [known for known in self._tasks if known[0] is not task]
                ended = True
                self._ran = True
                if task.done() and (failure := task.exception()) is not None:
                    raise failure

    def _refresh(self) -> None:
        """Schedules the entities that the nodes have now, if they have changed."""
        with self._entries_lock:
            entries: dict[Entity, Entry] = {}
            for node in sorted(self.get_nodes(), key=lambda node: node.get_fully_qualified_name()):
                for kind, alike in entities(node):
                    for entity in alike:
                        entry = self._entries.get(entity) or Entry.of(self, node, kind, entity)
                        if entry is not None:
                            entries[entity] = entry
            gone = [entry for entity, entry in self._entries.items() if entity not in entries]
            if not gone and len(entries) == len(self._entries) and not self._changed_settings:
                return
            self._changed_settings = False
            self._entries.clear()
            self._entries.update(entries)
            self._schedule()
            for entry in gone:
                entry.release()

    def _schedule(self) -> None:
        groups: dict[int, int] = {}
        scheduled = [scheduled_entity(self._housekeeping, {"node": "", "kind": "waitable"}, 0)]
        schedule = []
        for entity, entry in self._entries.items():
            group = entity.callback_group
            number = None
            if not isinstance(group, ReentrantCallbackGroup):
                number = groups.setdefault(id(group), len(groups) + 1)
            scheduled.append(scheduled_entity(entry.executable, entry.address, number))
            schedule.append((entity, entry.address))
        planned = dict(self._plan) if self._plan is not None else self._settings(schedule)
        mine = {"id": HOUSEKEEPING, "node": "", "kind": "waitable"}
        urgency = {"priority": MOST_URGENT, "deadline": 1}
        planned["callbacks"] = [*planned.get("callbacks", []), {**mine, **urgency}]
        document = {"format": "takt/plan", "version": 1, "executors": [{"id": "", **planned}]}
        missing = self._core.replace(scheduled, json.dumps(document), planned.get("id", ""))
        self._warn_later(missing)
        self._watcher.watch([entry for entry in self._entries.values() if entry.is_watched])

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


def let_go(core: takt_executors.Executor, watcher: Watcher, entries: dict[Entity, Entry]) -> None:
    """Releases all entities; after that nothing is reported to the core."""
    watcher.end()
    nothing: Json = {"id": "", "rule": "first_released", "callbacks": []}
    core.replace([], json.dumps({"format": "takt/plan", "version": 1, "executors": [nothing]}), "")
    for entry in entries.values():
        entry.release()
    entries.clear()
