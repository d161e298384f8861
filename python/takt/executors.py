"""Executors for rclpy: takt's scheduling policies in the place of rclpy's executors.

    from takt.executors import EdfExecutor

    executor = EdfExecutor()
    executor.add_node(node)
    executor.spin()

They take no wait set: a thread of their own releases timers, the middleware reports what comes,
and a policy decides after every callback what runs next. Priorities, deadlines and chains come
from a plan (`takt plan MODEL --executor edf -o plan.json`) or from the methods below.
"""

from __future__ import annotations

import json
import threading
import time
import weakref
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Sequence
from pathlib import Path
from typing import Any

import rclpy.executors
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.context import Context
from rclpy.exceptions import InvalidHandle
from rclpy.executors import ExternalShutdownException, TimeoutObject, await_or_execute
from rclpy.guard_condition import GuardCondition
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.task import Future, Task
from rclpy.waitable import NumberOfEntities

# After rclpy, whose libraries it shares.
import takt_executors

Entity = Any
"""A timer, subscription, service, client, guard condition or waitable of rclpy."""
Json = dict[str, Any]

HOUSEKEEPING = "takt/housekeeping"
MOST_URGENT = 2**62


class PlannedExecutor(rclpy.executors.Executor):  # type: ignore[misc]
    """Runs what it is given as the executor of a plan decides.

    `plan` is the path of a plan and `executor` the id of one of its executors, which may be left
    out if there is one alone. Entities that the plan does not name run after all others.
    `num_threads` threads run callbacks, as many as the plan says unless given, and callback groups
    are respected. Table-driven executors cannot be had here: tables leave no time for rclpy's own
    work. ValueError for a plan that cannot be followed.
    """

    # Of rclpy's base, which has no types.
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
        self._plan = None if plan is None else _read_plan(Path(plan), executor)
        threads = (self._plan or {}).get("threads", 1) if num_threads is None else num_threads
        super().__init__(context=context)
        self._core = takt_executors.Executor(threads)
        self._changed_settings = True
        self._entries: dict[Entity, _Entry] = {}
        self._entries_lock = threading.RLock()
        self._deferred: deque[_Entry] = deque()
        self._ran = False
        myself = weakref.ref(self)

        def housekeeping(_: int) -> None:
            if (executor := myself()) is not None:
                executor._keep_house()

        self._housekeeping = takt_executors.Trigger(housekeeping)
        # rclpy triggers its guard condition whenever something has changed.
        self._guard.destroy()
        self._guard = _Wake(self._housekeeping)
        self._watcher = _Watcher(self._context, self._sigint_gc, self._core.cancel)
        self._schedule()
        self._end = weakref.finalize(self, _end, self._core, self._watcher, self._entries)

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
        future.add_done_callback(lambda _: self.wake())
        seconds = timeout_sec.timeout if isinstance(timeout_sec, TimeoutObject) else timeout_sec
        self._spin_once(seconds, future.done)

    def shutdown(self, timeout_sec: float | None = None) -> bool:
        """Stops executing callbacks and waits for the running ones, `timeout_sec` at most."""
        self._is_shutdown = True
        self._core.cancel()
        # A callback of its own may call this: it is not waited for.
        ending = threading.Thread(target=self._end, daemon=True)
        ending.start()
        ending.join(None if timeout_sec is None or timeout_sec < 0 else timeout_sec)
        if ending.is_alive():
            return False
        super().shutdown(timeout_sec)
        return True

    # --- What the policy is told

    def _settings(self, schedule: Sequence[tuple[Entity, Json]]) -> Json:
        """The executor of a plan that stands for what was set, without a plan."""
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
            self._run(self._deferred.popleft(), 0)

    def _run(self, entry: _Entry, older: int) -> None:
        """One instance of an entity, up to its end or its first `await` of what is not there."""
        if self._is_shutdown or not self._context.ok():
            return
        group = entry.entity.callback_group
        if not group.beginning_execution(entry.entity):
            # A coroutine of its group is not at its end yet.
            self._deferred.append(entry)
            return
        self._ran = True
        suspended = False
        try:
            call = entry.take(self, older)
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

    async def _finish(self, coroutine: Any, entry: _Entry) -> None:
        try:
            await _Rest(coroutine)
        finally:
            entry.entity.callback_group.ending_execution(entry.entity)

    def _wake_for(self, coroutine: Any) -> None:
        """Steps go on when the future that the coroutine awaits is done, by whatever thread."""
        awaited = coroutine
        while (inner := getattr(awaited, "cr_await", None)) is not None:
            awaited = inner
        frame = getattr(awaited, "gi_frame", None)
        future = frame.f_locals.get("self") if frame is not None else None
        if isinstance(future, Future):
            future.add_done_callback(lambda _: self.wake())

    def _add_task(self, task: Task) -> None:
        with self._tasks_lock:
            self._tasks.append((task, None, None))

    def _run_tasks(self) -> None:
        """Every task a step further, again as long as one of them ends."""
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
        """Schedules the entities that the nodes have now, if they are others than before."""
        with self._entries_lock:
            entries: dict[Entity, _Entry] = {}
            for node in sorted(self.get_nodes(), key=lambda node: node.get_fully_qualified_name()):
                for kind, entities in _entities(node):
                    for entity in entities:
                        entry = self._entries.get(entity) or _Entry.of(self, node, kind, entity)
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
        scheduled = [_scheduled(self._housekeeping, {"node": "", "kind": "waitable"}, 0)]
        schedule = []
        for entity, entry in self._entries.items():
            group = entity.callback_group
            number = None
            if not isinstance(group, ReentrantCallbackGroup):
                number = groups.setdefault(id(group), len(groups) + 1)
            scheduled.append(_scheduled(entry.executable, entry.address, number))
            schedule.append((entity, entry.address))
        planned = dict(self._plan) if self._plan is not None else self._settings(schedule)
        mine = {"id": HOUSEKEEPING, "node": "", "kind": "waitable"}
        urgency = {"priority": MOST_URGENT, "deadline": 1}
        planned["callbacks"] = [*planned.get("callbacks", []), {**mine, **urgency}]
        document = {"format": "takt/plan", "version": 1, "executors": [{"id": "", **planned}]}
        self._core.replace(scheduled, json.dumps(document), planned.get("id", ""))
        self._watcher.watch([entry for entry in self._entries.values() if entry.is_watched])


