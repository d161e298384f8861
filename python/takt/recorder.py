"""Records what a command does, or what already runs, until it ends or someone says so."""

from __future__ import annotations

import ctypes
import json
import math
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from ctypes.util import find_library
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

import takt_native
from takt import console, elf, files, runtime
from takt.errors import UserError
from takt.formatting import count

Watch = Callable[[float, int, dict[str, int]], None]
"""Called now and then with the seconds passed, the bytes written and the losses so far, by kind."""

DEFAULT_EVENTS = ("ros2:*", "takt:*", "dds:*")

# An unmodified ROS 2 program ends itself on SIGINT; the others are for one that does not.
REQUESTS_TO_END = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
PATIENCE = 5.0  # seconds between two of them

RCLPY_TRACING = Path(__file__).parent / "rclpy_tracing"
"""The first folder on a Python program's path, so that rclpy's callbacks are traced."""

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
    """0: there is no trace, as no process ran that could be recorded."""
    losses: dict[str, int]
    command_status: int | None = None
    """The status as a shell reports it; 0 if the command was told to end; None: no command."""
    snapshots: list[Path] = field(default_factory=list)
    """The traces that a snapshot recording wrote, in order."""


@dataclass
class Request:
    """What to record."""

    tracer: str
    """lttng, ring or ebpf."""
    output: Path
    events: Sequence[str] = DEFAULT_EVENTS
    command: tuple[str, ...] = ()
    """Empty: record whatever runs."""
    kernel: bool = False
    """Also the scheduler's events."""
    snapshot_size: int = 0
    """Bytes of memory for the newest events, which are written only when asked for; 0: everything
    is written."""
    duration: float | None = None
    """Seconds; None: until the command ends or a signal comes."""
    command_output: int | None = None
    """File descriptor that the command gets as standard output; None: ours."""


HELPERS = {
    "lttng_ust_libc": "lttng-ust-libc-wrapper",
    "lttng_ust_pthread": "lttng-ust-pthread-wrapper",
    "lttng_ust_dl": "lttng-ust-dl",
    "lttng_ust_cyg_profile": "lttng-ust-cyg-profile",
    "lttng_ust_cyg_profile_fast": "lttng-ust-cyg-profile-fast",
}
"""LTTng's libraries that trace other calls of programs, by the provider of their events."""


def preloaded(
    tracer: str, events: Sequence[str] = (), environment: Mapping[str, str] = os.environ
) -> list[Path]:
    """The libraries to preload into a process of this environment for a tracer and its events; none
    for probes in the kernel. UserError if ROS 2 in that environment calls functions that Takt's
    library lacks, as the process would then fail.
    """
    helpers = _helpers(tracer, events)
    if tracer == "ebpf":
        return []
    ours = runtime.tracetools()
    known = elf.exported(ours)
    for stock in _stock_tracetools(environment, ours):
        calls = {name for name in elf.exported(stock) if name.startswith("ros_trace_")}
        if missing := sorted(calls - known):
            distribution = environment.get("ROS_DISTRO", "another distribution")
            raise UserError(
                f"{stock}: of ROS 2 {distribution}, whose programs call {missing[0]}, which Takt's "
                f"tracing library was built without; build Takt with ROS 2 {distribution} set up, "
                "or record with --backend ebpf"
            )
    return [ours, *helpers]


def _helpers(tracer: str, events: Sequence[str]) -> list[Path]:
    """The libraries for events of HELPERS. UserError if one is missing."""
    asked = {event.partition(":")[0] for event in events}
    found = []
    for provider in sorted(asked & HELPERS.keys()):
        if tracer != "lttng":
            raise UserError(f"{provider}: events that LTTng alone has; record with --backend lttng")
        library = find_library(HELPERS[provider])
        if library is None:
            raise UserError(
                f"{provider}: its events come from lib{HELPERS[provider]}, which is not installed; "
                "it belongs to LTTng-UST"
            )
        found.append(Path(library))
    return found


def _stock_tracetools(environment: Mapping[str, str], ours: Path) -> list[Path]:
    """The tracing library that a program of this environment loads if nothing is preloaded."""
    folders = environment.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    prefixes = environment.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    folders += [f"{prefix}/lib" for prefix in prefixes if prefix]
    found = (Path(folder) / ours.name for folder in folders if folder)
    return [path for path in found if path.is_file() and not path.samefile(ours)][:1]


