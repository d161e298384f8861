"""The Debian package: built from its source package in a Debian that has what it asks for and
nothing else, and used in one that has nothing but it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from packages import ROOT, run

SUITE = "trixie"
"""The first Debian that has Takt's libraries for Python."""
MODEL = ROOT / "models" / "autoware_reference_system.json"
RECORDING = ROOT / "tests" / "recordings" / "pipeline-lttng.tar.xz"

# For a machine that has built them: a folder with the binary packages.
PACKAGES = os.environ.get("TAKT_TEST_DEBS")

# The limit is for what is tested: how long the package is built depends on the machine.
pytestmark = pytest.mark.timeout(func_only=True)


def debian(variant: str, target: str | Path, *options: str) -> None:
    run("mmdebstrap", f"--variant={variant}", *options, SUITE, target)


@pytest.fixture(scope="module", autouse=True)
def mirror() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make a Debian to build in")
    if shutil.which("mmdebstrap") is None:
        pytest.skip("no mmdebstrap: apt install mmdebstrap debian-archive-keyring")
    found = subprocess.run(
        ["mmdebstrap", "--simulate", "--variant=essential", SUITE, "-"],
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode != 0:
        pytest.skip(f"no mirror of Debian {SUITE}: {found.stderr.splitlines()[-1]}")


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the binary packages."""
    if PACKAGES is not None:
        return Path(PACKAGES)
    source = Path(run(ROOT / "setup" / "deb.sh").strip())
    folder = tmp_path_factory.mktemp("packages")
    build = (
        "cd /build && dpkg-source --extract *.dsc takt && cd takt && dpkg-buildpackage -b -us -uc"
    )
    debian(
        "buildd",
        "-",
        "--format=null",
        f"--customize-hook=copy-in {source.parent} /",
        f'--customize-hook=mv "$1/{source.parent.name}" "$1/build"',
        '--customize-hook=chroot "$1" sh -c "apt-get build-dep --yes /build/*.dsc"',
        f'--customize-hook=chroot "$1" sh -c "{build}"',
        '--customize-hook=mkdir "$1/built" && mv "$1"/build/*.deb "$1/built"',
        f"--customize-hook=sync-out /built {folder}",
    )
    return folder


@pytest.fixture(scope="module")
def root(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A Debian with the package and what that depends on."""
    folder = tmp_path_factory.mktemp("debian") / "root"
    (package,) = packages.glob("takt_*.deb")
    install = f"apt-get install --yes --no-install-recommends /{package.name}"
    debian(
        "apt",
        folder,
        f"--customize-hook=copy-in {package} /",
        f'--customize-hook=chroot "$1" {install}',
    )
    shutil.copy(MODEL, folder / "model.json")
    shutil.copy(RECORDING, folder)
    yield folder
    shutil.rmtree(folder)


def takt(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`takt` there, with the kernel's files as a booted system has them."""
    script = 'mount -t proc proc "$0/proc" && mount -t sysfs sys "$0/sys" && exec chroot "$0" "$@"'
    return subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, str(root), "takt", *arguments],
        env={"PATH": os.environ["PATH"], "HOME": "/root", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_package_has_the_version_of_the_project(packages: Path) -> None:
    (package,) = packages.glob("takt_*.deb")
    source = (ROOT / "python" / "takt" / "__init__.py").read_text()
    (version,) = re.findall('^__version__ = "(.+)"$', source, re.MULTILINE)
    assert run("dpkg-deb", "--field", package, "Version").strip() == version


def test_it_has_manual_pages_completion_and_the_viewer(packages: Path) -> None:
    (package,) = packages.glob("takt_*.deb")
    names = run("dpkg-deb", "--contents", package).split()
    for name in (
        "bin/takt",
        "share/man/man1/takt.1.gz",
        "share/man/man1/takt-analyze.1.gz",
        "share/bash-completion/completions/takt",
        "share/zsh/vendor-completions/_takt",
        "share/fish/vendor_completions.d/takt.fish",
        "lib/python3/dist-packages/takt_viewer/viewer.html",
    ):
        assert f"./usr/{name}" in names


def test_the_library_is_what_cmake_finds(packages: Path) -> None:
    (package,) = packages.glob("libtakt-dev_*.deb")
    names = run("dpkg-deb", "--contents", package).split()
    assert "./usr/lib/x86_64-linux-gnu/cmake/takt/takt-config.cmake" in names
    assert "./usr/lib/x86_64-linux-gnu/libtakt_analysis.a" in names
    assert "./usr/include/takt/analysis/analyze.hpp" in names


def test_lintian_finds_no_fault(packages: Path) -> None:
    if shutil.which("lintian") is None:
        pytest.skip("no lintian: apt install lintian")
    checked = [path for path in packages.glob("*.deb") if "-dbgsym_" not in path.name]
    run("lintian", "--allow-root", "--fail-on", "error,warning", *checked)


def test_it_analyzes_simulates_and_reads_traces_without_ros(root: Path) -> None:
    expected = json.loads(run("python", "-m", "takt", "analyze", MODEL, "--json"))
    done = takt(root, "analyze", "/model.json", "--json")
    assert done.stderr == ""
    assert json.loads(done.stdout)["chains"] == expected["chains"]
    done = takt(root, "simulate", "/model.json", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["chains"]
    done = takt(root, "info", f"/{RECORDING.name}", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["format"] == "takt/info"


def test_the_doctor_finds_what_is_missing(root: Path) -> None:
    done = takt(root, "doctor")
    assert done.returncode in (0, 1)
    assert done.stderr == ""
    assert "ROS 2" in done.stdout
    assert "Traceback" not in done.stdout


def test_the_manager_is_there_and_not_enabled(root: Path) -> None:
    units = {path.relative_to(root) for path in root.rglob("takt-manage.service")}
    assert units == {Path("usr/lib/systemd/system/takt-manage.service")}


@pytest.mark.parametrize("command", [("run", "/model.json"), ("demo",)])
def test_what_needs_ros_says_so_in_one_line(root: Path, command: tuple[str, ...]) -> None:
    done = takt(root, *command)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("takt: ")
    assert "ROS 2" in line
