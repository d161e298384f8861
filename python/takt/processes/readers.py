"""Who reads what running programs tell of themselves. Each program's ring has one reader at a time,
which holds a lock of the kernel on it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

RING = "/memfd:takt-ring"
"""How the kernel calls the memory of a ring."""

COMMANDS = {"takt-manager": "takt manage", "takt-threads": "takt apply"}
"""Which command a program of Takt's belongs to."""


class Reader(NamedTuple):
    pid: int
    command: str


def others() -> list[Reader]:
    """The processes that this one sees, itself aside, that read rings."""
    return [
        Reader(process, _command(process))
        for process in sorted(_processes())
        if process != os.getpid() and _reads(process)
    ]


def in_words(readers: list[Reader]) -> str:
    """A sentence for who heard nobody because of these readers."""
    who = " and ".join(f"{one.command} (process {one.pid})" for one in readers)
    reads, it = ("reads", "it") if len(readers) == 1 else ("read", "them")
    managed = any(one.command == "takt manage" for one in readers)
    ask = "ask 'takt status', " if managed else ""
    return (
        f"{who} {reads} what running programs tell, and only one process may: {ask}end {it} first, "
        "or record with --backend ebpf"
    )


def _processes() -> Iterator[int]:
    return (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())


def _reads(process: int) -> bool:
    with suppress(OSError):
        for entry in Path(f"/proc/{process}/fd").iterdir():
            with suppress(OSError):
                if not str(entry.readlink()).startswith(RING):
                    continue
                about = Path(f"/proc/{process}/fdinfo/{entry.name}").read_text("latin-1")
                if any(_is_lock(line) for line in about.splitlines()):
                    return True
    return False


def _is_lock(line: str) -> bool:
    """Whether a line of fdinfo tells of a lock for writing that belongs to the open file."""
    return line.startswith("lock:") and "OFDLCK" in line and "WRITE" in line


def _command(process: int) -> str:
    """What to call a process: "takt manage", "takt record", or by its name."""
    with suppress(OSError):
        program, *words = (
            Path(f"/proc/{process}/cmdline").read_text("utf-8", "replace").rstrip("\0").split("\0")
        )
        name = Path(program).name
        if name in COMMANDS:
            return COMMANDS[name]
        for i, word in enumerate(words[:-1]):
            if Path(word).name == "takt" and not words[i + 1].startswith("-"):
                return f"takt {words[i + 1]}"
        return name
    return "a process"
