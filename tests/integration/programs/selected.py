"""An unmodified rclpy program of two nodes: selected.py COUNT [FORK]. /source sends on /kept and
/dropped; /sink hears both and answers each message of /dropped on /answered. Ends when COUNT
messages of each topic have arrived, and prints how often each thing happened. With FORK, a child
made by fork, with a context of its own, does the same meanwhile on topics of its own.
"""

import json
import os
import sys

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String

count = int(sys.argv[1])


def run(suffix: str) -> dict[str, int]:
    done = {"ticks": 0, "kept": 0, "dropped": 0, "answered": 0}
    rclpy.init()
    source = Node(f"source{suffix}", enable_rosout=False)
    sink = Node(f"sink{suffix}", enable_rosout=False)
    senders = {
        topic: source.create_publisher(String, f"{topic}{suffix}", count)
        for topic in ("kept", "dropped")
    }
    answers = sink.create_publisher(String, f"answered{suffix}", count)

    def tick() -> None:
        there = all(sender.get_subscription_count() for sender in senders.values())
        if there and done["ticks"] < count:
            done["ticks"] += 1
            for sender in senders.values():
                sender.publish(String(data=str(done["ticks"])))

    def hear_kept(_: String) -> None:
        done["kept"] += 1

    def hear_dropped(message: String) -> None:
        done["dropped"] += 1
        answers.publish(message)

    def hear_answer(_: String) -> None:
        done["answered"] += 1

    timer = source.create_timer(0.01, tick)
    made = [
        sink.create_subscription(String, f"kept{suffix}", hear_kept, count),
        sink.create_subscription(String, f"dropped{suffix}", hear_dropped, count),
        source.create_subscription(String, f"answered{suffix}", hear_answer, count),
    ]
    executor = SingleThreadedExecutor()
    executor.add_node(source)
    executor.add_node(sink)
    while min(done["kept"], done["dropped"], done["answered"]) < count:
        executor.spin_once()
    del made, timer
    rclpy.shutdown()
    return done


child = os.fork() if len(sys.argv) > 2 else -1
if child == 0:
    run("_of_child")
    os._exit(0)
print(json.dumps(run("")))
if child > 0:
    os.waitpid(child, 0)
