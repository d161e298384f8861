"""The shell script that setup/environment.py writes leaves nothing behind."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

SETUP = Path(__file__).parents[2] / "setup" / "environment.py"
STATE = "printf '[%s]' \"${IFS-unset}\"; set | grep ^_takt_; true"


@pytest.fixture
def environment() -> ModuleType:
    spec = importlib.util.spec_from_file_location("environment", SETUP)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("before", ["unset IFS", "IFS=,"])
@pytest.mark.parametrize("other", [False, True])
def test_variables_are_as_before(
    tmp_path: Path,
    environment: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    before: str,
    other: bool,
) -> None:
    monkeypatch.setenv("TAKT_ROS_DISTRO", "jazzy")
    script = tmp_path / "environment.sh"
    script.write_text(environment.shell(sourced=False))
    prefix = tmp_path / "other ros"
    config = prefix / "share" / "rcl" / "cmake" / "rclConfig.cmake"
    config.parent.mkdir(parents=True)
    if other:
        config.touch()
    path = f"{environment.VENV}:/nowhere:{prefix}"
    done = subprocess.run(
        ["sh", "-c", f"{before}; . {script}; echo $?; {STATE}"],
        env={"AMENT_PREFIX_PATH": path, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    told = f"takt: ROS 2 of {prefix} is sourced" if other else ""
    assert done.stderr.startswith(told)
    assert bool(done.stderr) == other
    ifs = "[unset]" if before == "unset IFS" else "[,]"
    assert done.stdout == f"{2 if other else 0}\n{ifs}"
