"""Is in charge of a command: starts it, passes signals on to it, ends it and what it leaves."""

from __future__ import annotations

import ctypes
import math
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from takt.errors import UserError

# An unmodified ROS 2 program ends itself on SIGINT; the others are for one that does not.
REQUESTS_TO_END = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
PATIENCE = 5.0  # seconds between two of them

TICK = 0.5  # seconds between two looks

ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
SNAPSHOT = signal.SIGUSR1  # asks a snapshot recording to write what it holds
FROM_THE_KERNEL = 0x80  # SI_KERNEL: the terminal sent it, to the command as well as to us

IGNORED_BY_PYTHON = {signal.SIGPIPE, signal.SIGXFSZ}
"""A program that a shell starts dies of these. It would inherit that they are ignored."""

WNOTHREAD = 0x20000000  # __WNOTHREAD of linux/wait.h: children of the calling thread alone
ENDED_CHILDREN = os.WEXITED | os.WNOHANG | WNOTHREAD


class Command:
    """A program that somebody is in charge of."""

    def __init__(
        self,
        words: tuple[str, ...],
        environment: Mapping[str, str],
        mask: Iterable[int],
        output: int | None,
    ) -> None:
        """Starts it with this signal mask. `output`: its standard output; None: that of this
        process. UserError if it cannot be started. KeyboardInterrupt if a signal has said meanwhile
        that it is to end; then it is not started.
        """
        if signal.sigpending() & ENDING:
            raise KeyboardInterrupt
        self.status: int | None = None
        self.others = _children()
        """This process's children from before. Whoever has started them waits for them."""
        self._asked = 0
        """How many of REQUESTS_TO_END it was sent."""
        actions = []
        if output is not None:
            actions.append((os.POSIX_SPAWN_DUP2, output, 1))
        _become_subreaper()
        try:
            self._pid = os.posix_spawnp(
                words[0],
                words,
                environment,
                file_actions=actions,
                setsigmask=mask,
                setsigdef=IGNORED_BY_PYTHON,
            )
        except OSError as error:
            raise UserError(f"{words[0]}: cannot be started: {error.strerror}") from error
        self.told_to_end = False
        self._unheard = signal.sigpending() & ENDING
        """They may have come before it was there, also from the terminal."""

    def ended(self) -> bool:
        """Whether the program has ended; then sets `status` as a shell would, but 0 if it was told
        to end.
        """
        if self.status is not None:
            return True
        pid, status = os.waitpid(self._pid, os.WNOHANG)
        if pid == 0:
            return False
        code = os.waitstatus_to_exitcode(status)
        self.status = 0 if self.told_to_end else code if code >= 0 else 128 - code
        return True

    def forward(self, received: signal.struct_siginfo) -> None:
        """Passes a signal on, unless the terminal has sent it to the program already."""
        self.told_to_end = True
        if received.si_code != FROM_THE_KERNEL or received.si_signo in self._unheard:
            os.kill(self._pid, received.si_signo)

    def ask_to_end(self) -> None:
        """Asks more firmly each time."""
        self.told_to_end = True
        if self.status is None:  # otherwise its number may be another program's by now
            self._asked = min(self._asked + 1, len(REQUESTS_TO_END))
            os.kill(self._pid, REQUESTS_TO_END[self._asked - 1])

    def reap_orphans(self) -> None:
        """Reaps what the command's descendants have left to this process, once it has ended.

        The kernel gives orphans to the main thread. So they are those of its children that were not
        there before the command. What other threads start, in libtakt for instance, is theirs.
        """
        kept = {*self.others, self._pid}
        with suppress(ChildProcessError):
            while ended := os.waitid(os.P_ALL, 0, ENDED_CHILDREN | os.WNOWAIT):
                if ended.si_pid in kept:  # the kernel shows none of those behind it
                    break
                os.waitid(os.P_PID, ended.si_pid, ENDED_CHILDREN)
            else:
                return
        for process in _processes():
            if process.parent == os.getpid() and process.pid not in kept:
                with suppress(ChildProcessError):
                    os.waitid(os.P_PID, process.pid, ENDED_CHILDREN)

    def end_what_it_left(self) -> None:
        """Ends the processes that it left running, except those in a session of their own, as
        daemons have. Asks as firmly as the command had to be asked last: what ignores a signal
        mostly has that from the command.
        """
        _end_all(self.others, REQUESTS_TO_END[max(self._asked - 1, 0) :], self.reap_orphans)


