"""A program of Takt's that works beside a command and tells what it does, a JSON line each."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from takt.errors import UserError

Json = dict[str, Any]

PATIENCE = 10.0
"""Seconds that it may take to restore threads and end."""


class NotStartedError(UserError):
    """It did not start. With status 2 it has said why on standard error."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(f"{message}; its message is above" if status == 2 else message)
        self.status = status


class Companion:
    """A running takt-manager or takt-threads. It takes its settings as one argument, first greets
    with the environment of programs that are to be heard, and ends when its standard input does,
    with a document as its last word.
    """

    def __init__(self, program: Path, settings: Json, hear: Callable[[Json], None]) -> None:
        """`hear` is called with each thing that it says later, except the document. UserError if
        it does not start; it has said why.
        """
        self._hear = hear
        self._name = program.name
        self._unread = b""
        self._document: Json | None = None
        self._process = subprocess.Popen(
            [str(program), json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # so that Ctrl-C reaches only us
        )
        assert self._process.stdout is not None
        greeting = self._process.stdout.readline()
        if not greeting:
            raise NotStartedError(f"{self._name} could not start", self._process.wait())
        self._environment: dict[str, str] = json.loads(greeting)["environment"]
        os.set_blocking(self._process.stdout.fileno(), False)

    def environment(self) -> dict[str, str]:
        return self._environment

    def listen(self) -> bool:
        """Passes on what it has said. False: it has ended."""
        assert self._process.stdout is not None
        data = self._process.stdout.read() or b""
        *lines, self._unread = (self._unread + data).split(b"\n")
        for line in lines:
            said = json.loads(line)
            if "format" in said:
                self._document = said
            else:
                self._hear(said)
        return self._process.poll() is None

    def end(self) -> Json | None:
        """Ends it, after it has restored all threads, and returns its last document."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        os.set_blocking(self._process.stdout.fileno(), True)
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()  # its guard restores the threads
            self._process.wait()
        self.listen()
        return self._document

    @property
    def status(self) -> int | None:
        """The exit status; None: it runs."""
        return self._process.poll()

    def last_word(self) -> Json:
        """The document, once it has ended. UserError if there is none."""
        status = self._process.poll()
        if self._document is None and status is not None and status < 0:
            name = signal.Signals(-status).name
            raise UserError(
                f"{self._name} was killed ({name}): nothing is managed any more; every thread has "
                "the scheduling again that it had"
            )
        if self._document is None:
            raise UserError(f"{self._name} ended without its last word; its message is above")
        return self._document
