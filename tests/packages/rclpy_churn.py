"""Makes and destroys nodes, timers, clients and goals in several threads while an executor spins.

    rclpy_churn.py [--minutes N] [--threads N] [--executor CLASS] [--destroy-nodes]

Prints the resident memory each minute. Exit status 1 if anything fails, if the executor stops, or
if at the end the resident memory is more than 2 % above that after a sixth of the time. An answer
that is in its client's queue and that the executor left there is a failure; one that is not there
was lost by the middleware, or by the executor as it took it: these are counted, and more than one
in 10 000 rounds is a failure (one in 42 000 was seen). An hour (--minutes 60) is the test; less
than five minutes tell of errors alone, as memory has not settled. So does --destroy-nodes: rclpy
keeps some 0.1 MB of each node that is destroyed, with any executor and without one, so nodes are
made once otherwise, and come and go with their timers and subscriptions. Goals need test_msgs.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import random
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rclpy
from rclpy.action import ActionClient, ActionServer
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from std_msgs.msg import Int64
from test_msgs.action import Fibonacci
from test_msgs.srv import Empty

import takt.executors
from takt import loopback

CALLS_OF_A_SERVER = 1000
"""After some 5000 clients of one server Fast DDS loses answers, whichever executor runs them: so a
server is restarted before.
"""

LONGEST_WAIT = 20.0
"""Seconds in which an answer comes, however busy the machine."""


class AnswerLostError(Exception):
    """No answer came, and none waits in the client's queue."""


def resident() -> int:
    """Bytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def answered(future: Any, left_over: Callable[[], Any]) -> Any:
    """`left_over` takes what waits in the client's queue."""
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    if not done.wait(LONGEST_WAIT):
        if left_over() in (None, (None, None)):
            raise AnswerLostError
        raise TimeoutError("an answer came, and its client was never served")
    return future.result()


