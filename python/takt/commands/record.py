"""takt record: Record a command, or what already runs."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from json import loads
from pathlib import Path
from typing import Annotated, Any

import takt_native
from takt import files
from takt.arguments import Argument, Exit, Option
from takt.errors import UserError
from takt.processes import readers, sharing
from takt.recordings import joining, labels
from takt.recordings.recorder import DEFAULT_EVENTS, Recorded, Request, Watch, lost, unrecorded
from takt.recordings.recorder import record as record_trace
from takt.text import console
from takt.text.formatting import count, data_size

EXAMPLES = """
takt record -- python3 talker.py                 one program, from its first event to its end
takt record --duration 10 -o run1 -- ros2 launch demo robot.launch.py
takt record --duration 30                        what already runs
takt record --event 'ros2:callback_*' -- ./node  only some events
takt record --exclude '/tf*' --exclude /rosout -- ros2 launch demo robot.launch.py
takt record --include '/planner' --buffer 64 --backend ring -- ./node
takt record --join laptop/ robot.tar.xz -o both  recordings of several hosts as one
takt record --label robot=r7 --label version=1.4 -- ./node   kept in the trace, for takt info
takt record --backend ring --snapshot -o robot   the newest events, when 'takt snapshot' asks
takt record --share -- ros2 launch demo robot.launch.py      its topics in shared memory
takt record --share-topics '/camera/*' -- ./node             those of a camera only
"""


SNAPSHOT_SIZE = 64
"""MB."""


class Backend(str, Enum):
    LTTNG = "lttng"
    RING = "ring"
    EBPF = "ebpf"


def record(
    command: Annotated[
        list[str] | None,
        Argument(
            metavar="[-- COMMAND...]",
            help="What to start and record; with --join, the recordings.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        Option(
            "-o",
            "--output",
            metavar="DIR",
            help="The new trace; default: takt-trace-DATE-TIME.",
        ),
    ] = None,
    backend: Annotated[
        Backend,
        Option(metavar="|".join(backend.value for backend in Backend), help="The tracer."),
    ] = Backend.LTTNG,
    kernel: Annotated[bool, Option("--kernel", help="Add scheduling events.")] = False,
    duration: Annotated[
        float | None,
        Option(metavar="SECONDS", min=0.001, help="End after this time."),
    ] = None,
    event: Annotated[
        list[str] | None,
        Option(
            metavar="NAME",
            help="Record only events of this name, which may end in '*'; may be repeated.",
            show_default=False,
        ),
    ] = None,
    snapshot: Annotated[
        bool,
        Option("--snapshot", help="Keep the newest events in memory; write on 'takt snapshot'."),
    ] = False,
    snapshot_size: Annotated[
        int, Option(metavar="MB", min=1, max=16_384, help="Memory for --snapshot.")
    ] = SNAPSHOT_SIZE,
    include: Annotated[
        list[str] | None,
        Option(
            metavar="PATTERN",
            help="Record only these nodes, topics or node:topic, such as '/planner' or '/camera/*';"
            " may be repeated.",
            show_default=False,
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        Option(metavar="PATTERN", help="Leave these out, such as '/tf*'.", show_default=False),
    ] = None,
    buffer: Annotated[
        float | None,
        Option(
            metavar="MB",
            min=0.25,
            max=4096,
            help="Room for events until they are written: of each process (ring, 2), each processor"
            " (lttng, 8) or each kind of probe (ebpf, 16).",
            show_default=False,
        ),
    ] = None,
    join: Annotated[
        bool,
        Option("--join", help="Record nothing, but put TRACE... together as one, -o."),
    ] = False,
    label: Annotated[
        list[str] | None,
        Option(
            metavar="KEY=VALUE",
            help="Keep this with the trace, such as robot=r7; may be repeated. More come from the "
            "variable TAKT_LABELS (KEY=VALUE,KEY=VALUE).",
            show_default=False,
        ),
    ] = None,
    label_file: Annotated[
        str | None,
        Option(metavar="FILE", help="Keep these labels, too: a line KEY=VALUE for each."),
    ] = None,
    share: sharing.Share = False,
    share_topics: sharing.Topics = None,
    json: Annotated[bool, Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Record what a command does, or what already runs.

    With a COMMAND, only it and the processes it starts are recorded, from their first event on,
    until it ends; the exit status is the command's, or 0 if it was told to end by Ctrl-C or
    --duration. Without one, every traceable ROS 2 process of this user is recorded until Ctrl-C:
    those that load Takt's libtracetools.so, and all others if ROS 2 itself was built with LTTng.
    What such processes did before is not in the trace, but who they are is.

    With --snapshot nothing is written until 'takt snapshot' (or SIGUSR1) asks for it: then the
    newest events, and all that tell what objects are, become the trace DIR-1, the next time DIR-2.

    With --include and --exclude, what nodes and topics do is recorded only as wanted; that they are
    there is recorded always. Patterns are as in goals files.
    """
    if join:
        unused = {
            "--backend": backend is not Backend.LTTNG,
            "--kernel": kernel,
            "--duration": duration,
            "--event": event,
            "--snapshot": snapshot,
            "--snapshot-size": snapshot_size != SNAPSHOT_SIZE,
            "--include": include,
            "--exclude": exclude,
            "--buffer": buffer,
            "--label": label,
            "--label-file": label_file,
            "--share": share,
            "--share-topics": share_topics,
        }
        if given := [name for name, value in unused.items() if value]:
            raise UserError(f"{', '.join(given)}: of no use with --join, which records nothing")
        _join(command or [], output, json)
        return
    if output == Path(files.STANDARD_STREAM):
        raise UserError("-o -: name a folder for the trace")
    for name, patterns in (("--include", include), ("--exclude", exclude)):
        if "" in (patterns or ()):
            raise UserError(f"{name}: an empty pattern; name nodes or topics, such as '/planner'")
    shared_topics = sharing.asked(share_topics, share=share, command=command)
    trace = output or Path(time.strftime("takt-trace-%Y%m%d-%H%M%S"))
    request = Request(
        backend.value,
        trace,
        event or DEFAULT_EVENTS,
        tuple(command or ()),
        kernel,
        snapshot_size * 2**20 if snapshot else 0,
        duration,
        # Standard output is for our document alone.
        command_output=sys.stderr.fileno() if json else None,
        include=include or (),
        exclude=exclude or (),
        buffer_size=round((buffer or 0) * 2**20),
        labels=labels.document(labels.given(label or (), label_file)),
        share=shared_topics,
    )
    with _display(request) as watch:
        recorded = record_trace(request, watch)
    if snapshot:
        _tell_snapshots(recorded, json)
        return
    found = _look_into(recorded)
    if not (found.events or command) and request.tracer == "ring" and (taken := readers.others()):
        raise UserError(readers.in_words(taken))
    if json:
        console.print_json(_document(recorded, found))
    # The trace says the same of them, but there may be none.
    for warning in found.warnings if recorded.bytes else map(unrecorded, recorded.unrecorded):
        console.say(f"takt: warning: {warning}")
    if found.events:
        events = f"{found.events} event{'' if found.events == 1 else 's'}"
        console.say(
            f"Recorded {events} in {_time(request, recorded)}, "
            f"{data_size(recorded.bytes)}, {lost(found.losses)}: {trace}"
        )
        if found.is_scheduling:
            console.say(f"takt: these are the scheduler's events alone: {_nobody(request)}")
        console.say(f"Next: takt info {shlex.quote(str(trace))}")
    else:
        console.say(f"takt: nothing was recorded: {_why_nothing(request, recorded, found)}")
    if recorded.command_status:
        console.say(f"takt: {request.command[0]} ended with status {recorded.command_status}")
    if status := recorded.command_status or int(found.events == 0):
        raise Exit(status)


