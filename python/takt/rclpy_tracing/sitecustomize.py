"""Python imports this at start-up, as `takt record` puts its folder first on PYTHONPATH.

It must never break the recorded program: whatever goes wrong is one line on standard error, and the
program runs untraced. Any Python that runs ROS 2 may load it: standard library only.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent


def _run_the_hidden_one() -> None:
    """Loads the sitecustomize that Python would have found without this one, if there is one."""
    elsewhere = [path for path in sys.path if Path(path).resolve() != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def _trace_rclpy() -> None:
    try:
        from takt_rclpy_tracing import (  # type: ignore[import-not-found]
            instrument_on_import,
        )
    except Exception as error:
        with contextlib.suppress(Exception):  # a program may have closed it, or have none
            sys.stderr.write(f"takt: the callbacks of this program are not traced: {error}\n")
    else:
        instrument_on_import()


_trace_rclpy()
_run_the_hidden_one()
