"""The tests that docs/security.md names exist, and every fault that was found has one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
ROW = re.compile(r"^\|.*\| (?P<tests>[^|]*) \|$")
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
FAULTS = 26


def rows(title: str) -> list[str]:
    section = PAGE.split(f"## {title}\n")[1].split("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("|")][2:]


def named(row: str) -> list[str]:
    """Tests as the page names them: `file.py::name`, `name` in the same file, `Suite.Name`, `Name`
    in the same suite, `name_fuzzer`, or a file.
    """
    match = ROW.match(row)
    assert match, row
    return re.findall("`([^`]+)`", match["tests"])


def sources(pattern: str) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(TESTS.glob(pattern)))


CPP, PYTHON = sources("unit/**/*.cpp"), sources("*/test_*.py")


def exists(name: str) -> bool:
    if name.endswith("_fuzzer"):
        return (TESTS / "fuzz" / f"{name}.cpp").exists()
    if "::" in name:
        file, test = name.split("::")
        return f"\ndef {test}(" in sources(f"*/{file}")
    if name.startswith("test_"):
        return any(TESTS.glob(f"*/{name}")) or f"\ndef {name}(" in PYTHON
    if "/" in name:
        return (ROOT / name).exists()
    suite, _, test = name.rpartition(".")
    return bool(re.search(rf"^TEST(_F|_P)?\({suite or '[A-Za-z]+'}, {test}\)", CPP, re.M))


@pytest.mark.parametrize("title", ["What each can do to the others", "Faults that were found"])
def test_every_test_named_exists(title: str) -> None:
    title = next(line for line in PAGE.splitlines() if line.startswith(f"## {title}"))[3:]
    for row in rows(title):
        tests = named(row)
        assert tests, f"no test: {row}"
        for test in tests:
            assert exists(test), test


def test_every_fault_has_its_row() -> None:
    numbers = [row.split("|")[1].strip() for row in rows("Faults that were found, and their tests")]
    assert numbers == [str(number) for number in range(1, FAULTS + 1)]
