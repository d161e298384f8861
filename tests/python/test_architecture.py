"""docs/architecture.md names every folder, and every file that it names is there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_every_folder_is_on_the_page() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "*/*"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    folders = set()
    for name in listed.stdout.split("\0"):
        parts = name.split("/")
        depth = 2 if parts[0] in ("libtakt", "ros") and len(parts) > 2 else 1
        folders.add("/".join(parts[:depth]))
    missing = [each for each in folders - {"", "libtakt", "ros"} if f"`{each}`" not in PAGE]
    assert sorted(missing) == [".ci", "docs"]


def test_every_path_on_the_page_is_there() -> None:
    paths = re.findall(r"`((?:libtakt|ros|python|docs|web|tests|cmake)/[\w./]+)`", PAGE)
    assert len(paths) > 60
    missing = [path for path in paths if not (ROOT / path).exists()]
    assert missing == []
