"""The wheels of `make wheel`, each in environments that have nothing but ROS 2 beside it."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import short_calls
from packages import ROOT, outside, run
from short_calls import Done, faults
from takt import loopback

WHEELS = ROOT / "build" / "packaging" / "wheels"
UV = ROOT / ".venv" / "bin" / "uv"
VERSIONS = ("3.10", "3.11", "3.12", "3.13")
DISTRIBUTIONS = ("jazzy", "kilted")
MODEL = ROOT / "models" / "pipeline.json"

# The limit is for what is tested: how long another wheel is built depends on the machine.
pytestmark = pytest.mark.timeout(func_only=True)


def newest(version: str) -> Path | None:
    found = WHEELS.glob(f"takt_ros-*-cp{version.replace('.', '')}-*.whl")
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


@pytest.fixture(scope="module", params=VERSIONS)
def wheel(request: pytest.FixtureRequest) -> Path:
    version: str = request.param
    found = newest(version)
    if found is None:
        pytest.skip(
            f"no wheel for CPython {version} in build/packaging/wheels: "
            f'run make wheel TAKT_WHEEL_PYTHONS="{version}"'
        )
    return found


@dataclass(frozen=True)
class Environment:
    """A virtual environment."""

    folder: Path

    def run(self, *command: str | Path, cwd: Path) -> str:
        return run(*command, cwd=cwd, environment=self.variables())

    def variables(self) -> dict[str, str]:
        variables = outside()
        return variables | {"PATH": f"{self.folder}/bin:{variables['PATH']}"}


def install(folder: Path, wheel: Path, extras: str, distribution: str) -> Environment:
    """The wheel beside ROS 2, whose wheels are those of the lock."""
    text = (ROOT / f"setup/requirements/ros-{distribution}.lock").read_text()
    ros = re.findall(r"^(\S+==\S+)", text, re.MULTILINE)
    wanted = [
        requirement.replace("rclpy==", "rclpy[fastrtps]==")
        for requirement in ros
        if re.match(rf"ros-{distribution}-(rclpy|std-msgs)(\[.*\])?==", requirement)
    ]
    assert len(wanted) == 2
    (version,) = re.findall(r"-cp3(\d+)-", wheel.name)
    run(UV, "venv", "--python", f"3.{version}", folder)
    python = folder / "bin" / "python"
    run(UV, "pip", "install", "--python", python, f"{wheel}{extras}", *wanted)
    return Environment(folder)


@pytest.fixture(scope="module", params=DISTRIBUTIONS)
def distribution(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def clean(wheel: Path, distribution: str, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return install(tmp_path_factory.mktemp("clean") / "venv", wheel, "", distribution)


@pytest.fixture(scope="module")
def extended(
    wheel: Path, distribution: str, tmp_path_factory: pytest.TempPathFactory
) -> Environment:
    folder = tmp_path_factory.mktemp("extended") / "venv"
    return install(folder, wheel, "[report,tables,mcap]", distribution)


def names_in(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_it_has_what_runs_inside_both_distributions(wheel: Path) -> None:
    names = names_in(wheel)
    for distribution in DISTRIBUTIONS:
        for program in (
            "takt-dispatch",
            "takt-estimator",
            "takt-bridge",
            "takt-gate",
            "takt-manager",
            "takt-threads",
            "takt-workload",
        ):
            assert f"takt/runtimes/{distribution}/bin/{program}" in names
        assert f"takt/runtimes/{distribution}/lib/libtracetools.so" in names


def licences(names: Sequence[str], folder: str) -> set[str]:
    return {Path(name).stem for name in names if f"/licenses/{folder}/" in name}


def test_licences_of_all_bundled_libraries_are_in_it(wheel: Path) -> None:
    names = names_in(wheel)
    bundled = [name for name in names if name.startswith("takt_ros.libs/")]
    texts = licences(names, "bundled")
    assert bool(bundled) == bool(texts)
    assert {"libelf1", "libarchive13"} <= texts
    # What speaks to LTTng's daemon is the system's.
    assert not any("lttng" in name for name in bundled)
    assert any(name.endswith("/licenses/LICENSE") for name in names)


def test_licences_of_all_headers_that_were_compiled_are_in_it(wheel: Path) -> None:
    texts = licences(names_in(wheel), "compiled")
    assert {
        "fastcdr",
        "libexpected-dev",
        "libeigen3-dev",
        "libfmt-dev",
        "liblttng-ust-dev",
        "libyaml-cpp-dev",
        "nanobind",
        "nlohmann-json3-dev",
        "robin_map",
        "ros-2",
    } <= texts
    assert not any(name.startswith(("libc6", "libstdc++")) for name in texts)


def test_its_tag_is_that_of_many_linuxes(wheel: Path) -> None:
    assert re.search(r"-manylinux_2_\d+_x86_64(\.|$)", wheel.stem + ".")


@pytest.mark.timeout(3600)  # It builds everything anew.
def test_the_same_commit_gives_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    """From a folder of another length. CMAKE_ARGS is passed on, e.g. for a compiler cache."""
    if run("git", "-C", ROOT, "status", "--porcelain").strip():
        pytest.skip("the source tree has changes: the wheel may be of no commit")
    (version,) = re.findall(r"-cp3(\d+)-", wheel.name)
    another = tmp_path / "a-clone-of-the-project"
    run("git", "clone", "--quiet", ROOT, another)
    environment = outside() | {"TAKT_WHEEL_PYTHONS": f"3.{version}"}
    run("make", "wheel", cwd=another, environment=environment)
    digests = [
        hashlib.sha256((folder / wheel.name).read_bytes()).hexdigest()
        for folder in (WHEELS, another / "build/packaging/wheels")
    ]
    assert digests[0] == digests[1]


def test_the_demo_runs_in_a_clean_environment(clean: Environment, tmp_path: Path) -> None:
    output = clean.run("takt", "demo", cwd=tmp_path)
    assert "An executor of its own for /map_saver" in output
    assert (tmp_path / "takt-demo" / "demo.json").exists()


def test_every_step_from_a_recording_to_a_report_works(
    extended: Environment, tmp_path: Path
) -> None:
    (tmp_path / "pipeline.json").write_bytes(MODEL.read_bytes())

    def takt(*arguments: str) -> str:
        return extended.run("takt", *arguments, cwd=tmp_path)

    takt("record", "-o", "trace", "--", "takt", "run", "pipeline.json", "--duration", "2")
    recorded = json.loads(takt("info", "trace", "--json"))
    assert recorded["format"] == "takt/info"
    takt("model", "trace", "-o", "model.json")
    model = json.loads((tmp_path / "model.json").read_text())
    assert len(model["callbacks"]) == len(json.loads(MODEL.read_text())["callbacks"])
    for command in ("analyze", "simulate"):
        assert json.loads(takt(command, "model.json", "--json"))["chains"]
    takt("plan", "model.json", "--executor", "fixed_priority", "-o", "plan.json")
    takt("report", "trace", "-o", "report.html")
    assert "</html>" in (tmp_path / "report.html").read_text()
    for kind in ("perfetto", "parquet", "csv", "mcap"):
        takt("export", "trace", "--format", kind, "-o", f"exported.{kind}")
        assert (tmp_path / f"exported.{kind}").exists()


def test_every_command_works_or_says_what_it_lacks(
    clean: Environment, distribution: str, tmp_path: Path
) -> None:
    """Without extras: what needs one says which. Experiments are in the sources alone."""
    quiet = loopback.environment({"ROS_DISTRO": distribution})
    del quiet["ROS_DISTRO"]

    def takt(*arguments: str) -> Done:
        command = [str(clean.folder / "bin" / "takt")]
        environment = clean.variables() | quiet
        return short_calls.run(command, *arguments, cwd=tmp_path, environment=environment)

    found = json.loads(takt("doctor", "--json").stdout)
    (libraries,) = (check for check in found["checks"] if check["id"] == "tracetools")
    assert (libraries["state"], libraries["facts"]["missing"]) == ("ok", [])
    says = re.compile(r"pip install 'takt-ros\[|they come with the project's source")
    assert faults(takt, tmp_path, lambda line: says.search(line) is not None) == []


def test_a_report_needs_no_extra(clean: Environment, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    command = [f"{clean.folder}/bin/takt", "report", str(MODEL), "-o", str(page)]
    subprocess.run(command, check=True)
    assert 'id="takt-index"' in page.read_text(encoding="utf-8")
