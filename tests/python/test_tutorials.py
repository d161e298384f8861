"""Tutorials: whoever types each of their lines sees what they say.

A line of a block that begins with "$ " is typed, and "> " continues it. The other ones are what is
printed: "…" stands for any lines, or for anything in a line.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
END = "@@ the command ended"


class Step(NamedTuple):
    typed: str
    printed: list[str]


def steps(page: str) -> list[Step]:
    found: list[Step] = []
    text = (ROOT / "docs" / "tutorials" / page).read_text(encoding="utf-8")
    for block in re.findall(r"^```\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append(Step(line[2:], []))
            elif line.startswith("> ") and not found[-1].printed:
                found[-1] = Step(f"{found[-1].typed}\n{line[2:]}", [])
            else:
                found[-1].printed.append(line)
    return found


def typed(lines: list[Step], folder: Path) -> list[list[str]]:
    """What each command prints, in one shell."""
    programs = folder / "programs"
    programs.mkdir()
    (programs / "takt").write_text(f'#!/bin/sh\nexec {sys.executable} -m takt "$@"\n')
    (programs / "takt").chmod(0o755)
    done = subprocess.run(
        ["bash"],
        input="".join(f"{step.typed}\necho '{END}'\n" for step in lines),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        env={
            **os.environ,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "COLUMNS": "100",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            **{
                f"GIT_{who}_{what}": value
                for who in ("AUTHOR", "COMMITTER")
                for what, value in (("NAME", "A"), ("EMAIL", "a@b"), ("DATE", "2026-11-28T12:00Z"))
            },
        },
        check=False,
    )
    outputs = done.stdout.split(f"{END}\n")
    assert len(outputs) == len(lines) + 1, done.stdout
    return [output.splitlines() for output in outputs[:-1]]


def pattern(printed: list[str]) -> str:
    """What is printed, as a regular expression. Hashes of commits and spaces may be others."""
    lines = []
    for line in printed:
        words = r" +".join(map(re.escape, line.split())).replace("…", ".*")
        words = re.sub(r"\\-g[0-9a-f]{7}", "-g[0-9a-f]{7}", words)
        lines.append(r"(?:.*\n)*?" if line == "…" else rf" *{words} *\n")
    return "".join(lines)


def test_which_commit_made_it_slow(tmp_path: Path) -> None:
    (tmp_path / "models").symlink_to(ROOT / "models")
    lines = steps("which-commit.md")
    assert len(lines) > 10
    for step, output in zip(lines, typed(lines, tmp_path), strict=True):
        text = "".join(f"{line}\n" for line in output)
        assert re.fullmatch(pattern(step.printed), text), f"$ {step.typed}\n{text}"
    assert "Since v1.0-2-g" in (tmp_path / "fleet.html").read_text()
    assert (tmp_path / "summary.md").read_text().startswith("### 3 regressions")
