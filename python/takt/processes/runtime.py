"""What runs inside ROS 2 processes: programs, the tracing library, and the environment for them.

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
from pathlib import Path

from takt import built


def workload() -> Path:
    """The program `takt-workload`. NotBuiltError without it."""
    return built.path("takt-workload")


def bridge() -> Path:
    """The program `takt-bridge`. NotBuiltError without it."""
    return built.path("takt-bridge")


def gate() -> Path:
    """The program `takt-gate`. NotBuiltError without it."""
    return built.path("takt-gate")


def estimator() -> Path:
    """The program `takt-estimator`. NotBuiltError without it."""
    return built.path("takt-estimator")


def dispatcher() -> Path:
    """The program `takt-dispatch`. NotBuiltError without it."""
    return built.path("takt-dispatch")


def threads() -> Path:
    """The program `takt-threads`. NotBuiltError without it."""
    return built.path("takt-threads")


def manager() -> Path:
    """The program `takt-manager`. NotBuiltError without it."""
    return built.path("takt-manager")


def tracetools() -> Path:
    """Takt's libtracetools.so. NotBuiltError without it."""
    return built.path("takt_tracetools")


def share() -> Path:
    """Takt's libtakt_share.so. NotBuiltError without it."""
    return built.path("takt_share")


def environment(inherited: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment in which the program finds its libraries and those of ROS 2."""
    changed = dict(inherited)
    libraries = workload().parents[1] / "lib"
    search = [str(libraries), *filter(None, changed.get("LD_LIBRARY_PATH", "").split(os.pathsep))]
    if "AMENT_PREFIX_PATH" not in changed and built.wheels():
        changed["AMENT_PREFIX_PATH"] = sys.prefix
        changed["ROS_DISTRO"] = str(built.wheels())
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
