"""The licences of others' work in a wheel: bundled libraries, and headers that were compiled into
it. A part without a known licence is an error.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OWN = ("benchmarks", "build", "libtakt", "python", "ros", "tests")
"""Folders of the project's own headers, generated ones included."""

BUNDLED = re.compile(r"^takt_ros\.libs/(?P<name>.+?)-[0-9a-f]{8}(?P<suffix>\..*)$")
"""The name that auditwheel gives a library."""

# The compiler, the kernel, libc and CPython ask nothing of programs: their licences exempt code
# that includes their headers.
PLATFORM = re.compile(r"libc6-dev|linux-libc-dev|lib(gcc|stdc\+\+)-\d+-dev|libpython3\.\d+-dev")
CPYTHON = re.compile(r"/include/python3\.\d+/")

APACHE = {"Apache License 2.0", "Apache 2.0"}
"""Names that packages of ROS 2 give the Apache License 2.0, which is also Takt's."""


def of_libraries(names: Iterable[str]) -> dict[str, bytes]:
    """For each bundled library the copyright file of the package that it was taken from."""
    found = {}
    for name in names:
        if not name.startswith("takt_ros.libs/"):
            continue
        match = BUNDLED.match(name)
        if match is None:
            raise SystemExit(f"{name}: not named as auditwheel does: its licence is unknown")
        package = next(_owners([f"*/{match['name']}{match['suffix']}"]))
        found[f"{package}.txt"] = _copyright(package)
    return found


def of_headers(builds: Iterable[Path]) -> dict[str, bytes]:
    """The licence of each owner of headers that these builds compiled."""
    found: dict[str, bytes] = {}
    system, ros = set(), set()
    for header in {header for build in builds for header in _headers(build)}:
        if header.is_relative_to("/usr"):
            system.add(str(header))
        elif CPYTHON.search(str(header)):
            continue
        elif "nanobind" in header.parts:
            found |= _of_nanobind(header)
        elif (prefix := _ros_prefix(header)) is not None:
            share = prefix / "share" / header.relative_to(prefix / "include").parts[0]
            if (share / "package.xml").exists():
                ros.add(_of_ros(share))
            else:
                found[f"{share.name}.txt"] = (share / "LICENSE").read_bytes()
        elif not any(header.is_relative_to(ROOT / folder) for folder in OWN):
            raise SystemExit(f"{header}: nobody is known to own it: its licence is unknown")
    for package in _owners(system):
        if not PLATFORM.fullmatch(package):
            found[f"{package}.txt"] = _copyright(package)
    if ros:
        found["ros-2.txt"] = "".join(f"{line}\n" for line in sorted(ros)).encode()
    return found


def _headers(build: Path) -> Iterator[Path]:
    """The headers that the last build of this folder compiled."""
    command = ["ninja", "-C", str(build), "-t", "deps"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for target in text.strip().split("\n\n"):
        first, *names = target.splitlines()
        if first.endswith("(VALID)"):
            yield from ((build / name.strip()).resolve() for name in names)


def _owners(paths: Iterable[str]) -> Iterator[str]:
    """The installed packages that have the files of these names or patterns."""
    command = ["dpkg", "--search", *sorted(paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{done.stderr.strip()}: its licence is unknown")
    for line in done.stdout.splitlines():
        owners = line.split(": ", 1)[0].split(", ")
        yield from (owner.split(":")[0] for owner in owners)


def _copyright(package: str) -> bytes:
    return Path(f"/usr/share/doc/{package}/copyright").read_bytes()


def _of_nanobind(header: Path) -> dict[str, bytes]:
    """nanobind's own licence; files that it has from others begin with theirs."""
    folder = header.parents[len(header.parts) - 1 - header.parts.index("nanobind") - 1]
    inside = header.relative_to(folder).parts
    if inside[0] != "ext":
        (licence,) = folder.parent.glob("nanobind-*.dist-info/licenses/LICENSE")
        return {"nanobind.txt": licence.read_bytes()}
    comment = re.match(r"/\*.*?\*/\n", header.read_text(encoding="utf-8"), re.DOTALL)
    if comment is None:
        raise SystemExit(f"{header}: does not begin with a licence: it is unknown")
    return {f"{inside[1]}.txt": comment[0].encode()}


def _ros_prefix(header: Path) -> Path | None:
    """The prefix of ROS 2 wheels that has a header."""
    for parent in header.parents:
        if parent.name == "include" and (parent.parent / "share").is_dir():
            return parent.parent
    return None


def _of_ros(share: Path) -> str:
    """A line on the licence of a package of ROS 2: Takt's own, whose text the wheel has."""
    description = (share / "package.xml").read_text(encoding="utf-8")
    licences = re.findall(r"<license[^>]*>(.*?)</license>", description)
    if not licences or not APACHE.issuperset(licences):
        raise SystemExit(f"{share.name}: of {licences or 'no licence'}, whose text is unknown")
    return f"{share.name}: Apache License 2.0, as in LICENSE"
