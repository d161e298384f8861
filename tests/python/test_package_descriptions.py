"""What a package's CMake looks for is in its package.xml: a workspace builds packages in the order
that follows from these, and rosdep installs what they name.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = sorted(
    folder for folder in (ROOT, *(ROOT / "ros").iterdir()) if (folder / "package.xml").exists()
)
FOLDERS_OF_TAKT = ("libtakt", "python", "ros", "web")
BESIDE_OTHERS = (ROOT / "ros/probe",)
"""Needs takt_rclcpp, which is another package: built in a checkout, which builds all of them."""

# rosdep's keys for packages that CMake and pkg-config name differently.
KEYS = {
    "Eigen3": "eigen",
    "Python": "python3-dev",
    "PkgConfig": "pkg-config",
    "lttng-ctl": "liblttng-ctl-dev",
    "lttng-ust": "liblttng-ust-dev",
    "libcrypto": "libssl-dev",
    "libsodium": "libsodium-dev",
    "nlohmann_json": "nlohmann-json-dev",
    "tl-expected": "libexpected-dev",
}
# rosdep has no keys for these, or the C library has them.
WITHOUT_KEY = {"GTest", "LibArchive", "Threads", "babeltrace2"}
WITHOUT_KEY |= {"libbpf", "libelf", "libibverbs", "nanobind"}

FOUND = re.compile(r"^[^#\n]*find_package\((\S+?)[\s)]", re.MULTILINE)
BY_PKG_CONFIG = re.compile(
    r"^[^#\n]*pkg_check_modules\(\S+[^)]*?IMPORTED_TARGET ([\w-]+)", re.MULTILINE
)


def cmake_files(package: Path) -> list[Path]:
    """The CMake files of the package, without those of packages below it."""
    if package != ROOT:
        return sorted(package.rglob("CMakeLists.txt"))
    others = [*(other for other in PACKAGES if other != ROOT), *BESIDE_OTHERS]
    found = [path for folder in FOLDERS_OF_TAKT for path in (ROOT / folder).rglob("CMakeLists.txt")]
    return [ROOT / "CMakeLists.txt"] + [
        path
        for path in found
        if "node_modules" not in path.parts and not any(path.is_relative_to(o) for o in others)
    ]


def test_the_packages_are_those_of_the_documentation() -> None:
    names = {ElementTree.parse(package / "package.xml").findtext("name") for package in PACKAGES}
    assert names == {"takt", "takt_msgs", "takt_rclcpp", "takt_container"}


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_what_cmake_looks_for_is_declared(package: Path) -> None:
    description = ElementTree.parse(package / "package.xml").getroot()
    declared = {element.text for element in description if element.tag.endswith("depend")} | {
        description.findtext("name")
    }
    wanted = set()
    for path in cmake_files(package):
        text = path.read_text()
        wanted |= {*FOUND.findall(text), *BY_PKG_CONFIG.findall(text)}
    missing = {KEYS.get(name, name) for name in wanted - WITHOUT_KEY} - declared
    assert missing == set()
