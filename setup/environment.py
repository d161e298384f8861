"""Writes the files through which everything else meets ROS 2 and the Python environment:

* build/setup/environment.sh, sourced by the `takt` wrapper and by the tests;
* build/setup/toolchain.cmake, named by the CMake presets;
* in the environment, what makes the source tree an installed distribution.

All are alike for a sourced ROS 2 installation and for the wheels. Run it with the environment's
own Python; the shell's environment says whether an installation is sourced (`setup/ros.sh`).
"""

import hashlib
import os
import re
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from textwrap import indent

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
VENV = Path(sys.prefix)
# What the environment was made from (setup/python.sh).
STATE = VENV / "takt-state"
# Libraries of the build that must be found ahead of ROS 2's own: the drop-in tracetools and the
# type support of Takt's messages.
BUILT_LIBRARIES = ROOT / "build" / "release" / "lib"
BUILT_PYTHON = [ROOT / "python", ROOT / "build" / "release" / "python"]

SHELL_HEADER = """\
# Written by setup/environment.py. Source it (POSIX shell) to run what was built here.

# _takt_prepend VARIABLE PATH: adds PATH to a search path that does not have it yet.
_takt_prepend() {
  eval "_takt_paths=\\${$1-}"
  case ":$_takt_paths:" in
    *":$2:"*) ;;
    *) export "$1=$2${_takt_paths:+:$_takt_paths}" ;;
  esac
}

"""

REFUSE_OTHER_ROS = """\
_takt_paths=${{AMENT_PREFIX_PATH-}}
while [ -n "$_takt_paths" ]; do
  _takt_prefix=${{_takt_paths%%:*}}
  case $_takt_paths in *:*) _takt_paths=${{_takt_paths#*:}} ;; *) _takt_paths= ;; esac
  if [ "$_takt_prefix" != {own} ] && [ -e "$_takt_prefix/share/rcl/cmake/rclConfig.cmake" ]; then
    echo "takt: ROS 2 of $_takt_prefix is sourced, but Takt was set up without it: run make" >&2
{forget}
    return 2
  fi
done
"""
FORGET = "unset -f _takt_prepend\nunset _takt_paths _takt_prefix\n"


def write(path: Path, text: str) -> None:
    """Leaves an unchanged file alone, so that nothing is built anew because of it."""
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(text)
    new.replace(path)


def entries(variable: str) -> list[str]:
    return [entry for entry in os.environ.get(variable, "").split(":") if entry]


def shell(sourced: bool) -> str:
    variables = {"RMW_IMPLEMENTATION": "${RMW_IMPLEMENTATION:-rmw_fastrtps_cpp}"}
    search = {"PATH": [str(VENV / "bin")], "LD_LIBRARY_PATH": [str(BUILT_LIBRARIES)]}
    if sourced:
        # What sourcing the installation set, for shells in which it is not sourced.
        for name in ("ROS_DISTRO", "ROS_VERSION", "ROS_PYTHON_VERSION"):
            if name in os.environ:
                variables[name] = quote(os.environ[name])
        prefixes = entries("AMENT_PREFIX_PATH")
        search["AMENT_PREFIX_PATH"] = prefixes
        for name in ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH"):
            inside = [e for e in entries(name) if any(Path(e).is_relative_to(p) for p in prefixes)]
            search[name] = search.get(name, []) + inside
    else:
        variables["ROS_DISTRO"] = os.environ["TAKT_ROS_DISTRO"]
        variables["ROS_VERSION"] = "2"
        variables["ROS_PYTHON_VERSION"] = "3"
        # Else every Python of the environment starts itself a second time to set the loader path.
        variables["_ROS_WHEELS_BOOTSTRAP_COMPLETE"] = "1"
        search["LD_LIBRARY_PATH"].append(str(VENV / "lib"))
        search["AMENT_PREFIX_PATH"] = [str(VENV)]

    forget = indent(FORGET, "    ").rstrip()
    refuse = REFUSE_OTHER_ROS.format(own=quote(str(VENV)), forget=forget)
    lines = [] if sourced else [refuse]
    lines += [f"_takt_prepend {n} {quote(e)}" for n, es in search.items() for e in reversed(es)]
    lines += [f"export {name}={value}" for name, value in variables.items()]
    return SHELL_HEADER + "\n".join(lines) + "\n\n" + FORGET


def old_compiler() -> bool:
    """Whether the machine's default compiler cannot compile C++20 as the sources use it."""
    command = ["g++", "-dumpversion"]
    version = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return int(version.split(".")[0]) < 12


def cmake(sourced: bool) -> str:
    prefixes = entries("AMENT_PREFIX_PATH") if sourced else [str(VENV)]
    python = VENV / "bin" / "python"
    lines = [
        "# Written by setup/environment.py.",
        # The build is made anew when this file changes, as it must be for another ROS 2.
        f"# Environment: {hashlib.sha256(STATE.read_bytes()).hexdigest()}",
        f"set(ENV{{AMENT_PREFIX_PATH}} [[{':'.join(prefixes)}]])",
        f"list(PREPEND CMAKE_PREFIX_PATH {' '.join(f'[[{prefix}]]' for prefix in prefixes)})",
        f"set(Python_EXECUTABLE [[{python}]])",
        f"set(Python3_EXECUTABLE [[{python}]])",
    ]
    if not sourced:
        # Some CMake packages of the wheels name libraries of the Python bindings, which a program
        # does not use and could not resolve.
        lines += [
            f"set(CMAKE_{kind}_LINKER_FLAGS_INIT -Wl,--as-needed)"
            for kind in ("EXE", "SHARED", "MODULE")
        ]
    if old_compiler():
        lines += ["set(CMAKE_C_COMPILER gcc-12)", "set(CMAKE_CXX_COMPILER g++-12)"]
    return "\n".join(lines) + "\n"


def distribution() -> None:
    """Makes the source tree a distribution of the environment, whose entry points launch and
    ros2cli look up, and puts a `ros2` there that runs in the environment.
    """
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    source = (ROOT / "python" / "takt" / "__init__.py").read_text()
    (version,) = re.findall('^__version__ = "(.+)"$', source, re.MULTILINE)
    lines = []
    for group, points in {"console_scripts": project["scripts"], **project["entry-points"]}.items():
        lines += [f"[{group}]", *(f"{name} = {target}" for name, target in points.items())]
    site_packages = Path(sysconfig.get_path("purelib"))
    metadata = site_packages / f"{project['name'].replace('-', '_')}.egg-info"
    write(
        metadata / "PKG-INFO",
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {version}\n",
    )
    write(metadata / "entry_points.txt", "\n".join(lines) + "\n")
    write(site_packages / "takt_source_tree.pth", "".join(f"{path}\n" for path in BUILT_PYTHON))
    if find_spec("ros2cli"):
        # The installation's own belongs to the system's Python, which knows nothing of Takt.
        ros2 = VENV / "bin" / "ros2"
        run = "from ros2cli.cli import main\n\nraise SystemExit(main())\n"
        write(ros2, f"#!{sys.executable}\n{run}")
        ros2.chmod(0o755)


def main() -> None:
    sourced = os.environ.get("TAKT_ROS_DISTRO", "") == ""
    write(ROOT / "build" / "setup" / "environment.sh", shell(sourced))
    write(ROOT / "build" / "setup" / "toolchain.cmake", cmake(sourced))
    distribution()


if __name__ == "__main__":
    main()
