"""Prints the first message on /diagnostics in which the first chain is guaranteed, as JSON. Where
the host takes the processor for long, an alert comes before that.
"""

from __future__ import annotations

import json

import rclpy
from diagnostic_msgs.msg import DiagnosticArray


def main() -> None:
    rclpy.init()
    node = rclpy.create_node("listener")
    found: list[DiagnosticArray] = []

    def listen(message: DiagnosticArray) -> None:
        if message.status and message.status[0].message == "guaranteed":
            found.append(message)

    node.create_subscription(DiagnosticArray, "/diagnostics", listen, 10)
    while not found:
        rclpy.spin_once(node)
    print(
        json.dumps(
            [
                {
                    "name": status.name,
                    "level": status.level[0],
                    "values": {pair.key: pair.value for pair in status.values},
                }
                for status in found[0].status
            ]
        )
    )
    rclpy.shutdown()


main()
