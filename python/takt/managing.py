"""The latency manager: the program `takt-manager`, and the command that it manages."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from takt import alerts, cheap_mode, control, diagnostics, recorder, runtime, tables
from takt.errors import UserError
from takt.formatting import count, duration, significant
from takt.shaping import dispatcher, plans
from takt.terminal import Part, Table, styled

Json = dict[str, Any]

TICK = 0.2
"""Seconds between two looks at what the manager says."""
PATIENCE = 10.0
"""Seconds that the manager may take to restore threads and end."""

COLOURS = {"guaranteed": "green", "prepared": "cyan", "degraded": "red", "unmanaged": "yellow"}


@dataclass(frozen=True)
class Request:
    """What to manage, and how."""

    goals: str
    command: tuple[str, ...] = ()
    """Empty: manage the programs that already run."""
    duration: float | None = None
    dry_run: bool = False
    margin: int = 10
    leave: int = 25
    """Percent of each core that budgets leave to other programs where they exceed what goals need.
    """
    period: int | None = 5_000_000
    """The period of the reservations, in nanoseconds. None: the manager chooses it."""
    pinned: list[int] | None = None
    """Cores that reservations may be kept on. None: all but the first."""
    log: str | None = None
    plan: str | None = None
    """A takt/shaping document: its slots count as load, and its chains are left alone."""
    command_output: int | None = None
    diagnostics: bool = False
    """Publish the status on /diagnostics every second."""


def manage(request: Request, say: Callable[[str], None]) -> tuple[Json, int | None]:
    """Manages until the command, the duration or a signal ends it; `say` is called with each
    change. Returns the last takt/status document and the command's status. UserError if the manager
    fails.
    """
    libraries = recorder.preloaded("ring") if request.command else []
    plan = plans.read(request.plan) if request.plan else None
    settings = {
        "slots": dispatcher.share(plan) if plan else 0,
        "shaped": sorted({one for chain in plan.chains for one in chain.executors}) if plan else [],
        "goals": str(Path(request.goals).absolute()),
        "only_started": bool(request.command),
        "dry_run": request.dry_run,
        "margin": request.margin,
        "left": request.leave,
        "period": request.period,
        "pinned": request.pinned,
        "log": str(Path(request.log).absolute()) if request.log else "",
        "socket": str(control.path()),
    }
    publisher = diagnostics.Publisher() if request.diagnostics else None
    asker = cheap_mode.Asker()
    program = _Program(settings, say, asker.ask)

    def look() -> bool:
        with suppress(UserError):  # the manager has just ended; listen() reports that
            for answer in asker.answers():
                control.request(answer)
            if publisher is not None and publisher.is_due():
                publisher.publish(control.request("status"))
        return program.listen()

    try:
        environment = recorder.traced(os.environ, program, libraries) if request.command else {}
        watched = recorder.Request(
            "ring",
            Path(),
            command=request.command,
            duration=request.duration,
            command_output=request.command_output,
        )
        status = recorder.supervise(watched, environment, look, TICK)
    finally:
        document = program.end()
        asker.end()
        if publisher is not None:
            publisher.end()
    if document is None:
        raise UserError("takt-manager ended without its last word; its message is above")
    return document, status


class _Program:
    """A running takt-manager."""

    def __init__(
        self, settings: Json, say: Callable[[str], None], ask: Callable[[str], None]
    ) -> None:
        self._say, self._ask = say, ask
        self._unread = b""
        self._status: Json | None = None
        self._process = subprocess.Popen(
            [str(runtime.manager()), json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # so that Ctrl-C reaches only us
        )
        assert self._process.stdout is not None
        greeting = self._process.stdout.readline()
        if not greeting:
            self._process.wait()
            raise UserError("takt-manager could not start; its message is above")
        self._environment: dict[str, str] = json.loads(greeting)["environment"]
        os.set_blocking(self._process.stdout.fileno(), False)

    def environment(self) -> dict[str, str]:
        return self._environment

    def listen(self) -> bool:
        """Passes on what the manager has said. False: it has ended."""
        assert self._process.stdout is not None
        data = self._process.stdout.read() or b""
        *lines, self._unread = (self._unread + data).split(b"\n")
        for line in lines:
            said = json.loads(line)
            if said.get("format") == "takt/status":
                self._status = said
            for change in said.get("changes", []) if said.get("event") == "changes" else []:
                self._say(change)
            if said.get("event") == "ask":
                self._ask(said["estimator"])
        return self._process.poll() is None

    def end(self) -> Json | None:
        """Ends the manager, which restores all threads first, and returns its last status."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        os.set_blocking(self._process.stdout.fileno(), True)
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()  # its guard restores the threads
            self._process.wait()
        self.listen()
        return self._status


