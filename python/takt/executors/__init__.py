"""Executors for rclpy: takt's scheduling policies in the place of rclpy's executors.

    from takt.executors import EdfExecutor

    executor = EdfExecutor()
    executor.add_node(node)
    executor.spin()

They use no wait set: a thread of their own releases timers, the middleware reports arrivals, and a
policy decides after every callback what runs next. Priorities, deadlines and chains come from a
plan (`takt plan MODEL --executor edf -o plan.json`) or from the methods below.
"""

from takt import built

built.path("takt_executors")  # which the modules below import, after rclpy

from takt.executors.planned import PlannedExecutor  # noqa: E402
from takt.executors.policies import (  # noqa: E402
    ChainPriorityExecutor,
    EdfExecutor,
    EventsExecutor,
    FixedPriorityExecutor,
    GraphAwareEdfExecutor,
    GraphAwareExecutor,
)

__all__ = [
    "ChainPriorityExecutor",
    "EdfExecutor",
    "EventsExecutor",
    "FixedPriorityExecutor",
    "GraphAwareEdfExecutor",
    "GraphAwareExecutor",
    "PlannedExecutor",
]
