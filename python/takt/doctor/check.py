"""What the doctor finds out about one subject."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any


class State(Enum):
    OK = "ok"
    LIMITED = "limited"
    """Present, but incomplete or not usable by everyone."""
    MISSING = "missing"


@dataclass(frozen=True)
class Check:
    id: str
    name: str
    state: State
    detail: str
    """What was found, in a few words."""
    remedy: str | None = None
    """How to get what is missing."""
    required: bool = False
    """Nothing can be recorded, modelled and reported without it."""
    facts: dict[str, Any] = field(default_factory=dict)
    """The findings, for programs."""


def output_of(*command: str, seconds: float = 20) -> str | None:
    """What a program prints, whatever its locale makes of it, or None if it is not there, fails or
    takes longer than `seconds`.
    """
    if shutil.which(command[0]) is None:
        return None
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def first_line(path: str) -> str | None:
    """The first line of a file of /proc or /sys, or None if it cannot be read."""
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as file:
            return file.readline().strip()
    except OSError:
        return None
