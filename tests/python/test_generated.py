"""What is generated from the descriptions of documents is what they say now."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import generate_documents  # noqa: E402


@pytest.mark.parametrize(("path", "text"), generate_documents.outputs().items(), ids=str)
def test_generated_files_are_fresh(path: Path, text: str) -> None:
    assert path.read_text(encoding="utf-8") == text, f"{path} is stale: run 'make generate'"
