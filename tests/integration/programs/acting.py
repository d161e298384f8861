"""An rclpy action server and its client in one executor: the goals block the executor for as many
milliseconds as told, one goal after another. Prints how many ended.
"""

import json
import sys
import time
from typing import Any

import rclpy
from rclpy.action import ActionClient, ActionServer
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from test_msgs.action import Fibonacci

goals, milliseconds = int(sys.argv[1]), int(sys.argv[2])
ended = 0

rclpy.init()
done = rclpy.Future()
server, client = Node("arm"), Node("task")


def execute(handle: Any) -> Any:
    until = time.thread_time() + milliseconds / 1000
    while time.thread_time() < until:
        pass
    handle.succeed()
    return Fibonacci.Result()


def accepted(answer: rclpy.Future) -> None:
    answer.result().get_result_async().add_done_callback(finished)


def finished(_: rclpy.Future) -> None:
    global ended
    ended += 1
    if ended == goals:
        done.set_result(None)
        return
    send()


def send() -> None:
    actions.send_goal_async(Fibonacci.Goal()).add_done_callback(accepted)


actions = ActionClient(client, Fibonacci, "/move")
offered = ActionServer(server, Fibonacci, "/move", execute)
ticks = server.create_timer(0.05, lambda: None)
executor = SingleThreadedExecutor()
for node in (server, client):
    executor.add_node(node)
actions.wait_for_server()
time.sleep(1.5)  # what happens during start-up is not modelled
send()
executor.spin_until_future_complete(done)
rclpy.shutdown()
print(json.dumps({"ended": ended}))
