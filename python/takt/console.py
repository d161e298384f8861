"""What people see on the terminal: one JSON document or tables on standard output, all else on
standard error.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

Progress = Callable[[int, int], None]
"""Called with how much is done and how much there is in all, in any unit; 0 in all: not known."""


PIPE_WIDTH = 160
"""The width of tables, in columns, when standard output is not a terminal."""


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


def say(message: str) -> None:
    """A message to the person at the terminal, who may have sent standard output elsewhere."""
    print(message, file=sys.stderr, flush=True)


def print_json(document: dict[str, Any] | str) -> None:
    """The one JSON document of a command called with --json; a string is taken as JSON already."""
    text = document if isinstance(document, str) else json.dumps(document, ensure_ascii=False)
    sys.stdout.write(text.rstrip("\n") + "\n")


def output() -> Console:
    """Standard output for rich's tables: as wide as the terminal, plain and wide in a pipe."""
    from rich.console import Console

    class Output(Console):
        def on_broken_pipe(self) -> None:
            """Hands the exception that rich is handling to the command line: rich itself would end
            with status 1, which means "no".
            """
            raise

    return Output(width=None if sys.stdout.isatty() else PIPE_WIDTH, highlight=False)


@contextmanager
def progress(description: str) -> Iterator[Progress | None]:
    """Shows a progress bar on standard error while the body runs.

    Yields a function for the body to call now and then, or None if standard error is not a
    terminal.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=None)

        def update(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total or None)

        yield update
