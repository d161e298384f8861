"""takt.executors for rclpy as robots use them: nothing to do for long, entities that other threads
destroy, actions, nested spinning.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any

import pytest
import rclpy
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.executors import ExternalShutdownException
from rclpy.guard_condition import GuardCondition
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.task import Future
from rclpy.timer import Timer
from rclpy.waitable import NumberOfEntities, Waitable
from std_msgs.msg import Int64

from takt.executors import (
    EventsExecutor,
    FixedPriorityExecutor,
    GraphAwareEdfExecutor,
    GraphAwareExecutor,
    PlannedExecutor,
)
from takt.executors.helpers import Helpers

LONG = 20.0
"""Seconds in which anything comes, however busy the machine."""
NO_ACTIONS = "the wheels of ROS 2 have no type of actions; an installation has test_msgs"

numbers = itertools.count()


def make_node() -> Node:
    return rclpy.create_node(f"robot_{os.getpid()}_{next(numbers)}", start_parameter_services=False)


@pytest.fixture
def node() -> Iterator[Node]:
    rclpy.init()
    made = make_node()
    yield made
    if made.handle:
        made.destroy_node()
    rclpy.try_shutdown()


class Spinning:
    """Spins an executor in a thread; what comes out of it is raised at the end."""

    def __init__(self, executor: PlannedExecutor) -> None:
        self._executor = executor
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._spin)

    def _spin(self) -> None:
        try:
            self._executor.spin()
        except BaseException as failure:
            self._failure = failure

    def __enter__(self) -> Spinning:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown()
        self._thread.join(LONG)
        assert not self._thread.is_alive()
        if self._failure is not None:
            raise self._failure


def comes(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.001)


# --- Nothing to do


class Mixed(Waitable):  # type: ignore[misc]
    """The events of a subscription, and a guard condition."""

    def __init__(self, node: Node, events: list[Any]) -> None:
        super().__init__(ReentrantCallbackGroup())
        self.events = events
        self.guard = GuardCondition(callback=None, callback_group=None, context=node.context)
        self.ran: list[list[bool]] = []

    def __enter__(self) -> None:
        self.guard.handle.__enter__()

    def __exit__(self, *of: Any) -> None:
        self.guard.handle.__exit__(*of)

    def get_num_entities(self) -> NumberOfEntities:
        return NumberOfEntities(0, 1, 0, 0, 0, len(self.events))

    def add_to_wait_set(self, wait_set: Any) -> None:
        self.index = wait_set.add_guard_condition(self.guard.handle)
        for event in self.events:
            event.add_to_wait_set(wait_set)

    def is_ready(self, wait_set: Any) -> bool:
        self.ready = [wait_set.is_ready("guard_condition", self.index)]
        self.ready += [event.is_ready(wait_set) for event in self.events]
        return any(self.ready)

    def take_data(self) -> list[bool]:
        for event in self.events:
            event.take_data()
        return self.ready

    async def execute(self, ready: list[bool]) -> None:
        self.ran.append(ready)


def taken_out(node: Node, subscription: Any) -> list[Any]:
    """The subscription's event handlers, which are no waitables of their own any more."""
    handlers = list(subscription.event_handlers)
    for handler in handlers:
        node.remove_waitable(handler)
    subscription.event_handlers.clear()
    return handlers


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
def test_no_thread_does_anything_while_a_message_waits_for_its_busy_group(
    node: Node, threads: int, mixed: bool
) -> None:
    group = MutuallyExclusiveCallbackGroup()
    inside, leave = threading.Event(), threading.Event()
    heard: list[int] = []

    def busy() -> None:
        once.cancel()
        inside.set()
        leave.wait(LONG)

    publisher = node.create_publisher(Int64, "~/x", 10)
    events = SubscriptionEventCallbacks(
        deadline=lambda _: None, liveliness=lambda _: None, message_lost=lambda _: None
    )
    subscription = node.create_subscription(
        Int64,
        "~/x",
        lambda message: heard.append(message.data),
        10,
        callback_group=group,
        event_callbacks=events,
    )
    if mixed:
        node.add_waitable(Mixed(node, taken_out(node, subscription)))
    comes(lambda: publisher.get_subscription_count() == 1)
    executor = EventsExecutor(num_threads=threads)
    executor.add_node(node)
    once = node.create_timer(0.001, busy, callback_group=group)
    with Spinning(executor):
        assert inside.wait(LONG)
        publisher.publish(Int64(data=7))
        comes(lambda: executor._watcher.waits > 0)
        time.sleep(0.2)
        waits, used = executor._watcher.waits, time.process_time()
        time.sleep(0.5)
        assert executor._watcher.waits - waits <= 1
        # What returned without end would take all of that.
        assert time.process_time() - used < 0.25
        assert heard == []
        leave.set()
        comes(lambda: heard == [7])


