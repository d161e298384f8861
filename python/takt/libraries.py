"""The Python libraries that Takt needs, always or for some commands, and how to get them."""

from __future__ import annotations

import importlib
import re
from typing import Any

from takt.errors import UserError

NEEDED = {"click": "8"}
"""The oldest version of each, as in pyproject.toml. pip installs them with Takt; colcon and CMake
do not.
"""


def optional(module: str, extra: str) -> Any:
    """Imports a module that an extra of Takt's package brings. UserError if it is not installed."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise UserError(
            f"{error.name} is not installed; pip install 'takt-ros[{extra}]'"
        ) from error


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
