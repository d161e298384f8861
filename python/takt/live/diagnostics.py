"""A takt/status document as ROS diagnostics (REP 107), for those who look at /diagnostics."""

from __future__ import annotations

import importlib
import socket
import time
from typing import Any

from takt.errors import UserError

Json = dict[str, Any]

TOPIC = "/diagnostics"
NODE = "takt_manager"
PERIOD = 1.0
"""Seconds between two messages, as diagnostic aggregators expect."""


class Publisher:
    """A node that publishes what the manager does. UserError if ROS 2 lacks what it needs."""

    def __init__(self) -> None:
        try:
            self._rclpy = importlib.import_module("rclpy")
            self._messages = importlib.import_module("diagnostic_msgs.msg")
        except ImportError as missing:
            raise UserError(
                f"--diagnostics needs the ROS 2 package {missing.name}, which is not found"
            ) from missing
        self._context = self._rclpy.Context()
        self._rclpy.init(args=[], context=self._context)
        self._node = self._rclpy.create_node(
            NODE, context=self._context, start_parameter_services=False, enable_rosout=False
        )
        self._publisher = self._node.create_publisher(self._messages.DiagnosticArray, TOPIC, 1)
        self._next = 0.0

    def is_due(self) -> bool:
        """True once in each period."""
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + PERIOD
        return True

    def publish(self, document: Json) -> None:
        """One status for each chain, and one for the manager."""
        array = self._messages.DiagnosticArray()
        array.header.stamp = self._node.get_clock().now().to_msg()
        for name, level, message, values in statuses(document):
            array.status.append(
                self._messages.DiagnosticStatus(
                    name=name,
                    level=bytes([level]),
                    message=message,
                    hardware_id=socket.gethostname(),
                    values=[
                        self._messages.KeyValue(key=key, value=value)
                        for key, value in values.items()
                    ],
                )
            )
        self._publisher.publish(array)

    def end(self) -> None:
        self._node.destroy_node()
        self._rclpy.shutdown(context=self._context)


OK, WARN, ERROR = 0, 1, 2
"""As in diagnostic_msgs/DiagnosticStatus."""


def statuses(document: Json) -> list[tuple[str, int, str, dict[str, str]]]:
    """Name, level, message and values. An alert of a chain and a broken promise are
    errors; a chain that is not guaranteed, or lost events, are a warning.
    """
    alerts = {(alert["kind"], alert["chain"]) for alert in document["alerts"]}
    found = []
    for chain in document["chains"]:
        name = chain["id"]
        if ("goal", name) in alerts:
            level, message = ERROR, "missed its goal"
        elif ("gap", name) in alerts:
            level, message = ERROR, "is not completed any more"
        elif chain["state"] != "guaranteed" and chain["promises"]["breach"] is not None:
            level, message = ERROR, f"broke its promise: {chain['reason']}"
        elif chain["state"] == "guaranteed":
            level, message = OK, "guaranteed"
        else:
            level, message = WARN, f"{chain['state']}: {chain['reason']}"
        found.append((f"takt: chain {name}", level, message, _figures(chain)))
    losing = ("loss", "") in alerts
    found.append(
        (
            "takt: manager",
            WARN if losing else OK,
            "events were lost" if losing else "running",
            {
                "decisions": str(document["decisions"]),
                "lost events": str(document["lost_events"]),
                "processor time (s)": f"{document['cpu_seconds']:.3f}",
            },
        )
    )
    return found


def _figures(chain: Json) -> dict[str, str]:
    measured = chain["measured"] or {}
    times = {"goal": chain["goal"], "bound": chain["bound"]} | {
        key: measured.get(key) for key in ("p50", "p99", "max", "worst")
    }
    values = {f"{key} (ms)": f"{time / 1e6:.3f}" for key, time in times.items() if time is not None}
    words = {"kept": "promises kept", "broken": "promises broken", "by_host": "held up by the host"}
    promises = {said: str(chain["promises"][word]) for word, said in words.items()}
    return values | {"missed": str(measured.get("missed", 0))} | promises
