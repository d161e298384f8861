"""What is generated from the descriptions of documents is what they say now."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import generate_documents  # noqa: E402

import takt_native  # noqa: E402


@pytest.mark.parametrize(("path", "text"), generate_documents.outputs().items(), ids=str)
def test_generated_files_are_fresh(path: Path, text: str) -> None:
    assert path.read_text(encoding="utf-8") == text, f"{path} is stale: run 'make generate'"


def test_the_page_of_goals_says_what_the_kinds_are_as_takt_does() -> None:
    page = (ROOT / "docs/goals.md").read_text(encoding="utf-8")
    rows = {
        line.split("|")[1].strip(): line.split("|")[2].strip()
        for line in page.splitlines()
        if line.startswith("| `")
    }
    kinds = {
        kind: rows.get(f"`{kind}`", rows.get(f"`{kind}` (default)"))
        for kind in takt_native.GOAL_KINDS
    }
    assert kinds == takt_native.GOAL_KINDS
