"""What commands say: one JSON document on standard output, messages and progress on standard
error. Tables are takt.text.terminal's.
"""

from __future__ import annotations

import codecs
import io
import itertools
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from takt.text.formatting import printable, printable_json

Progress = Callable[[int, int], None]
"""Called with how much is done and how much there is in all, in any unit; 0 in all: not known."""

_WIDTH = 80
"""The width of a line where the terminal's width is not known, in columns."""
_ERASED = "\r\x1b[K"
"""Erases the terminal's line."""


def replace_closed_streams() -> None:
    """Opens the standard streams that the caller has closed (`>&-`), which are None: reading and
    writing fail then with EBADF, as the system has it, and messages are lost. They take the free
    numbers, which the next files would have otherwise.
    """
    wrong_way = {"stdin": os.O_WRONLY, "stdout": os.O_RDONLY}
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, wrong_way.get(name, os.O_WRONLY))
            setattr(sys, name, os.fdopen(null, "r" if name == "stdin" else "w", encoding="utf-8"))


_PLAIN = {"µ": "u", "–": "-", "→": "->", "≥": ">=", "✓": "+", "✗": "-", "\u202f": " "}
"""What stands for a character of ours where an encoding lacks it."""


def _plain(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    missing = error.object[error.start : error.end]
    return "".join(_PLAIN.get(character, "?") for character in missing), error.end


def replace_what_streams_cannot_show() -> None:
    """Has the standard streams show others for characters that their encoding lacks, as ASCII
    lacks "µ".
    """
    codecs.register_error("takt", _plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="takt")


def say(message: str) -> None:
    """A message to the person at the terminal, who may have sent standard output elsewhere. Names
    in it may be anybody's.
    """
    text = (_ERASED if sys.stderr.isatty() else "") + printable(message)
    print(text, file=sys.stderr, flush=True)


def print_json(document: dict[str, Any] | str) -> None:
    """The one JSON document of a command called with --json; a string is taken as JSON already. Who
    reads it need not wait until the command ends.
    """
    text = document if isinstance(document, str) else json.dumps(document, ensure_ascii=False)
    text = printable_json(text.rstrip("\n"))
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        text = "".join(c if c.isascii() else json.dumps(c).strip('"') for c in text)
    print(text, flush=True)


@contextmanager
def moving_line(text: str) -> Iterator[Callable[[str], None]]:
    """Shows a line on standard error, a terminal, while the body runs; yields the function that
    changes its text. What is done in a blink shows nothing.
    """
    ended = threading.Event()
    columns = os.get_terminal_size(sys.stderr.fileno()).columns or _WIDTH

    def set_text(new: str) -> None:
        nonlocal text
        text = new

    def draw() -> None:
        for frame in itertools.cycle("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"):
            if ended.wait(0.1):
                return
            shown = f"{frame} {printable(text)}"[: columns - 1]
            sys.stderr.write(_ERASED + shown)
            sys.stderr.flush()

    drawing = threading.Thread(target=draw, daemon=True)
    drawing.start()
    try:
        yield set_text
    finally:
        ended.set()
        drawing.join()
        sys.stderr.write(_ERASED)
        sys.stderr.flush()


@contextmanager
def progress(description: str) -> Iterator[Progress | None]:
    """Shows a progress bar on standard error while the body runs.

    Yields a function for the body to call now and then, or None if standard error is not a
    terminal.
    """
    if not sys.stderr.isatty():
        yield None
        return
    start = time.monotonic()
    with moving_line(description) as set_text:

        def update(done: int, total: int) -> None:
            share = min(done / total, 1) if total else 0
            bar = "━" * round(40 * share) + "─" * (40 - round(40 * share))
            seconds = round(time.monotonic() - start)
            percent = f"{100 * share:3.0f} %" if total else ""
            set_text(f"{description} {bar} {percent} {seconds // 60}:{seconds % 60:02}")

        yield update