def _end_all(
    kept: set[int], requests: Iterable[signal.Signals], reap_orphans: Callable[[], None]
) -> None:
    """Ends all descendants in this session but for those of `kept`, with the next request if they
    run on.
    """
    for request in requests:
        deadline = time.monotonic() + PATIENCE
        for process in _descendants(kept):
            with suppress(ProcessLookupError):
                os.kill(process, request)
        while (left := deadline - time.monotonic()) > 0:
            ended = not _descendants(kept)
            reap_orphans()  # after the look, so that none of them is left as a zombie
            if ended:
                return
            signal.sigtimedwait({signal.SIGCHLD}, min(left, 0.05))


def _descendants(kept: set[int]) -> list[int]:
    """The running processes of this session that descend from this one, but not through `kept`."""
    session = os.getsid(0)
    running = [one for one in _processes() if one.runs and one.session == session]
    parents = {one.pid: one.parent for one in running if one.pid not in kept}

    def descends(process: int) -> bool:
        while process in parents:
            process = parents[process]
            if process == os.getpid():
                return True
        return False

    return [process for process in parents if descends(process)]


@contextmanager
def nothing_left_running() -> Iterator[None]:
    """For the main thread. SIGTERM and SIGHUP interrupt the body as Ctrl-C does; however it ends,
    what it has started and left running in this session is ended.
    """
    kept = _children()
    _become_subreaper()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    former = {
        number: signal.signal(number, interrupt)
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN
    }

    def reap_orphans() -> None:
        for process in _children() - kept:
            with suppress(ChildProcessError):
                os.waitpid(process, os.WNOHANG)

    try:
        yield
    finally:
        _end_all(kept, REQUESTS_TO_END, reap_orphans)
        for number, handler in former.items():
            signal.signal(number, handler)


def _children() -> set[int]:
    return {one.pid for one in _processes() if one.parent == os.getpid()}


class _Process(NamedTuple):
    pid: int
    parent: int
    session: int
    runs: bool
    """False: it has ended, and nobody has reaped it yet."""


def _processes() -> Iterator[_Process]:
    """All processes that this one sees."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with suppress(OSError):
            fields = (entry / "stat").read_text("latin-1").rpartition(")")[2].split()
            # A process whose first thread has ended looks like a zombie while others go on.
            runs = fields[0] not in "ZX" or int(fields[17]) > 1
            yield _Process(int(entry.name), int(fields[1]), int(fields[3]), runs)


def supervise(
    command: Command | None,
    duration: float | None,
    look: Callable[[], bool],
    snapshot: Callable[[], None],
    tick: float = TICK,
    ending: Callable[[], None] = lambda: None,
) -> None:
    """Waits as _until_the_end does. If that fails, nobody is in charge of the command any more:
    then ends it.
    """
    try:
        _until_the_end(command, duration, look, snapshot, tick, ending)
    except BaseException:
        _until_the_end(command, 0.0, lambda: True, lambda: None)
        raise


def _until_the_end(
    command: Command | None,
    duration: float | None,
    look: Callable[[], bool],
    snapshot: Callable[[], None],
    tick: float = TICK,
    ending: Callable[[], None] = lambda: None,
) -> None:
    """Waits for the command's end, or for a signal if there is none, or for the duration's end. A
    command may outlive its recording, which has ended when `look` returns False. `ending` is called
    when the command is told to end.
    """
    deadline = time.monotonic() + duration if duration is not None else math.inf
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            if command is None:
                return
            if not command.told_to_end:
                ending()
            command.ask_to_end()
            deadline = time.monotonic() + PATIENCE
            continue
        received = signal.sigtimedwait(ENDING | {signal.SIGCHLD, SNAPSHOT}, min(left, tick))
        if received and received.si_signo == SNAPSHOT:
            snapshot()
        if received and received.si_signo in ENDING:
            if command is None:
                return
            if not command.told_to_end:
                ending()
            command.forward(received)
        if command and command.ended():
            if command.told_to_end:
                command.end_what_it_left()
            return
        if command:
            command.reap_orphans()
        if not look() and command is None:
            return


PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


def _become_subreaper() -> None:
    """Processes that a descendant leaves running become children of this process, which can end
    them.
    """
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


@contextmanager
def signals_kept() -> Iterator[set[int]]:
    """Keeps the signals that end a recording pending for sigtimedwait; yields the former mask."""
    former = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING | {signal.SIGCHLD, SNAPSHOT})
    try:
        yield {int(number) for number in former}
    finally:
        # A second Ctrl-C while the trace was completed must not end what comes after.
        while signal.sigtimedwait(ENDING | {SNAPSHOT}, 0):
            pass
        signal.pthread_sigmask(signal.SIG_SETMASK, former)
