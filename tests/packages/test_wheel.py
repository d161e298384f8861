"""The wheel of `make wheel`, in an environment that has nothing but ROS 2 beside it."""

from __future__ import annotations

import os
import re
import sys
import zipfile
from pathlib import Path

import pytest

from packages import ROOT, run

WHEELS = ROOT / "build" / "packaging" / "wheels"
TAG = f"cp{sys.version_info.major}{sys.version_info.minor}"


@pytest.fixture(scope="module")
def wheel() -> Path:
    found = sorted(WHEELS.glob(f"takt_ros-*-{TAG}-*.whl"), key=lambda path: path.stat().st_mtime)
    if not found:
        pytest.skip(f"no wheel for {TAG} in build/packaging/wheels: run make wheel")
    return found[-1]


def test_it_has_what_runs_inside_both_distributions(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for distribution in ("jazzy", "kilted"):
        for program in ("takt-dispatch", "takt-gate", "takt-manager", "takt-workload"):
            assert f"takt/runtimes/{distribution}/bin/{program}" in names
        assert f"takt/runtimes/{distribution}/lib/libtracetools.so" in names


def test_licences_of_all_bundled_libraries_are_in_it(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    bundled = [name for name in names if name.startswith("takt_ros.libs/")]
    texts = [name for name in names if "/licenses/bundled/" in name]
    assert bool(bundled) == bool(texts)
    assert {"libelf1.txt", "libarchive13.txt"} <= {Path(text).name for text in texts}
    # What speaks to LTTng's daemon is the system's.
    assert not any("lttng" in name for name in bundled)
    assert any(name.endswith("/licenses/LICENSE") for name in names)


def test_its_tag_is_that_of_many_linuxes(wheel: Path) -> None:
    assert re.search(r"-manylinux_2_\d+_x86_64(\.|$)", wheel.stem + ".")


def test_the_demo_runs_in_a_clean_environment(wheel: Path, tmp_path: Path) -> None:
    clean = tmp_path / "clean"
    lock = (ROOT / "setup" / "requirements" / "ros-jazzy.lock").read_text()
    versions = dict(re.findall(r"^(ros-jazzy-[a-z0-9-]+)(?:\[.*\])?==(\S+)", lock, re.MULTILINE))
    ros = [
        f"ros-jazzy-rclpy[fastrtps]=={versions['ros-jazzy-rclpy']}",
        f"ros-jazzy-std-msgs=={versions['ros-jazzy-std-msgs']}",
    ]
    run(sys.executable, "-m", "venv", clean)
    run(ROOT / ".venv/bin/uv", "pip", "install", "--python", clean / "bin/python", wheel, *ros)
    # What a shell has in which nothing of ROS 2 or of this source tree is set up.
    environment = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
    output = run(clean / "bin/takt", "demo", cwd=tmp_path, environment=environment)
    assert "lidar to collision estimate" in output
    assert (tmp_path / "takt-demo" / "bounds.json").exists()