def test_events_reach_their_callbacks(node: Node) -> None:
    """Before the executor knows of them, and afterwards."""
    asked: list[int] = []
    offered: list[int] = []
    node.create_subscription(
        Int64,
        "~/x",
        lambda _: None,
        QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE),
        event_callbacks=SubscriptionEventCallbacks(
            incompatible_qos=lambda event: asked.append(event.total_count_change)
        ),
    )

    def publish() -> None:
        node.create_publisher(
            Int64,
            "~/x",
            QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT),
            event_callbacks=PublisherEventCallbacks(
                incompatible_qos=lambda event: offered.append(event.total_count)
            ),
        )

    publish()
    time.sleep(0.2)
    executor = EventsExecutor()
    executor.add_node(node)
    with Spinning(executor):
        comes(lambda: sum(asked) == 1 and offered == [1])
        publish()
        comes(lambda: len(asked) == 2 and offered == [1, 1])
    # Of what came before, nothing has been lost.
    assert asked[0] == 1


def test_a_mixed_waitable_hears_of_its_guard_condition_and_its_event(node: Node) -> None:
    subscription = node.create_subscription(
        Int64, "~/x", lambda _: None, QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
    )
    handlers = taken_out(node, subscription)
    waitable = Mixed(node, [h for h in handlers if "INCOMPATIBLE_QOS" in h.event_type.name])
    node.add_waitable(waitable)
    executor = EventsExecutor()
    executor.add_node(node)
    with Spinning(executor):
        waitable.guard.trigger()
        comes(lambda: [True, False] in waitable.ran)
        node.create_publisher(
            Int64, "~/x", QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        )
        comes(lambda: [False, True] in waitable.ran)


# --- Entities that other threads destroy


def destroy_timers(_: PlannedExecutor, goes: Node) -> None:
    for timer in list(goes.timers):
        goes.destroy_timer(timer)


def destroy_subscriptions(_: PlannedExecutor, goes: Node) -> None:
    for subscription in list(goes.subscriptions):
        goes.destroy_subscription(subscription)


def remove_and_destroy(executor: PlannedExecutor, goes: Node) -> None:
    executor.remove_node(goes)
    goes.destroy_node()


def destroy_node(_: PlannedExecutor, goes: Node) -> None:
    goes.destroy_node()


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    "act", [destroy_timers, destroy_subscriptions, remove_and_destroy, destroy_node]
)
def test_it_spins_on_when_another_thread_destroys_what_it_runs(
    node: Node, act: Callable[[PlannedExecutor, Node], None], threads: int
) -> None:
    ticks: list[int] = []
    publisher = node.create_publisher(Int64, "/talk", 10)
    node.create_timer(0.005, lambda: ticks.append(1))
    node.create_timer(0.002, lambda: publisher.publish(Int64()))
    executor = EventsExecutor(num_threads=threads)
    executor.add_node(node)
    with Spinning(executor):
        for _ in range(10):
            goes = make_node()
            ran: list[int] = []
            for _ in range(5):
                goes.create_timer(0.001, lambda: ran.append(1))  # noqa: B023
                goes.create_subscription(Int64, "/talk", lambda _: None, 10)
            executor.add_node(goes)
            comes(lambda: len(ran) > 20)  # noqa: B023
            act(executor, goes)
            before = len(ticks)
            comes(lambda: len(ticks) > before + 1)  # noqa: B023
            if goes.handle:
                executor.remove_node(goes)


