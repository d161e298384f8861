"""Programs that take their messages themselves: `polls.py MODE SECONDS`.

A sensor publishes /objects every 20 ms, a map /map every 90 ms. A planner has subscriptions that
no executor serves:

- timer: its timer of 50 ms takes what has come on /objects, and publishes if there was something;
- oldest: its timer of 50 ms takes one message of a queue of four, and /objects come every 45 ms;
- single: the same with a queue of one, in which a newer message takes the place of an older one;
- thread: a thread that takes each message of /objects as soon as it has come, and publishes;
- several: the same, which takes a message of /map at most before that, and publishes for /objects.

The sink prints for each message how long ago the message was published that it was made of, by the
programs' clock, in ns; for `several`, that of /map beside it, or - if there was none that is new.
"""

import contextlib
import sys
import threading
import time

import rclpy
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import String

MODE, SECONDS = sys.argv[1], float(sys.argv[2])
QUEUES = {"oldest": 4, "single": 1}
"""Where the planner's timer takes one message at a time, how many may wait."""


def now() -> int:
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


class Source(Node):
    def __init__(self, name: str, topic: str, period: float) -> None:
        super().__init__(name)
        self.publisher = self.create_publisher(String, topic, QoSProfile(depth=50))
        self.create_timer(period, self.publish)

    def publish(self) -> None:
        self.publisher.publish(String(data=str(now())))


class Apart(MutuallyExclusiveCallbackGroup):
    """Its subscriptions are for whoever takes their messages: no executor serves them."""

    def can_execute(self, _: object) -> bool:
        return False


class Planner(Node):
    def __init__(self) -> None:
        super().__init__("planner")
        apart = Apart()
        self.publisher = self.create_publisher(String, "/trajectory", QoSProfile(depth=50))
        self.objects, self.map = (
            self.create_subscription(
                String,
                topic,
                lambda _: None,
                QoSProfile(depth=QUEUES.get(MODE, 50)),
                callback_group=apart,
            )
            for topic in ("/objects", "/map")
        )
        if has_timer:
            self.create_timer(0.05, self.plan)

    @staticmethod
    def take(subscription) -> str | None:
        with subscription.handle:
            taken = subscription.handle.take_message(String, False)
        return None if taken is None else taken[0].data

    def plan(self) -> None:
        used = None
        while (data := self.take(self.objects)) is not None:
            used = data
            if MODE in QUEUES:
                break
        if used is not None:
            self.publisher.publish(String(data=used))

    def work(self) -> None:
        while rclpy.ok():
            used = self.take(self.map) if MODE == "several" else None
            data = self.take(self.objects)
            while data is None and rclpy.ok():
                time.sleep(0.001)
                data = self.take(self.objects)
            if data is not None:
                self.publisher.publish(String(data=f"{data} {used or '-'}"))


class Sink(Node):
    def __init__(self) -> None:
        super().__init__("sink")
        self.create_subscription(String, "/trajectory", self.receive, QoSProfile(depth=50))

    def receive(self, message: String) -> None:
        began = now()
        ages = ["-" if word == "-" else str(began - int(word)) for word in message.data.split()]
        print(*ages if MODE == "several" else ages[:1], flush=True)


rclpy.init()
has_timer = MODE in ("timer", *QUEUES)
planner = Planner()
threads = [] if has_timer else [threading.Thread(target=planner.work)]
executor = SingleThreadedExecutor()
sensor = Source("sensor", "/objects", 0.045 if MODE in QUEUES else 0.02)
for node in (sensor, Source("atlas", "/map", 0.09), Sink(), planner):
    executor.add_node(node)
for thread in threads:
    thread.start()
threading.Timer(SECONDS, rclpy.shutdown).start()
with contextlib.suppress(ExternalShutdownException):
    executor.spin()
for thread in threads:
    thread.join()
