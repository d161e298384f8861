"""Turns the ROS 2 wheels installed in this environment into a plain ROS 2 prefix.

The wheels carry a complete ROS 2 (libraries in lib/, headers in include/, CMake packages in
share/), repackaged from a build on another machine, and some of that machine is left in them:

* libraries name their bundled dependencies (`ros_*.libs`) by a path that is wrong where the
  wheels install them;
* librcl and others ask for a bundled, old LTTng that they do not use, and which must not be loaded
  beside the system's one: the process would register with the tracing daemon twice;
* librcl asks for libraries of the Python bindings, whose symbols only a Python process has;
* CMake packages name headers and libraries of the machine they were built on.

Each repair looks at what is there and changes only what needs it, so repeating it changes nothing.
Run it with the environment's own Python.
"""

import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path

PREFIX = Path(sys.prefix)
LIBRARIES = PREFIX / "lib"
SITE_PACKAGES = Path(sysconfig.get_path("platlib"))
PATCHELF = PREFIX / "bin" / "patchelf"

PYTHON_BINDINGS = "__rosidl_generator_py"
# The libraries that really call the bundled LTTng.
LTTNG_USERS = ("libtracetools", "liblttng-ust")

PROPERTY = re.compile(
    r'^(?P<key>\s*INTERFACE_(?:INCLUDE_DIRECTORIES|LINK_LIBRARIES) )"(?P<items>.*)"$', re.MULTILINE
)


def patchelf(*arguments: str | Path) -> str:
    command = [PATCHELF, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def replace(path: Path, write: Callable[[Path], object]) -> None:
    """Replaces a file by a new one that `write` fills: the installer may have linked the installed
    file to its cache, which must stay as it is.
    """
    descriptor, name = tempfile.mkstemp(prefix=path.name, dir=path.parent)
    os.close(descriptor)
    new = Path(name)
    try:
        write(new)
        new.chmod(path.stat().st_mode)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def needless(library: Path, needed: str) -> bool:
    """Whether `library` asks for `needed` without using it."""
    if needed.startswith("liblttng-ust"):
        return not library.name.startswith(LTTNG_USERS)
    if PYTHON_BINDINGS in needed:
        return library.parent == LIBRARIES and PYTHON_BINDINGS not in library.name
    return False


def repair_library(library: Path) -> bool:
    needed = patchelf("--print-needed", library).split()
    drop = [name for name in needed if needless(library, name)]
    bundles = {
        found.parent
        for name in needed
        if name not in drop
        for found in sorted(SITE_PACKAGES.glob(f"ros_*.libs/{name}"))[:1]
    }
    run_path = patchelf("--print-rpath", library).strip()
    if bundles:
        search = sorted(os.path.relpath(bundle, library.parent) for bundle in bundles)
        run_path = ":".join(["$ORIGIN", *(f"$ORIGIN/{folder}" for folder in search)])
    if not drop and run_path == patchelf("--print-rpath", library).strip():
        return False

    options = [option for name in drop for option in ("--remove-needed", name)]
    options += ["--set-rpath", run_path] if run_path else []
    replace(library, lambda new: patchelf(*options, "--output", new, library))
    return True


def foreign(item: str) -> bool:
    """Whether an item of a CMake property belongs to the machine that built the wheels, or to the
    libraries bundled with them."""
    path = Path(item)
    return (path.is_absolute() and not path.exists()) or "OpenSSL::" in item


def repair_cmake(file: Path) -> bool:
    before = file.read_text()

    def keep(match: re.Match[str]) -> str:
        items = [item for item in match["items"].split(";") if not foreign(item)]
        return f'{match["key"]}"{";".join(items)}"'

    after = PROPERTY.sub(keep, before).replace(
        "find_package(OpenSSL REQUIRED)", "find_package(OpenSSL QUIET)"
    )
    if after == before:
        return False
    replace(file, lambda new: new.write_text(after))
    return True


def main() -> None:
    libraries = sum(
        repair_library(library)
        for library in (
            *LIBRARIES.glob("lib*.so*"),
            *SITE_PACKAGES.glob("*/*.so"),
            *SITE_PACKAGES.glob("ros_*.libs/*.so*"),
        )
    )
    files = sum(
        repair_cmake(file)
        for folder in ("share", "lib/cmake")
        for file in sorted((PREFIX / folder).rglob("*.cmake"))
    )
    print(f"ROS 2 wheels: {libraries} libraries and {files} CMake files repaired")


if __name__ == "__main__":
    main()
