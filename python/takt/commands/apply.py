"""takt apply: Enact a plan: outputs in slots, or threads scheduled by a file."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import IO, Annotated, Any

from takt import files
from takt.arguments import Argument, Exit, Option
from takt.cli import ANSWER_IS_NO, BAD_INPUT
from takt.errors import UserError
from takt.live import threads
from takt.processes import readers
from takt.processes.companion import NotStartedError
from takt.shaping import dispatcher, plans
from takt.shaping.gate_process import Gates
from takt.shaping.remapping import remapped
from takt.text import console
from takt.text.formatting import count, duration, printable
from takt.text.terminal import Table, show

EXAMPLES = """
takt apply plan.json -- ros2 run robot controller    the program, with a gate behind its output
takt apply plan.json                                 gates for programs that are remapped already
takt apply plan.json --duration 10 --json            what went through, for scripts
takt apply plan.json --dispatch -- ./controller      also runs its threads in their slots only
takt apply threads.yaml -- ros2 launch robot up.py   threads get policies, priorities and cores
takt apply threads.yaml                              the same for what runs, until Ctrl-C
"""

Json = dict[str, Any]

GATE_PRIORITY = 90


def apply(
    plan: Annotated[
        str,
        Argument(metavar="PLAN", help="A takt/shaping document, or a takt/threads file (YAML)."),
    ],
    command: Annotated[
        list[str] | None,
        Argument(metavar="[-- COMMAND...]", help="A ROS 2 program to start and to shape."),
    ] = None,
    duration: Annotated[
        float | None,
        Option(
            metavar="SECONDS",
            min=0.001,
            help="End after this time (with publishers, or without); else on Ctrl-C.",
        ),
    ] = None,
    priority: Annotated[
        int,
        Option(metavar="N", min=0, max=99, help="SCHED_FIFO priority of gates; 0: none."),
    ] = GATE_PRIORITY,
    cpu: Annotated[
        int | None, Option(metavar="N", min=0, help="The processor that gates run on.")
    ] = None,
    dispatch: Annotated[
        bool,
        Option("--dispatch", help="Give COMMAND's threads SCHED_FIFO inside their slots."),
    ] = False,
    adapt: Annotated[
        bool,
        Option("--adapt", help="Choose the slots anew when the latencies have drifted."),
    ] = False,
    json: Annotated[
        bool, Option("--json", help="Print the takt/applied or takt/scheduled document.")
    ] = False,
) -> None:
    """Enact a plan on a program, or on what runs already.

    A takt/threads file says how threads are to be scheduled, by names of nodes: policy, priority or
    reservation, and cores. Threads get this as soon as they appear, and again when a node comes
    back; see docs/threads.md. Exit status 1 if a row fitted nothing or was refused.

    A shaping plan lets the outputs of chains out in their slots only. For each chain a gate
    subscribes to the topic that the plan calls its input and publishes, in slots, on the topic that
    consumers know. COMMAND is given the arguments by which ROS 2 remaps the output of the chain's
    last node. Exit status 1 if an output was late or dropped, or if nothing published.

    All ends, and is undone, with COMMAND, on Ctrl-C or after the time given. The exit status is
    COMMAND's if that failed.
    """
    text, source = files.read_document(plan), files.source_name(plan)
    if threads.is_document(text):
        if dispatch or adapt or cpu is not None or priority != GATE_PRIORITY:
            raise UserError(
                f"{source}: says how each thread is scheduled; --priority, --cpu, --dispatch and "
                "--adapt are for shaping plans"
            )
        output = sys.stderr.fileno() if json else None
        _schedule(threads.Request(text, source, tuple(command or ()), duration, output), json)
        return
    if not text.lstrip().startswith("{"):
        raise UserError(
            f"{source}: no plan: a file of threads begins with 'format: {threads.FORMAT}', and a "
            "shaping plan is JSON (takt shape)"
        )
    document = plans.parse(text, source)
    if dispatch and not command:
        raise UserError("--dispatch schedules the threads of a program; give it after '--'")
    with contextlib.ExitStack() as stack:
        ended = stack.enter_context(_ended_by_signals())
        gates = stack.enter_context(Gates(document, priority, cpu, adapt=adapt))
        program = None
        table = None
        if command:
            # Standard output is for our document alone.
            its_output = sys.stderr if json else None
            program = stack.enter_context(_program(remapped(command, document), ended, its_output))
        if dispatch and program is not None:
            table = stack.enter_context(dispatcher.Dispatcher(document, program.pid))
        _wait(gates, ended, duration)
        status = None if program is None else _status(program)
        results = gates.results()
    applied: Json = {
        "format": "takt/applied",
        "version": 1,
        "chains": results,
        "command_status": status,
    }
    if table is not None:
        applied["dispatcher"] = table.result
    if json:
        console.print_json(applied)
    else:
        show(_table(results))
        for line in filter(None, map(_phase_line, results)):
            show(line)
    if command and status:
        console.say(f"takt: {command[0]} ended with status {status}")
        raise Exit(status)
    for chain in gates.unconnected():
        console.say(
            f'takt: chain "{chain.id}": nothing published on {chain.gate.input}; start its program '
            f"after '--', or with {chain.gate.topic} remapped to that"
        )
    if gates.unconnected() or any(one["late"] or one["dropped"] for one in results):
        raise Exit(ANSWER_IS_NO)


def _schedule(request: threads.Request, json: bool) -> None:
    """Has the threads scheduled as a takt/threads document says."""
    try:
        done = threads.apply(request, lambda line: console.say(f"takt: {line}"))
    except NotStartedError as error:
        if error.status != BAD_INPUT:
            raise
        raise Exit(BAD_INPUT) from None
    if json:
        console.print_json(done.document)
    else:
        show(threads.view(done.document))
    if done.failed:
        raise Exit(BAD_INPUT)
    faults = list(threads.faults(done.document))
    if not done.document["nodes"] and (found := readers.others()):
        raise UserError(readers.in_words(found))
    for line in faults:
        console.say(f"takt: {line}")
    if done.command_status:
        console.say(f"takt: {request.command[0]} ended with status {done.command_status}")
        raise Exit(done.command_status)
    if faults or any(row["problems"] for row in done.document["rows"]):
        raise Exit(ANSWER_IS_NO)


def _wait(gates: Gates, ended: threading.Event, duration: float | None) -> None:
    """Waits for the end. `duration` counts from when the gates have found their publishers, for
    which they have as long.
    """
    tick = 0.1
    longest = math.inf if duration is None else duration
    end = time.monotonic() + longest
    while not gates.wait_connected(tick):
        if ended.is_set() or time.monotonic() >= end:
            return
    for refusal in gates.refusals():
        console.say(f"takt: warning: {refusal}; outputs will leave later than planned")
    end = time.monotonic() + longest
    while (left := end - time.monotonic()) > 0 and not ended.wait(min(tick, left)):
        gates.wait_connected(0)


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[threading.Event]:
    ended = threading.Event()
    wanted = (signal.SIGINT, signal.SIGTERM)
    former = {number: signal.signal(number, lambda *_: ended.set()) for number in wanted}
    try:
        yield ended
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _program(
    command: list[str], ended: threading.Event, output: IO[str] | None
) -> Iterator[subprocess.Popen[bytes]]:
    """The program in a session of its own, with this standard output (None: ours); its end sets
    `ended`, and it ends with the body.
    """
    try:
        process = subprocess.Popen(command, start_new_session=True, stdout=output)
    except OSError as error:
        raise UserError(f"{command[0]}: cannot be started: {error.strerror}") from error

    def watch() -> None:
        process.wait()
        ended.set()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield process
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            if process.poll() is not None:
                break
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            watcher.join(5)


def _status(program: subprocess.Popen[bytes]) -> int:
    """The status of a program as a shell reports it; 0 if it runs on, as it is then told to end."""
    code = program.poll() or 0
    return code if code >= 0 else 128 - code


def _phase_line(result: Json) -> str | None:
    """How the gate followed the phase of an external loop."""
    phase = result["phase"]
    if phase is None:
        return None
    chain = printable(result["chain"])
    if phase["drift"] is None:
        told = count(phase["told"], "beginning")
        return f"{chain}: the loop's phase was never known ({told} told)"
    again = f", {count(phase['relocks'], 'time')} at another phase" if phase["relocks"] else ""
    refused = f", {phase['refused']} of them impossible" if phase["refused"] else ""
    refused += f", {phase['unreadable']} unreadable" if phase["unreadable"] else ""
    return (
        f"{chain}: {count(phase['told'], 'beginning')} told{refused}; the loop drifts by "
        f"{1e6 * phase['drift']:+.1f} ppm{again}"
    )


def _table(results: list[Json]) -> Table:
    table = Table()
    table.add_column("Chain")
    for column in ("Outputs", "Late", "Dropped", "Ready", "Left", "After slot p99.9"):
        table.add_column(column, right=True)
    for one in results:
        ready, left = one["ready"], one["left"]
        table.add_row(
            printable(one["chain"]),
            count(one["released"], "output"),
            str(one["late"]),
            str(one["dropped"]),
            f"{duration(ready.get('min'))} to {duration(ready.get('max'))}",
            f"{duration(left.get('min'))} to {duration(left.get('max'))}",
            duration(one["delay"].get("p999")),
        )
    return table