class HasEnvironment(Protocol):
    """A recording or the like, with an environment for the programs that it listens to."""

    def environment(self) -> dict[str, str]: ...


def traced(
    environment: Mapping[str, str],
    recording: HasEnvironment,
    libraries: Sequence[Path],
) -> dict[str, str]:
    """The environment for programs that are started to be recorded, with `libraries` preloaded."""
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
    libraries = preloaded(request.tracer, request.events) if request.command else []
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
            _become_subreaper()
            try:
                command = _Command(request, traced(os.environ, recording, libraries), former_mask)
            except OSError as error:
                recording.discard()
                what = request.command[0]
                raise UserError(f"{what}: cannot be started: {error.strerror}") from error
        snapshots = Snapshots(request, recording)
        ended: _Ended | None = None

        def look() -> bool:
            nonlocal ended
            seconds = time.monotonic() - started
            if ended is None:
                status = status_of(recording.status())
                watch(seconds, status.bytes, status.losses)
                if status.failure:
                    ended = _Ended(seconds, status_of(recording.stop()))
                    console.say(f"takt: {status.failure}: the recording ends")
            return ended is None

        try:
            _until_the_end(command, request.duration, look, snapshots.take)
        finally:
            snapshots.close()
        if ended is None:
            ended = _Ended(time.monotonic() - started, status_of(recording.stop()))
    seconds, status = ended
    if status.failure:
        raise UserError(
            f"{status.failure}; the recording ended after {seconds:.1f} s, {lost(status.losses)} "
            f"until then: {request.output}.partial"
        )
    return Recorded(
        request.output,
        seconds,
        status.bytes,
        status.losses,
        command.status if command else None,
        snapshots.taken,
    )


def supervise(
    request: Request, environment: Mapping[str, str], look: Callable[[], bool], tick: float = TICK
) -> int | None:
    """Starts the request's command, if it has one, with this environment, and calls `look` every
    `tick` seconds until the command or the duration ends, a signal says so, or, without a command,
    `look` returns False. Returns the command's status; None: there was no command. UserError if it
    cannot be started.
    """
    with _signals_kept() as former_mask:
        command = None
        if request.command:
            _become_subreaper()
            try:
                command = _Command(request, environment, former_mask)
            except OSError as error:
                what = request.command[0]
                raise UserError(f"{what}: cannot be started: {error.strerror}") from error
        _until_the_end(command, request.duration, look, lambda: None, tick)
    return command.status if command else None


class Status(NamedTuple):
    """The state that takt_native.Recording reports."""

    bytes: int
    losses: dict[str, int]
    """Lost events by kind."""
    failure: str
    """Why recording has stopped; empty: it goes on."""


class _Ended(NamedTuple):
    seconds: float
    status: Status


def status_of(text: str) -> Status:
    """The state that takt_native.Recording reports, parsed."""
    said = json.loads(text)
    return Status(said.pop("bytes"), failure=said.pop("failure"), losses=said)


def lost(losses: Mapping[str, int]) -> str:
    """Losses by kind, whose names are plurals, in words."""
    nouns = {kind: kind.replace("_", " ") for kind in losses}
    kinds = [
        count(number, nouns[kind].removesuffix("es" if kind.endswith("sses") else "s"), nouns[kind])
        for kind, number in losses.items()
        if number
    ]
    return ", ".join(kinds) or "nothing lost"


