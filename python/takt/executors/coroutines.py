"""Stand-ins for the parts of rclpy's executor that tasks and futures use."""

from __future__ import annotations

from collections.abc import Awaitable, Generator
from typing import Any

import takt_executors


class Wake:
    """Replaces rclpy's guard condition."""

    def __init__(self, trigger: takt_executors.Trigger) -> None:
        self._trigger = trigger

    def trigger(self) -> None:
        self._trigger.trigger()

    def destroy(self) -> None:
        """Nothing is to be destroyed."""


class Rest(Awaitable[None]):
    """The remaining steps of a coroutine that was begun elsewhere."""

    def __init__(self, coroutine: Any) -> None:
        self.coroutine = coroutine

    def __await__(self) -> Generator[None, None, None]:
        while True:
            try:
                self.coroutine.send(None)
            except StopIteration:
                return
            yield
