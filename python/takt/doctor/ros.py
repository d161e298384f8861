"""ROS 2: which distribution, where from, and whether it really starts."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from takt import built
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
    sourced = not Path(found["path"]).is_relative_to(sys.prefix)
    source = "sourced installation" if sourced else "Python wheels"
    distribution = built.distribution() or "unknown distribution"
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
