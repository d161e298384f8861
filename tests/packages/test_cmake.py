"""Takt's library in someone else's CMake project: installed, and as a folder of it."""

from __future__ import annotations

import json
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from packages import CMAKE_ARGUMENTS, HERE, ROOT, run

pytestmark = pytest.mark.timeout(func_only=True)
MODEL = ROOT / "models" / "autoware_reference_system.json"
BUILD = ROOT / "build" / "release"


def expected() -> str:
    """The bounds that the command line prints."""
    bounds = json.loads(run("python", "-m", "takt", "analyze", MODEL, "--json"))
    return "".join(f"{chain['id']} {chain['bound']}\n" for chain in bounds["chains"])


def build(source: Path, folder: Path, *options: str) -> None:
    run("cmake", "-S", source, "-B", folder, "-G", "Ninja", *options)
    run("cmake", "--build", folder, "-j2")


def test_a_project_finds_the_installed_package(tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    run("cmake", "--install", BUILD, "--prefix", prefix)
    project = tmp_path / "build"
    build(HERE / "analysis_program", project, f"-DCMAKE_PREFIX_PATH={prefix}")
    assert run(project / "analysis_program", MODEL) == expected()


def test_the_installed_command_line_works_where_it_is(tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    run("cmake", "--install", BUILD, "--prefix", prefix)
    installed = set(prefix.rglob("*"))
    modules = [path for path in installed if path.match("takt/*.py")]
    assert modules
    assert installed >= {Path(cache_from_source(str(module))) for module in modules}
    assert "usage" in run(prefix / "bin" / "takt", "--help").lower()
    bounds = json.loads(run(prefix / "bin" / "takt", "analyze", MODEL, "--json"))
    assert "".join(f"{c['id']} {c['bound']}\n" for c in bounds["chains"]) == expected()
    assert set(prefix.rglob("*")) == installed  # which may be read-only


@pytest.fixture(scope="module")
def takt_as_a_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The build of a project that compiles Takt's libraries, too. Takes minutes."""
    folder = tmp_path_factory.mktemp("folder")
    build(HERE / "analysis_program", folder, f"-DTAKT_SOURCE={ROOT}", *CMAKE_ARGUMENTS)
    return folder


def test_a_project_has_takt_as_a_folder(takt_as_a_folder: Path) -> None:
    assert run(takt_as_a_folder / "analysis_program", MODEL) == expected()


def test_a_plain_configuration_is_optimised_without_tests_and_keeps_warnings_warnings(
    tmp_path: Path,
) -> None:
    options = (
        "-DTAKT_BUILD_ROS=OFF",
        "-DTAKT_BUILD_PYTHON=OFF",
        "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
    )
    run("cmake", "-S", ROOT, "-B", tmp_path, "-G", "Ninja", *options)
    commands = json.loads((tmp_path / "compile_commands.json").read_text())
    assert commands
    for command in commands:
        assert " -O3 " in command["command"]
        assert "-Werror" not in command["command"]
        assert "-DNDEBUG" not in command["command"]
        assert "/tests/" not in command["file"]
