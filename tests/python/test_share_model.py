"""The leases of libtakt/memory under the memory model of C++: by loom, with a port to Rust
(tests/models/share) that has the same accesses in the same order. Rust is used where it is found.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODEL = ROOT / "tests/models/share"
MEMORY = ROOT / "libtakt/memory"

ACCESS = re.compile(
    r"(?P<word>\w+)(?:\[[^\]]*\])?(?:\.|->)(?P<kind>load|store)\("
    r"|(?P<fence>fence)\("
)
ORDER = re.compile(r"[^;{]*?(relaxed|acquire|release|seq_?cst)", re.IGNORECASE)

ALIKE = {"block", "size", "doubled", "source_time", "published"}
"""Fields of a message that the port leaves out: they are written and read like the others."""
ELSEWHERE = {"received", "tell_received"}
"""What orders nothing: the newest number of the middleware that a subscription has seen."""

Accesses = dict[str, list[tuple[str, str, str]]]


def accesses(text: str, function: re.Pattern[str]) -> Accesses:
    """Each function's accesses to shared words and its fences: what, on which word, in which
    order."""
    text = re.sub(r"//.*", "", text)
    starts = [*function.finditer(text)]
    ends = [start.start() for start in starts[1:]] + [len(text)]
    found: Accesses = {}
    for start, end in zip(starts, ends, strict=True):
        for access in ACCESS.finditer(text, start.end(), end):
            order = ORDER.match(text, access.end())
            assert order is not None, f"{start[1]}: {access[0]} says no order"
            name = order[1].lower().replace("_", "")
            what = (access["kind"] or access["fence"], access["word"] or "", name)
            found.setdefault(start[1], []).append(what)
    return found


def of_memory() -> Accesses:
    function = re.compile(r"^(?:\S.* )?\**(?:Ring\w+::)?(\w+)\([^;]*\)(?: const)? \{", re.MULTILINE)
    found = accesses((MEMORY / "src/ring.cpp").read_text(), function)
    inline = re.compile(r"^  \S.* (\w+)\([^;]*\)(?: const)? \{", re.MULTILINE)
    found |= accesses((MEMORY / "include/takt/memory/ring.hpp").read_text(), inline)
    for name in ("write_message", "read_message"):
        found[name] = [access for access in found[name] if access[1] not in ALIKE]
    return {name: orders for name, orders in found.items() if name not in ELSEWHERE}


def of_model() -> Accesses:
    function = re.compile(r"^ *(?:pub )?fn (\w+)", re.MULTILINE)
    return accesses((MODEL / "src/ring.rs").read_text(), function)


def test_the_model_has_the_accesses_of_the_library() -> None:
    library = of_memory()
    assert {access[0] for all_of in library.values() for access in all_of} == {
        "load",
        "store",
        "fence",
    }
    assert of_model() == library


def test_nothing_else_in_the_library_touches_shared_words() -> None:
    touching = re.compile(r"memory_order|atomic_|\.(load|store|exchange|fetch_\w+)\(")
    files = [*MEMORY.rglob("*.cpp"), *MEMORY.rglob("*.hpp")]
    assert {path.name for path in files if touching.search(path.read_text())} == {
        "ring.cpp",
        "ring.hpp",
    }


def test_loom_finds_nothing_but_where_a_part_is_missing() -> None:
    cargo = shutil.which("cargo") or shutil.which("cargo", path=Path.home() / ".cargo/bin")
    if cargo is None:
        pytest.skip("cargo is not installed, so the model was not checked")
    build = ROOT / "build/crates/share_model"
    environment = dict(os.environ) | {"CARGO_BUILD_JOBS": "1"}
    places = [f"-DCARGO={cargo}", f"-DSOURCE={MODEL}", f"-DBUILD={build}"]
    built = subprocess.run(
        ["cmake", *places, "-P", str(ROOT / "cmake/build_crate.cmake")],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    if "CMake Warning" in built.stderr:
        pytest.skip(f"the model was not built: {built.stderr.splitlines()[1].strip()}")
    options = ["--release", "--locked", "--offline", "--quiet", "--test", "protocol"]
    checked = subprocess.run(
        [cargo, "test", *options, "--", "--test-threads", "1"],
        cwd=build,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "9 passed" in checked.stdout
