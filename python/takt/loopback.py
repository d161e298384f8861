"""Keeps the ROS 2 programs that Takt starts itself on this machine.

ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST finds local nodes only, yet binds sockets of every network
interface. The Fast DDS profile beside this file binds 127.0.0.1 and nothing else. It uses UDP, not
shared memory: what a killed process leaves in shared memory stays there and can block others.

Programs that a user records run in the user's own environment, not in this one.

`python -m takt.loopback` prints the difference as shell commands.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

PROFILE = Path(__file__).with_name("loopback.xml")

# Distributions whose Fast DDS (2.x) knows the profile by its older name; later ones complain of it.
_FAST_DDS_2 = ("humble", "iron", "jazzy")


def _changes(distribution: str | None) -> dict[str, str | None]:
    """Variables to set, or to unset (None)."""
    return {
        "RMW_IMPLEMENTATION": "rmw_fastrtps_cpp",
        # Any other range adds transports and addresses of its own to those of the profile.
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT",
        "ROS_LOCALHOST_ONLY": None,
        "ROS_STATIC_PEERS": None,
        "ROS_DISCOVERY_SERVER": None,
        "SKIP_DEFAULT_XML": None,
        "FASTDDS_DEFAULT_PROFILES_FILE": str(PROFILE),
        "FASTRTPS_DEFAULT_PROFILES_FILE": str(PROFILE) if distribution in _FAST_DDS_2 else None,
    }


def environment(base: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment `base` for programs whose DDS traffic stays on the loopback interface."""
    changed = dict(base)
    for name, value in _changes(base.get("ROS_DISTRO")).items():
        if value is None:
            changed.pop(name, None)
        else:
            changed[name] = value
    return changed


def main() -> None:
    for name, value in _changes(os.environ.get("ROS_DISTRO")).items():
        print(f"unset {name}" if value is None else f"export {name}={shlex.quote(value)}")


if __name__ == "__main__":
    main()
