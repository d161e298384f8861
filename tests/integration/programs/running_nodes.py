"""Unmodified rclpy nodes in one process that run until standard input ends, and then write what was
true: `running_nodes.py PREFIX EXECUTOR TRUTH [PERIOD]`, EXECUTOR single or multi. Every PERIOD
seconds (0.2) a timer begins a chain of messages through all nodes, of which each works for some
milliseconds. Prints "ready" when all is made, and "chain" when a message has come to the last node.
Nodes and endpoints that are gone again have left their traces in the process's memory.
"""

import gc
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rclpy
from ending import spin_until_input_ends
from rcl_interfaces.srv import ListParameters
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String

prefix, kind, truth = sys.argv[1:4]
period = float(sys.argv[4]) if len(sys.argv) > 4 else 0.2
COUNT = 5
WORK = [0.004, 0.012, 0.006, 0.018, 0.008]  # seconds, of each node's callback

rclpy.init()
runs: dict[str, list[tuple[int, int]]] = {}


def timed(name: str, callback: Callable[..., Any]) -> Callable[..., Any]:
    log = runs.setdefault(name, [])

    def run(*arguments: Any) -> Any:
        begin = time.time_ns()
        result = callback(*arguments)
        log.append((begin, time.time_ns()))
        return result

    return run


def work(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def relay(publisher: Any, number: int) -> Callable[[String], None]:
    def heard(message: String) -> None:
        work(WORK[number])
        publisher.publish(message)
        if number == COUNT - 1:
            print("chain", flush=True)

    return heard


for repetition in range(3):  # what these leave behind is not to be mistaken for what is there
    gone = [Node(f"node_{i}", namespace=f"/{prefix}/gone") for i in range(2)]
    for other in reversed(gone):
        for topic in range(4):
            other.create_publisher(String, f"/{prefix}/old_{topic}", 3)
            other.create_subscription(String, f"/{prefix}/t{topic}", lambda _: None, 3)
    for other in gone[:: 1 if repetition % 2 else -1]:
        other.destroy_node()

# The full name of each is the beginning of the next one's.
names = [f"/{prefix}" + "/n" * (i + 1) for i in range(COUNT)]
nodes = [Node("n", namespace=name.rpartition("/")[0]) for name in names]
subscriptions: dict[str, str] = {}
publishers: dict[str, str] = {}
services: dict[str, str] = {}
clients: dict[str, str] = {}
order = [(3 * i) % COUNT for i in range(COUNT)]
for i in order:  # not in the order of the nodes
    source, target = f"/{prefix}/t{i}", f"/{prefix}/t{i + 1}"
    publisher = nodes[i].create_publisher(String, target, 7)
    heard = timed(source, relay(publisher, i))
    nodes[i].create_subscription(String, source, heard, 7)
    subscriptions[source] = publishers[target] = names[i]
    # The name of a service may begin with another node's.
    service = f"{names[(i + 1) % COUNT]}/steer_{i}"
    nodes[i].create_service(ListParameters, service, lambda _, response: response)
    services[service] = names[i]
    client = f"{names[(i + 2) % COUNT]}/engine_{i}"
    nodes[i].create_client(ListParameters, client)
    clients[client] = names[i]
last = order[-1]
first = nodes[last].create_publisher(String, f"/{prefix}/t0", 7)
publishers[f"/{prefix}/t0"] = names[last]


def begin() -> None:
    work(0.005)
    first.publish(String(data="go"))


nodes[last].create_timer(period, timed("timer", begin))
executor = {"single": SingleThreadedExecutor, "multi": MultiThreadedExecutor}[kind]()
for node in nodes:
    executor.add_node(node)

# A collection between a callback's own log and its end, of 10 to 60 ms, is in no log.
gc.disable()
print("ready", flush=True)
spin_until_input_ends(executor)
document = {
    "nodes": names,
    "subscriptions": subscriptions,
    "publishers": publishers,
    "services": services,
    "clients": clients,
    "runs": runs,
}
Path(truth).write_text(json.dumps(document))
rclpy.shutdown()
