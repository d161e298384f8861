"""The build's check of which modules a module may include."""

import shutil
import subprocess
from pathlib import Path

import pytest

CHECK = Path(__file__).parents[2] / "cmake" / "CheckIncludes.cmake"

pytestmark = pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")


def check(folder: Path, source: str, allowed: str) -> subprocess.CompletedProcess[str]:
    (folder / "a.cpp").write_text(source)
    command = [
        *("cmake", "-D", "FOLDER=libtakt/flow", "-D", f"ALLOWED={allowed}", "-D", "FILES=a.cpp"),
        *("-D", f"STAMP={folder / 'stamp'}", "-P", str(CHECK)),
    ]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_includes_of_listed_modules_and_of_its_own_pass(tmp_path: Path) -> None:
    source = '#include "takt/flow/a.hpp"\n#  include <takt/model/model.hpp>\n#include <vector>\n'
    assert check(tmp_path, source, "model").returncode == 0
    assert (tmp_path / "stamp").exists()


def test_a_module_that_is_not_listed_is_named_with_the_file(tmp_path: Path) -> None:
    result = check(tmp_path, '#include "takt/model/a.hpp"\n#include "takt/curves/b.hpp"\n', "model")
    assert result.returncode != 0
    assert (
        'libtakt/flow/a.cpp: “#include "takt/curves/b.hpp"”, but DEPENDS in '
        "libtakt/flow/CMakeLists.txt does not list takt::curves"
    ) in result.stderr
    assert not (tmp_path / "stamp").exists()


def test_a_listed_module_that_nothing_includes_is_named(tmp_path: Path) -> None:
    result = check(tmp_path, '#include "takt/model/a.hpp"\n', "model;time")
    assert result.returncode != 0
    assert (
        "libtakt/flow/CMakeLists.txt: DEPENDS lists takt::time, "
        "of which libtakt/flow includes nothing"
    ) in result.stderr
