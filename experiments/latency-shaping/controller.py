"""The chain of the loop: takes the plant's states, computes for a while as perception does, and
says all inputs on /command.

    controller.py SETTINGS        a JSON file: what it does for each pendulum, and execution times
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from itertools import cycle
from pathlib import Path

import numpy
import rclpy
from rclpy.executors import ExternalShutdownException
from std_msgs.msg import Float64MultiArray

MARGIN = 700_000
"""Nanoseconds from a decision until the gate has it."""

path = sys.argv[1]
settings = json.loads(Path(path).read_text(encoding="utf-8"))
period = settings["period"]
costs = cycle(settings["execution_times"])
pendulums = settings["pendulums"]
last = [0.0] * len(pendulums)

rclpy.init(args=sys.argv[2:])
node = rclpy.create_node("controller")
commands = node.create_publisher(Float64MultiArray, "/command", 10)


def control(which: int, number: int, state: list[float], slot_of: int) -> float:
    plan = pendulums[which]
    inputs, states = plan["inputs"], plan["states"]
    position = number % len(inputs)
    slots = plan["slots"]
    chosen = next((i for i, start in enumerate(slots) if start >= slot_of + MARGIN), len(slots) - 1)
    chosen = max(chosen, 0)
    planned = numpy.array(states[position])
    away = numpy.array([*state, last[which]]) - planned
    disturbance = numpy.array(plan["mismatch"][chosen]) @ [*planned, inputs[position]]
    value = (
        inputs[position]
        - numpy.array(plan["gains"][chosen]) @ away
        - numpy.array(plan["corrections"][chosen]) @ disturbance
    )
    return float(value[0])


def compute(message: Float64MultiArray) -> None:
    end = time.thread_time() + next(costs)
    while time.thread_time() < end:
        pass
    number, states = round(message.data[0]), message.data[1:]
    since = time.monotonic_ns() % period
    for which in range(len(pendulums)):
        last[which] = control(which, number, list(states[2 * which : 2 * which + 2]), since)
    commands.publish(Float64MultiArray(data=[float(number), *last]))


node.create_subscription(Float64MultiArray, "/state", compute, 10)
with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
    rclpy.spin(node)