class Churn:
    """What comes and goes beside a node that stays."""

    def __init__(self, executor: Any, destroys: bool) -> None:
        self.executor = executor
        self._destroys = destroys
        self._numbers = itertools.count()
        self._pool = [Node(f"comes_{i}", start_parameter_services=False) for i in range(8)]
        self.stays = rclpy.create_node("stays")
        self.group = ReentrantCallbackGroup()
        self.beats = 0
        self.rounds = 0
        self.lost = 0
        self.stays.create_timer(0.01, self._beat)
        self.publisher = self.stays.create_publisher(Int64, "churned", 10)
        self.calls = 0
        self.asked = 0
        self.service = self._make_service()
        self.server = self._make_server()
        executor.add_node(self.stays)

    def _make_service(self) -> Any:
        return self.stays.create_service(
            Empty, "churned", lambda _, response: response, callback_group=self.group
        )

    def _make_server(self) -> Any:
        return ActionServer(
            self.stays, Fibonacci, "churned", self._execute, callback_group=self.group
        )

    def _beat(self) -> None:
        self.beats += 1
        self.publisher.publish(Int64(data=self.beats))

    def _execute(self, goal: Any) -> Any:
        goal.succeed()
        return Fibonacci.Result()

    def nodes(self) -> None:
        """Each goes as a robot's part that is restarted, or is removed before."""
        number = next(self._numbers)
        if self._destroys:
            # Of two nodes of one name the second one that goes fails in rcl's logging.
            node = Node(f"goes_{number}", start_parameter_services=False)
        else:
            node = self._pool[number % len(self._pool)]
        # A callback group remembers each of its entities for ever, so each round has its own.
        group = ReentrantCallbackGroup()
        made = [
            (
                node.create_timer(0.001, lambda: None, callback_group=group),
                node.create_subscription(
                    Int64, "churned", lambda _: None, 10, callback_group=group
                ),
            )
            for _ in range(3)
        ]
        self.executor.add_node(node)
        time.sleep(random.uniform(0.0, 0.05))
        if random.random() < 0.5:
            self.executor.remove_node(node)
        if self._destroys:
            node.destroy_node()
        else:
            for timer, subscription in made:
                node.destroy_timer(timer)
                node.destroy_subscription(subscription)
        self.executor.remove_node(node)

    def timers(self) -> None:
        group = ReentrantCallbackGroup()
        made = [
            self.stays.create_timer(0.002, lambda: None, callback_group=group) for _ in range(3)
        ]
        time.sleep(random.uniform(0.0, 0.02))
        for timer in made:
            self.stays.destroy_timer(timer)

    def clients(self) -> None:
        self.calls += 1
        if self.calls % CALLS_OF_A_SERVER == 0:
            self.stays.destroy_service(self.service)
            self.service = self._make_service()
        client = self.stays.create_client(Empty, "churned", callback_group=ReentrantCallbackGroup())
        if not client.wait_for_service(LONGEST_WAIT):
            raise TimeoutError("the service was never found")
        try:
            answered(
                client.call_async(Empty.Request()),
                lambda: client.handle.take_response(Empty.Response),
            )
        except AnswerLostError:
            self.lost += 1
        self.stays.destroy_client(client)

    def goals(self) -> None:
        self.asked += 1
        if self.asked % CALLS_OF_A_SERVER == 0:
            self.server.destroy()
            self.server = self._make_server()
        client = ActionClient(
            self.stays, Fibonacci, "churned", callback_group=ReentrantCallbackGroup()
        )
        if not client.wait_for_server(LONGEST_WAIT):
            raise TimeoutError("the action server was never found")
        queues = client._client_handle
        kinds = Fibonacci.Impl
        try:
            handle = answered(
                client.send_goal_async(Fibonacci.Goal(order=1)),
                lambda: queues.take_goal_response(kinds.SendGoalService.Response),
            )
            answered(
                handle.get_result_async(),
                lambda: queues.take_result_response(kinds.GetResultService.Response),
            )
        except AnswerLostError:
            self.lost += 1
        client.destroy()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--threads", type=int, default=2, help="of the executor")
    parser.add_argument("--executor", default="EventsExecutor", metavar="CLASS")
    parser.add_argument("--destroy-nodes", action="store_true")
    arguments = parser.parse_args()
    os.environ.update(loopback.environment())
    rclpy.init()
    executor = getattr(takt.executors, arguments.executor)(num_threads=arguments.threads)
    churn = Churn(executor, arguments.destroy_nodes)
    failures: list[str] = []
    ending = threading.Event()

    def fails_not(work: Callable[[], None]) -> None:
        try:
            with contextlib.suppress(ExternalShutdownException):
                work()
        except Exception:
            failures.append(traceback.format_exc())
            ending.set()

    def again_and_again(work: Callable[[], None]) -> None:
        while not ending.is_set():
            fails_not(work)
            churn.rounds += 1

    spinning = threading.Thread(target=fails_not, args=(executor.spin,))
    spinning.start()
    works = (churn.nodes, churn.timers, churn.clients, churn.goals)
    workers = [
        threading.Thread(target=again_and_again, args=(work,), name=work.__name__) for work in works
    ]
    for worker in workers:
        worker.start()
    began = time.monotonic()
    settled = 0
    beats = 0
    for minute in range(1, max(1, round(arguments.minutes)) + 1):
        ending.wait(began + 60 * min(minute, arguments.minutes) - time.monotonic())
        memory = resident()
        if minute <= max(1.0, arguments.minutes / 6):
            settled = memory
        print(
            f"minute {minute}: {memory / 1e6:.1f} MB, {churn.rounds} rounds, "
            f"{churn.lost} answers lost",
            flush=True,
        )
        if churn.beats == beats and not ending.is_set():
            failures.append("the executor stands still")
        beats = churn.beats
        if ending.is_set() or failures:
            break
    ending.set()
    for worker in workers:
        worker.join(2 * LONGEST_WAIT)
        if worker.is_alive():
            failures.append(f"{worker.name} never came back")
    executor.shutdown()
    spinning.join(LONGEST_WAIT)
    growth = resident() / settled - 1
    print(f"{growth:+.1%} since it had settled")
    if churn.lost > 1 + churn.rounds / 10_000:
        failures.append(f"{churn.lost} answers were lost")
    print(*failures, sep="\n")
    if failures or spinning.is_alive():
        return 1
    is_judged = arguments.minutes >= 5 and not arguments.destroy_nodes
    return 1 if is_judged and growth > 0.02 else 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)
