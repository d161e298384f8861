"""What the command line says where Python lacks its libraries, as colcon and CMake may leave it."""

from __future__ import annotations

import re
import subprocess
import venv
from pathlib import Path

import pytest

import takt
from takt import libraries

ROOT = Path(__file__).resolve().parents[2]


def test_the_versions_are_those_of_the_project() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    (listed,) = re.findall(r"^dependencies = \[(.+)\]$", text, re.MULTILINE)
    assert dict(re.findall(r'"(\w+)>=([\d.]+)"', listed)) == libraries.NEEDED


def test_nothing_is_wrong_here() -> None:
    assert libraries.wrong() is None


def test_a_library_that_is_too_old_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The version of Ubuntu 20.04."""
    folder = tmp_path / "click-7.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: click\nVersion: 7.0")
    monkeypatch.syspath_prepend(tmp_path)
    assert libraries.wrong() == "click 7.0 is too old: pip install 'click>=8'"


def test_the_command_line_says_what_is_missing_in_one_line(tmp_path: Path) -> None:
    venv.create(tmp_path, with_pip=False, symlinks=True)
    done = subprocess.run(
        [tmp_path / "bin" / "python", "-m", "takt", "--version"],
        env={"PYTHONPATH": str(Path(takt.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line == "takt: click is missing: pip install 'click>=8'"