class EventsExecutor(PlannedExecutor):
    """First released, first run."""


class FixedPriorityExecutor(PlannedExecutor):
    """Callbacks by priority, larger first; those without one last, in the order of their release.

    Without any priority timers go by their rate.
    """

    def __init__(self, plan: str | Path | None = None, executor: str = "", **options: Any) -> None:
        self._priorities: dict[Entity, int] = {}
        super().__init__(plan, executor, **options)

    def set_priority(self, entity: Entity, priority: int) -> None:
        """From now on the entity's callback has this priority."""
        self._set(self._priorities, entity, priority)

    def _settings(self, schedule: Sequence[tuple[Entity, Json]]) -> Json:
        return {"rule": "priority", "callbacks": _callbacks(schedule, self._callback)}

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
        self._set(self._deadlines, entity, round(seconds * 1e9))

    def _settings(self, schedule: Sequence[tuple[Entity, Json]]) -> Json:
        return {"rule": "deadline", "callbacks": _callbacks(schedule, self._callback)}

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
        self._changed_settings = True
        self.wake()

    def _settings(self, schedule: Sequence[tuple[Entity, Json]]) -> Json:
        in_order = [entity for chain in reversed(self._chains) for entity in chain]
        priorities = {entity: priority for priority, entity in enumerate(in_order)}

        def callback(entity: Entity, _: Json) -> Json | None:
            return {"priority": priorities[entity]} if entity in priorities else None

        return {"rule": "priority", "callbacks": _callbacks(schedule, callback)}


class GraphAwareExecutor(FixedPriorityExecutor):
    """Whatever a callback triggers, directly or not, inherits the priority of its root.

    Roots are the callbacks with a priority; without any, timers are, by their rate. One thread.
    """

    def __init__(self, plan: str | Path | None = None, executor: str = "", **options: Any) -> None:
        if options.get("num_threads") not in (None, 1):
            raise ValueError("GraphAwareExecutor has one thread: leave num_threads out")
        super().__init__(plan, executor, **options)

    def _settings(self, schedule: Sequence[tuple[Entity, Json]]) -> Json:
        return {"rule": "root_priority", "callbacks": _callbacks(schedule, self._root)}

    def _root(self, entity: Entity, address: Json) -> Json | None:
        return self._callback(entity, address) or {"root": False}


class _Wake:
    """In the place of rclpy's guard condition."""

    def __init__(self, trigger: takt_executors.Trigger) -> None:
        self._trigger = trigger

    def trigger(self) -> None:
        self._trigger.trigger()

    def destroy(self) -> None:
        """Nothing is to be destroyed."""


class _Rest(Awaitable[None]):
    """What is left of a coroutine that has begun elsewhere."""

    def __init__(self, coroutine: Any) -> None:
        self._coroutine = coroutine

    def __await__(self) -> Generator[None, None, None]:
        while True:
            try:
                self._coroutine.send(None)
            except StopIteration:
                return
            yield