class Snapshots:
    """The traces that a snapshot recording has written. While it runs, a file announces it to `takt
    snapshot`.
    """

    def __init__(self, request: Request, recording: takt_native.Recording) -> None:
        self.taken: list[Path] = []
        self._request = request
        self._recording = recording
        self._file = snapshot_files() / f"{os.getpid()}.json" if request.snapshot_size else None
        self._error: str | None = None
        self._asked = -1
        self._write()

    def take(self) -> None:
        """Writes the next one: OUTPUT-1, OUTPUT-2 and so on. An error is reported to the `takt
        snapshot` that asked, and the recording goes on.
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
            state = {
                "began": began(os.getpid()),
                "asked": self._asked,
                "snapshots": [str(path) for path in self.taken],
                "error": self._error,
            }
            temporary = self._file.with_suffix(".new")
            temporary.unlink(missing_ok=True)  # left by a killed recorder with this process id
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with os.fdopen(os.open(temporary, flags, 0o600), "w") as file:
                file.write(json.dumps(state))
            temporary.replace(self._file)


def began(process: int) -> int | None:
    """When a process began, in ticks of the kernel since the machine's start, by which it differs
    from a later one with its id; None if it has ended.
    """
    try:
        fields = Path(f"/proc/{process}/stat").read_text("latin-1").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def snapshot_files() -> Path:
    """The directory where snapshot recorders of this user announce themselves. UserError if
    somebody else could write there.
    """
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR") or "/nowhere")
    # With sudo, the variable may name the directory of another user.
    folder = (
        runtime / "takt-snapshots"
        if files.is_of_this_user_alone(runtime)
        else Path(f"/tmp/takt-{os.geteuid()}-recorders")
    )
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    if not files.is_of_this_user_alone(folder):
        raise UserError(f"{folder}: not a directory of this user alone; remove it")
    return folder


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
        self.told_to_end = False

    def ended(self) -> bool:
        """Whether the program has ended; then sets `status` as a shell would, but 0 if it was told
        to end.
        """
        pid, status = os.waitpid(self._pid, os.WNOHANG)
        if pid == 0:
            return False
        code = os.waitstatus_to_exitcode(status)
        self.status = 0 if self.told_to_end else code if code >= 0 else 128 - code
        return True

    def forward(self, received: signal.struct_siginfo) -> None:
        """Passes a signal on, unless the terminal has sent it to the program already."""
        self.told_to_end = True
        if received.si_code != FROM_THE_KERNEL:
            os.kill(self._pid, received.si_signo)

    def ask_to_end(self) -> None:
        """Asks more firmly each time."""
        self.told_to_end = True
        os.kill(self._pid, next(self._requests, signal.SIGKILL))


def _until_the_end(
    command: _Command | None,
    duration: float | None,
    look: Callable[[], bool],
    snapshot: Callable[[], None],
    tick: float = TICK,
) -> None:
    """Waits for the command's end, or for a signal if there is none, or for the duration's end. A
    command may outlive its recording, which has ended when `look` returns False.
    """
    deadline = time.monotonic() + duration if duration is not None else math.inf
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            if command is None:
                return
            command.ask_to_end()
            deadline = time.monotonic() + PATIENCE
            continue
        received = signal.sigtimedwait(ENDING | {signal.SIGCHLD, SNAPSHOT}, min(left, tick))
        if received and received.si_signo == SNAPSHOT:
            snapshot()
        if received and received.si_signo in ENDING:
            if command is None:
                return
            command.forward(received)
        if command and command.ended():
            if command.told_to_end:
                _end_what_it_left()
            return
        if not look() and command is None:
            return


PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


def _become_subreaper() -> None:
    """Processes that a descendant leaves running become children of this process, which can end
    them.
    """
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _end_what_it_left() -> None:
    """Ends the processes that a command left running, except those in a session of their own, as
    daemons have.
    """
    for request in REQUESTS_TO_END:
        deadline = time.monotonic() + PATIENCE
        for process in _descendants():
            with suppress(ProcessLookupError):
                os.kill(process, request)
        while (left := deadline - time.monotonic()) > 0:
            if not _descendants():
                return
            signal.sigtimedwait({signal.SIGCHLD}, min(left, 0.05))


def _descendants() -> list[int]:
    """The processes of this session that descend from this one. Reaps those that have ended."""
    session = os.getsid(0)
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with suppress(OSError):
            fields = (entry / "stat").read_text("latin-1").rpartition(")")[2].split()
            state, threads = fields[0], int(fields[17])
            parent, its_session = int(fields[1]), int(fields[3])
            # A process whose first thread has ended looks like a zombie while others go on.
            if state in "ZX" and threads <= 1:
                if parent == os.getpid():
                    os.waitpid(int(entry.name), os.WNOHANG)
            elif its_session == session:
                parents[int(entry.name)] = parent

    def descends(process: int) -> bool:
        while process in parents:
            process = parents[process]
            if process == os.getpid():
                return True
        return False

    return [process for process in parents if descends(process)]


@contextmanager
def _signals_kept() -> Iterator[set[int]]:
    """Keeps the signals that end a recording pending for sigtimedwait; yields the former mask."""
    former = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING | {signal.SIGCHLD, SNAPSHOT})
    try:
        yield {int(number) for number in former}
    finally:
        # A second Ctrl-C while the trace was completed must not end what comes after.
        while signal.sigtimedwait(ENDING | {SNAPSHOT}, 0):
            pass
        signal.pthread_sigmask(signal.SIG_SETMASK, former)
