"""docs/architecture.md names every folder, and every file that it names is there."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from graphlib import TopologicalSorter
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


def imported(source: Path) -> Iterator[str]:
    """What of takt a module imports: packages, or modules that are in none."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "takt":
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("takt."):
            yield str(node.module).split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (n.name.split(".")[1] for n in node.names if n.name.startswith("takt."))


def test_packages_of_python_use_what_the_page_says() -> None:
    takt = ROOT / "python" / "takt"
    uses: dict[str, set[str]] = {}
    for source in takt.rglob("*.py"):
        package = source.relative_to(takt).with_suffix("").parts[0]
        uses.setdefault(package, set()).update(set(imported(source)) - {package})
    list(TopologicalSorter(uses).static_order())  # fails where they are circular
    packages = {name for name in uses if (takt / name).is_dir()}
    table = PAGE.partition("## The packages of `python/takt`")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", table, re.MULTILINE)
    told = {package: set(words.replace("–", "").split(", ")) - {""} for package, words in rows}
    assert told == {package: uses[package] & packages for package in packages}
    before: set[str] = set()
    for package, _ in rows:
        assert told[package] <= before, package
        before.add(package)