def test_what_waits_for_an_executor_is_there_after_the_move_to_another_one(node: Node) -> None:
    heard: list[int] = []
    publisher = node.create_publisher(Int64, "~/x", 10)
    node.create_subscription(Int64, "~/x", lambda message: heard.append(message.data), 10)
    comes(lambda: publisher.get_subscription_count() == 1)
    first, second = EventsExecutor(), FixedPriorityExecutor()
    first.add_node(node)
    first.spin_once(0)
    for number in range(3):
        publisher.publish(Int64(data=number))
    time.sleep(0.1)
    second.add_node(node)
    with Spinning(second):
        comes(lambda: len(heard) == 3)
        publisher.publish(Int64(data=3))
        comes(lambda: len(heard) == 4)
    assert heard == [0, 1, 2, 3]
    first.shutdown()


# --- Tasks


def test_tasks_run_side_by_side_on_several_threads(node: Node) -> None:
    both = threading.Barrier(2)
    executor = EventsExecutor(num_threads=2)
    executor.add_node(node)
    with Spinning(executor):
        tasks = [executor.create_task(both.wait, LONG) for _ in range(2)]
        comes(lambda: all(task.done() for task in tasks))
        assert sorted(task.result() for task in tasks) == [0, 1]


def test_a_task_that_awaits_no_future_is_asked_again_when_something_ran(node: Node) -> None:
    class Turn:
        def __await__(self) -> Generator[None, None, None]:
            yield

    steps: list[int] = []

    async def stepping() -> None:
        for number in range(3):
            steps.append(number)
            await Turn()

    executor = EventsExecutor()
    executor.add_node(node)
    task = executor.create_task(stepping)
    node.create_timer(0.001, lambda: None)
    with Spinning(executor):
        comes(task.done)
    assert steps == [0, 1, 2]


@pytest.mark.parametrize("threads", [2, 4])
def test_a_goal_blocks_neither_its_acceptance_nor_its_cancellation(
    node: Node, threads: int
) -> None:
    fibonacci = pytest.importorskip("test_msgs.action", reason=NO_ACTIONS).Fibonacci
    from rclpy.action import ActionClient, ActionServer, CancelResponse

    group = ReentrantCallbackGroup()
    accepted, asked = threading.Event(), threading.Event()

    def execute(goal: Any) -> Any:
        # It ends when it is cancelled, which its client does once it knows of its acceptance.
        end = time.monotonic() + LONG
        while not goal.is_cancel_requested and time.monotonic() < end:
            time.sleep(0.001)
        goal.canceled()
        return fibonacci.Result()

    def cancel(_: Any) -> Any:
        asked.set()
        return CancelResponse.ACCEPT

    server = ActionServer(
        node, fibonacci, "~/fib", execute, cancel_callback=cancel, callback_group=group
    )
    client = ActionClient(node, fibonacci, "~/fib", callback_group=group)
    executor = EventsExecutor(num_threads=threads)
    executor.add_node(node)
    statuses: list[int] = []

    def know(future: Future) -> None:
        handle = future.result()
        accepted.set()
        handle.get_result_async().add_done_callback(lambda f: statuses.append(f.result().status))
        handle.cancel_goal_async()

    with Spinning(executor):
        assert client.wait_for_server(LONG)
        client.send_goal_async(fibonacci.Goal(order=1)).add_done_callback(know)
        assert accepted.wait(LONG)
        assert asked.wait(LONG)
        comes(lambda: statuses == [5])
    client.destroy()
    server.destroy()


# --- Spinning


