"""How programs end with their standard input: after a callback. If another thread shuts the context
down, callbacks that publish fail, and rclpy's executor with several threads may wait for ever.
"""

import sys
from threading import Thread

from rclpy.executors import Executor
from rclpy.task import Future


def spin_until_input_ends(executor: Executor) -> None:
    ended: Future = Future()

    def wait_for_end() -> None:
        sys.stdin.read()
        ended.set_result(None)

    Thread(target=wait_for_end).start()
    executor.spin_until_future_complete(ended)
    executor.shutdown()
