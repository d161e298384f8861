"""Takt: real-time execution management for ROS 2."""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Imports what notebooks use on first use, because it needs the C++ library."""
    if name == "open":
        from takt.recordings.trace import Trace

        return Trace
    if name == "load":
        from takt.recordings.recording import Recording

        return Recording
    if name == "load_store":
        from takt.fleet.notebook import Fleet

        return Fleet
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
