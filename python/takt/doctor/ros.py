"""ROS 2: which distribution, where from, and whether it really starts."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import sys

from takt.doctor.check import Check, State, output_of

# Imported in a process of its own: loading the middleware is not undone by failing.
PROBE = """
import json, rclpy
from rclpy.utilities import get_rmw_implementation_identifier
print(json.dumps({"path": rclpy.__file__, "rmw": get_rmw_implementation_identifier()}))
"""


def ros() -> Check:
    found = _probe()
    if found is None:
        return Check(
            "ros2",
            "ROS 2",
            State.MISSING,
            "rclpy cannot be imported by this Python",
            "source an installation (source /opt/ros/<distribution>/setup.bash) or run 'make' in "
            "the project's root, which brings one",
            required=True,
        )
    sourced = any(found["path"].startswith(prefix + os.sep) for prefix in _sourced_prefixes())
    source = "sourced installation" if sourced else "Python wheels"
    distribution = _distribution(sourced) or "unknown distribution"
    facts = {
        "distribution": distribution,
        "source": "sourced" if sourced else "wheels",
        "rmw": found["rmw"],
    }
    return Check(
        "ros2",
        "ROS 2",
        State.OK,
        f"{distribution.capitalize()} ({source}), {found['rmw']}",
        required=True,
        facts=facts,
    )


def _probe() -> dict[str, str] | None:
    printed = output_of(sys.executable, "-c", PROBE, seconds=60)
    if not printed:
        return None
    result: dict[str, str] = json.loads(printed.splitlines()[-1])
    return result


def _sourced_prefixes() -> list[str]:
    return [p for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]


def _distribution(sourced: bool) -> str | None:
    if sourced or "ROS_DISTRO" in os.environ:
        return os.environ.get("ROS_DISTRO")
    for distribution in importlib.metadata.distributions():
        match = re.fullmatch(r"ros-([a-z]+)-rclpy", distribution.metadata["Name"] or "")
        if match:
            return match[1]
    return None
