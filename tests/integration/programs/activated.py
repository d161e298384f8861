"""A random program of stock rclpy: activated.py KIND SEED SECONDS [LOAD].

KIND says what activates its callbacks, beside timers and messages: `threads` of the program that
publish, a loop around a `wait_set`, `actions`, `components` that come and go on an executor, or a
`lifecycle` node that is switched on and off. LOAD is the share of a processor that the callbacks
need, drawn from 0.1 to 0.5 unless it is given; above 1 the program is overloaded. Runs under
SCHED_FIFO where it may, so that other programs hardly disturb it.
"""

from __future__ import annotations

import contextlib
import os
import random
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import rclpy
from rclpy.executors import (
    Executor,
    ExternalShutdownException,
    MultiThreadedExecutor,
    SingleThreadedExecutor,
)
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from std_msgs.msg import Header

PRIORITY = 10
RCLError = rclpy_implementation.RCLError
dice = random.Random(int(sys.argv[2]))
SECONDS = float(sys.argv[3])
LOAD = float(sys.argv[4]) if len(sys.argv) > 4 else dice.uniform(0.1, 0.5)
SOURCES = dice.randint(2, 4)
"""Topics, or what else activates callbacks. Each has the same share of the load."""
PERIODS = [dice.uniform(0.02, 0.1) for _ in range(SOURCES)]
TOPICS = [f"/from_{number}" for number in range(SOURCES)]


