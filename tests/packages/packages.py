"""What the tests of packages share."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent

# For a machine with a compiler cache: the options that its entries were made with.
CMAKE_ARGUMENTS = shlex.split(os.environ.get("TAKT_TEST_CMAKE_ARGUMENTS", ""))


def run(
    *command: str | Path, cwd: Path | None = None, environment: Mapping[str, str] | None = None
) -> str:
    """Standard output. The test fails with all output if the command does."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.fail(f"{shlex.join(map(str, command))}\n{done.stdout}\n{done.stderr}", pytrace=False)
    return done.stdout


def outside() -> dict[str, str]:
    """The variables of a shell in which nothing of this source tree or of ROS 2 was set up."""
    of_ros = ("AMENT_", "FAST", "RMW_", "ROS_", "_ROS_")
    kept = {
        name: value
        for name, value in os.environ.items()
        if str(ROOT) not in value and (name == "ROS_DOMAIN_ID" or not name.startswith(of_ros))
    }
    path = [p for p in os.environ["PATH"].split(":") if not p.startswith(str(ROOT))]
    return kept | {"PATH": ":".join(path)}
