"""Records what a command does, or what already runs, until it ends or someone says so."""

from __future__ import annotations

import json
import math
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import takt_native
from takt.errors import UserError

Watch = Callable[[float, int, dict[str, int]], None]
"""Told now and then of the seconds passed, the bytes written and the losses so far, by kind."""

DEFAULT_EVENTS = ("ros2:*", "takt:*", "dds:*")

# An unmodified ROS 2 program ends itself on SIGINT; the others are for one that does not.
REQUESTS_TO_END = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
PATIENCE = 5.0  # seconds between two of them

RCLPY_TRACING = Path(__file__).parent / "rclpy_tracing"
"""What a Python program finds first, for the callbacks of rclpy to be traced."""

TICK = 0.5  # seconds between two looks at the recording

ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
SNAPSHOT = signal.SIGUSR1  # asks a snapshot recording to write what it holds
FROM_THE_KERNEL = 0x80  # SI_KERNEL: the terminal sent it, to the command as well as to us


@dataclass
class Recorded:
    """A finished recording."""

    trace: Path
    seconds: float
    bytes: int
    losses: dict[str, int]
    command_status: int | None = None
    """As a shell reports it; 0 if the command ended because it was told to; None: no command."""
    snapshots: list[Path] = field(default_factory=list)
    """Of a snapshot recording: the traces that were written, in order."""


@dataclass
class Request:
    """What to record."""

    tracer: str
    """lttng, ring or ebpf."""
    output: Path
    events: Sequence[str] = DEFAULT_EVENTS
    command: tuple[str, ...] = ()
    """Empty: whatever runs."""
    kernel: bool = False
    """Also the scheduler's events."""
    snapshot_size: int = 0
    """Bytes of memory for the newest events, which are written only when asked for; 0: everything
    is written."""
    duration: float | None = None
    """Seconds; None: until the command ends or a signal comes."""
    command_output: int | None = None
    """File descriptor that the command gets as standard output; None: ours."""


def tracetools() -> Path:
    """Takt's libtracetools.so, which is built beside the extension. UserError without it."""
    library = Path(takt_native.__file__).resolve().parent.parent / "lib" / "libtracetools.so"
    if not library.exists():
        raise UserError(
            f"{library}: not built, as ROS 2 was missing; run 'make' with ROS 2 present"
        )
    return library


def preloaded(tracer: str) -> list[Path]:
    """Libraries that a process needs for a tracer: none for probes in the kernel."""
    return [] if tracer == "ebpf" else [tracetools()]


def traced(
    environment: Mapping[str, str], recording: takt_native.Recording, libraries: Sequence[Path]
) -> dict[str, str]:
    """The environment for programs that a recording of started ones is to see, with `libraries`
    preloaded.
    """
    changed = {**environment, **recording.environment()}

    def prepend(variable: str, paths: Sequence[Path]) -> None:
        former = [changed[variable]] if changed.get(variable) else []
        changed[variable] = os.pathsep.join([*map(str, paths), *former])

    prepend("LD_PRELOAD", libraries)
    prepend("PYTHONPATH", [RCLPY_TRACING])
    return changed


def record(request: Request, watch: Watch) -> Recorded:
    """Records as requested; a bad name of an event, an existing output and the like are
    UserError or takt_native.InputError.

    SIGINT, SIGTERM and SIGHUP end the recording in good order, also while it starts. UserError or
    takt_native.InputError if it cannot start or the trace cannot be completed.
    """
    libraries = preloaded(request.tracer) if request.command else []
    with _signals_kept() as former_mask:
        recording = takt_native.Recording(
            request.tracer,
            str(request.output),
            list(request.events),
            kernel=request.kernel,
            only_started=bool(request.command),
            snapshot_size=request.snapshot_size,
        )
        started = time.monotonic()
        command = None
        if request.command:
            try:
                command = _Command(request, traced(os.environ, recording, libraries), former_mask)
            except OSError as error:
                recording.discard()
                what = request.command[0]
                raise UserError(f"{what}: cannot be started: {error.strerror}") from error
        snapshots = Snapshots(request, recording)
        try:
            _until_the_end(
                command,
                request.duration,
                lambda: watch(time.monotonic() - started, *status_of(recording.status())),
                snapshots.take,
            )
        finally:
            snapshots.close()
        seconds = time.monotonic() - started
        size, losses = status_of(recording.stop())
    return Recorded(
        request.output,
        seconds,
        size,
        losses,
        command.status if command else None,
        snapshots.taken,
    )


