"""Coroutines that wait: what they wait for, and how they go on."""

from __future__ import annotations

from collections.abc import Awaitable, Generator
from typing import Any

from rclpy.task import Future


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


def awaited_future(coroutine: Any) -> Future | None:
    """The future that a suspended coroutine awaits; None: it waits for something else."""
    while True:
        while (inner := getattr(coroutine, "cr_await", None)) is not None:
            coroutine = inner
        frame = getattr(coroutine, "gi_frame", None)
        owner = frame.f_locals.get("self") if frame is not None else None
        if not isinstance(owner, Rest):
            return owner if isinstance(owner, Future) else None
        coroutine = owner.coroutine