@pytest.mark.parametrize("threads", [1, 2])
def test_a_callback_may_spin_its_executor(node: Node, threads: int) -> None:
    order: list[str] = []
    future: Future = Future()
    outer_group, own_group = MutuallyExclusiveCallbackGroup(), MutuallyExclusiveCallbackGroup()

    def outer() -> None:
        first.cancel()
        order.append("outer begins")
        executor.spin_until_future_complete(future, LONG)
        order.append("outer ends")

    def inner() -> None:
        second.cancel()
        order.append("inner")
        future.set_result(1)

    def excluded() -> None:
        third.cancel()
        order.append("excluded")

    first = node.create_timer(0.001, outer, callback_group=outer_group)
    executor = EventsExecutor(num_threads=threads)
    executor.add_node(node)
    with Spinning(executor):
        comes(lambda: bool(order))
        third = node.create_timer(0.001, excluded, callback_group=outer_group)
        time.sleep(0.05)
        second = node.create_timer(0.001, inner, callback_group=own_group)
        comes(lambda: "excluded" in order)
    assert order == ["outer begins", "inner", "outer ends", "excluded"]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_callback_destroys_the_timer_whose_callback_waits_for_it(
    node: Node, threads: int, elsewhere: bool
) -> None:
    """`elsewhere`: another thread, if there is one, has the time to run it."""
    order: list[str] = []
    future: Future = Future()

    def outer() -> None:
        order.append("outer begins")
        outer_timer.cancel()
        inner_timer.reset()
        if elsewhere:
            time.sleep(0.1)
        executor.spin_until_future_complete(future, LONG)
        order.append("outer ends")

    def inner() -> None:
        inner_timer.cancel()
        node.destroy_timer(outer_timer)
        order.append("destroyed")
        executor.spin_once(0)  # schedules what is left
        future.set_result(1)

    inner_timer = node.create_timer(0.001, inner, callback_group=ReentrantCallbackGroup())
    inner_timer.cancel()
    outer_timer = node.create_timer(0.001, outer, callback_group=ReentrantCallbackGroup())
    executor = EventsExecutor(num_threads=threads)
    executor.add_node(node)
    with Spinning(executor):
        comes(lambda: "outer ends" in order)
    assert order == ["outer begins", "destroyed", "outer ends"]