def _join(traces: list[str], output: Path | None, json: bool) -> None:
    if output is None:
        raise UserError("--join: name the new recording with -o")
    joined = joining.join(traces, output)
    if json:
        console.print_json(joined)
    console.say(
        f"Joined {count(len(traces), 'recording')} of {', '.join(joined['hosts'])}: "
        f"{joined['events']} events: {output}"
    )
    console.say(f"Next: takt info {shlex.quote(str(output))}")


def _tell_snapshots(recorded: Recorded, json: bool) -> None:
    traces = [str(trace) for trace in recorded.snapshots]
    if json:
        console.print_json(
            {
                "format": "takt/snapshots",
                "version": 1,
                "seconds": round(recorded.seconds, 3),
                "traces": traces,
                "losses": recorded.losses,
                "command_status": recorded.command_status,
            }
        )
    number = "1 snapshot" if len(traces) == 1 else f"{len(traces) or 'no'} snapshots"
    console.say(f"Wrote {number} in {recorded.seconds:.1f} s, {lost(recorded.losses)}")
    if recorded.command_status:
        raise Exit(recorded.command_status)


@contextmanager
def _display(request: Request) -> Iterator[Watch]:
    """Says what is going on; on a terminal that no command writes to, with a line that moves."""
    until = f"for {request.duration:g} s" if request.duration else "until Ctrl-C"
    if request.command or not sys.stderr.isatty():
        what = shlex.join(request.command) or "what runs"
        ends = "until it ends" if request.command and not request.duration else until
        console.say(f"Recording {what} {ends}")
        yield lambda seconds, size, losses: None
        return
    with console.moving_line(f"Recording what runs {until}") as set_text:

        def watch(seconds: float, size: int, losses: dict[str, int]) -> None:
            set_text(
                f"Recording what runs {until}: {seconds:.0f} s, {data_size(size)}, {lost(losses)}"
            )

        yield watch


