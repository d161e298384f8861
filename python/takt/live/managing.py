"""The latency manager: the program `takt-manager`, and the command that it manages."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from takt.errors import UserError
from takt.live import alerts, cheap_mode, diagnostics, hearing
from takt.processes import control, runtime
from takt.processes.companion import Companion
from takt.recordings import recorder
from takt.shaping import dispatcher, plans
from takt.text.formatting import count, duration, goal_of, printable, significant
from takt.text.terminal import Part, Table, styled
from takt.verdicts import needs

Json = dict[str, Any]

TICK = 0.2
"""Seconds between two looks at what the manager says."""

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
    share: str | None = None
    """The pattern of the topics that the command sends through shared memory; None: none."""
    backend: hearing.Backend | None = None
    """None: whichever hears what runs."""


class Managed(NamedTuple):
    """How the management ended."""

    document: Json
    """The last takt/status document."""
    command_status: int | None
    failure: str | None
    """Why the manager ended before it was told to; the command went on without it."""


def manage(request: Request, say: Callable[[str], None]) -> Managed:
    """Manages until the command, the duration or a signal ends it; `say` is called with each
    change. UserError if the manager ends without a last word.
    """
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
    failure: str | None = None

    def hear(said: Json) -> None:
        nonlocal failure
        for change in said.get("changes", []):
            say(change)
        if said["event"] == "failed":
            failure = said["reason"]
        if said["event"] == "ask":
            asker.ask(said["estimator"])

    def begin(tracer: str) -> tuple[Companion, list[Path]]:
        libraries = recorder.preloaded(tracer) if request.command else []
        return Companion(runtime.manager(), {**settings, "backend": tracer}, hear), libraries

    program, libraries = hearing.start(request.backend, request.command, begin)

    def look() -> bool:
        with suppress(UserError):  # the manager has just ended; listen() reports that
            for answer in asker.answers():
                control.request(answer)
            if publisher is not None and publisher.is_due():
                publisher.publish(control.request("status"))
        return program.listen()

    def expect_end() -> None:
        """So that a chain which is not completed any more is no alert."""
        with suppress(UserError):
            control.request("ending")

    try:
        environment = (
            recorder.traced(os.environ, program, libraries, request.share)
            if request.command
            else {}
        )
        status = recorder.supervise(request, environment, look, TICK, expect_end)
    finally:
        program.end()
        asker.end()
        if publisher is not None:
            publisher.end()
    return Managed(program.last_word(), status, failure)


def goals_without_a_chain(document: Json) -> list[str]:
    """The goals that fitted nothing that ran, by the last takt/status document."""
    return [
        f"{chain['id']} ({chain['reason']})"
        for chain in document["chains"]
        if not chain["measured"] and not chain["promises"]["bound"]
    ]


def view(document: Json, *, is_over: bool = False) -> list[Part]:
    """A takt/status document as tables. `is_over`: it is the last one."""
    share = 100 * document["cpu_seconds"] / max(document["seconds"], 1e-9)
    heading = (
        f"{count(document['decisions'], 'decision')} in {significant(document['seconds'])} s, "
        f"{share:.2f} % of a core, {count(document['lost_events'], 'event')} lost"
        + (", dry run: nothing is changed" if document["dry_run"] else "")
    )
    parts: list[Part] = [heading, ""]
    if document["chains"]:
        promised = [one for one in document["chains"] if one["promises"]["bound"]]
        promises = [_promises(one, document["seconds"], is_over=is_over) for one in promised]
        parts += [_chains(document["chains"]), *_advice(document["chains"]), *promises]
        parts += [*alerts.lines(document["alerts"]), ""]
        parts.append(_executors(document["executors"]))
    elif is_over and not document["events"]:
        parts.append(f"No decision was taken: {hearing.nobody_heard(document['backend'])}")
    elif is_over:
        parts.append("No decision was taken: the programs ended before they were up")
    else:
        parts.append("No decision yet: the programs are not up")
    return parts


def _chains(chains: list[Json]) -> Table:
    table = Table()
    table.add_column("Chain")
    for column in ("p50", "p99", "Worst", "Bound", "Goal", "Missed"):
        table.add_column(column, right=True)
    table.add_column("State", words=True)
    for chain in chains:
        measured = chain["measured"] or {}
        reason = f": {printable(chain['reason'])}" if chain["reason"] else ""
        if (estimator := chain.get("estimator")) is not None:
            reason += f"; {printable(estimator['node'])}: cheap mode {estimator['cheap_mode']}"
        table.add_row(
            printable(chain["id"]),
            *(duration(measured.get(key)) for key in ("p50", "p99", "worst")),
            duration(chain["bound"]),
            goal_of(chain["goal"], chain.get("kind", "latency")),
            str(measured.get("missed", "")),
            styled(chain["state"], COLOURS[chain["state"]]) + reason,
        )
    return table


def _advice(chains: list[Json]) -> list[str]:
    """What would make the first degraded chain fit, as the manager found while it runs."""
    said = [(chain["id"], needs.words(chain["needs"], {})) for chain in chains]
    return [f"{printable(chain)}: {printable(words)}" for chain, words in said if words]


def _promises(chain: Json, seconds: float, *, is_over: bool) -> str:
    """What was promised of a chain that was guaranteed at some time, and what came of it."""
    promises = chain["promises"]
    seen = promises["kept"] + promises["broken"]
    by_host = _by_host(promises)
    to_the_end = " and to the end" if is_over and chain["state"] == "guaranteed" else ""
    kind = chain.get("kind", "latency")
    # A larger bound was promised for another goal, which the file has no more.
    compares = chain["goal"] and promises["bound"] <= chain["goal"]
    goal = f" of {goal_of(chain['goal'], kind)}" if compares else ""
    said = (
        f"{printable(chain['id'])}: guaranteed for {duration(promises['guaranteed'])} "
        f"of {significant(seconds)} s{to_the_end}: at most {duration(promises['bound'])}{goal}"
    )
    if not seen:
        return f"{said}; {by_host or 'no message was completed meanwhile'}"
    longest = f"the longest of {count(seen, 'message')} took {duration(promises['longest'])}"
    if not promises["broken"]:
        said = f"{said}; {longest}, and none more than its bound"
    else:
        breach = promises["breach"]
        said = (
            f"{said}; {longest}, and {promises['broken']} more than its bound, the last "
            f"{duration(breach['latency'])} instead of {duration(breach['bound'])}"
            + (f": {printable(breach['reason'])}" if breach["reason"] else "")
        )
    return f"{said}; {by_host}" if by_host else said


def _by_host(promises: Json) -> str:
    """What the host of this virtual machine held up, which counts in nothing else."""
    if not promises["by_host"]:
        return ""
    last = promises["last_by_host"]
    return (
        f"the host held {count(promises['by_host'], 'other message')} up, the last for "
        f"{duration(last['latency'])} instead of {duration(last['bound'])}, and took the "
        f"processors for {duration(last['stolen'])} meanwhile"
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
        table.add_row(printable(executor["name"]), f"{100 * executor['busy']:.1f} %", words)
    return table
