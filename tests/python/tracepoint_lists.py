"""The lists of ROS 2's tracepoints by version, as libtakt/tracepoints has them."""

from __future__ import annotations

import re
from pathlib import Path

LISTS = Path(__file__).parents[2] / "libtakt/tracepoints/include/takt/tracepoints"

Fields = dict[str, str]
"""Kind by name, in the order of the event."""
Version = tuple[int, int]


def entries(kind: str) -> list[list[str]]:
    """The lines of one kind in the list of versions."""
    text = (LISTS / "ros2_versions.def").read_text()
    return [match.split(", ") for match in re.findall(rf"^{kind}\((.*)\)$", text, re.M)]


def version(text: str) -> Version:
    major, minor = text.split(".")
    return int(major), int(minor)


DISTRIBUTIONS = {name: version(since) for name, since in entries("TAKT_DISTRIBUTION")}


def newest() -> dict[str, Fields]:
    """All tracepoints with the fields that are in the event."""
    found = {}
    for name in ("ros2.def", "ros2_services.def"):
        text = (LISTS / name).read_text()
        for match in re.finditer(r"^TAKT_TRACEPOINT\((\w+), \w+, \w+, (.*)\)$", text, re.M):
            fields = re.findall(r"\((\w+), (\w+)\)", match[2])
            found[match[1]] = {field: kind for kind, field in fields if kind != "unused"}
    return found


def of_version(wanted: Version) -> dict[str, Fields]:
    """The tracepoints as a version of tracetools has them."""
    absent = {name for name, since in entries("TAKT_SINCE") if version(since) > wanted}
    later = {
        (name, field)
        for name, field, since in entries("TAKT_FIELD_SINCE")
        if version(since) > wanted
    }
    return {
        name: {field: kind for field, kind in fields.items() if (name, field) not in later}
        for name, fields in newest().items()
        if name not in absent
    }
