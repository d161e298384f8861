"""Programs that end with this process, however it ends: the kernel sends them a signal then."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

SCRIPT = """
import ctypes, os, sys
parent, number, *words = sys.argv[1:]
PR_SET_PDEATHSIG = 1
ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(number), 0, 0, 0)
if os.getppid() == int(parent):
    os.execvp(words[0], words)
"""
"""A parent that ended before the call sends no signal any more."""


def bound(words: Sequence[str], death: signal.Signals) -> list[str]:
    """The command that runs `words` and is sent the signal `death` when the thread that starts it
    ends. Nothing runs if that has ended by then.
    """
    return [sys.executable, "-ISc", SCRIPT, str(os.getpid()), str(int(death)), *words]
