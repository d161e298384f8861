"""Small programs of rclpy whose messages carry what led to them: `rclpy_links.py PROGRAM SECONDS`.

For each message that /sink handled a line is printed for each way that led to it: the topics of the
way, when its source was about to publish, and when the callback of /sink began (ns,
CLOCK_MONOTONIC). Sources publish /x every 20 ms, some /y every 25 ms; /middle publishes /z.

- transforms: all nodes broadcast /tf and store it; a timer of /middle uses the newest of /x.
- polls: a timer of /middle takes the messages of /x itself.
- thread: a thread of /middle takes each message of /x itself.
- stores: a timer of /middle takes the messages of /x itself, and another one sends the newest.
- stores_in_thread: the same with a thread that takes them.
- keeps: a timer of /middle takes what is new of /x itself, and sends the newest that it ever had.
- started: each message of /x resets a timer of /middle, which sends the message and cancels itself.
- worker: /middle hands messages to a thread by a queue.
- pool: /middle hands messages to a pool of one thread, whose futures have a done callback; now and
  then it waits for the future before it adds that.
- passes_and_keeps: /middle passes on each message of /x, and a timer sends the newest once more.
- lookup: /middle stores /y, and looks up the newest one for each message of /x.
- lifecycle: /middle has a life cycle, and is activated three times.
- simulated: simulated time at twice the speed; a timer of /middle uses the newest of /x.
- respawned: the process of /middle is killed and started again.
- namesakes: two processes have a node /middle; one is silent for a while when the other begins.
- anew: /middle is destroyed and made anew in its process.
- service: /middle asks /helper for each message, and publishes when the answer has come.
- clients: /middle asks /slow for each message of /x and /quick for each of /y, and publishes when
  the answer has come; a timer keeps it busy, so that answers wait together.
- coroutine: a coroutine of /middle asks /slow twice for each message, and another one asks /quick
  for each of /y, and publishes /w; busy as above.
- executors: /middle has two callbacks in groups of their own; it, the sources and the sink are on
  three executors of one process.
- early: /middle publishes first and computes afterwards.
- queue: /middle publishes two messages for each, and /filter passes on every other one.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial

import rclpy
from builtin_interfaces.msg import Time
from rcl_interfaces.srv import GetParameters
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.client import Client
from rclpy.executors import (
    Executor,
    ExternalShutdownException,
    SingleThreadedExecutor,
)
from rclpy.lifecycle import LifecycleNode, State, TransitionCallbackReturn
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.task import Future
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String

PROGRAM, SECONDS = sys.argv[1], float(sys.argv[2])
Ways = dict[str, int]
"""When the source was about to publish, by the topics of the way so far."""


def now() -> int:
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def burn(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def ways_of(message: String) -> Ways:
    found: Ways = json.loads(message.data)
    return found


def along(topic: str, *histories: Ways) -> String:
    """A message on a topic that these went into."""
    return String(
        data=json.dumps({f"{way}>{topic}": at for each in histories for way, at in each.items()})
    )


def source(topic: str = "/x", period: float = 0.02) -> Node:
    node = Node(f"source_{topic[1:]}")
    publisher = node.create_publisher(String, topic, 100)
    node.create_timer(period, lambda: publisher.publish(String(data=json.dumps({topic: now()}))))
    return node


def sink(*topics: str) -> Node:
    node = Node("sink")

    def handle(message: String) -> None:
        began = now()
        for way, at in ways_of(message).items():
            print(way, at, began, flush=True)

    for topic in topics or ("/z",):
        node.create_subscription(String, topic, handle, 100)
    return node


def relay(node: Node, work: float = 0.001) -> Node:
    """Sends each message on after some work."""
    publisher = node.create_publisher(String, "/z", 100)

    def handle(message: String) -> None:
        burn(work)
        publisher.publish(along("/z", ways_of(message)))

    node.create_subscription(String, "/x", handle, 100)
    return node


def newest(node: Node, period: float = 0.05, passes_on: bool = False) -> Node:
    """A timer uses the newest message of /x."""
    publisher = node.create_publisher(String, "/z", 100)
    last: list[Ways] = [{}]

    def store(message: String) -> None:
        last[0] = ways_of(message)
        if passes_on:
            others.publish(along("/z", last[0]))

    def tick() -> None:
        if last[0]:
            publisher.publish(along("/z", last[0]))

    if passes_on:
        others = node.create_publisher(String, "/z", 100)
    node.create_subscription(String, "/x", store, 100)
    node.create_timer(period, tick)
    return node


def with_transforms(node: Node) -> Node:
    publisher = node.create_publisher(String, "/tf", 100)
    buffer: list[str] = []
    node.create_subscription(String, "/tf", lambda message: buffer.append(message.data), 100)
    node.create_timer(0.1, lambda: publisher.publish(String(data=node.get_name())))
    return node


class Apart(MutuallyExclusiveCallbackGroup):
    """Its subscriptions are for whoever takes their messages: no executor serves them."""

    def can_execute(self, _: object) -> bool:
        return False


def taking(node: Node) -> tuple[Node, Callable[[], String | None]]:
    subscription = node.create_subscription(
        String, "/x", lambda _: None, 100, callback_group=Apart()
    )

    def take() -> String | None:
        with subscription.handle:
            taken = subscription.handle.take_message(String, False)
        return None if taken is None else taken[0]

    return node, take


def in_background(work: Callable[[], None]) -> None:
    threading.Thread(target=work, daemon=True).start()


def polls() -> Node:
    node, take = taking(Node("middle"))
    publisher = node.create_publisher(String, "/z", 100)

    def tick() -> None:
        message = None
        while (one := take()) is not None:
            message = one
        if message is not None:
            publisher.publish(along("/z", ways_of(message)))

    node.create_timer(0.02, tick)
    return node


def thread() -> Node:
    node, take = taking(Node("middle"))
    publisher = node.create_publisher(String, "/z", 100)

    def work() -> None:
        while rclpy.ok():
            message = take()
            if message is None:
                time.sleep(0.001)
            else:
                publisher.publish(along("/z", ways_of(message)))

    in_background(work)
    return node


def stores() -> Node:
    node, take = taking(Node("middle"))
    publisher = node.create_publisher(String, "/z", 100)
    last: list[Ways] = [{}]

    def read() -> None:
        while (message := take()) is not None:
            last[0] = ways_of(message)

    def work() -> None:
        while rclpy.ok():
            read()
            time.sleep(0.002)

    if PROGRAM == "stores":
        node.create_timer(0.013, read)
    else:
        in_background(work)
    node.create_timer(0.03, lambda: last[0] and publisher.publish(along("/z", last[0])))
    return node


def keeps() -> Node:
    node, take = taking(Node("middle"))
    publisher = node.create_publisher(String, "/z", 100)
    last: list[Ways] = [{}]

    def tick() -> None:
        while (message := take()) is not None:
            last[0] = ways_of(message)
        if last[0]:
            publisher.publish(along("/z", last[0]))

    node.create_timer(0.015, tick)
    return node


def started() -> Node:
    node = Node("middle")
    publisher = node.create_publisher(String, "/z", 100)
    last: list[Ways] = [{}]

    def fire() -> None:
        timer.cancel()
        publisher.publish(along("/z", last[0]))

    timer = node.create_timer(0.012, fire, autostart=False)

    def handle(message: String) -> None:
        last[0] = ways_of(message)
        timer.reset()

    node.create_subscription(String, "/x", handle, 100)
    return node


def worker() -> Node:
    node = Node("middle")
    publisher = node.create_publisher(String, "/z", 100)
    handed: queue.Queue[String] = queue.Queue()

    def work() -> None:
        while True:
            message = handed.get()
            burn(0.002)
            publisher.publish(along("/z", ways_of(message)))

    node.create_subscription(String, "/x", handed.put, 100)
    in_background(work)
    return node


def pool() -> Node:
    node = Node("middle")
    publisher = node.create_publisher(String, "/z", 100)
    workers = ThreadPoolExecutor(1)
    count = [0]

    def work(message: String) -> String:
        burn(0.002)
        return message

    def handle(message: String) -> None:
        future = workers.submit(work, message)
        count[0] += 1
        if count[0] % 40 == 0:
            wait([future])
        future.add_done_callback(
            lambda done: publisher.publish(along("/z", ways_of(done.result())))
        )

    node.create_subscription(String, "/x", handle, 100)
    return node


def lookup() -> Node:
    node = Node("middle")
    publisher = node.create_publisher(String, "/z", 100)
    last: list[Ways] = [{}]

    def store(message: String) -> None:
        last[0] = ways_of(message)

    node.create_subscription(String, "/y", store, 100)
    node.create_subscription(
        String, "/x", lambda message: publisher.publish(along("/z", ways_of(message), last[0])), 100
    )
    return node


class Activated(LifecycleNode):
    def on_configure(self, state: State) -> TransitionCallbackReturn:
        self.output = self.create_publisher(String, "/z", 100)
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: State) -> TransitionCallbackReturn:
        self.input = self.create_subscription(String, "/x", self.pass_on, 100)
        return super().on_activate(state)

    def on_deactivate(self, state: State) -> TransitionCallbackReturn:
        self.destroy_subscription(self.input)
        return super().on_deactivate(state)

    def pass_on(self, message: String) -> None:
        burn(0.001)
        self.output.publish(along("/z", ways_of(message)))


def lifecycle() -> Node:
    node = Activated("middle")

    def change() -> None:
        node.trigger_configure()
        for _ in range(3):
            node.trigger_activate()
            time.sleep(SECONDS / 3 - 0.4)
            node.trigger_deactivate()
            time.sleep(0.2)

    in_background(change)
    return node


def clock() -> Node:
    """Simulated time at twice the speed."""
    node = Node("clock")
    publisher = node.create_publisher(Clock, "/clock", 10)
    begin = now()

    def tick() -> None:
        seconds, rest = divmod(2 * (now() - begin), 10**9)
        publisher.publish(Clock(clock=Time(sec=seconds, nanosec=rest)))

    node.create_timer(0.005, tick)
    return node


def ask(client: Client, ways: Ways) -> Future:
    return client.call_async(GetParameters.Request(names=[json.dumps(ways)]))


def answered(future: Future, service: str) -> Ways:
    text = future.result().values[0].string_value
    return {f"{way}>{service}>{service}": at for way, at in json.loads(text).items()}


def passes_on(node: Node, topic: str, service: str) -> None:
    """Asks a service for each message of a topic, and publishes when the answer has come."""
    publisher = node.create_publisher(String, "/z", 100)
    client = node.create_client(GetParameters, service)

    def handle(message: String) -> None:
        ask(client, ways_of(message)).add_done_callback(
            lambda future: publisher.publish(along("/z", answered(future, service)))
        )

    node.create_subscription(String, topic, handle, 100)


def service() -> Node:
    node = Node("middle")
    passes_on(node, "/x", "/ask")
    return node


def clients() -> Node:
    node = Node("middle")
    passes_on(node, "/x", "/slow")
    passes_on(node, "/y", "/quick")
    node.create_timer(0.011, partial(burn, 0.006))
    return node


def coroutine() -> Node:
    node = Node("middle")
    group = ReentrantCallbackGroup()

    def listen(topic: str, service: str, output: str, times: int) -> None:
        publisher = node.create_publisher(String, output, 100)
        client = node.create_client(GetParameters, service, callback_group=group)

        async def handle(message: String) -> None:
            ways = ways_of(message)
            for _ in range(times):
                future = ask(client, ways)
                await future
                ways = answered(future, service)
            publisher.publish(along(output, ways))

        node.create_subscription(String, topic, handle, 100, callback_group=group)

    listen("/x", "/slow", "/z", 2)
    listen("/y", "/quick", "/w", 1)
    node.create_timer(0.011, partial(burn, 0.006))
    return node


def helper(name: str = "helper", service: str = "/ask", work: float = 0.001) -> Node:
    from rcl_interfaces.msg import ParameterValue

    node = Node(name)

    def answer(request: GetParameters.Request, response: GetParameters.Response) -> object:
        burn(work)
        response.values = [ParameterValue(string_value=request.names[0])]
        return response

    node.create_service(GetParameters, service, answer)
    return node


def two_groups() -> Node:
    node = Node("middle")
    publishers = {topic: node.create_publisher(String, "/z", 100) for topic in ("/x", "/y")}

    def listen(topic: str) -> None:
        def handle(message: String) -> None:
            burn(0.001)
            publishers[topic].publish(along("/z", ways_of(message)))

        node.create_subscription(
            String, topic, handle, 100, callback_group=MutuallyExclusiveCallbackGroup()
        )

    for topic in ("/x", "/y"):
        listen(topic)
    return node


def early() -> Node:
    node = Node("middle")
    publisher = node.create_publisher(String, "/z", 100)

    def handle(message: String) -> None:
        publisher.publish(along("/z", ways_of(message)))
        burn(0.008)

    node.create_subscription(String, "/x", handle, 100)
    return node


def twice() -> Node:
    node = Node("middle")
    publisher = node.create_publisher(String, "/w", 100)

    def handle(message: String) -> None:
        for _ in range(2):
            publisher.publish(along("/w", ways_of(message)))

    node.create_subscription(String, "/x", handle, 100)
    return node


def every_other() -> Node:
    node = Node("filter")
    publisher = node.create_publisher(String, "/z", 100)
    count = [0]

    def handle(message: String) -> None:
        count[0] += 1
        if count[0] % 2:
            publisher.publish(along("/z", ways_of(message)))

    node.create_subscription(String, "/w", handle, 100)
    return node


def spin(executor: Executor, *nodes: Node) -> None:
    for node in nodes:
        executor.add_node(node)
    with contextlib.suppress(ExternalShutdownException):
        executor.spin()


def stop_later(seconds: float = SECONDS) -> None:
    threading.Timer(seconds, rclpy.shutdown).start()


def in_a_process(role: str, seconds: float) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, __file__, role, str(seconds)])


def pausing() -> None:
    """Does nothing from a third of the time until two thirds of it."""
    executor = SingleThreadedExecutor()
    executor.add_node(relay(Node("middle")))
    begin = time.monotonic()
    with contextlib.suppress(ExternalShutdownException):
        while True:
            if SECONDS / 3 < time.monotonic() - begin < 2 * SECONDS / 3:
                time.sleep(SECONDS / 3)
            executor.spin_once()


def namesakes() -> None:
    processes = [in_a_process("ends", SECONDS), in_a_process("pausing", SECONDS)]
    time.sleep(SECONDS / 2)
    processes.append(in_a_process("relay", SECONDS / 2))
    for process in processes:
        process.wait()


def respawned() -> None:
    others = in_a_process("ends", SECONDS)
    first = in_a_process("relay", SECONDS)
    time.sleep(SECONDS / 2)
    first.kill()
    first.wait()
    for process in (in_a_process("relay", SECONDS / 2), others):
        process.wait()


def anew() -> None:
    executor = SingleThreadedExecutor()

    def change() -> None:
        for _ in range(3):
            node = relay(Node("middle"))
            executor.add_node(node)
            time.sleep(SECONDS / 3 - 0.3)
            executor.remove_node(node)
            node.destroy_node()
            time.sleep(0.1)

    in_background(change)
    spin(executor, source(), sink())


MIDDLES: dict[str, Callable[[], Node]] = {
    "polls": polls,
    "thread": thread,
    "stores": stores,
    "stores_in_thread": stores,
    "keeps": keeps,
    "started": started,
    "worker": worker,
    "pool": pool,
    "passes_and_keeps": lambda: newest(Node("middle"), passes_on=True),
    "lifecycle": lifecycle,
    "early": early,
    "relay": lambda: relay(Node("middle")),
}


def run() -> None:
    sys.setswitchinterval(0.0005)  # so that clocks are read when they should be
    if PROGRAM in ("respawned", "namesakes"):
        {"respawned": respawned, "namesakes": namesakes}[PROGRAM]()
        return
    rclpy.init()
    stop_later()
    if PROGRAM == "ends":
        spin(SingleThreadedExecutor(), source(), sink())
    elif PROGRAM == "relay":
        spin(SingleThreadedExecutor(), relay(Node("middle")))
    elif PROGRAM == "pausing":
        pausing()
    elif PROGRAM == "anew":
        anew()
    elif PROGRAM == "transforms":
        nodes = (source(), newest(Node("middle")), sink())
        spin(SingleThreadedExecutor(), *map(with_transforms, nodes))
    elif PROGRAM == "lookup":
        spin(SingleThreadedExecutor(), source(), source("/y", 0.025), lookup(), sink())
    elif PROGRAM == "simulated":
        simulated = [Parameter("use_sim_time", value=True)]
        middle = newest(Node("middle", parameter_overrides=simulated))
        spin(SingleThreadedExecutor(), clock(), source(), middle, sink())
    elif PROGRAM == "service":
        spin(SingleThreadedExecutor(), source(), helper(), service(), sink())
    elif PROGRAM in ("clients", "coroutine"):
        middle = clients() if PROGRAM == "clients" else coroutine()
        for nodes in ([helper("slow", "/slow", 0.004), helper("quick", "/quick")], [middle]):
            in_background(partial(spin, SingleThreadedExecutor(), *nodes))
        spin(SingleThreadedExecutor(), source(), source("/y", 0.025), sink("/z", "/w"))
    elif PROGRAM == "queue":
        spin(SingleThreadedExecutor(), source(), twice(), every_other(), sink())
    elif PROGRAM == "executors":
        for nodes in ([two_groups()], [source(), source("/y", 0.025)]):
            in_background(partial(spin, SingleThreadedExecutor(), *nodes))
        spin(SingleThreadedExecutor(), sink())
    else:
        spin(SingleThreadedExecutor(), source(), MIDDLES[PROGRAM](), sink())


run()
sys.stdout.flush()
os._exit(0)  # daemons of some programs still publish