def status_of(text: str) -> tuple[int, dict[str, int]]:
    """The bytes written and the losses by kind, of what takt_native.Recording says."""
    losses = json.loads(text)
    return losses.pop("bytes"), losses


def lost(losses: Mapping[str, int]) -> str:
    """Losses by kind, in words."""
    kinds = [f"{count} {kind.replace('_', ' ')}" for kind, count in losses.items() if count]
    return ", ".join(kinds) or "nothing lost"


class Snapshots:
    """What a snapshot recording has written. While it runs, a file tells `takt snapshot` of it."""

    def __init__(self, request: Request, recording: takt_native.Recording) -> None:
        self.taken: list[Path] = []
        self._request = request
        self._recording = recording
        self._file = snapshot_files() / f"{os.getpid()}.json" if request.snapshot_size else None
        self._error: str | None = None
        self._asked = -1
        self._write()

    def take(self) -> None:
        """Writes the next one: OUTPUT-1, OUTPUT-2 and so on. What goes wrong is told to who asked,
        and the recording goes on.
        """
        if not self._file:
            return
        output = Path(f"{self._request.output}-{len(self.taken) + 1}").absolute()
        try:
            self._recording.snapshot(str(output))
        except takt_native.InputError as error:
            self._error = str(error)
        else:
            self._error = None
            self.taken.append(output)
        self._write()

    def close(self) -> None:
        if self._file:
            self._file.unlink(missing_ok=True)

    def _write(self) -> None:
        self._asked += 1
        if self._file:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            state = {
                "asked": self._asked,
                "snapshots": [str(path) for path in self.taken],
                "error": self._error,
            }
            temporary = self._file.with_suffix(".new")
            temporary.write_text(json.dumps(state))
            temporary.replace(self._file)


def snapshot_files() -> Path:
    """Where snapshot recorders of this user leave word of themselves."""
    runtime = os.environ.get("XDG_RUNTIME_DIR") or f"/tmp/takt-{os.geteuid()}-recorders"
    return Path(runtime) / "takt-snapshots"


class _Command:
    """A program that is being recorded."""

    def __init__(
        self, request: Request, environment: Mapping[str, str], mask: Iterable[int]
    ) -> None:
        self.status: int | None = None
        self._requests = iter(REQUESTS_TO_END)
        actions = []
        if request.command_output is not None:
            actions.append((os.POSIX_SPAWN_DUP2, request.command_output, 1))
        self._pid = os.posix_spawnp(
            request.command[0],
            request.command,
            environment,
            file_actions=actions,
            setsigmask=mask,
        )
        self._told_to_end = False

    def ended(self) -> bool:
        """Sets `status` if the program has ended: as a shell would, but 0 if it was told to."""
        pid, status = os.waitpid(self._pid, os.WNOHANG)
        if pid == 0:
            return False
        code = os.waitstatus_to_exitcode(status)
        self.status = 0 if self._told_to_end else code if code >= 0 else 128 - code
        return True

    def forward(self, received: signal.struct_siginfo) -> None:
        """Hands on a signal, unless the terminal has sent it to the program already."""
        self._told_to_end = True
        if received.si_code != FROM_THE_KERNEL:
            os.kill(self._pid, received.si_signo)

    def ask_to_end(self) -> None:
        """Asks more firmly each time."""
        self._told_to_end = True
        os.kill(self._pid, next(self._requests, signal.SIGKILL))


def _until_the_end(
    command: _Command | None,
    duration: float | None,
    watch: Callable[[], None],
    snapshot: Callable[[], None],
) -> None:
    """Waits for the command's end, or for a signal if there is none, or for the duration's end."""
    deadline = time.monotonic() + duration if duration is not None else math.inf
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            if command is None:
                return
            command.ask_to_end()
            deadline = time.monotonic() + PATIENCE
            continue
        received = signal.sigtimedwait(ENDING | {signal.SIGCHLD, SNAPSHOT}, min(left, TICK))
        if received and received.si_signo == SNAPSHOT:
            snapshot()
        if received and received.si_signo in ENDING:
            if command is None:
                return
            command.forward(received)
        if command and command.ended():
            return
        watch()


@contextmanager
def _signals_kept() -> Iterator[set[int]]:
    """Keeps the signals that end a recording pending for sigtimedwait; yields the former mask."""
    former = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING | {signal.SIGCHLD, SNAPSHOT})
    try:
        yield {int(number) for number in former}
    finally:
        # A second Ctrl-C, while the trace was completed, must not strike what comes after.
        while signal.sigtimedwait(ENDING | {SNAPSHOT}, 0):
            pass
        signal.pthread_sigmask(signal.SIG_SETMASK, former)