def test_a_callback_destroys_its_subscription_that_another_executor_had_heard() -> None:
    program = """
import time
import rclpy
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from std_msgs.msg import Int64
from takt.executors import EventsExecutor
rclpy.init()
node = rclpy.create_node("destroying", start_parameter_services=False)
publisher = node.create_publisher(Int64, "~/x", 10)
def hear(message):
    global subscription
    node.destroy_subscription(subscription)
    subscription = None
    second.spin_once(0)
    print("heard", flush=True)
subscription = node.create_subscription(
    Int64, "~/x", hear, 10, callback_group=MutuallyExclusiveCallbackGroup()
)
while publisher.get_subscription_count() == 0:
    time.sleep(0.01)
first, second = EventsExecutor(), EventsExecutor()
first.add_node(node)
first.spin_once(0)
first.remove_node(node)
first.shutdown()
second.add_node(node)
publisher.publish(Int64())
while subscription is not None:
    second.spin_once(0.1)
second.shutdown()
rclpy.shutdown()
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        # What reads freed memory finds nothing there that it could take for its own.
        env={**os.environ, "PYTHONMALLOC": "malloc", "MALLOC_PERTURB_": "165"},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "heard\n", "")


class Heard:
    """A subscription of which another executor had heard before these messages came."""

    def __init__(self, node: Node, count: int, hear: Callable[[int], None], group: Any) -> None:
        self._publisher = node.create_publisher(Int64, "~/x", 10)
        node.create_subscription(
            Int64, "~/x", lambda message: hear(message.data), 10, callback_group=group
        )
        comes(lambda: self._publisher.get_subscription_count() == 1)
        first = EventsExecutor()
        first.add_node(node)
        first.spin_once(0)
        self.publish(range(count))
        first.remove_node(node)
        first.shutdown()

    def publish(self, wanted: Iterable[int]) -> None:
        for number in wanted:
            self._publisher.publish(Int64(data=number))


@pytest.mark.timeout(60)
@pytest.mark.parametrize("threads", [1, 2])
def test_messages_heard_before_wait_for_their_busy_group_once(node: Node, threads: int) -> None:
    """And are all run in order when it is free: nothing is looked for meanwhile."""
    other = make_node()
    group = MutuallyExclusiveCallbackGroup()
    heard: list[int] = []
    waiting = Heard(other, 5, heard.append, group)
    free = Future()

    async def occupy() -> None:
        timer.cancel()
        executor.add_node(other)
        await free

    timer = node.create_timer(0.01, occupy, callback_group=group)
    executor = EventsExecutor(num_threads=threads)
    executor.add_node(node)
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        executor.spin_once(0.1)
    assert heard == []
    # One that looks for them, or one for each.
    assert sum(map(len, executor._deferred.values())) <= 5
    free.set_result(None)
    with Spinning(executor):
        comes(lambda: heard == [0, 1, 2, 3, 4])
        waiting.publish((5, 6))
        comes(lambda: heard == [0, 1, 2, 3, 4, 5, 6])
    other.destroy_node()


def test_a_callback_that_raises_leaves_the_messages_heard_before(node: Node) -> None:
    heard: list[int] = []

    def hear(number: int) -> None:
        heard.append(number)
        if number == 0:
            raise KeyError("the first")

    Heard(node, 3, hear, None)
    executor = EventsExecutor()
    executor.add_node(node)
    with pytest.raises(KeyError):
        executor.spin()
    with Spinning(executor):
        comes(lambda: heard == [0, 1, 2])


@pytest.mark.timeout(60)
def test_a_nested_spin_waits_for_what_runs_on_its_own_thread(node: Node) -> None:
    """Another thread that spins at the same time keeps it from nothing."""
    group = ReentrantCallbackGroup()
    order: list[str] = []
    is_held = threading.Event()
    has_begun = threading.Event()
    both = threading.Event()
    ended = threading.Event()

    def hold() -> None:
        holding.cancel()
        is_held.set()
        has_begun.wait(LONG)

    def outer() -> None:
        first.cancel()
        assert is_held.wait(LONG)
        inner.reset()
        executor.spin_once()
        order.append("outer goes on")
        ended.set()

    def work() -> None:
        inner.cancel()
        second.reset()
        has_begun.set()
        both.wait(LONG)
        order.append("inner ends")

    def other() -> None:
        second.cancel()
        executor.spin_once(0.05)
        both.set()

    inner = node.create_timer(0.01, work, callback_group=group)
    second = node.create_timer(0.01, other, callback_group=group)
    inner.cancel()
    second.cancel()
    executor = EventsExecutor(num_threads=2)
    # The other thread is held until the inner one has begun: it has the outer one's thread.
    holding = node.create_timer(0.01, hold, callback_group=group)
    first = node.create_timer(0.01, outer, callback_group=group)
    executor.add_node(node)
    with Spinning(executor):
        assert ended.wait(LONG)
    assert order == ["inner ends", "outer goes on"]


@pytest.mark.timeout(60)
def test_spin_once_does_not_count_an_expiry_of_a_timer_that_was_cancelled(node: Node) -> None:
    """Such expiries wait if the timer's callback took longer than its period."""
    group = ReentrantCallbackGroup()
    order: list[str] = []
    ended = threading.Event()

    def outer() -> None:
        time.sleep(0.1)
        first.cancel()
        inner.reset()
        executor.spin_once()
        order.append("outer goes on")
        ended.set()

    def work() -> None:
        inner.cancel()
        order.append("inner")

    inner = node.create_timer(0.01, work, callback_group=group)
    inner.cancel()
    first = node.create_timer(0.01, outer, callback_group=group)
    executor = EventsExecutor()
    executor.add_node(node)
    with Spinning(executor):
        assert ended.wait(LONG)
    assert order == ["inner", "outer goes on"]