def _time(request: Request, recorded: Recorded) -> str:
    """How long it took, and why it took longer than was asked for."""
    parts = []
    if recorded.searched >= _NOTABLE:
        parts.append(f"{recorded.searched:.1f} s of them to find what ran already")
    late = recorded.seconds - recorded.searched - (request.duration or recorded.seconds)
    if request.command and late >= _NOTABLE:
        parts.append(f"{late:.1f} s of them until {request.command[0]} had ended")
    return f"{recorded.seconds:.1f} s" + (f" ({', '.join(parts)})" if parts else "")


_NOTABLE = 0.5
"""Seconds that somebody wonders about."""

_OF_RECORDER = ("takt:unrecorded_process", "takt:selection")
"""Events that tell of the recording itself."""


@dataclass
class _Found:
    """What is in the new trace."""

    events: int
    losses: dict[str, int]
    """What the recorder knows to be missing, and what the trace itself says is."""
    warnings: list[str]
    is_scheduling: bool = False
    """Its events are those of the kernel's scheduler alone, which are about nobody's callbacks."""


def _look_into(recorded: Recorded) -> _Found:
    if not recorded.bytes:
        return _Found(0, recorded.losses, [])
    with console.progress("Counting events") as progress:
        info = loads(takt_native.info([str(recorded.trace)], progress))
    said = {
        "discarded_events": info["discarded"],
        "lost_packets": info["discarded_packets"],
        "unreadable_bytes": info["unreadable_bytes"],
    }
    kinds = [*recorded.losses, *(kind for kind in said if kind not in recorded.losses)]
    losses = {kind: max(recorded.losses.get(kind, 0), said.get(kind, 0)) for kind in kinds}
    of_others = {name: n for name, n in info["by_name"].items() if name not in _OF_RECORDER}
    # Those of the kernel have no provider in their names.
    is_scheduling = not any(":" in name for name in of_others)
    return _Found(sum(of_others.values()), losses, info["warnings"], is_scheduling)


def _why_nothing(request: Request, recorded: Recorded, found: _Found) -> str:
    if recorded.unrecorded:
        number = count(len(recorded.unrecorded), "process", "processes")
        return f"the {number} with ROS 2 could not be"
    if any(found.losses.values()):
        return lost(found.losses)
    if list(request.events) != list(DEFAULT_EVENTS):
        return f"no event {' or '.join(request.events)} happened"
    return _nobody(request)


def _nobody(request: Request) -> str:
    nobody = "no process with ROS 2's tracepoints did anything"
    if request.command:
        return (
            f"{nobody} until {request.command[0]} ended; 'takt record' without a command records "
            "what it has left running"
        )
    return f"{nobody}; record a ROS 2 program, or start it with 'takt record -- COMMAND'"


def _document(recorded: Recorded, found: _Found) -> dict[str, Any]:
    return {
        "format": "takt/recording",
        "version": 1,
        "trace": str(recorded.trace) if recorded.bytes else None,
        "seconds": round(recorded.seconds, 3),
        "events": found.events,
        "bytes": recorded.bytes,
        "losses": found.losses,
        "unrecorded": recorded.unrecorded,
        "warnings": found.warnings,
        "command_status": recorded.command_status,
    }
