"""The Python libraries without which the command line does not run, and which of them are wrong."""

from __future__ import annotations

import re

NEEDED = {"click": "8"}
"""The oldest version of each, as in pyproject.toml. pip installs them with Takt; colcon and CMake
do not.
"""


def wrong() -> str | None:
    """One line that says which are missing or too old and how to get them; None: all are there."""
    faults = [fault for name in NEEDED if (fault := _fault(name)) is not None]
    if not faults:
        return None
    wanted = " ".join(f"'{name}>={least}'" for name, least in NEEDED.items())
    return f"{', '.join(faults)}: pip install {wanted}"


def _fault(name: str) -> str | None:
    from importlib import metadata  # takes long, and is seldom needed

    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return f"{name} is missing"
    return f"{name} {version} is too old" if _numbers(version) < _numbers(NEEDED[name]) else None


def _numbers(version: str) -> tuple[int, ...]:
    """The leading numbers: (2, 1) of 2.1.post3."""
    leading = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in leading[0].split(".")) if leading else ()
