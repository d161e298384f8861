"""Commands answer at once: most of the time of a short one is its imports, so these are bounded."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from takt import built, cli

RECORDING = str(Path(__file__).parents[1] / "recordings" / "pipeline-lttng.tar.xz")

EXTENSIONS = {name for name, part in built.PARTS.items() if not part.file}

LIBRARIES = {"click", "takt"} | EXTENSIONS
"""What commands may import beside Python's own modules before they know that they need more."""

SLOW = {"asyncio", "email", "importlib.metadata", "multiprocessing", "statistics", "unittest"}
"""Modules of Python that take long and that no command needs at once."""

PROGRAM = """
import sys
before = set(sys.modules)
{first}
from takt.cli import main
status = main({arguments!r})
with open({output!r}, "w") as file:
    print(*sorted(set(sys.modules) - before), file=file)
sys.exit(status)
"""


def imported(folder: Path, *arguments: str, first: str = "") -> set[str]:
    """The modules that a command has imported when it ends. `first` is run before."""
    output = folder / "modules"
    program = PROGRAM.format(arguments=[*arguments], output=str(output), first=first)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return set(output.read_text().split())


def unwelcome(modules: set[str]) -> set[str]:
    """Those that no command imports at once."""
    known = LIBRARIES | sys.stdlib_module_names
    return {name for name in modules if name.partition(".")[0] not in known} | (modules & SLOW)


def test_an_interruption_while_takt_is_loaded_shows_no_place_in_it(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text(
        "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "takt", "info", RECORDING],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path[1:]])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGINT
    assert done.stderr == ""


def test_the_list_of_commands_loads_no_command(tmp_path: Path) -> None:
    modules = imported(tmp_path, "--help")
    assert unwelcome(modules) == set()
    assert not {name for name in modules if name.startswith("takt.commands")} | (
        modules & EXTENSIONS
    )
    assert len(modules) <= 80


@pytest.mark.parametrize("name", cli.commands())
def test_a_command_imports_what_its_help_needs(name: str, tmp_path: Path) -> None:
    modules = imported(tmp_path, name, "--help")
    assert unwelcome(modules) == set()
    assert len(modules) <= 145


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("info", [RECORDING]),
        ("flow", [RECORDING]),
        ("model", [RECORDING, "-o", "model.json"]),
        ("latency", [RECORDING]),
    ],
)
def test_a_recording_is_read_with_few_imports(
    name: str, arguments: list[str], tmp_path: Path
) -> None:
    modules = imported(tmp_path, name, *arguments)
    assert unwelcome(modules) == set()
    assert {module for module in modules if module.startswith("takt.commands.")} == {
        f"takt.commands.{name}"
    }
    assert modules & EXTENSIONS == {"takt_native"}
    assert len(modules) <= 100


@pytest.mark.parametrize("module", ["jsonschema", "email", "importlib.metadata"])
def test_an_import_that_takes_long_would_be_seen(module: str, tmp_path: Path) -> None:
    assert unwelcome(imported(tmp_path, "--help", first=f"import {module}")) >= {module}


def test_the_package_loads_nothing_before_something_is_asked_of_it() -> None:
    program = (
        "import sys; before = set(sys.modules); import takt; print(*set(sys.modules) - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    modules = set(done.stdout.split())
    assert unwelcome(modules) == set()
    assert {name for name in modules if name.startswith("takt")} == {"takt"}


def test_the_types_of_documents_are_not_interpreted_until_one_is_read(tmp_path: Path) -> None:
    program = "from takt.documents import typed; print(len(typed._DESCRIPTIONS))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert json.loads(done.stdout) == 0
