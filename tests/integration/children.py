"""Processes that tests start."""

from __future__ import annotations

import subprocess
from types import TracebackType
from typing import AnyStr


class Child(subprocess.Popen[AnyStr]):
    """A process for the time of a `with` block. It is killed if the block fails, because Popen
    would wait for it, perhaps for ever.
    """

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.kill()
        super().__exit__(kind, error, traceback)
