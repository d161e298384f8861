"""A colcon workspace: Takt's packages beside one that uses them, as C++17, on a real rclcpp."""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from packages import CMAKE_ARGUMENTS, HERE, ROOT, run

COLCON = ROOT / "build" / "packaging" / "venv" / "bin" / "colcon"
TOOLCHAIN = ROOT / "build" / "setup" / "toolchain.cmake"

PLAN = """
{"format": "takt/plan", "version": 1, "executors": [{"id": "main", "kind": "fixed_priority",
 "rule": "priority", "callbacks": [{"id": "clock", "node": "/clock", "kind": "timer",
 "period": 10000000, "priority": 1}]}]}
"""


def has(package: str) -> bool:
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(":")
    return any((Path(prefix) / "share" / package / "cmake").is_dir() for prefix in prefixes)


pytestmark = [
    # The limit is for what is tested: how long the workspace is built depends on the machine.
    pytest.mark.timeout(func_only=True),
    pytest.mark.skipif(not has("rclcpp"), reason="no rclcpp is on AMENT_PREFIX_PATH"),
    pytest.mark.skipif(not COLCON.exists(), reason="no colcon: run setup/packaging.sh"),
]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as docs/install.md says, each package in a folder of its own."""
    folder = tmp_path_factory.mktemp("workspace")
    prefixes = os.environ["AMENT_PREFIX_PATH"].replace(":", ";")
    environment = {**os.environ, "CMAKE_BUILD_PARALLEL_LEVEL": "2", "MAKEFLAGS": "-j2"}
    run(
        *(COLCON, "build", "--base-paths", ROOT, ROOT / "ros", HERE / "consumer"),
        *("--executor", "sequential", "--event-handlers", "console_direct+"),
        *("--cmake-args", "-GNinja", f"-DCMAKE_TOOLCHAIN_FILE={TOOLCHAIN}"),
        *(f"-DCMAKE_PREFIX_PATH={prefixes}", *CMAKE_ARGUMENTS),
        cwd=folder,
        environment=environment,
    )
    return folder


def sourced(workspace: Path) -> dict[str, str]:
    """The environment after `. install/setup.bash`."""
    text = run("bash", "-c", ". install/setup.bash && env -0", cwd=workspace)
    return dict(line.split("=", 1) for line in text.split("\0") if "=" in line)


@pytest.fixture
def container(workspace: Path, tmp_path: Path) -> Iterator[None]:
    """A running takt_component_container."""
    plan = tmp_path / "plan.json"
    plan.write_text(PLAN)
    program = workspace / "install/takt_container/lib/takt_container/takt_component_container"
    process = subprocess.Popen([program, "--plan", plan], env=sourced(workspace))
    yield
    process.terminate()
    process.wait()


def test_workspace_has_the_packages(workspace: Path) -> None:
    names = {path.name for path in (workspace / "install").iterdir() if path.is_dir()}
    assert {"takt", "takt_msgs", "takt_rclcpp", "takt_container", "consumer"} <= names


@pytest.mark.parametrize(
    "name", ["SingleThreadedExecutor", "EventsExecutor", "FixedPriorityExecutor", "EdfExecutor"]
)
def test_a_program_of_three_nodes_needs_but_the_name_of_the_class(
    workspace: Path, name: str
) -> None:
    """The first one is rclcpp's own: the program was written for it."""
    program = workspace / "install/consumer/lib/consumer" / f"three_nodes_{name}"
    output = run(program, environment=sourced(workspace))
    numbers = [int(line) for line in output.split()]
    assert len(numbers) >= 10
    assert all(b - a == 2 for a, b in itertools.pairwise(numbers))


def test_the_container_loads_a_component_and_runs_it_by_the_plan(
    workspace: Path, container: None
) -> None:
    output = run(
        workspace / "install/consumer/lib/consumer/load_and_listen",
        environment=sourced(workspace),
    ).split()
    assert output[0] == "/clock"
    numbers = [int(line) for line in output[1:]]
    assert len(numbers) == 10
    assert all(b - a == 1 for a, b in itertools.pairwise(numbers))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no plan"),
        (["--plan"], "--plan lacks its value"),
        (["--plan", "/nowhere.json"], "/nowhere.json"),
        (["--loud"], "unknown argument '--loud'"),
    ],
)
def test_the_container_says_in_one_line_what_is_wrong(
    workspace: Path, arguments: list[str], message: str
) -> None:
    program = workspace / "install/takt_container/lib/takt_container/takt_component_container"
    done = subprocess.run(
        [program, *arguments],
        env=sourced(workspace),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("takt_component_container: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_command_line_is_installed(workspace: Path) -> None:
    environment = sourced(workspace)
    model = ROOT / "models" / "pipeline.json"
    text = run(
        workspace / "install/takt/bin/takt", "analyze", model, "--json", environment=environment
    )
    assert '"takt/bounds"' in text
