"""Which properties of the timing model the installed executors have (takt doctor --executors).

The bounds of default executors rest on them (docs/analysis.md, "The order of what is ready
together"). Programs of their own run the executors and log what they do.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from takt.doctor import rclcpp_executors, rclpy_executors
from takt.doctor.check import Check


def examine() -> list[Check]:
    """Runs rclpy's and rclcpp's executors, beside each other. Takes at most a minute."""
    libraries = (rclpy_executors.examine, rclcpp_executors.examine)
    with ThreadPoolExecutor(len(libraries)) as threads:
        found = [threads.submit(examine_one) for examine_one in libraries]
        return [check for one in found for check in one.result()]