def goals_without_a_chain(document: Json) -> list[str]:
    """The goals that fitted nothing that ran, by the last takt/status document."""
    return [
        chain["id"]
        for chain in document["chains"]
        if not chain["measured"] and not chain["promises"]["bound"]
    ]


def view(document: Json) -> list[Part]:
    """A takt/status document as tables."""
    share = 100 * document["cpu_seconds"] / max(document["seconds"], 1e-9)
    heading = (
        f"{count(document['decisions'], 'decision')} in {significant(document['seconds'])} s, "
        f"{share:.2f} % of a core, {count(document['lost_events'], 'event')} lost"
        + (", dry run: nothing is changed" if document["dry_run"] else "")
    )
    parts: list[Part] = [heading, ""]
    if document["chains"]:
        promises = [_promises(one) for one in document["chains"] if one["promises"]["bound"]]
        parts += [_chains(document["chains"]), *promises, *alerts.lines(document["alerts"]), ""]
        parts.append(_executors(document["executors"]))
    else:
        parts.append("No decision yet: the programs are not up")
    return parts


def _chains(chains: list[Json]) -> Table:
    table = Table()
    table.add_column("Chain")
    for column in ("p50", "p99", "Worst", "Bound", "Goal", "Missed"):
        table.add_column(column, right=True)
    table.add_column("State")
    for chain in chains:
        measured = chain["measured"] or {}
        reason = f": {tables.cell(chain['reason'])}" if chain["reason"] else ""
        if (estimator := chain.get("estimator")) is not None:
            reason += f"; {tables.cell(estimator['node'])}: cheap mode {estimator['cheap_mode']}"
        table.add_row(
            tables.cell(chain["id"]),
            *(duration(measured.get(key)) for key in ("p50", "p99", "worst")),
            duration(chain["bound"]),
            duration(chain["goal"]),
            str(measured.get("missed", "")),
            styled(chain["state"], COLOURS[chain["state"]]) + reason,
        )
    return table


def _promises(chain: Json) -> str:
    """What was promised of a chain that was guaranteed at some time, and what came of it."""
    promises = chain["promises"]
    seen = promises["kept"] + promises["broken"]
    said = (
        f"{tables.cell(chain['id'])}: guaranteed for {duration(promises['guaranteed'])}, "
        f"at most {duration(promises['bound'])}"
    )
    if not seen:
        return f"{said}; no message was completed meanwhile"
    longest = f"the longest of {count(seen, 'message')} took {duration(promises['longest'])}"
    if not promises["broken"]:
        return f"{said}; {longest}, and none more than its bound"
    breach = promises["breach"]
    return (
        f"{said}; {longest}, and {promises['broken']} more than its bound, the last "
        f"{duration(breach['latency'])} instead of {duration(breach['bound'])}"
        + (f": {tables.cell(breach['reason'])}" if breach["reason"] else "")
    )


def _executors(executors: list[Json]) -> Table:
    table = Table("Executor")
    for column in ("Busy", "Reservation"):
        table.add_column(column, right=True)
    for executor in executors:
        reservation = executor["reservation"]
        words = "best effort"
        if reservation:
            words = f"{duration(reservation['budget'])} in every {duration(reservation['period'])}"
            if reservation["core"] is not None:
                words += f" on core {reservation['core']}"
        table.add_row(tables.cell(executor["id"]), f"{100 * executor['busy']:.1f} %", words)
    return table
