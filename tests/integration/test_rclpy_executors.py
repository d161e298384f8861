"""takt.executors in the place of rclpy's: what rclpy's users rely on, with real nodes."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import rclpy
from rcl_interfaces.srv import GetParameterTypes
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.clock import ClockType, ROSClock
from rclpy.exceptions import InvalidHandle
from rclpy.executors import ExternalShutdownException
from rclpy.guard_condition import GuardCondition
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.task import Future
from rclpy.time import Time
from rclpy.waitable import NumberOfEntities, Waitable
from std_msgs.msg import Int64

from children import Child
from takt.executors import (
    ChainPriorityExecutor,
    EdfExecutor,
    EventsExecutor,
    FixedPriorityExecutor,
    GraphAwareEdfExecutor,
    GraphAwareExecutor,
    PlannedExecutor,
    entry,
)
from takt.executors.waiting import Events

EVERY = [
    EventsExecutor,
    FixedPriorityExecutor,
    EdfExecutor,
    ChainPriorityExecutor,
    GraphAwareExecutor,
    GraphAwareEdfExecutor,
]
LONG = 20.0
"""Seconds in which anything comes, however busy the machine."""

numbers = itertools.count()


@pytest.fixture
def node() -> Iterator[Node]:
    rclpy.init()
    made = rclpy.create_node(f"node_{os.getpid()}_{next(numbers)}", start_parameter_services=False)
    yield made
    if made.handle:
        made.destroy_node()
    rclpy.try_shutdown()


def until(executor: rclpy.executors.Executor, condition: Callable[[], bool]) -> None:
    """Spins until something that is sure to come soon."""
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end, "it never came"
        executor.spin_once(0.1)


def matched(node: Node, publisher: Any) -> None:
    end = time.monotonic() + LONG
    while publisher.get_subscription_count() < 1:
        assert time.monotonic() < end
        time.sleep(0.001)


@pytest.mark.parametrize("make", EVERY)
def test_timers_messages_services_and_clients(make: type[PlannedExecutor], node: Node) -> None:
    seen: list[int] = []
    publisher = node.create_publisher(Int64, "~/x", 10)
    node.create_subscription(Int64, "~/x", lambda message: seen.append(message.data), 10)

    def serve(request: Any, response: Any) -> Any:
        response.types = [len(request.names)]
        return response

    node.create_service(GetParameterTypes, "~/set", serve)
    client = node.create_client(GetParameterTypes, "~/set")
    ticks = itertools.count()
    node.create_timer(0.01, lambda: publisher.publish(Int64(data=next(ticks))))
    executor = make()
    executor.add_node(node)
    assert client.wait_for_service(LONG)
    future = client.call_async(GetParameterTypes.Request(names=["a", "b"]))
    executor.spin_until_future_complete(future, LONG)
    assert list(future.result().types) == [2]
    until(executor, lambda: len(seen) >= 5)
    assert seen == sorted(seen)
    executor.shutdown()


@pytest.mark.parametrize("make", EVERY)
def test_what_one_callback_sends_keeps_its_order(make: type[PlannedExecutor], node: Node) -> None:
    seen: list[int] = []
    publisher = node.create_publisher(Int64, "~/x", 100)
    node.create_subscription(Int64, "~/x", lambda message: seen.append(message.data), 100)
    matched(node, publisher)
    ticks = itertools.count()

    def burst() -> None:
        once.cancel()
        for _ in range(20):
            publisher.publish(Int64(data=next(ticks)))

    once = node.create_timer(0.01, burst)
    executor = make()
    executor.add_node(node)
    until(executor, lambda: len(seen) == 20)
    assert seen == sorted(seen)
    executor.shutdown()


def test_who_spins_as_the_context_ends_hears_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if what ends the context nudges those who wait before the call is served."""
    rclpy.init()
    executor = EventsExecutor(num_threads=2)
    helpers = executor._helpers
    assert helpers
    submit = helpers._submit

    def nudged(turn: Any, run: Any) -> bool:
        helpers.nudge()
        return bool(submit(turn, run))

    monkeypatch.setattr(helpers, "_submit", nudged)
    rclpy.shutdown()
    with pytest.raises(rclpy.executors.ExternalShutdownException):
        executor.spin_once()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_callback_that_ends_the_context_ends_spinning_as_with_rclpy(threads: int) -> None:
    def spin(way: Callable[[Node, Any], None]) -> type[Exception] | None:
        rclpy.init()
        node = rclpy.create_node("ends", start_parameter_services=False)
        executor = EventsExecutor(num_threads=threads)
        node.create_timer(0.01, rclpy.shutdown)
        try:
            way(node, executor)
        except rclpy.executors.ExternalShutdownException as raised:
            return type(raised)
        # It has ended once: who goes on spinning hears of it.
        with pytest.raises(rclpy.executors.ExternalShutdownException):
            executor.spin_once()
        return None

    def spin_itself(node: Node, executor: Any) -> None:
        executor.add_node(node)
        executor.spin()

    assert spin(lambda node, executor: rclpy.spin(node, executor)) is None
    assert spin(spin_itself) is None


