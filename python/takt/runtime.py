"""What runs inside ROS 2 processes: the folder with bin/takt-workload and lib/libtracetools.so.

The folder is beside the extension in a build folder, lib/takt/ in a prefix, and
takt/runtimes/<distribution>/ in a wheel, one for each distribution of ROS 2.

In an environment whose ROS 2 comes from wheels, libraries ask for others that they do not use: for
the Python bindings, whose symbols no C++ program has, and for a bundled LTTng, which must not be in
a process beside the system's one. Programs of ours find an empty library in their place.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

import takt_native
from takt.errors import UserError

_EXTENSION = Path(takt_native.__file__).resolve().parent
_WHEEL = Path(__file__).resolve().parent / "runtimes"


@functools.cache
def wheels() -> str | None:
    """The distribution of ROS 2 that this environment has as wheels; None if it has none."""
    for distribution in ("jazzy", "kilted"):
        try:
            metadata.distribution(f"ros-{distribution}-rclpy")
        except metadata.PackageNotFoundError:
            continue
        return distribution
    return None


def distribution() -> str | None:
    return os.environ.get("ROS_DISTRO") or wheels()


def _find(name: str) -> Path:
    folders = [_EXTENSION.parent, _EXTENSION.parents[1] / "takt"]
    if _WHEEL.exists():
        folders = [_WHEEL / (distribution() or "without ROS 2")]
    for folder in folders:
        if (folder / name).exists():
            return folder / name
    if not _WHEEL.exists():
        raise UserError(
            f"{Path(name).name} is missing: this Takt was built without ROS 2; install its wheel, "
            "or run 'make' in its sources"
        )
    known = " and ".join(sorted(folder.name.capitalize() for folder in _WHEEL.iterdir()))
    found = f"ROS 2 {distribution()}" if distribution() else "no ROS 2"
    raise UserError(
        f"this needs ROS 2 {known}, and there is {found}: source an installation, or run "
        "'pip install ros-jazzy-rclpy[fastrtps] ros-jazzy-std-msgs'"
    )


def workload() -> Path:
    """The program `takt-workload`. UserError without it."""
    return _find("bin/takt-workload")


def bridge() -> Path:
    """The program `takt-bridge`. UserError without it."""
    return _find("bin/takt-bridge")


def gate() -> Path:
    """The program `takt-gate`. UserError without it."""
    return _find("bin/takt-gate")


def estimator() -> Path:
    """The program `takt-estimator`. UserError without it."""
    return _find("bin/takt-estimator")


def dispatcher() -> Path:
    """The program `takt-dispatch`. UserError without it."""
    return _find("bin/takt-dispatch")


def manager() -> Path:
    """The program `takt-manager`. UserError without it."""
    return _find("bin/takt-manager")


def tracetools() -> Path:
    """Takt's libtracetools.so. UserError without it."""
    return _find("lib/libtracetools.so")


def environment(inherited: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment in which the program finds its libraries and those of ROS 2."""
    changed = dict(inherited)
    libraries = workload().parents[1] / "lib"
    search = [str(libraries), *filter(None, changed.get("LD_LIBRARY_PATH", "").split(os.pathsep))]
    if "AMENT_PREFIX_PATH" not in changed and wheels():
        changed["AMENT_PREFIX_PATH"] = sys.prefix
        changed["ROS_DISTRO"] = str(wheels())
        changed.setdefault("RMW_IMPLEMENTATION", "rmw_fastrtps_cpp")
        search.insert(0, str(_stubs(libraries / "libtakt_stub.so")))
    changed["LD_LIBRARY_PATH"] = os.pathsep.join(dict.fromkeys(search))
    return changed


@functools.cache
def _stubs(stub: Path) -> Path:
    """A folder with `stub` by the names of the libraries that are not to be loaded."""
    folder = Path(tempfile.mkdtemp(prefix="takt-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    bindings = (Path(sys.prefix) / "lib").glob("lib*__rosidl_generator_py.so")
    lttng = Path(sysconfig.get_path("platlib")).glob("ros_*.libs/liblttng-ust*")
    for name in {library.name for library in (*bindings, *lttng)}:
        (folder / name).symlink_to(stub)
    return folder