def compute(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def work(number: int) -> Callable[..., None]:
    """A callback that source `number` activates."""
    cost = LOAD / (SOURCES + 1) * PERIODS[number]
    own = random.Random(number)
    return lambda *_: compute(cost * own.uniform(0.5, 1))


def spin(executor: Executor) -> None:
    try:
        executor.spin()
    except (ExternalShutdownException, RCLError):
        # What a callback publishes while the context is shut down is refused.
        if executor.context.ok():
            raise


def run(*nodes: Node, beside: Callable[[], object] | None = None) -> None:
    """Spins the nodes for SECONDS, and calls `beside` in a thread until then."""
    several = dice.random() < 0.3
    executor = MultiThreadedExecutor(2) if several else SingleThreadedExecutor()
    for node in nodes:
        executor.add_node(node)
    spinning = threading.Thread(target=spin, args=[executor])
    spinning.start()
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and beside is not None:
        beside()
    time.sleep(max(0, end - time.monotonic()))
    rclpy.shutdown()
    spinning.join()


def listener(name: str = "listener") -> Node:
    """A node that takes the messages of all sources, and has a timer."""
    node = rclpy.create_node(name)
    for number, topic in enumerate(TOPICS):
        node.create_subscription(Header, topic, work(number), 10)
    node.create_timer(PERIODS[0], work(0))
    return node


def talk(node: Node) -> None:
    """Timers send to all sources."""
    for topic, period in zip(TOPICS, PERIODS, strict=True):
        publisher = node.create_publisher(Header, topic, 10)
        node.create_timer(period, lambda publisher=publisher: publisher.publish(Header()))


def threads() -> None:
    node = listener()
    ended = threading.Event()

    def send(number: int) -> None:
        publisher = node.create_publisher(Header, TOPICS[number], 10)
        own = random.Random(number)
        while not ended.wait(PERIODS[number] * own.uniform(0.8, 1.2)):
            for _ in range(own.randint(1, 2)):
                publisher.publish(Header())

    working = [threading.Thread(target=send, args=[number]) for number in range(SOURCES)]
    for thread in working:
        thread.start()
    end = time.monotonic() + SECONDS

    def until_the_end() -> None:
        time.sleep(0.01)
        if time.monotonic() >= end - 0.1:
            ended.set()

    run(node, beside=until_the_end)
    for thread in working:
        thread.join()


def wait_set() -> None:
    """Takes the messages of the first topic in a loop of its own, which passes them on."""
    node = rclpy.create_node("loop")
    taken = node.create_subscription(Header, TOPICS[0], lambda _: None, 10)
    publisher = node.create_publisher(Header, "/passed_on", 10)
    waits = rclpy_implementation.WaitSet(1, 0, 0, 0, 0, 0, node.context.handle)
    process = work(0)

    def once() -> None:
        waits.clear_entities()
        waits.add_subscription(taken.handle)
        waits.wait(20_000_000)
        while taken.handle.take_message(Header, False) is not None:
            process()
            publisher.publish(Header())

    others = rclpy.create_node("others")
    talk(others)
    for number, topic in enumerate(TOPICS[1:], 1):
        others.create_subscription(Header, topic, work(number), 10)
    others.create_subscription(Header, "/passed_on", work(0), 10)
    run(others, beside=once)


def actions() -> None:
    from rclpy.action import ActionClient, ActionServer
    from test_msgs.action import Fibonacci

    server, client = rclpy.create_node("arm"), rclpy.create_node("task")
    process = work(0)

    def execute(handle: Any) -> Any:
        for _ in range(dice.randint(1, 3)):
            process()
            handle.publish_feedback(Fibonacci.Feedback())
        handle.succeed()
        return Fibonacci.Result()

    def accepted(answer: Any) -> None:
        answer.result().get_result_async().add_done_callback(work(1))

    def send() -> None:
        goal = asked.send_goal_async(Fibonacci.Goal(), feedback_callback=work(1))
        goal.add_done_callback(accepted)

    offered = ActionServer(server, Fibonacci, "/move", execute)
    asked = ActionClient(client, Fibonacci, "/move")
    client.create_timer(4 * PERIODS[0], send)
    talk(client)
    run(server, client, listener())
    offered.destroy()
    asked.destroy()


def components() -> None:
    container = rclpy.create_node("container")
    talk(container)
    executor = SingleThreadedExecutor()
    executor.add_node(container)
    loaded: list[Node] = []

    def change() -> None:
        if loaded and dice.random() < 0.5:
            node = loaded.pop(dice.randrange(len(loaded)))
            executor.remove_node(node)
            node.destroy_node()
        elif len(loaded) < 2:
            loaded.append(listener(f"component_{dice.randrange(10**6)}"))
            executor.add_node(loaded[-1])

    change()
    container.create_timer(SECONDS / 6, change)
    threading.Timer(SECONDS, rclpy.shutdown).start()
    spin(executor)


def lifecycle() -> None:
    from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn

    class Driver(LifecycleNode):  # type: ignore[misc]
        def on_configure(self, _: Any) -> TransitionCallbackReturn:
            self.sent = [self.create_lifecycle_publisher(Header, topic, 10) for topic in TOPICS]
            self.ticks = [
                self.create_timer(period, lambda publisher=publisher: publisher.publish(Header()))
                for publisher, period in zip(self.sent, PERIODS, strict=True)
            ]
            return TransitionCallbackReturn.SUCCESS

        def on_cleanup(self, _: Any) -> TransitionCallbackReturn:
            for timer in self.ticks:
                self.destroy_timer(timer)
            for publisher in self.sent:
                self.destroy_publisher(publisher)
            return TransitionCallbackReturn.SUCCESS

    driver = Driver("driver")
    steps = [driver.trigger_configure, driver.trigger_activate]
    for step in steps:
        step()
    more = [driver.trigger_deactivate, driver.trigger_activate, driver.trigger_deactivate]
    more += [driver.trigger_cleanup, *steps]
    switch = rclpy.create_node("switch")
    switch.create_timer(SECONDS / (len(more) + 1), lambda: more.pop(0)() if more else None)
    run(driver, switch, listener())


with contextlib.suppress(PermissionError):
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
rclpy.init()
kinds = (threads, wait_set, actions, components, lifecycle)
{kind.__name__: kind for kind in kinds}[sys.argv[1]]()
