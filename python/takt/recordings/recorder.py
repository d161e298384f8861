"""Records what a command does, or what already runs, until it ends or someone says so."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from ctypes.util import find_library
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import takt_native
from takt import files
from takt.errors import UserError
from takt.processes import readers, runtime, sharing, supervision
from takt.processes.supervision import TICK
from takt.recordings import elf, labels
from takt.text import console
from takt.text.formatting import count

Watch = Callable[[float, int, dict[str, int]], None]
"""Called now and then with the seconds passed, the bytes written and the losses so far, by kind."""

DEFAULT_EVENTS = ("ros2:*", "takt:*", "dds:*", "rcl:*")

RCLPY_TRACING = Path(__file__).parents[1] / "rclpy_tracing"
"""The first folder on a Python program's path, so that rclpy's callbacks are traced."""


def nobody_heard() -> str:
    """Why no running program was heard."""
    if found := readers.others():
        return readers.in_words(found)
    return (
        "no program of ROS 2 was heard; those that Takt does not start need its library, as "
        "'takt doctor' says"
    )


@dataclass
class Recorded:
    """A finished recording."""

    trace: Path
    seconds: float
    """From its beginning to its end."""
    bytes: int
    """0: there is no trace, as no process ran that could be recorded."""
    losses: dict[str, int]
    unrecorded: list[dict[str, Any]] = field(default_factory=list)
    """The processes with ROS 2 that it lacks: pid, process (its name) and why."""
    command_status: int | None = None
    """The status as a shell reports it; 0 if the command was told to end; None: no command."""
    searched: float = 0.0
    """How many of the seconds went by until all that ran already was known."""
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
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    """Patterns of the nodes and topics that alone are recorded, and of those that are not."""
    buffer_size: int = 0
    """Bytes of the buffers of events; 0: as suits the tracer."""
    labels: dict[str, Any] | None = None
    """The takt/labels document to keep in the recording."""
    share: str | None = None
    """The pattern of the topics that the command sends through shared memory; None: none."""


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
    share: str | None = None,
) -> dict[str, str]:
    """The environment for programs that are started to be recorded, with `libraries` preloaded.
    `share`: as in Request; what this process was started to share is shared in any case.
    """
    changed = {**environment, **recording.environment()}

    def prepend(variable: str, paths: Sequence[Path]) -> None:
        former = [changed[variable]] if changed.get(variable) else []
        changed[variable] = os.pathsep.join([*map(str, paths), *former])

    prepend("LD_PRELOAD", libraries)
    prepend("PYTHONPATH", [RCLPY_TRACING])
    share = share or sharing.inherited(changed)
    return sharing.shared(changed, share) if share else changed


def record(request: Request, watch: Watch) -> Recorded:
    """Records as requested; a bad name of an event, an existing output and the like are
    UserError or takt_native.InputError.

    SIGINT, SIGTERM and SIGHUP end the recording in good order, also while it starts. UserError or
    takt_native.InputError if it cannot start or the trace cannot be completed.
    """
    libraries = preloaded(request.tracer, request.events) if request.command else []
    with supervision.signals_kept() as former_mask:
        with closing(Snapshots(request)) as snapshots:
            began = time.monotonic()
            recording = takt_native.Recording(
                request.tracer,
                str(request.output),
                list(request.events),
                kernel=request.kernel,
                only_started=bool(request.command),
                snapshot_size=request.snapshot_size,
                include=list(request.include),
                exclude=list(request.exclude),
                buffer_size=request.buffer_size,
            )
            running = Running(recording, request.output)
            # Probes record while they are told what runs.
            is_late = request.tracer == "ebpf" and not request.command
            searched = time.monotonic() - began if is_late else 0.0
            try:
                if request.labels and not request.snapshot_size:
                    # Now, as a recorder may be killed.
                    labels.write(Path(f"{request.output}.partial"), request.labels)
                environment = traced(os.environ, recording, libraries, request.share)
                command = _started(request, environment, former_mask)
            except (UserError, KeyboardInterrupt):
                running.discard()
                raise

            def look() -> bool:
                status = running.look()
                if status:
                    watch(running.seconds(), status.bytes, status.losses)
                return status is not None

            supervision.supervise(
                command, request.duration, look, lambda: snapshots.take(recording)
            )
        seconds = running.seconds()
        status = running.stop()
    return Recorded(
        request.output,
        searched + seconds,
        status.bytes,
        status.losses,
        status.unrecorded,
        command.status if command else None,
        searched,
        snapshots.taken,
    )


class Supervised(Protocol):
    """What runs, as in Request."""

    @property
    def command(self) -> tuple[str, ...]: ...
    @property
    def duration(self) -> float | None: ...
    @property
    def command_output(self) -> int | None: ...


def supervise(
    request: Supervised,
    environment: Mapping[str, str],
    look: Callable[[], bool],
    tick: float = TICK,
    ending: Callable[[], None] = lambda: None,
) -> int | None:
    """Starts the request's command, if it has one, with this environment, and calls `look` every
    `tick` seconds until the command or the duration ends, a signal says so, or, without a command,
    `look` returns False; `ending` when the command is told to end. Returns the command's status;
    None: there was no command. UserError if it cannot be started. What `look` raises ends the
    command.
    """
    with supervision.signals_kept() as former_mask:
        command = _started(request, environment, former_mask)
        supervision.supervise(command, request.duration, look, lambda: None, tick, ending)
    return command.status if command else None


class Status(NamedTuple):
    """The state that takt_native.Recording reports."""

    bytes: int
    losses: dict[str, int]
    """Lost events by kind."""
    unrecorded: list[dict[str, Any]]
    """When it has been stopped: as Recorded.unrecorded."""
    failure: str
    """Why recording has stopped; empty: it goes on."""


def status_of(text: str) -> Status:
    """The state that takt_native.Recording reports, parsed."""
    said = json.loads(text)
    return Status(
        said.pop("bytes"),
        unrecorded=said.pop("unrecorded"),
        failure=said.pop("failure"),
        losses=said,
    )


def lost(losses: Mapping[str, int]) -> str:
    """Losses by kind, whose names are plurals, in words."""
    nouns = {kind: kind.replace("_", " ") for kind in losses}
    kinds = [
        count(number, nouns[kind].removesuffix("es" if kind.endswith("sses") else "s"), nouns[kind])
        for kind, number in losses.items()
        if number
    ]
    return ", ".join(kinds) or "nothing lost"


def unrecorded(process: Mapping[str, Any]) -> str:
    """A process of Recorded.unrecorded, in the words that takt info has for it."""
    return (
        f"1 process with ROS 2 ({process['pid']}, {process['process']}) was not recorded: "
        f"{process['why']}"
    )


class Running:
    """A recording that goes on while somebody looks at it now and then. It ends when it fails: the
    disk is full, for instance, or LTTng's daemon has ended.
    """

    def __init__(
        self,
        recording: takt_native.Recording,
        output: Path,
        say: Callable[[str], None] = lambda message: console.say(f"takt: {message}"),
    ) -> None:
        """`say` gets one line when it fails, perhaps in another thread."""
        self._recording = recording
        self._output = output
        self._say = say
        self._began = time.monotonic()
        self._failure: str | None = None
        self._over = threading.Event()
        self._looking: threading.Thread | None = None

    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self._began

    def look(self) -> Status | None:
        """Its state; None: it has failed, and so ended."""
        if self._failure is not None:
            return None
        try:
            status = status_of(self._recording.status())
        except takt_native.InputError as error:
            self._fail(str(error))
            return None
        if status.failure:
            self._fail(status.failure)
            return None
        return status

    def look_by_itself(self) -> None:
        """Looks every TICK seconds in a thread of its own, for those who wait for other things."""

        def looking() -> None:
            while not self._over.wait(TICK) and self.look():
                pass

        self._looking = threading.Thread(target=looking, name="takt-recording", daemon=True)
        self._looking.start()

    def stop(self) -> Status:
        """Completes the trace. UserError if the recording has failed, takt_native.InputError if it
        cannot be ended in good order.
        """
        self._look_no_more()
        if self._failure is None:
            seconds = self.seconds()
            status = status_of(self._recording.stop())
            if not status.failure:
                return status
            self._failure = self._sentence(status.failure, seconds, status)
        raise UserError(self._failure)

    def discard(self) -> None:
        """Ends it and removes what was recorded."""
        self._look_no_more()
        self._recording.discard()

    def _look_no_more(self) -> None:
        self._over.set()
        if self._looking:
            self._looking.join()

    def _fail(self, reason: str) -> None:
        seconds = self.seconds()
        try:
            status = status_of(self._recording.stop())
        except takt_native.InputError:
            status = None
        self._failure = self._sentence(reason, seconds, status)
        self._say(f"{reason}: the recording ends")

    def _sentence(self, reason: str, seconds: float, status: Status | None) -> str:
        losses = lost(status.losses) if status else "an unknown number of events lost"
        places = (Path(f"{self._output}.partial"), self._output)
        place = next((f": {place}" for place in places if place.exists()), "")
        return f"{reason}; the recording ended after {seconds:.1f} s, {losses} until then{place}"


class Snapshots:
    """The traces that a snapshot recording has written. While it runs, a file announces it to `takt
    snapshot`.
    """

    def __init__(self, request: Request) -> None:
        """UserError if it cannot be announced."""
        self.taken: list[Path] = []
        self._request = request
        self._file = snapshot_files() / f"{os.getpid()}.json" if request.snapshot_size else None
        self._error: str | None = None
        self._asked = -1
        self._write()

    def take(self, recording: takt_native.Recording) -> None:
        """Writes the next one: OUTPUT-1, OUTPUT-2 and so on. An error is reported to the `takt
        snapshot` that asked, and the recording goes on.
        """
        if not self._file:
            return
        output = Path(f"{self._request.output}-{len(self.taken) + 1}").absolute()
        try:
            recording.snapshot(str(output))
        except takt_native.InputError as error:
            self._error = str(error)
        else:
            self._error = None
            self.taken.append(output)
            if self._request.labels:
                labels.write(output, self._request.labels)
        try:
            self._write()
        except UserError as error:  # the one who asked waits in vain, and the recording goes on
            console.say(f"takt: {error}")

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
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            try:
                temporary.unlink(missing_ok=True)  # left by a killed recorder with this process id
                with os.fdopen(os.open(temporary, flags, 0o600), "w") as file:
                    file.write(json.dumps(state))
                temporary.replace(self._file)
            except OSError as error:
                raise UserError(f"{self._file}: cannot be written: {error.strerror}") from error


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


def _started(
    request: Supervised, environment: Mapping[str, str], mask: Iterable[int]
) -> supervision.Command | None:
    """The request's command, if it has one. UserError if it cannot be started."""
    if not request.command:
        return None
    return supervision.Command(request.command, environment, mask, request.command_output)
