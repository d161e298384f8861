"""Asks state estimators for their cheap mode, as the latency manager wants it. They are nodes with
the parameter `mode` (docs/estimation.md) and refuse where it would not be safe.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator
from typing import Any

NODE = "takt_manager_estimators"
PATIENCE = 2.0
"""Seconds that an estimator may take to answer."""


class Asker:
    """Asks estimators and collects the answers. It is a ROS 2 node from the first question on."""

    def __init__(self) -> None:
        self._node: Any = None
        self._clients: dict[str, Any] = {}
        self._waiting: dict[str, tuple[Any, float]] = {}
        """The pending answer, None until the node is found, and when waiting for it ends."""
        self._missing = ""
        """Which ROS 2 package is missing, in words; empty: none."""

    def ask(self, estimator: str) -> None:
        """Asks an estimator for its cheap mode; `answers` yields its reply later."""
        if self._node is None and not self._missing:
            self._join()
        self._waiting[estimator] = (None, time.monotonic() + PATIENCE)

    def answers(self) -> Iterator[str]:
        """The replies since the last call, as lines for the manager's control socket. Does not
        wait.
        """
        if self._node is not None and self._waiting:
            self._executor.spin_once(timeout_sec=0)
        for estimator, (coming, end) in list(self._waiting.items()):
            if self._missing:
                said = f"refused {self._missing}"
            elif coming is not None and coming.done():
                said = _said(coming)
            elif time.monotonic() > end:
                said = "refused it does not answer"
            else:
                if coming is None:
                    self._waiting[estimator] = (self._send(estimator), end)
                continue
            del self._waiting[estimator]
            yield f"estimator {estimator} {' '.join(said.split())}"

    def end(self) -> None:
        if self._node is not None:
            self._executor.shutdown()
            self._node.destroy_node()
            self._rclpy.shutdown(context=self._context)

    def _join(self) -> None:
        try:
            self._rclpy = importlib.import_module("rclpy")
            self._messages = importlib.import_module("rcl_interfaces.msg")
            self._services = importlib.import_module("rcl_interfaces.srv")
            executors = importlib.import_module("rclpy.executors")
        except ImportError as missing:
            self._missing = f"the ROS 2 package {missing.name} is not found"
            return
        self._context = self._rclpy.Context()
        self._rclpy.init(args=[], context=self._context)
        self._node = self._rclpy.create_node(
            NODE, context=self._context, start_parameter_services=False, enable_rosout=False
        )
        self._executor = executors.SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)

    def _send(self, estimator: str) -> Any:
        """Sends the question and returns the pending answer; None: the node is not found yet."""
        client = self._clients.get(estimator)
        if client is None:
            client = self._node.create_client(
                self._services.SetParameters, f"{estimator}/set_parameters"
            )
            self._clients[estimator] = client
        if not client.service_is_ready():
            return None
        wanted = self._messages.Parameter(name="mode")
        wanted.value.type = self._messages.ParameterType.PARAMETER_STRING
        wanted.value.string_value = "linear"
        return client.call_async(self._services.SetParameters.Request(parameters=[wanted]))


def _said(answer: Any) -> str:
    if answer.exception() is not None or not answer.result().results:
        return "refused it has no parameter mode"
    result = answer.result().results[0]
    return "accepted" if result.successful else f"refused {result.reason}"
