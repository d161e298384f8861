"""After each target of the Makefile that builds, every command works, or one line names the target
that builds what it lacks.

What a target builds is what CMake says. Everything else is hidden: the commands run in a copy of
the source tree whose build folder has only that.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import short_calls
from short_calls import Done, faults
from takt import built, cli, loopback

# Thirty commands, one after the other.
pytestmark = pytest.mark.timeout(1800)

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"

TARGETS = {"make demo": "takt_demo", "make": "all", "make web": "takt_web"}
"""What each builds, by CMake's name."""

START = f"""
import sys
sys.path[:] = [
    path for path in sys.path if not path.startswith(("{ROOT}/python", "{ROOT}/build"))
]
from takt.__main__ import main
sys.exit(main())
"""


SOURCES = {".c", ".cpp", ".cxx", ".h", ".hpp", ".o"}
"""What these depend on builds no program."""


@functools.cache
def outputs(target: str) -> set[str]:
    """What is built before a target of CMake is, by names in the build folder, and more names."""
    found: set[str] = set()
    new = {target}
    while new:
        found |= new
        told = re.sub(r"^  outputs:\n(    .*\n)*", "", ninja("query", *sorted(new)), flags=re.M)
        inputs = re.findall(r"^    \|?\|? ?(\S+)$", told.replace(f"{BUILD}/", ""), re.M)
        new = {
            name for name in inputs if Path(name).suffix not in SOURCES and name[0] != "/"
        } - found
    return found


def ninja(tool: str, *arguments: str) -> str:
    command = ["ninja", "-C", str(BUILD), "-t", tool, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def parts(target: str) -> set[str]:
    """The parts (takt.built) that it builds."""
    files = outputs(target)
    modules = {Path(file).name.partition(".")[0] for file in files if file.endswith(".so")}
    return {
        name
        for name, part in built.PARTS.items()
        if (name in modules if not part.file else {part.file, f"python/{part.file}"} & files)
    }


def without_rclcpp() -> set[str]:
    """The parts that no target builds, as CMake found no rclcpp."""
    return built.WHERE_RCLCPP_IS - parts("all")


class Tree:
    """A copy of the source tree in which one target was built."""

    def __init__(self, folder: Path, target: str) -> None:
        self.parts = parts(target)
        self._folder = folder
        shutil.copytree(ROOT / "python" / "takt", folder / "python" / "takt")
        shutil.copy(ROOT / "CMakePresets.json", folder)
        for name in ("experiments", "models"):
            (folder / name).symlink_to(ROOT / name)
        for file in filter(lambda name: (BUILD / name).is_file(), outputs(target)):
            link = folder / "build" / "release" / file
            link.parent.mkdir(parents=True, exist_ok=True)
            # No symbolic link, which would lead to what else is there.
            shutil.copy(BUILD / file, link)

    def run(self, *arguments: str, program: str = START) -> Done:
        paths = [self._folder / "python", self._folder / "build" / "release" / "python"]
        return short_calls.run(
            [sys.executable, "-c", program],
            *arguments,
            cwd=self._folder,
            environment={
                **loopback.environment(),
                "PYTHONPATH": os.pathsep.join(map(str, paths)),
            },
        )


def part_that_lacks(line: str) -> str | None:
    """The part that a command lacks, if the line names a target that builds it."""
    said = re.fullmatch(r"takt: (\S+) is missing: run '(make[^']*)' in \S+\n", line)
    return said[1] if said and said[1] in parts(TARGETS[said[2]]) else None


@pytest.fixture(scope="module", params=TARGETS)
def tree(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tree:
    return Tree(tmp_path_factory.mktemp("tree"), TARGETS[request.param])


def test_every_command_works_or_says_what_builds_the_part_that_it_lacks(
    tree: Tree, tmp_path: Path
) -> None:
    absent = built.PARTS.keys() - tree.parts
    checks = json.loads(tree.run("doctor", "--json").stdout)["checks"]
    (libraries,) = (check for check in checks if check["id"] == "tracetools")
    missing = absent - built.WHERE_RCLCPP_IS
    assert set(libraries["facts"]["missing"]) == missing
    assert (libraries["state"] == "ok") == (not missing)

    assert faults(tree.run, tmp_path, lambda line: part_that_lacks(line) in absent) == []


def test_help_in_every_form_works(tree: Tree) -> None:
    for arguments in (["completion", "zsh"], ["man"], *(["man", name] for name in cli.commands())):
        done = tree.run(*arguments)
        if "takt_native" in tree.parts:
            assert (done.returncode, done.stderr) == (0, ""), arguments
            assert done.stdout
        else:
            assert part_that_lacks(done.stderr) == "takt_native", arguments


def test_an_experiment_says_what_builds_its_program(tree: Tree) -> None:
    if "link_experiment" not in tree.parts:
        done = tree.run("experiment", "deterministic-link")
        last = done.stderr.splitlines(keepends=True)[-1]
        assert part_that_lacks(last) in ("takt_native", "link_experiment")
        assert done.returncode == 2


def test_executors_for_rclpy_say_what_builds_them(tree: Tree) -> None:
    program = START.rpartition("from takt")[0] + (
        "from takt.errors import UserError\n"
        "try:\n"
        "    import takt.executors\n"
        "except ImportError as error:\n"
        "    assert isinstance(error, UserError)\n"
        "    sys.exit(f'takt: {error}')\n"
    )
    done = tree.run(program=program)
    if "takt_executors" in tree.parts:
        assert (done.returncode, done.stderr) == (0, "")
    else:
        assert part_that_lacks(done.stderr) == "takt_executors"


@pytest.mark.parametrize("name", built.PARTS)
def test_a_part_is_built_by_the_target_that_is_named(name: str) -> None:
    if name in without_rclcpp():
        pytest.skip("CMake found no rclcpp, so its programs are not built")
    assert name in parts(TARGETS[built.PARTS[name].make])