def test_what_a_callback_raises_comes_out_of_the_spinning_that_ran_it(node: Node) -> None:
    caught: list[str] = []
    group = ReentrantCallbackGroup()

    def fail() -> None:
        raise KeyError("of the inner one")

    def outer() -> None:
        timer.cancel()
        failing = node.create_timer(0.001, fail, callback_group=group)
        try:
            executor.spin_once(LONG)
        except KeyError as failure:
            caught.append(failure.args[0])
        node.destroy_timer(failing)

    timer = node.create_timer(0.001, outer, callback_group=group)
    executor = EventsExecutor()
    executor.add_node(node)
    ran: list[int] = []
    with Spinning(executor):
        comes(lambda: bool(caught))
        node.create_timer(0.001, lambda: ran.append(1))
        comes(lambda: bool(ran))
    assert caught == ["of the inner one"]


def test_the_context_may_end_while_a_callback_spins(node: Node) -> None:
    def outer() -> None:
        rclpy.shutdown()
        executor.spin_once(LONG)

    node.create_timer(0.001, outer)
    executor = EventsExecutor()
    executor.add_node(node)
    with pytest.raises(ExternalShutdownException):
        executor.spin()
    executor.shutdown()


def test_spin_once_of_several_threads_does_not_wait_for_the_callbacks_end(node: Node) -> None:
    leave = threading.Event()
    began: list[int] = []

    def long() -> None:
        began.append(1)
        leave.wait(LONG)

    group = ReentrantCallbackGroup()
    timers = [node.create_timer(0.001, long, callback_group=group) for _ in range(2)]
    executor = EventsExecutor(num_threads=2)
    executor.add_node(node)
    executor.spin_once(LONG)
    executor.spin_once(LONG)
    for timer in timers:
        timer.cancel()
    assert len(began) == 2
    leave.set()
    executor.shutdown()


def test_nobody_waits_for_a_helper_when_done_or_after_the_end() -> None:
    helpers = Helpers(1)
    busy, goes_on = threading.Event(), threading.Event()

    def keep_busy(_: Callable[[], bool]) -> None:
        helpers.begin()
        busy.set()
        goes_on.wait(LONG)

    def comes_true_just_now() -> bool:
        # Whoever asked before knows nothing of it yet.
        helpers.nudge()
        return False

    helpers.take_turn(keep_busy, lambda: False)
    assert busy.wait(LONG)
    waiting = threading.Thread(
        target=helpers.take_turn, args=(lambda _: None, comes_true_just_now), daemon=True
    )
    waiting.start()
    waiting.join(LONG)
    assert not waiting.is_alive()
    helpers.end()
    goes_on.set()
    helpers.take_turn(lambda _: None, lambda: False)


def test_a_callback_may_shut_its_executor_down(node: Node) -> None:
    executor = EventsExecutor()
    executor.add_node(node)
    node.create_timer(0.001, executor.shutdown)
    executor.spin()


