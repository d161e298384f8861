"""The lists of tracepoints by version against the sources of ros2_tracing.

TAKT_ROS2_TRACING names a git repository of ros2_tracing with the branches of the distributions.
"""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from tracepoint_lists import DISTRIBUTIONS, Version, entries, newest, of_version, version

EVENT = r"^TRACEPOINT_EVENT\(\s*TRACEPOINT_PROVIDER,\s*(\w+),.*?TP_FIELDS\((.*?)\n?\s*\)\n\)"
FIELD = r"ctf_(?:integer_hex|integer|array|sequence|string)\((?:[^,()]*, )?(\w+), "


def test_the_table_speaks_of_tracepoints_that_there_are() -> None:
    known = newest()
    for name, _ in entries("TAKT_SINCE"):
        assert name in known
    for name, field, _ in entries("TAKT_FIELD_SINCE"):
        assert field in known[name]


def shown(branch: str, file: str) -> str:
    """A file of tracetools on a branch."""
    sources = os.environ.get("TAKT_ROS2_TRACING")
    if not sources:
        pytest.skip("TAKT_ROS2_TRACING names no repository of ros2_tracing")
    done = subprocess.run(
        ["git", "-C", sources, "show", f"{branch}:tracetools/{file}"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip(f"the repository has no branch {branch}")
    return done.stdout


def tracepoints(branch: str) -> dict[str, list[str]]:
    """The tracepoints with their fields, as the sources declare them to LTTng."""
    return {
        name: re.findall(FIELD, re.sub(r"\s+", " ", body))
        for name, body in re.findall(
            EVENT, shown(branch, "include/tracetools/tp_call.h"), re.M | re.S
        )
    }


@pytest.mark.parametrize(("distribution", "version"), DISTRIBUTIONS.items())
def test_each_distribution_has_what_its_sources_say(distribution: str, version: Version) -> None:
    assert tracepoints(distribution) == names_of_fields(version)


@pytest.mark.parametrize("branch", [*DISTRIBUTIONS, "lyrical", "rolling"])
def test_a_branch_has_what_the_version_in_its_package_has(branch: str) -> None:
    """Also one that no distribution has been made of yet."""
    package = shown(branch, "package.xml")
    (found,) = re.findall(r"<version>(\d+\.\d+)[.\d]*</version>", package)
    assert tracepoints(branch) == names_of_fields(version(found))


def names_of_fields(wanted: Version) -> dict[str, list[str]]:
    return {name: list(fields) for name, fields in of_version(wanted).items()}
