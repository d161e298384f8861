"""takt manage: Keep latency goals of running programs."""

from __future__ import annotations

import json as json_format
import sys
from pathlib import Path
from typing import Annotated

import takt_native
from takt import files, inputs
from takt.arguments import Argument, BadParameter, Exit, Option
from takt.cli import ANSWER_IS_NO
from takt.errors import UserError
from takt.live import hearing, managing
from takt.processes import sharing
from takt.text import console
from takt.text.terminal import show

EXAMPLES = """
takt manage --goals goals.yaml -- ros2 launch demo robot.launch.py   a robot, until it ends
takt manage --goals goals.yaml                                       what runs, until Ctrl-C
takt manage --goals goals.yaml --dry-run                             say what would be done
takt manage --goals goals.yaml --backend ebpf                        what runs with stock libraries
takt manage --goals goals.yaml --log decisions.jsonl
takt manage --goals goals.yaml --plan plan.json                      beside takt apply plan.json
takt manage --goals goals.yaml --share -- ./bringup                  its topics in shared memory
takt manage --replay decisions.jsonl                                 decide again, and compare
"""


def manage(
    command: Annotated[
        list[str] | None,
        Argument(metavar="[-- COMMAND...]", help="What to start and manage.", show_default=False),
    ] = None,
    goals: Annotated[
        str | None,
        Option(
            "--goals",
            metavar="FILE",
            help="Chains and their latency goals, the most important first; see docs/goals.md.",
        ),
    ] = None,
    backend: Annotated[
        hearing.Backend | None, Option(metavar=hearing.METAVAR, help=hearing.HELP)
    ] = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Change nothing; needs no privilege.")
    ] = False,
    duration: Annotated[
        float | None, Option(metavar="SECONDS", min=0.001, help="End after this time.")
    ] = None,
    margin: Annotated[
        int,
        Option(
            metavar="PERCENT",
            min=0,
            max=1000,
            help="Goals hold even if execution times grow by this much beyond what was seen.",
        ),
    ] = 10,
    leave: Annotated[
        int,
        Option(
            metavar="PERCENT",
            min=0,
            max=100,
            help="Of each core for all other programs, where budgets take more than the goals "
            "need; 100: as little as they need.",
        ),
    ] = 25,
    period: Annotated[
        str,
        Option(metavar="MILLISECONDS|auto", help="Of the reservations."),
    ] = "5",
    pin: Annotated[
        str | None,
        Option(
            metavar="CORES",
            help="Cores that reservations may be kept on where that makes room, like 1-3,5, or "
            "none; default: all but the first.",
            show_default=False,
        ),
    ] = None,
    plan: Annotated[
        str | None,
        Option(
            metavar="PLAN",
            help="Of takt shape, enacted beside this: its slots count as load, and its chains are "
            "left alone.",
        ),
    ] = None,
    diagnostics: Annotated[
        bool, Option("--diagnostics", help="Publish the status on /diagnostics, too.")
    ] = False,
    log: Annotated[
        str | None, Option(metavar="FILE", help="Write each decision and what it rests on.")
    ] = None,
    replay: Annotated[
        str | None,
        Option(metavar="LOG", help="Decide again what a log tells, and compare."),
    ] = None,
    share: sharing.Share = False,
    share_topics: sharing.Topics = None,
    json: Annotated[
        bool, Option("--json", help="Print the takt/status document at the end.")
    ] = False,
) -> None:
    """Have the kernel keep the latency goals of ROS 2 programs while they run.

    Builds the timing model of what runs, bounds every chain, and reserves processor time
    (SCHED_DEADLINE) for the executors of chains with a goal. Where not all fit, nothing is promised
    to the least important chains. What is uncertain is left alone. However this ends, every thread
    gets back the scheduling that it had. See docs/manager.md.
    """
    if replay is not None:
        _replay(replay, json)
        return
    if goals is None:
        raise UserError("say which goals with --goals FILE; docs/goals.md says what is in it")
    if not Path(goals).is_file():
        raise UserError(f"{goals}: no such file; goals are read again while programs run")
    chosen = inputs.period(period)
    if short := inputs.why_period_is_short(chosen):
        raise BadParameter(short, param_hint="--period")
    request = managing.Request(
        goals,
        tuple(command or ()),
        duration,
        dry_run=dry_run,
        margin=margin,
        leave=leave,
        period=chosen,
        pinned=inputs.cores(pin) if pin is not None else None,
        log=log,
        plan=plan,
        command_output=sys.stderr.fileno() if json else None,
        diagnostics=diagnostics,
        share=sharing.asked(share_topics, share=share, command=command),
        backend=backend,
    )
    status, code, failure = managing.manage(request, lambda line: console.say(f"takt: {line}"))
    if json:
        console.print_json(status)
    else:
        show(*managing.view(status, is_over=True))
    if failure:
        raise UserError(f"nothing is managed any more: {failure}")
    if code:
        raise Exit(code)
    if strangers := managing.goals_without_a_chain(status):
        console.say(f"takt: no program had a chain for: {', '.join(strangers)}; see {goals}")
        raise Exit(ANSWER_IS_NO)
    if not status["events"]:
        raise Exit(ANSWER_IS_NO)


def _replay(log: str, as_json: bool) -> None:
    text, name = files.read_document(log), files.source_name(log)
    found = json_format.loads(takt_native.replay_decisions(text, name))
    found["cut_off"] = not text.endswith("\n")
    if as_json:
        console.print_json(found)
    else:
        for decision in found["decisions"]:
            for change in decision["changes"]:
                show(f"{decision['time'] / 1e9:.3f}: {change}")
        for difference in found["differences"]:
            console.say(f"takt: {difference}")
        same = len(found["decisions"]) - len(found["differences"])
        console.say(f"{same} of {len(found['decisions'])} decisions are the same again")
    if found["cut_off"]:
        console.say(
            f"takt: {name}: its last line is cut off and left out: who wrote it was killed, or "
            "still writes"
        )
    if found["differences"]:
        raise Exit(ANSWER_IS_NO)
