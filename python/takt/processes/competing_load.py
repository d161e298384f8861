"""Processes that only compute, under the default scheduler, in any number.

Each has a session of its own, as other users' programs have: a kernel that shares processors
between sessions first (autogroup) would otherwise treat them as one program. They end with the
process that asked for them, however it ends.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# They are forked, so that a hundred of them start at once, although the others compute already. The
# end of standard input ends the program that forks them, and the kernel then kills them.
PROGRAM = """
import ctypes, os, signal, sys
prctl, program, PR_SET_PDEATHSIG = ctypes.CDLL(None).prctl, os.getpid(), 1
running = 0
for line in sys.stdin:
    while running < int(line):
        if os.fork() == 0:
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            os.setsid()
            while os.getppid() == program:
                for _ in range(1_000_000):
                    pass
            os._exit(0)
        running += 1
    print(running, flush=True)
"""

Raise = Callable[[int], None]
"""Raises the load to this number of processes."""


@contextmanager
def competing_load() -> Iterator[Raise]:
    """Yields a function that raises the load, from nothing at first; all processes end with the
    body.
    """
    with subprocess.Popen(
        [sys.executable, "-ISc", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        stdin, stdout = program.stdin, program.stdout

        def raise_to(processes: int) -> None:
            print(processes, file=stdin, flush=True)
            stdout.readline()

        try:
            yield raise_to
        finally:
            program.kill()
