"""Writes the sources of the documentation site: docs/ and the root's pages as they are, and the
reference from what it describes: commands from their help, formats from their schemas, Python from
docstrings (by mkdocstrings), C++ from the comments of public headers.

    python docs/site/generate.py build/docs/pages
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from takt import cli

ROOT = Path(__file__).resolve().parents[2]
PYTHON_MODULES = {
    "takt.recordings.trace": "Traces as columns",
    "takt.testing": "Tests of ROS 2 programs",
    "takt.pipeline": "From traces to documents",
    "takt.executors": "Executors for rclpy",
}
# Where the pages of the root go.
MOVED = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
TOUR = "## A five-minute tour"
LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s#]+)(#[^)]*)?\)")


def rebased(text: str, source: Path, target: Path) -> str:
    """`text` of the page `source` of the tree with links that hold at `target` of the site. A link
    to what the site does not have becomes its name."""

    def link(match: re.Match[str]) -> str:
        label, address, anchor = match[1], match[2], match[3] or ""
        if ":" in address:
            return match[0]
        path = os.path.normpath((source.parent / address).relative_to(ROOT))
        if path in MOVED:
            page = Path(MOVED[path])
        elif path.startswith("docs/"):
            page = Path(path).relative_to("docs")
        else:
            return f"`{path}`"
        return f"{label}({os.path.relpath(page, target.parent)}{anchor})"

    return LINK.sub(link, text)


def copy_pages(pages: Path) -> None:
    shutil.copytree(ROOT / "docs", pages, ignore=shutil.ignore_patterns("site"))
    for name, place in MOVED.items():
        text = rebased((ROOT / name).read_text(), ROOT / name, Path(place))
        if name == "README.md":
            start, tour = text.split(TOUR)
            tour, rest = tour.split("\n## ", 1)
            (pages / "tour.md").write_text("# A five-minute tour\n" + tour)
            text = start + "## " + rest
        (pages / place).write_text(text)


def help_of(*command: str) -> str:
    environment = {**os.environ, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100"}
    arguments = [sys.executable, "-m", "takt", *command, "--help"]
    done = subprocess.run(arguments, env=environment, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commands() -> str:
    lines = [
        "# Commands",
        "",
        "Every command explains itself with `--help`; this page is that text.",
    ]
    for name in cli.commands():
        lines += ["", f"## takt {name}", "", "```text", help_of(name), "```"]
    return "\n".join(lines) + "\n"


def type_of(schema: dict[str, Any]) -> str:
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return f"*{name}*"
    for several in ("oneOf", "anyOf"):
        if several in schema:
            return " or ".join(type_of(option) for option in schema[several])
    kind = schema.get("type", "any")
    if kind == "array" and isinstance(schema.get("items"), dict):
        return f"list of {type_of(schema['items'])}"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def limits(schema: dict[str, Any]) -> str:
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    return ", ".join(f"{sign} {schema[name]}" for name, sign in signs.items() if name in schema)


def fields(schema: dict[str, Any]) -> list[str]:
    required = schema.get("required", [])
    lines = ["", "| field | type | meaning |", "|---|---|---|"]
    for name, field in schema.get("properties", {}).items():
        marked = f"`{name}`" + ("" if name in required else " (optional)")
        kind = " ".join(filter(None, (type_of(field), limits(field))))
        meaning = field.get("description", "").replace("|", "\\|")
        lines.append(f"| {marked} | {kind} | {meaning} |")
    return lines


def formats() -> str:
    lines = [
        "# Formats",
        "",
        "The JSON Schemas in `python/takt/schemas/`, as tables. Times are in ns.",
    ]
    for path in sorted((ROOT / "python" / "takt" / "schemas").glob("*.schema.json")):
        schema = json.loads(path.read_text())
        lines += ["", f"## {schema.get('title', path.name)}", "", schema.get("description", "")]
        lines += fields(schema)
        for name, definition in schema.get("$defs", {}).items():
            if "properties" in definition:
                lines += [
                    "",
                    f"### {path.name.split('.')[0]}: {name}",
                    "",
                    definition.get("description", ""),
                ]
                lines += fields(definition)
            else:
                kind = " ".join(filter(None, (type_of(definition), limits(definition))))
                lines += ["", f"*{name}*: {kind}. {definition.get('description', '')}"]
    return "\n".join(lines) + "\n"


def python() -> str:
    lines = ["# Python"]
    for module, title in PYTHON_MODULES.items():
        lines += ["", f"## {title}: `{module}`", "", f"::: {module}", "    options:"]
        lines += ["      heading_level: 3", "      show_root_heading: false"]
    return "\n".join(lines) + "\n"


DECLARATION_END = re.compile(r"[;{]\s*(//.*)?$")


def declarations(header: str) -> list[tuple[str, str]]:
    """The documented public declarations of a header: comment and code."""
    found = []
    comment: list[str] = []
    code: list[str] = []
    is_private = False
    for line in header.splitlines():
        stripped = line.strip()
        if stripped in ("private:", "protected:", "public:", "};"):
            is_private = stripped == "private:"
            comment, code = [], []
        if is_private or stripped.startswith("///<"):
            continue
        if stripped.startswith("///"):
            if not code:
                comment.append(stripped.removeprefix("///").strip())
            continue
        if not comment:
            continue
        code.append(line)
        if not stripped or DECLARATION_END.search(line):
            text = "\n".join(code).rstrip().removesuffix("{").rstrip()
            indent = len(text) - len(text.lstrip())
            text = "\n".join(
                part[indent:] if part[:indent].isspace() else part.lstrip()
                for part in text.splitlines()
            )
            found.append((" ".join(comment), text))
            comment, code = [], []
    return found


def cpp() -> str:
    lines = ["# C++", "", "The public headers of each module. `find_package(takt)` finds them all."]
    includes = [*ROOT.glob("libtakt/*/include"), *ROOT.glob("ros/*/include")]
    for include in sorted(includes, key=lambda path: path.parts[-2]):
        lines += ["", f"## takt::{include.parts[-2]}"]
        for header in sorted(include.rglob("*.hpp")):
            documented = declarations(header.read_text())
            if not documented:
                continue
            lines += ["", f"### `{header.relative_to(include)}`"]
            for comment, code in documented:
                lines += ["", "```cpp", code, "```", "", comment]
    return "\n".join(lines) + "\n"


def main() -> None:
    pages = Path(sys.argv[1])
    shutil.rmtree(pages, ignore_errors=True)
    copy_pages(pages)
    reference = pages / "reference"
    reference.mkdir()
    for name, make in (
        ("commands", commands),
        ("formats", formats),
        ("python", python),
        ("cpp", cpp),
    ):
        (reference / f"{name}.md").write_text(make())


if __name__ == "__main__":
    main()