def test_executors_that_nobody_shuts_down_end_silently() -> None:
    program = """
import rclpy
from takt.executors import EventsExecutor
rclpy.init()
node = rclpy.create_node("left")
first, second = EventsExecutor(), EventsExecutor(num_threads=2)
first.add_node(node)
first.spin_once(0)
second.spin_once(0)
del first
rclpy.shutdown()
for wrong in ({"num_threads": 0}, {"missed_expiries": "some"}):
    try:
        EventsExecutor(**wrong)
    except ValueError as refused:
        print(refused)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "num_threads: 0 is not at least 1",
        'missed expiries: "some" is not all, skip or latest',
    ]


# --- Timers that are late


@pytest.mark.parametrize("missed", ["all", "skip", "latest"])
def test_expiries_that_come_while_one_waits(node: Node, missed: str) -> None:
    """A callback lasts twenty periods of a timer of its group."""
    periods = 20
    period = 0.01
    late: list[int] = []
    counted: list[int] = []

    def tick() -> None:
        counted.append(1)

    def lasts() -> None:
        once.cancel()
        time.sleep(periods * period)
        late.append(len(counted))
        marked.trigger()

    def mark() -> None:
        timer.cancel()
        late.append(len(counted))

    timer = node.create_timer(period, tick)
    once = node.create_timer(0.001, lasts)
    marked = node.create_guard_condition(mark, callback_group=ReentrantCallbackGroup())
    executor = EventsExecutor(missed_expiries=missed)
    executor.add_node(node)
    with Spinning(executor):
        comes(lambda: len(late) == 2)
    made_up = late[1] - late[0]
    if missed == "all":
        assert made_up >= periods - 2
    else:
        assert made_up <= 3


# --- Graph-aware


@pytest.mark.parametrize("make", [GraphAwareExecutor, GraphAwareEdfExecutor])
def test_a_timer_that_nobody_declared_is_a_root_and_comes_last(
    node: Node, make: type[GraphAwareExecutor] | type[GraphAwareEdfExecutor]
) -> None:
    order: list[str] = []

    def only_once(name: str, timer: Timer) -> None:
        """On a slow machine one may be due again before the next one runs."""
        timer.cancel()
        order.append(name)

    def triggered() -> None:
        once.cancel()
        order.append("root")
        publisher.publish(Int64())
        time.sleep(0.05)

    publisher = node.create_publisher(Int64, "~/x", 10)
    node.create_subscription(Int64, "~/x", lambda _: order.append("child"), 10)
    comes(lambda: publisher.get_subscription_count() == 1)
    executor = make()
    executor.add_node(node)
    executor.spin_once(0)
    # Both expire while the root runs.
    once = node.create_timer(0.02, triggered)
    undeclared: Timer = node.create_timer(0.03, lambda: only_once("undeclared", undeclared))
    declared: Timer = node.create_timer(0.04, lambda: only_once("declared", declared))
    if isinstance(executor, GraphAwareExecutor):
        executor.set_priority(once, 5)
        executor.set_priority(declared, 4)
    else:
        executor.set_deadline(once, 0.5)
        executor.set_deadline(declared, 1.0)
        executor.set_deadline(undeclared, 100.0)
    while len(order) < 4:
        executor.spin_once(LONG)
    assert order[:4] == ["root", "child", "declared", "undeclared"]
    executor.shutdown()


@pytest.mark.parametrize("make", [GraphAwareExecutor, GraphAwareEdfExecutor])
def test_what_comes_from_outside_without_an_urgency_comes_last(
    node: Node, make: type[GraphAwareExecutor] | type[GraphAwareEdfExecutor]
) -> None:
    order: list[str] = []
    outside = node.create_publisher(Int64, "~/x", 10)
    heard = [
        node.create_subscription(Int64, "~/x", lambda _: order.append("undeclared"), 10),
        node.create_subscription(Int64, "~/y", lambda _: order.append("declared"), 10),
    ]
    other = node.create_publisher(Int64, "~/y", 10)
    comes(lambda: outside.get_subscription_count() == other.get_subscription_count() == 1)
    executor = make()
    if isinstance(executor, GraphAwareExecutor):
        executor.set_priority(heard[1], -7)
    else:
        executor.set_deadline(heard[1], 3600.0)
    executor.add_node(node)
    executor.spin_once(0)
    outside.publish(Int64())
    other.publish(Int64())
    while len(order) < 2:
        executor.spin_once(LONG)
    assert order == ["declared", "undeclared"]
    executor.shutdown()


@pytest.mark.parametrize("make", [GraphAwareExecutor, GraphAwareEdfExecutor])
def test_graph_aware_executors_have_one_thread(
    node: Node, make: type[GraphAwareExecutor] | type[GraphAwareEdfExecutor]
) -> None:
    with pytest.raises(ValueError, match=rf"{make.__name__} has one thread"):
        make(num_threads=2)