def test_spin_once_waits_no_longer_than_it_may(node: Node) -> None:
    executor = EventsExecutor()
    executor.add_node(node)
    before = time.monotonic()
    executor.spin_once(0.05)
    assert time.monotonic() - before >= 0.05
    executor.spin_once(0)
    executor.shutdown()


def test_what_comes_meanwhile_is_queued_as_deep_as_asked(node: Node) -> None:
    seen: list[int] = []
    publisher = node.create_publisher(Int64, "~/x", QoSProfile(depth=10))
    node.create_subscription(
        Int64, "~/x", lambda message: seen.append(message.data), QoSProfile(depth=2)
    )
    executor = EventsExecutor()
    executor.add_node(node)
    executor.spin_once(0)
    matched(node, publisher)
    for i in range(5):
        publisher.publish(Int64(data=i))
    until(executor, lambda: len(seen) >= 2)
    executor.spin_once(0.05)
    assert seen == [3, 4]
    executor.shutdown()


def released_together(executor: rclpy.executors.Executor, publishers: list[Any]) -> None:
    """Publishes on all while nothing runs, in the order of the list."""
    executor.spin_once(0)
    for publisher in publishers:
        matched(publisher, publisher)
    for publisher in publishers:
        publisher.publish(Int64())


def three(node: Node, order: list[str]) -> tuple[list[Any], list[Any]]:
    """Publishers of a, b, c, and subscriptions that note what runs."""

    def note(name: str) -> Callable[[Any], None]:
        return lambda _: order.append(name)

    publishers = [node.create_publisher(Int64, f"~/{name}", 10) for name in "abc"]
    subscriptions = [node.create_subscription(Int64, f"~/{name}", note(name), 10) for name in "abc"]
    return publishers, subscriptions


def test_the_first_released_runs_first(node: Node) -> None:
    order: list[str] = []
    publishers, _ = three(node, order)
    executor = EventsExecutor()
    executor.add_node(node)
    released_together(executor, [publishers[i] for i in (2, 0, 1)])
    until(executor, lambda: len(order) == 3)
    assert order == ["c", "a", "b"]
    executor.shutdown()


def test_the_highest_priority_runs_first(node: Node) -> None:
    order: list[str] = []
    publishers, subscriptions = three(node, order)
    executor = FixedPriorityExecutor()
    for subscription, priority in zip(subscriptions, (1, 3, 2), strict=True):
        executor.set_priority(subscription, priority)
    executor.add_node(node)
    released_together(executor, publishers)
    until(executor, lambda: len(order) == 3)
    assert order == ["b", "c", "a"]
    executor.shutdown()


def test_the_earliest_deadline_runs_first(node: Node) -> None:
    order: list[str] = []
    publishers, subscriptions = three(node, order)
    executor = EdfExecutor()
    executor.set_deadline(subscriptions[0], 3000)
    executor.set_deadline(subscriptions[2], 1000)
    executor.add_node(node)
    released_together(executor, publishers)
    until(executor, lambda: len(order) == 3)
    assert order == ["c", "a", "b"]
    executor.shutdown()


def test_an_urgency_that_is_none_is_refused_at_once(node: Node) -> None:
    timer = node.create_timer(0.001, lambda: ran.append(1))
    ran: list[int] = []
    by_deadline = EdfExecutor()
    for seconds in (0, -1, 1e-10, float("inf"), float("nan"), 1e12):
        with pytest.raises(ValueError, match=r"set_deadline: .* above 0 and at most 100 years"):
            by_deadline.set_deadline(timer, seconds)
    by_priority = FixedPriorityExecutor()
    for priority in (2**62, -(2**62)):
        with pytest.raises(ValueError, match=r"set_priority: .* not between"):
            by_priority.set_priority(timer, priority)
    for wrong in (1.5, True, None):
        with pytest.raises(TypeError, match=r"set_priority: .* is not an integer"):
            by_priority.set_priority(timer, wrong)  # type: ignore[arg-type]
    by_priority.shutdown()
    # Nothing of it is left behind.
    by_deadline.add_node(node)
    until(by_deadline, lambda: bool(ran))
    by_deadline.shutdown()


