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
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from takt import built, cli, loopback

Done = subprocess.CompletedProcess[str]

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
RECORDING = ROOT / "tests" / "recordings" / "pipeline-lttng.tar.xz"
MODEL = ROOT / "models" / "pipeline.json"
TARGETS = {"make demo": "takt_demo", "make": "all", "make web": "takt_web"}
"""What each builds, by CMake's name."""

LACKS = re.compile(r"takt: (\S+) is missing: run '(make[^']*)' in \S+\n")

START = f"""
import sys
sys.path[:] = [
    path for path in sys.path if not path.startswith(("{ROOT}/python", "{ROOT}/build"))
]
from takt.__main__ import main
sys.exit(main())
"""


@functools.cache
def outputs(target: str) -> set[str]:
    """What is built before a target of CMake is, by names in the build folder, and more names."""
    found: set[str] = set()
    new = {target}
    while new:
        found |= new
        told = re.sub(r"^  outputs:\n(    .*\n)*", "", ninja("query", *sorted(new)), flags=re.M)
        inputs = re.findall(r"^    \|?\|? ?(\S+)$", told.replace(f"{BUILD}/", ""), re.M)
        new = {name for name in inputs if not name.startswith("/")} - found
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
            link.symlink_to(BUILD / file)

    def start(self, *arguments: str, program: str = START) -> subprocess.Popen[str]:
        paths = [self._folder / "python", self._folder / "build" / "release" / "python"]
        return subprocess.Popen(
            [sys.executable, "-c", program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**loopback.environment(), "PYTHONPATH": os.pathsep.join(map(str, paths))},
            cwd=self._folder,
        )

    def run(self, *arguments: str, program: str = START) -> Done:
        """Runs a command to its end. `takt serve` is told to end when it has said where it is."""
        with self.start(*arguments, program=program) as process:
            assert process.stdout is not None
            first = process.stdout.readline() if arguments[:1] == ("serve",) else ""
            if first:
                process.send_signal(signal.SIGINT)
            output, errors = process.communicate()
        return Done(process.args, process.returncode, first + output, errors)


@pytest.fixture(scope="module", params=TARGETS)
def tree(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tree:
    return Tree(tmp_path_factory.mktemp("tree"), TARGETS[request.param])


BRIDGE = """
key: {key}
hosts:
  a: {{address: 127.0.0.1, port: 7510}}
  b: {{address: 127.0.0.1, port: 7520}}
topics:
  - {{topic: /scan, from: a}}
"""


def calls(folder: Path) -> dict[str, list[str]]:
    """A short call of each command, in which it does what it is for."""
    key, bridge, goals = folder / "bridge.key", folder / "bridge.yaml", folder / "goals.yaml"
    key.write_bytes(bytes(32))
    key.chmod(0o600)
    bridge.write_text(BRIDGE.format(key=key))
    goals.write_text("chains:\n  - {name: c, from: /scan, to: /cmd_vel, latency: 1s}\n")
    recording, model, plan = str(RECORDING), str(MODEL), str(folder / "plan.json")
    return {
        "analyze": [model],
        "bridge": [str(bridge), "--host", "a", "--duration", "1"],
        "budget": [model],
        "completion": ["bash"],
        "demo": ["--duration", "1", "--no-manage", "-o", str(folder / "demo")],
        "diff": [model, model],
        "doctor": [],
        "experiment": ["deterministic-link"],
        "export": [recording, "--format", "perfetto", "-o", str(folder / "trace.pftrace")],
        "flow": [recording],
        "generate": ["--seed", "1", "-o", str(folder / "random.json")],
        "graph": [model, "-o", str(folder / "graph.dot")],
        "handoff": [str(ROOT / "docs" / "examples" / "cubic.yaml")],
        "info": [recording],
        "latency": [recording],
        "man": [],
        "manage": ["--goals", str(goals), "--duration", "1", "--dry-run"],
        "model": [recording, "-o", str(folder / "model.json")],
        "plan": [model, "--executor", "edf", "-o", "-"],
        "record": ["--backend", "ring", "-o", str(folder / "trace"), "--", "true"],
        "report": [recording, "-o", str(folder / "page.html")],
        "run": [model, "--duration", "1"],
        "serve": [recording, "--cache", str(folder / "cache")],
        "shape": [model, "--chain", CHAIN, "--cycles", "50", "-o", plan],
        "apply": [plan, "--duration", "1"],
        "simulate": [model],
        "snapshot": [],
        "status": [],
        "watch": ["--duration", "1"],
    }


CHAIN: str = json.loads(MODEL.read_text())["chains"][0]["id"]

NOBODY = {
    "snapshot": "takt: no snapshot recording runs: ",
    "status": "takt: /run/takt/manager.sock: no takt manage of this user runs",
}
"""What these say where there is nobody whom they could ask."""


def lacking(done: Done) -> str | None:
    """The part that a command lacks; the line names a target that builds it. None: it had all."""
    found = LACKS.fullmatch(done.stderr)
    if found is None:
        return None
    assert (done.returncode, done.stdout) == (2, "")
    assert found[1] in parts(TARGETS[found[2]])
    return found[1]


def test_every_command_works_or_says_what_builds_the_part_that_it_lacks(
    tree: Tree, tmp_path: Path
) -> None:
    absent = built.PARTS.keys() - tree.parts
    checks = json.loads(tree.run("doctor", "--json").stdout)["checks"]
    (libraries,) = (check for check in checks if check["id"] == "tracetools")
    assert set(libraries["facts"]["missing"]) == absent
    assert (libraries["state"] == "ok") == (not absent)
    found = calls(tmp_path)
    assert found.keys() == cli.commands().keys()
    if "link_experiment" in tree.parts:
        found["experiment"] = ["--list"]  # it takes minutes
    wrong = []
    for name, arguments in found.items():
        done = tree.run(name, *arguments)
        part = lacking(done)
        refused = done.stderr.startswith(NOBODY.get(name, "takt: "))
        if part is not None and part in absent:
            continue
        if part is not None or "Traceback" in done.stderr:
            wrong.append(f"{name}: {done.stderr}")
        elif done.returncode not in (0, 1) and not (name in NOBODY and refused):
            wrong.append(f"{name}: {done.returncode}: {done.stderr}")
    assert wrong == []


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
        assert LACKS.fullmatch(done.stderr), done.stderr


def test_a_part_is_built_by_the_target_that_is_named() -> None:
    for name, part in built.PARTS.items():
        assert name in parts(TARGETS[part.make]), f"{part.make} does not build {name}"
