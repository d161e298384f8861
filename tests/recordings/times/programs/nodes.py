"""nodes.py MODE SECONDS: what has ended and comes back, from /driver over /relay to /motor.

respawned: the relay's process is killed after a third of the time and started again. anew: the
relay is destroyed and made anew in its process, three times. alike: two relays live at the same
time. lifecycle: the relay is a timer of a node that is activated three times, and passes on what
came since.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode, State, TransitionCallbackReturn
from rclpy.node import Node
from saying import burn, executor_of, relay, sender, sink, spin, stamped
from std_msgs.msg import String


class Activated(LifecycleNode):
    def on_configure(self, state: State) -> TransitionCallbackReturn:
        self.publisher = self.create_publisher(String, "/t", 100)
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: State) -> TransitionCallbackReturn:
        self.timer = self.create_timer(0.02, self.tick)
        return super().on_activate(state)

    def on_deactivate(self, state: State) -> TransitionCallbackReturn:
        self.destroy_timer(self.timer)
        return super().on_deactivate(state)

    def tick(self) -> None:
        begin = time.monotonic_ns()
        burn(0.001)
        self.publisher.publish(stamped(begin))


def driver() -> Node:
    node = Node("driver")
    node.create_timer(0.05, sender(node, "/s"))
    return node


def motor() -> Node:
    node = Node("motor")
    sink(node, "/t", 0.001)
    return node


def make_relay() -> Node:
    node = Node("relay")
    relay(node, "/s", "/t", 0.002)
    return node


def processes(mode: str, seconds: float) -> None:
    def start(role: str, seconds: float) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, __file__, role, str(seconds)])

    started = [start("driver", seconds), start("motor", seconds)]
    if mode == "alike":
        started += [start("relay", seconds), start("relay", seconds)]
    else:
        first = start("relay", seconds)
        time.sleep(seconds / 2)
        first.kill()
        started.append(start("relay", seconds / 2))
    for process in started:
        process.wait()


def again(executor: SingleThreadedExecutor, seconds: float) -> None:
    """Destroys the relay and makes it anew, from another thread as a container does."""
    for _ in range(4):
        node = make_relay()
        executor.add_node(node)
        time.sleep(seconds / 4)
        executor.remove_node(node)
        node.destroy_node()


def activate(node: LifecycleNode, seconds: float) -> None:
    node.trigger_configure()
    for _ in range(3):
        node.trigger_activate()
        time.sleep(seconds / 4)
        node.trigger_deactivate()
        time.sleep(seconds / 20)


def main() -> None:
    mode, seconds = sys.argv[1], float(sys.argv[2])
    if mode in ("respawned", "alike"):
        processes(mode, seconds)
        return
    rclpy.init()
    roles = {"driver": driver, "motor": motor, "relay": make_relay}
    if mode in roles:
        executor = executor_of(roles[mode]())
    elif mode == "anew":
        executor = executor_of(driver(), motor())
        threading.Thread(target=again, args=(executor, seconds), daemon=True).start()
    else:
        node = Activated("relay")
        executor = executor_of(node, motor())
        threading.Thread(target=activate, args=(node, seconds), daemon=True).start()
    spin(executor, seconds)


main()
