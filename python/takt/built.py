"""What CMake builds for the commands: which of them need it, where it is, and what builds it.

What runs inside ROS 2 processes is beside the Python extension in a build folder, in lib/takt/ of a
prefix, and in takt/runtimes/<distribution>/ of a wheel, once for each distribution of ROS 2.
"""

from __future__ import annotations

import functools
import os
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from takt.errors import UserError


class Part(NamedTuple):
    """The output of a target of CMake."""

    file: str
    """bin/… and lib/…: what runs inside ROS 2 processes. Empty: a Python module of its name."""
    needed_by: str
    make: str = "make"
    """The shortest command that builds it in a source tree."""


PARTS = {
    "takt_native": Part("", "commands that read recordings or models", "make demo"),
    "takt_web": Part("takt_viewer/viewer.html", "takt report, takt serve", "make web"),
    "takt_tracetools": Part("lib/libtracetools.so", "takt record, takt watch", "make demo"),
    "takt_share": Part("lib/libtakt_share.so", "takt share"),
    "takt-workload": Part("bin/takt-workload", "takt run, takt demo", "make demo"),
    "takt-manager": Part("bin/takt-manager", "takt manage", "make demo"),
    "takt-threads": Part("bin/takt-threads", "takt apply with a takt/threads file"),
    "takt-gate": Part("bin/takt-gate", "takt apply"),
    "takt-dispatch": Part("bin/takt-dispatch", "takt apply --dispatch"),
    "takt-bridge": Part("bin/takt-bridge", "takt bridge"),
    "takt-estimator": Part("bin/takt-estimator", "the estimator node"),
    "takt-probe": Part("bin/takt-probe", "takt doctor --executors"),
    "takt_design": Part("", "takt generate, takt simulate, takt plan, takt shape, takt apply"),
    "takt_estimators": Part("", "takt handoff, estimators in Python"),
    "takt_export": Part("", "takt export, takt.open"),
    "takt_executors": Part("", "executors for rclpy (takt.executors)"),
    "allocator_experiment": Part(
        "experiments/allocators/program/allocator_experiment",
        "takt experiment allocators",
    ),
    "link_experiment": Part(
        "experiments/deterministic-link/program/link_experiment",
        "takt experiment deterministic-link",
    ),
}
"""By target."""

_OF_SOURCE_TREES = {"takt_executors", "allocator_experiment", "link_experiment"}
"""Wheels do not have these."""
WHERE_RCLCPP_IS = {"takt-probe"}
"""Built where CMake finds rclcpp."""

ROOT = Path(__file__).resolve().parents[2]
_WHEEL = Path(__file__).resolve().parent / "runtimes"


class NotBuiltError(UserError, ImportError):
    """A part is not there. The message says what builds it."""

    def __init__(self, target: str) -> None:
        super().__init__(f"{target} is missing: {remedy(target)}")


def path(target: str) -> Path:
    """The file that a target of PARTS builds. NotBuiltError without it."""
    found = find(target)
    if found is None:
        raise NotBuiltError(target)
    return found


def find(target: str) -> Path | None:
    """The same, or None."""
    file = PARTS[target].file
    if not file:
        spec = find_spec(target)
        return Path(spec.origin) if spec and spec.origin else None
    return next((folder / file for folder in _folders() if (folder / file).exists()), None)


def missing() -> list[str]:
    """The targets whose files are not there, though this kind of installation may have them."""
    optional = WHERE_RCLCPP_IS if is_source_tree() else WHERE_RCLCPP_IS | _OF_SOURCE_TREES
    return [target for target in PARTS if target not in optional and find(target) is None]


def is_source_tree() -> bool:
    return (ROOT / "CMakePresets.json").exists()


@functools.cache
def wheels() -> str | None:
    """The distribution of ROS 2 that this environment has as wheels; None if it has none."""
    from importlib import metadata  # takes long, and is seldom needed

    for distribution in ("jazzy", "kilted"):
        try:
            metadata.distribution(f"ros-{distribution}-rclpy")
        except metadata.PackageNotFoundError:
            continue
        return distribution
    return None


def distribution() -> str | None:
    """The distribution of ROS 2 that is set up here."""
    return os.environ.get("ROS_DISTRO") or wheels()


def _folders() -> list[Path]:
    if _WHEEL.exists():
        return [_WHEEL / (distribution() or "without ROS 2"), _WHEEL.parents[1]]
    extension = find("takt_native")
    folder = extension.resolve().parent if extension else ROOT / "build" / "release" / "python"
    return [folder.parent, folder.parents[1] / "takt", folder]


def remedy(target: str, *others: str) -> str:
    """What to do to have these."""
    if is_source_tree():
        commands = {PARTS[each].make for each in (target, *others)}
        return f"run '{commands.pop() if len(commands) == 1 else 'make'}' in {ROOT}"
    if not _WHEEL.exists():
        return "this Takt was built without ROS 2; install its wheel, or run 'make' in its sources"
    if target in _OF_SOURCE_TREES:
        return "wheels do not have it; run 'make' in the sources"
    known = " and ".join(sorted(folder.name.capitalize() for folder in _WHEEL.iterdir()))
    found = f"ROS 2 {distribution()}" if distribution() else "no ROS 2"
    return (
        f"this needs ROS 2 {known}, and there is {found}: source an installation, or run "
        "'pip install ros-jazzy-rclpy[fastrtps] ros-jazzy-std-msgs'"
    )
