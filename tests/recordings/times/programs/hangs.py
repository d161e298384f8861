"""hangs.py SECONDS: /worker's /work waits within its callback for an answer that its own executor
would have to deliver; /client's calls of /work have none.
"""

from __future__ import annotations

import os
import sys
import threading

import rclpy
from rcl_interfaces.srv import ListParameters
from rclpy.node import Node
from saying import executor_of


def main() -> None:
    rclpy.init()
    worker, client, helper = Node("worker"), Node("client"), Node("helper")
    inner = worker.create_client(ListParameters, "/help")
    outer = client.create_client(ListParameters, "/work")

    def work(
        _: ListParameters.Request, response: ListParameters.Response
    ) -> ListParameters.Response:
        inner.call(ListParameters.Request())
        return response

    worker.create_service(ListParameters, "/work", work)
    helper.create_service(ListParameters, "/help", lambda _, response: response)
    helper.create_timer(0.1, lambda: None)
    executors = [executor_of(worker), executor_of(client, helper)]
    outer.wait_for_service()
    outer.call_async(ListParameters.Request())
    for executor in executors:
        threading.Thread(target=executor.spin, daemon=True).start()
    threading.Event().wait(float(sys.argv[1]))
    os._exit(0)


main()