class _Entry:
    """An entity that is scheduled."""

    def __init__(self, entity: Entity, kind: str, address: Json, handle: Any) -> None:
        self.entity = entity
        self.kind = kind
        self.address = address
        self._handle = handle
        self.executable: Any = None
        self._newer: deque[Any] = deque()
        """Messages that were taken to get at newer ones; the oldest first."""

    @property
    def is_watched(self) -> bool:
        """Whether a thread waits for it, as nobody reports what comes."""
        return self.kind in ("guard", "waitable")

    @staticmethod
    def of(executor: PlannedExecutor, node: Any, kind: str, entity: Entity) -> _Entry | None:
        """None: it is being destroyed."""
        handle = entity if kind == "waitable" else entity.handle
        try:
            # As long as it is in use, rclpy does not destroy it.
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
        entry = _Entry(entity, kind, address, handle)
        weak_executor, weak_entry = weakref.ref(executor), weakref.ref(entry)

        def run(older: int) -> None:
            running, this = weak_executor(), weak_entry()
            if running is not None and this is not None:
                running._run(this, older)

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
        """It is not scheduled any more."""
        self._handle.__exit__(None, None, None)

    def take(self, executor: PlannedExecutor, older: int) -> Any:
        """What is to be called for the next instance; None: nothing."""
        if self.kind == "timer":
            # It has been moved on when it was released.
            return lambda: await_or_execute(self.entity.callback)
        if self.kind == "subscription" and (older or self._newer):
            while len(self._newer) <= older:
                self._newer.append(executor._take_subscription(self.entity))
            return self._newer.pop()
        try:
            return getattr(executor, f"_take_{_TAKES[self.kind]}")(self.entity)
        finally:
            if self.is_watched:
                executor._watcher.look_again(self)


_TAKES = {
    "subscription": "subscription",
    "service": "service",
    "client": "client",
    "guard": "guard_condition",
    "waitable": "waitable",
}


class _Watcher:
    """Waits for guard conditions, waitables and signals, which are not reported."""

    def __init__(
        self, context: Context, signals: GuardCondition, on_signal: Callable[[], None]
    ) -> None:
        self._context = context
        self._signals = signals
        self._on_signal = on_signal
        self._interrupt = GuardCondition(callback=None, callback_group=None, context=context)
        self._lock = threading.Lock()
        self._watched: list[_Entry] = []
        self._triggered: set[_Entry] = set()
        self._ended = False
        self._thread = threading.Thread(target=self._work, daemon=True, name="takt watcher")
        self._thread.start()

    def watch(self, entries: list[_Entry]) -> None:
        """From now on waits for these."""
        with self._lock:
            if self._watched == entries:
                return
            self._watched = entries
            self._triggered &= set(entries)
        self._interrupt.trigger()

    def look_again(self, entry: _Entry) -> None:
        """The entry has been served, and is waited for again."""
        with self._lock:
            self._triggered.discard(entry)
        self._interrupt.trigger()

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
            try:
                self._wait(entries)
            except (InvalidHandle, RuntimeError):
                if not self._context.ok():
                    break
        self._on_signal()

    def _wait(self, entries: list[_Entry]) -> None:
        guards = [entry for entry in entries if entry.kind == "guard"]
        waitables = [entry for entry in entries if entry.kind == "waitable"]
        count = NumberOfEntities(0, len(guards) + 2)
        for entry in waitables:
            count += entry.entity.get_num_entities()
        with self._context.handle, self._signals.handle, self._interrupt.handle:
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


def _end(core: takt_executors.Executor, watcher: _Watcher, entries: dict[Entity, _Entry]) -> None:
    """Lets go of everything: nothing is reported to the core any more."""
    watcher.end()
    nothing: Json = {"id": "", "rule": "first_released", "callbacks": []}
    core.replace([], json.dumps({"format": "takt/plan", "version": 1, "executors": [nothing]}), "")
    for entry in entries.values():
        entry.release()
    entries.clear()


def _entities(node: Any) -> list[tuple[str, list[Entity]]]:
    """The entities of a node by kind, each in the order of their making."""
    return [
        ("timer", list(node.timers)),
        ("subscription", list(node.subscriptions)),
        ("service", list(node.services)),
        ("client", list(node.clients)),
        ("guard", list(node.guards)),
        ("waitable", list(node.waitables)),
    ]


def _scheduled(executable: Any, address: Json, group: int | None) -> Any:
    return takt_executors.ScheduledEntity(executable, group=group, **address)


def _callbacks(
    schedule: Sequence[tuple[Entity, Json]], describe: Callable[[Entity, Json], Json | None]
) -> list[Json]:
    """Callbacks of a plan for the entities that `describe` says something of."""
    alike: dict[str, int] = {}
    callbacks = []
    for number, (entity, address) in enumerate(schedule):
        key = json.dumps(address)
        ordinal = alike.setdefault(key, 0)
        alike[key] += 1
        described = describe(entity, address)
        if described is None:
            continue
        found = {name: value for name, value in address.items() if name != "topic"}
        if "topic" in address:
            found["topics"] = [address["topic"]]
        callbacks.append({"id": str(number), **found, "ordinal": ordinal, **described})
    return callbacks


def _read_plan(path: Path, executor: str) -> Json:
    """The executor of that id."""
    try:
        plan = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: cannot be read as a plan: {error}") from error
    if not isinstance(plan, dict) or plan.get("format") != "takt/plan":
        raise ValueError(f"{path}: no takt/plan; make one with `takt plan MODEL -o plan.json`")
    executors: list[Json] = plan.get("executors", [])
    found = [one for one in executors if executor in ("", one["id"])]
    if len(found) != 1:
        ids = ", ".join(f'"{one["id"]}"' for one in executors)
        raise ValueError(f'{path}: no single executor "{executor}"; name one of {ids}')
    if found[0].get("rule") == "table":
        raise ValueError(f"{path}: rclpy has no table-driven executors; plan another kind")
    return found[0]
