"""Takt: real-time execution management for ROS 2."""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Imports takt.open and takt.load on first use, because they need the C++ library."""
    if name == "open":
        from takt.trace import Trace

        return Trace
    if name == "load":
        from takt.recording import Recording

        return Recording
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
