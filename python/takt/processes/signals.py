"""Signals that ask a command to end, for those who wait for several things at once."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator


@contextlib.contextmanager
def wake_on_signals() -> Iterator[int]:
    """Turns SIGINT and SIGTERM into bytes of a pipe, whose reading end it yields."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    wanted = (signal.SIGINT, signal.SIGTERM)
    former_descriptor = signal.set_wakeup_fd(write)
    former = {number: signal.signal(number, lambda *_: None) for number in wanted}
    try:
        yield read
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(former_descriptor)
        os.close(read)
        os.close(write)