def test_the_most_important_chain_runs_first_from_its_end(node: Node) -> None:
    order: list[str] = []
    publishers, subscriptions = three(node, order)
    executor = ChainPriorityExecutor()
    executor.set_chains([subscriptions[1:], subscriptions[:1]])
    executor.add_node(node)
    released_together(executor, publishers)
    until(executor, lambda: len(order) == 3)
    assert order == ["c", "b", "a"]
    executor.shutdown()


def test_a_graphs_newest_message_runs_first_with_its_own_instance(node: Node) -> None:
    seen: list[int] = []
    publisher = node.create_publisher(Int64, "~/x", 10)
    node.create_subscription(Int64, "~/x", lambda message: seen.append(message.data), 10)

    def send(*numbers: int) -> None:
        for number in numbers:
            publisher.publish(Int64(data=number))

    def urgent() -> None:
        second.cancel()
        send(2, 3)

    def root() -> None:
        first.cancel()
        send(0, 1)
        second.reset()
        time.sleep(0.05)  # it expires meanwhile

    executor = GraphAwareExecutor()
    matched(node, publisher)
    first = node.create_timer(0.001, root)
    second = node.create_timer(0.001, urgent)
    second.cancel()
    executor.set_priority(first, 1)
    executor.set_priority(second, 2)
    executor.add_node(node)
    until(executor, lambda: len(seen) == 4)
    assert seen == [2, 3, 0, 1]
    executor.shutdown()


def test_newer_messages_displace_the_oldest_that_waits_for_its_instance(node: Node) -> None:
    """The middleware gave 1 and 2 away to reach 3, so that it has room for both of those that come
    meanwhile; only three may wait.
    """
    seen: list[int] = []
    publisher = node.create_publisher(Int64, "~/x", 10)

    def send(*numbers: int) -> None:
        for number in numbers:
            publisher.publish(Int64(data=number))

    def hear(message: Int64) -> None:
        seen.append(message.data)
        if message.data == 3:
            send(4, 5)
        elif message.data == 2:
            send(6)

    def urgent() -> None:
        second.cancel()
        send(3)

    def root() -> None:
        first.cancel()
        send(1, 2)
        second.reset()
        time.sleep(0.05)  # it expires meanwhile

    node.create_subscription(Int64, "~/x", hear, 3)
    executor = GraphAwareExecutor()
    matched(node, publisher)
    first = node.create_timer(0.001, root)
    second = node.create_timer(0.001, urgent)
    second.cancel()
    executor.set_priority(first, 1)
    executor.set_priority(second, 2)
    executor.add_node(node)
    until(executor, lambda: len(seen) == 5)
    assert seen[0] == 3
    assert sorted(seen) == [2, 3, 4, 5, 6]
    executor.shutdown()


class Middleware:
    """Keeps the newest `depth` numbers for one entity."""

    def __init__(self, depth: int) -> None:
        self.waiting: deque[int] = deque(maxlen=depth)

    def take_from(self, _: entry.Entry) -> int | None:
        return self.waiting.popleft() if self.waiting else None

    def run_entry(self, entry: entry.Entry, which: int) -> bool:
        raise NotImplementedError


def test_instances_find_their_messages_in_whatever_order_they_run() -> None:
    made = entry.Entry(None, "subscription", {}, None)
    middleware = Middleware(3)
    middleware.waiting.extend([0, 1, 2])
    assert [made.take(middleware, which) for which in (1, 0, 2)] == [1, 0, 2]
    # Number 3 was chosen and lost before it was taken.
    middleware.waiting.extend([3, 4, 5, 6])
    made.forget(4, [])
    assert [made.take(middleware, which) for which in (4, 3, 6)] == [4, None, 6]
    made.forget(4, [5])
    assert made._taken == {}


