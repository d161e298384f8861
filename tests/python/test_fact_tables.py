"""The tables that name a test for every fact of a specification name tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| (?P<facts>[^|]*) \| `(?P<file>[^`]+)` \| (?P<tests>[^|]*) \|$")
#: ros-llama, edf-executor, component-cps: what docs/analysis-evidence.md says is about the
#: analysis.
ANALYSIS = {
    *(f"F-{n}" for n in (4, 5, 6, 7, 8, 10, 11, 16, 17, 19, 20, 21, 22, 23, 24)),
    *(f"F-{n}" for n in (34, 35, 36, 38, 39, 40)),
    *(f"B-{n}" for n in range(7, 27) if n not in (19, 25)),
    *(f"A-{n}" for n in (30, 31, 32, 33, 34, 38, 41)),
    "P-20",
}
#: ros-llama, performance-engineering: what docs/model-synthesis.md says is about extraction.
EXTRACTION = {
    *(f"F-{n}" for n in (9, 11, 12, 13, 14, 15, 16, 17, 18, 31, 32, 33, 37)),
    *(f"P-{n}" for n in range(1, 18) if n not in (14, 16)),
}
#: component-cps: what docs/handoff.md says is about the design of hand-overs.
HANDOFF = {f"A-{n}" for n in range(52, 57)}
#: component-cps: what docs/allocation.md says is about allocators. A-27 is arithmetic.
ALLOCATION = {
    *(f"A-{n}" for n in range(15, 29) if n != 27),
    *(f"N-{n}" for n in range(2, 6)),
}
#: component-cps: what docs/domains.md says is about memory domains. A-1, A-2 and A-14 are
#: arithmetic on the document's own layout and figures.
DOMAINS = {*(f"A-{n}" for n in range(3, 14)), "N-1", "N-6", "N-7"}
TABLES = {
    "domains.md": DOMAINS,
    "allocation.md": ALLOCATION,
    "analysis-evidence.md": ANALYSIS,
    "model-synthesis.md": EXTRACTION,
    "handoff.md": HANDOFF,
}
PAGES = pytest.mark.parametrize("page", TABLES)

MESSAGE_FLOW = re.compile(r"^\| (?P<facts>[\d, ]+) \| `(?P<file>[^`]+)` \|$", re.M)
NAMED = re.compile(r"\b(?:Fact|test_facts?_)((?:\d+(?:And|_and_)?)+)(?=[A-Z_])")


def rows(page: str) -> list[tuple[set[str], Path, list[str]]]:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    section = text.split("## Facts and tests")[1].split("\n## ")[0]
    found = [ROW.match(line) for line in section.splitlines()]
    return [
        (facts_of(row["facts"]), ROOT / "tests" / row["file"], row["tests"].split(", "))
        for row in found
        if row
    ]


def test_every_fact_about_message_flow_has_a_test_with_its_number() -> None:
    text = (ROOT / "docs/flow.md").read_text(encoding="utf-8")
    section = text.split("## Facts and tests")[1]
    tested: set[int] = set()
    for row in MESSAGE_FLOW.finditer(section):
        facts = {int(number) for number in row["facts"].split(", ")}
        source = (ROOT / "tests" / row["file"]).read_text(encoding="utf-8")
        named = {int(n) for name in NAMED.findall(source) for n in re.findall(r"\d+", name)}
        assert facts <= named, row["file"]
        tested |= facts
    # Facts 38 to 44 are arithmetic on printed figures, as the page says.
    assert tested == set(range(1, 46)) - set(range(38, 45))


def facts_of(text: str) -> set[str]:
    facts: set[str] = set()
    for part in text.split(", "):
        first, *last = part.split(" to ")
        letter, number = first.split("-")
        end = last[0].split("-")[1] if last else number
        facts |= {f"{letter}-{n}" for n in range(int(number), int(end) + 1)}
    return facts


@PAGES
def test_every_test_named_exists(page: str) -> None:
    assert rows(page)
    for _, file, tests in rows(page):
        source = file.read_text(encoding="utf-8")
        for test in tests:
            declared = rf"TEST(_F|_P)?\(\w+, {test}_|def test_{test}_"
            assert re.search(declared, source), f"{file.name} has no test {test}"


@PAGES
def test_a_row_has_a_test_for_each_of_its_facts(page: str) -> None:
    for facts, file, tests in rows(page):
        numbers = {int(fact.split("-")[1]) for fact in facts}
        assert {int(test[1:]) for test in tests} == numbers, file.name


@PAGES
def test_no_fact_is_without_test(page: str) -> None:
    tested: set[str] = set().union(*(facts for facts, _, _ in rows(page)))
    assert tested == TABLES[page]