def plan_of(node: Node, priorities: dict[str, int], folder: Path) -> Path:
    """The file of a plan for subscriptions of a node, by topics."""
    planned = [
        {
            "id": topic,
            "node": node.get_fully_qualified_name(),
            "kind": "subscription",
            "topics": [topic],
            "priority": priority,
        }
        for topic, priority in priorities.items()
    ]
    plan = {
        "format": "takt/plan",
        "version": 1,
        "executors": [{"id": "main", "rule": "priority", "callbacks": planned}],
    }
    path = folder / "plan.json"
    path.write_text(json.dumps(plan))
    return path


def test_callbacks_of_a_plan_that_nobody_has_are_named_once(
    node: Node, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("takt.executors.planned.PATIENCE", 0.2)
    _, subscriptions = three(node, [])
    there = {subscription.topic_name: 1 for subscription in subscriptions}
    warning = "no node here has: /renamed."
    said = ""

    def hears(executor: PlannedExecutor, seconds: float) -> None:
        nonlocal said
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            executor.spin_once(0.1)
        said += capfd.readouterr().err

    complete = PlannedExecutor(plan_of(node, there, tmp_path))
    complete.add_node(node)
    hears(complete, 1)
    assert warning not in said
    complete.shutdown()

    lacking = PlannedExecutor(plan_of(node, {**there, "/renamed": 2}, tmp_path))
    lacking.add_node(node)
    while warning not in said:
        hears(lacking, 0.1)
    # A change does not name them again.
    node.create_timer(100, lambda: None)
    hears(lacking, 1)
    assert said.count(warning) == 1
    lacking.shutdown()


def test_a_plan_orders_nodes_that_know_nothing_of_it(node: Node, tmp_path: Path) -> None:
    order: list[str] = []
    publishers, subscriptions = three(node, order)
    topics = [subscription.topic_name for subscription in subscriptions]
    executor = PlannedExecutor(plan_of(node, dict(zip(topics, (2, 1, 3), strict=True)), tmp_path))
    executor.add_node(node)
    released_together(executor, publishers)
    until(executor, lambda: len(order) == 3)
    assert order == ["c", "a", "b"]
    executor.shutdown()


def executors_of(*executors: object) -> str:
    return json.dumps({"format": "takt/plan", "version": 1, "executors": executors})


@pytest.mark.parametrize(
    ("plan", "fault"),
    [
        ("{}", "format: missing; takt/plan"),
        ("nonsense", "not valid JSON"),
        (executors_of(3), r"executors\[0\]: must be an object"),
        (executors_of({}), r"executors\[0\].id: missing"),
        (
            executors_of(*({"id": i, "rule": "priority", "callbacks": []} for i in "ab")),
            'several executors; name one of "a", "b"',
        ),
    ],
)
def test_a_plan_that_is_none_is_refused(tmp_path: Path, plan: str, fault: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(plan)
    with pytest.raises(ValueError, match=fault):
        PlannedExecutor(path)


def test_what_a_plan_says_in_vain_is_logged(
    node: Node, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = plan_of(node, {"/t": 1}, tmp_path)
    path.write_text(path.read_text().replace('priority": 1', 'prioirty": 1'))
    PlannedExecutor(path).shutdown()
    assert "callbacks[0].prioirty: unknown field" in capfd.readouterr().err


def test_entities_come_and_go(node: Node) -> None:
    seen: list[str] = []
    executor = EventsExecutor()
    executor.add_node(node)
    executor.spin_once(0)
    first = node.create_timer(0.001, lambda: seen.append("first"))
    until(executor, lambda: "first" in seen)
    node.destroy_timer(first)
    executor.spin_once(0.02)
    seen.clear()
    node.create_timer(0.001, lambda: seen.append("second"))
    until(executor, lambda: seen.count("second") >= 3)
    assert set(seen) == {"second"}
    executor.remove_node(node)
    executor.spin_once(0.01)
    seen.clear()
    executor.spin_once(0.05)
    assert seen == []
    executor.shutdown()


def test_exceptions_come_out_of_spin_and_it_spins_on(node: Node) -> None:
    ran = []

    def fail() -> None:
        timer.cancel()
        raise KeyError("the callback's own")

    timer = node.create_timer(0.001, fail)
    executor = EventsExecutor()
    executor.add_node(node)
    with pytest.raises(KeyError, match="the callback's own"):
        executor.spin()
    node.create_timer(0.001, lambda: ran.append(1))
    until(executor, lambda: bool(ran))
    executor.shutdown()


def test_coroutines_wait_for_what_others_bring(node: Node) -> None:
    future: Future = Future()
    seen: list[str] = []

    async def waiting() -> None:
        timer.cancel()
        seen.append("waits")
        seen.append(await future)

    def bringing() -> None:
        if seen:
            other.cancel()
            future.set_result("brought")

    timer = node.create_timer(0.001, waiting)
    other = node.create_timer(0.002, bringing, callback_group=ReentrantCallbackGroup())
    executor = EventsExecutor()
    executor.add_node(node)
    until(executor, lambda: len(seen) == 2)
    assert seen == ["waits", "brought"]
    executor.shutdown()


def test_coroutines_wake_for_each_future_that_another_thread_completes(node: Node) -> None:
    futures: list[Future] = [Future(), Future()]
    seen: list[int] = []

    async def waiting() -> None:
        timer.cancel()
        seen.append(await futures[0])
        seen.append(await futures[1])

    timer = node.create_timer(0.001, waiting)
    executor = EventsExecutor()
    executor.add_node(node)
    spun = threading.Thread(target=executor.spin)
    spun.start()
    for number, future in enumerate(futures):
        # Meanwhile the executor has gone to sleep.
        time.sleep(0.1)
        future.set_result(number)
    end = time.monotonic() + LONG
    while len(seen) < len(futures) and time.monotonic() < end:
        time.sleep(0.001)
    executor.shutdown()
    spun.join(LONG)
    assert seen == [0, 1]


def test_a_future_is_asked_once_to_wake_the_executor(node: Node) -> None:
    future: Future = Future()
    ran: list[int] = []

    async def waiting() -> None:
        await future

    node.create_timer(0.001, lambda: ran.append(1))
    executor = EventsExecutor()
    executor.add_node(node)
    task = executor.create_task(waiting)
    until(executor, lambda: len(ran) >= 20)
    executor.spin_once_until_future_complete(future, 0.01)
    assert len(future._callbacks) == 1
    future.set_result(None)
    executor.spin_until_future_complete(task, LONG)
    assert task.done()
    executor.shutdown()


def test_a_coroutine_keeps_its_exclusive_group(node: Node) -> None:
    future: Future = Future()
    order: list[str] = []
    group = MutuallyExclusiveCallbackGroup()

    async def holding() -> None:
        timer.cancel()
        order.append("begins")
        await future
        order.append("ends")

    def other() -> None:
        excluded.cancel()
        order.append("other")

    timer = node.create_timer(0.001, holding, callback_group=group)
    excluded = node.create_timer(0.005, other, callback_group=group)
    executor = EventsExecutor()
    executor.add_node(node)
    until(executor, lambda: order == ["begins"])
    end = time.monotonic() + 0.05
    while time.monotonic() < end:
        executor.spin_once(0.01)
    assert order == ["begins"]
    future.set_result(None)
    executor.wake()
    until(executor, lambda: "other" in order)
    assert order[:3] == ["begins", "ends", "other"]
    executor.shutdown()


def test_a_coroutine_holds_up_a_hundred_expiries_at_most(node: Node) -> None:
    future: Future = Future()
    ran: list[int] = []
    beats: list[int] = []

    async def holding() -> None:
        once.cancel()
        await future

    once = node.create_timer(0.001, holding)
    node.create_timer(0.001, lambda: ran.append(1))
    node.create_timer(0.01, lambda: beats.append(1), callback_group=ReentrantCallbackGroup())
    executor = EventsExecutor()
    executor.add_node(node)
    until(executor, lambda: once.is_canceled())
    ran.clear()
    until(executor, lambda: len(beats) >= 50)
    assert ran == []
    kept = Counter(entry for waiting in executor._deferred.values() for entry, _ in waiting)
    assert 0 < max(kept.values()) <= 100
    future.set_result(None)
    executor.shutdown()


def test_tasks_run_and_have_results(node: Node) -> None:
    executor = EventsExecutor()
    executor.add_node(node)
    task = executor.create_task(lambda x: x + 1, 41)

    async def twice() -> int:
        return int(await task) * 2

    double = executor.create_task(twice)
    executor.spin_until_future_complete(double, LONG)
    assert (task.result(), double.result()) == (42, 84)
    executor.shutdown()


def test_what_was_let_go_is_not_scheduled_again(node: Node) -> None:
    """Another thread may be looking at the nodes, or about to, when the executor is shut down."""
    executor = EventsExecutor()
    executor.add_node(node)
    timer = node.create_timer(3600.0, lambda: None)
    executor.spin_once(0)
    with executor._scheduling:  # as by a thread that looks at the nodes
        assert not executor.shutdown(0.1)
        assert timer in executor._entries
    assert executor.shutdown(LONG)
    assert not executor._entries
    executor._wake.trigger()
    executor._refresh()
    assert not executor._entries
    # Nobody holds it any more, so it is destroyed at once.
    node.destroy_timer(timer)
    with pytest.raises(InvalidHandle), timer.handle:
        pass


def test_guard_conditions(node: Node) -> None:
    seen: list[int] = []
    guard = node.create_guard_condition(lambda: seen.append(1))
    executor = EventsExecutor()
    executor.add_node(node)
    executor.spin_once(0)
    for expected in (1, 2, 3):
        guard.trigger()
        until(executor, lambda: len(seen) == expected)  # noqa: B023
    executor.shutdown()


def test_waitables(node: Node) -> None:
    seen: list[int] = []

    class Signal(Waitable):  # type: ignore[misc]
        """Ready whenever its guard condition was triggered."""

        def __init__(self) -> None:
            super().__init__(MutuallyExclusiveCallbackGroup())
            self.guard = GuardCondition(callback=None, callback_group=None)
            self.in_use = 0

        def __enter__(self) -> None:
            self.in_use += 1

        def __exit__(self, *_: object) -> None:
            self.in_use -= 1

        def get_num_entities(self) -> NumberOfEntities:
            return NumberOfEntities(0, 1, 0, 0, 0)

        def add_to_wait_set(self, wait_set: Any) -> None:
            assert self.in_use
            wait_set.add_guard_condition(self.guard.handle)

        def is_ready(self, wait_set: Any) -> bool:
            return self.guard.handle.pointer in wait_set.get_ready_entities("guard_condition")

        def take_data(self) -> int:
            return len(seen)

        async def execute(self, taken_data: int) -> None:
            seen.append(taken_data)

    signal = Signal()
    node.add_waitable(signal)
    executor = EventsExecutor()
    executor.add_node(node)
    executor.spin_once(0)
    for expected in (1, 2, 3):
        signal.guard.trigger()
        until(executor, lambda: len(seen) == expected)  # noqa: B023
    assert seen == [0, 1, 2]
    executor.shutdown()
    assert not signal.in_use
    node.remove_waitable(signal)
    signal.guard.destroy()


@pytest.mark.parametrize("kind", [ValueError, RuntimeError])
def test_what_a_waitable_raises_comes_out_of_spin(node: Node, kind: type[Exception]) -> None:
    class Broken(Waitable):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(ReentrantCallbackGroup())

        def __enter__(self) -> None:
            pass

        def __exit__(self, *_: object) -> None:
            pass

        def get_num_entities(self) -> NumberOfEntities:
            return NumberOfEntities()

        def add_to_wait_set(self, wait_set: Any) -> None:
            raise kind("of the waitable")

    seen: list[int] = []
    guard = node.create_guard_condition(lambda: seen.append(1))
    broken = Broken()
    node.add_waitable(broken)
    executor = EventsExecutor()
    executor.add_node(node)
    for _ in range(2):
        with pytest.raises(kind, match="of the waitable"):
            until(executor, lambda: False)
    node.remove_waitable(broken)
    # Without the waitable the executor works again, after one more failure at most: it may have
    # been waited for just before it was removed.
    guard.trigger()
    with contextlib.suppress(kind):
        until(executor, lambda: bool(seen))
    until(executor, lambda: bool(seen))
    executor.shutdown()


def test_spin_once_until_future_complete_ends_with_either(node: Node) -> None:
    executor = EventsExecutor()
    executor.add_node(node)
    ran: list[int] = []
    timer = node.create_timer(0.001, lambda: ran.append(1))
    pending: Future = Future()
    executor.spin_once_until_future_complete(pending, LONG)
    assert len(ran) == 1
    node.destroy_timer(timer)
    done: Future = Future()
    done.set_result(1)
    executor.spin_once_until_future_complete(done, LONG)
    threading.Timer(0.02, pending.set_result, (2,)).start()
    while not pending.done():
        executor.spin_once_until_future_complete(pending, LONG)
    assert pending.result() == 2
    before = time.monotonic()
    executor.spin_once_until_future_complete(Future(), 0.02)
    assert time.monotonic() - before >= 0.02
    executor.shutdown()


def test_it_wakes_for_tasks_of_other_threads_and_ends_with_its_context(node: Node) -> None:
    with EventsExecutor() as executor:
        executor.add_node(node)
        future: Future = Future()
        threading.Timer(0.02, lambda: executor.create_task(future.set_result, 7)).start()
        executor.spin_until_future_complete(future, LONG)
        assert future.result() == 7
    spun = threading.Thread(target=executor.spin)
    spun.start()
    spun.join(LONG)
    assert not spun.is_alive()


def test_a_timer_without_period_leaves_time_for_others(node: Node) -> None:
    ran: list[int] = []
    others: list[int] = []
    node.create_timer(0.0, lambda: ran.append(1))
    executor = EventsExecutor()
    executor.add_node(node)
    until(executor, lambda: len(ran) >= 10)
    node.create_timer(0.001, lambda: others.append(1))
    until(executor, lambda: len(others) >= 10)
    executor.shutdown()


def test_expiries_before_a_timers_reset_do_not_run_after_it(node: Node) -> None:
    period = 0.03
    reset_at: list[float] = []
    after: list[float] = []

    def barks() -> None:
        if reset_at:
            after.append(time.monotonic() - reset_at[0])

    def lasts_long() -> None:
        once.cancel()
        time.sleep(5.5 * period)
        reset_at.append(time.monotonic())
        watchdog.reset()

    watchdog = node.create_timer(period, barks)
    once = node.create_timer(0.001, lasts_long)
    executor = EventsExecutor()
    executor.add_node(node)
    until(executor, lambda: bool(after))
    assert after[0] >= period
    executor.shutdown()


def test_timers_follow_a_simulated_clock(node: Node) -> None:
    clock = ROSClock()
    clock._set_ros_time_is_active(True)
    clock.set_ros_time_override(Time(seconds=100, clock_type=ClockType.ROS_TIME))
    seen: list[float] = []
    node.create_timer(1.0, lambda: seen.append(clock.now().nanoseconds / 1e9), clock=clock)
    executor = EventsExecutor()
    executor.add_node(node)
    executor.spin_once(0.05)
    assert seen == []
    for now, expected in ((100.5, 0), (101.0, 1), (101.5, 1), (102.25, 2), (110.0, 3)):
        clock.set_ros_time_override(Time(seconds=now, clock_type=ClockType.ROS_TIME))
        until(executor, lambda: len(seen) >= expected)  # noqa: B023
        executor.spin_once(0)
    assert seen == [101.0, 102.25, 110.0]
    executor.shutdown()


def test_timers_tell_when_they_were_due_if_asked(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Info:
        """As rclpy's TimerInfo, which Jazzy does not have."""

        def __init__(
            self, *, expected_call_time: int, actual_call_time: int, clock_type: Any
        ) -> None:
            self.expected = expected_call_time
            self.actual = actual_call_time

    monkeypatch.setattr(entry, "TimerInfo", Info)
    seen: list[Info] = []

    def tick(info: Any) -> None:
        seen.append(info)
        time.sleep(0.015)

    tick.__annotations__["info"] = Info
    node.create_timer(0.01, tick)
    executor = EventsExecutor()
    executor.add_node(node)
    until(executor, lambda: len(seen) >= 5)
    due = [info.expected for info in seen]
    # On a busy machine a timer skips periods that it missed.
    apart = [later - earlier for earlier, later in itertools.pairwise(due)]
    assert all(time > 0 and time % 10_000_000 == 0 for time in apart), apart
    assert all(info.actual >= info.expected for info in seen)
    executor.shutdown()


def test_a_node_moves_to_another_executor(node: Node) -> None:
    seen: list[int] = []
    publisher = node.create_publisher(Int64, "~/x", 10)
    node.create_subscription(Int64, "~/x", lambda message: seen.append(message.data), 10)
    matched(node, publisher)
    first, second = EventsExecutor(), FixedPriorityExecutor()
    first.add_node(node)
    first.spin_once(0)
    first.remove_node(node)
    second.add_node(node)
    second.spin_once(0)
    # The first one lets go of its entities only now: they go on telling the second one.
    first.spin_once(0)
    first.shutdown()
    publisher.publish(Int64(data=7))
    until(second, lambda: seen == [7])
    second.shutdown()


def test_table_driven_plans_are_refused(node: Node, tmp_path: Path) -> None:
    table = {"cycle": 2, "slots": [{"start": 0, "end": 1, "callback": "a"}]}
    callbacks = [{"id": "a", "node": "/n", "kind": "timer", "period": 2}]
    planned = {"id": "e", "kind": "table_driven", "rule": "table", "table": table}
    plan = {"format": "takt/plan", "version": 1, "executors": [planned | {"callbacks": callbacks}]}
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plan))
    with pytest.raises(ValueError, match="rclpy has no table-driven executors"):
        PlannedExecutor(path)


def test_threads_run_side_by_side_and_groups_do_not(node: Node) -> None:
    both = threading.Barrier(2)
    inside = threading.Lock()
    overlaps: list[str] = []
    met = threading.Event()

    def meet() -> None:
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(LONG)
            met.set()

    def exclude() -> None:
        if not inside.acquire(blocking=False):
            overlaps.append("overlap")
            return
        time.sleep(0.001)
        inside.release()

    reentrant = ReentrantCallbackGroup()
    timers = [node.create_timer(0.001, meet, callback_group=reentrant) for _ in range(2)]
    group = MutuallyExclusiveCallbackGroup()
    for _ in range(3):
        node.create_timer(0.001, exclude, callback_group=group)
    executor = EventsExecutor(num_threads=4)
    executor.add_node(node)
    spinning = threading.Thread(target=executor.spin)
    spinning.start()
    assert met.wait(LONG)
    for timer in timers:
        timer.cancel()
    time.sleep(0.1)
    both.abort()
    executor.shutdown()
    spinning.join(LONG)
    assert not spinning.is_alive()
    assert overlaps == []


def test_shutdown_ends_spin_and_waits_for_what_runs(node: Node) -> None:
    began = threading.Event()
    ended = []

    def slow() -> None:
        began.set()
        time.sleep(0.1)
        ended.append(1)

    node.create_timer(0.001, slow)
    executor = EventsExecutor()
    executor.add_node(node)
    spinning = threading.Thread(target=executor.spin)
    spinning.start()
    assert began.wait(LONG)
    assert executor.shutdown(LONG)
    assert ended
    spinning.join(LONG)
    assert not spinning.is_alive()


def test_the_contexts_end_ends_spin(node: Node) -> None:
    executor = EventsExecutor()
    executor.add_node(node)
    other = threading.Timer(0.1, rclpy.shutdown)
    other.start()
    with pytest.raises(ExternalShutdownException):
        executor.spin()
    other.join()
    executor.shutdown()


def test_it_sleeps_when_there_is_nothing_to_do(node: Node) -> None:
    executor = EventsExecutor()
    executor.add_node(node)
    executor.spin_once(0)
    before = time.process_time()
    executor.spin_once(0.5)
    assert time.process_time() - before < 0.25
    executor.shutdown()


SPINNING = """
import rclpy
from takt.executors import EventsExecutor
rclpy.init()
node = rclpy.create_node("spinning")
executor = EventsExecutor()
executor.add_node(node)
node.create_timer(0.01, lambda: print("tick", flush=True))
try:
    executor.spin()
except (KeyboardInterrupt, rclpy.executors.ExternalShutdownException):
    print("interrupted", flush=True)
"""


def test_ctrl_c_ends_it() -> None:
    with Child([sys.executable, "-c", SPINNING], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "tick\n"
        process.send_signal(2)
        output, _ = process.communicate(timeout=LONG)
    assert output.splitlines()[-1] == "interrupted"
    assert process.returncode == 0


def test_events_of_what_is_destroyed_are_there_until_nobody_hears_of_them(node: Node) -> None:
    """rclpy would free them at once, and the middleware tells of them on threads of its own."""
    guard = node.create_guard_condition(lambda: None)
    subscription = node.create_subscription(Int64, "heard", lambda _: None, 1)
    handles = [handler._EventHandler__event for handler in subscription.event_handlers]
    assert handles
    heard = Events(handles, guard.handle)
    node.destroy_subscription(subscription)
    assert all(handle.pointer for handle in handles)
    heard.end()
    assert not any(handle.pointer for handle in handles)
    with pytest.raises(InvalidHandle):
        Events(handles, guard.handle)
    guard.destroy()
    assert guard.handle.pointer == 0
