"""The sentences of the story. Each function chooses its own by what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from takt.documents import Chain, Model
from takt.documents.names import executor_labels
from takt.story.beside_load import Fate, Run, levels
from takt.story.proposal import PROMPT, Plan, Proposal
from takt.story.recorded import Recorded
from takt.text.formatting import NONE, count, duration, printable
from takt.text.terminal import Table
from takt.verdicts.assumptions import Finding, Standing, Subject
from takt.verdicts.verdict import Status

Json = dict[str, Any]

MOST_REASONS = 2
"""Reasons that one sentence gives."""


def robot(model: Json) -> str:
    """Introduces the robot: its programs, chains and goals."""
    node_of = {callback["id"]: callback["node"] for callback in model["callbacks"]}
    processes = len({one.get("process") or one["id"] for one in model["executors"]})
    goals = [
        f"{chain['id']} ({' → '.join(node_of[one] for one in chain['callbacks'])}) within "
        f"{duration(chain['goal'])}"
        for chain in model["chains"]
        if chain["goal"] is not None
    ]
    return (
        f"{model.get('name') or 'A robot'}: {count(len(set(node_of.values())), 'node')} of ROS 2 "
        f"in {count(processes, 'process', 'processes')}, on rcl and Fast DDS.\n"
        f"Its goals: {'; '.join(goals)}."
    )


def lateness(recorded: Recorded, chain: Chain) -> Iterator[str]:
    """Whether the chain is late."""
    latencies, goal = recorded.latencies[chain.id], duration(chain.goal)
    unfinished = recorded.unfinished[chain.id]
    if not latencies and unfinished:
        number = count(sum(unfinished.values()), "message")
        reasons = "; ".join(map(_of_several, unfinished))
        yield f"{chain.id}: none of {number} got to the end after start-up: {reasons}."
        return
    if latencies:
        late, number = recorded.late(chain) or "none", count(len(latencies), "message")
        yield (
            f"{chain.id}: {late} of {number} took longer than {goal}. The longest took "
            f"{duration(max(latencies))}."
        )
    else:
        yield f"{chain.id}: no message was followed from end to end."
    for reason, number_of_it in unfinished.items():
        said = _of_several(reason) if number_of_it > 1 else reason
        yield f"{chain.id}: {number_of_it} more did not get to the end: {said}."


def _of_several(reason: str) -> str:
    """Why several instances did not get to the end, where the reason is that of one."""
    return reason.replace("its message was", "their messages were")


def above_its_bound(recorded: Recorded) -> Iterator[str]:
    """Names the assumptions of each bound that was exceeded."""
    for judged in recorded.verdicts:
        if judged.status is not Status.VIOLATED or judged.bound is None:
            continue
        longest = duration(judged.measured.max if judged.measured else None)
        said = f"{judged.chain.id}: {longest} is above the bound, {duration(judged.bound.bound)}"
        if recorded.is_by_host(judged):
            yield f"{said}{_by_host(recorded.stolen_from_longest(judged.chain))}."
        elif all(_is_shared_processor(one) for one in judged.findings) and judged.findings:
            yield f"{said}, which counts on a processor for each executor. Nothing guarantees one."
        else:
            yield f"{said}, which rests on this: {judged.explanation}."


def _is_shared_processor(finding: Finding) -> bool:
    """Whether nothing is in doubt but that an executor had a processor to itself."""
    return finding.subject is Subject.SUPPLY and finding.standing is Standing.UNSECURED


def _by_host(stolen: int) -> str:
    return (
        f": the host of this virtual machine took its processors away for "
        f"{duration(stolen)} meanwhile (steal in /proc/stat), which nothing prevents"
    )


def slow_messages(recorded: Model) -> str | None:
    """Says how long messages took, if that is longer than they take to receivers that run."""
    longest = max((edge.delay for edge in recorded.edges), default=0)
    if longest <= PROMPT:
        return None
    return (
        f"Messages took up to {duration(longest)} here, as receivers without a processor seem to "
        f"get them late. What follows counts on {duration(PROMPT)} at most, and is then checked."
    )


def proposed(proposal: Proposal | None, chain: Chain, now: int | None) -> str:
    """The change that was found. `now`: the chain's bound without it."""
    processors = "if each executor has a processor whenever it needs one"
    goal = duration(chain.goal)
    if proposal is None and now is not None and now <= (chain.goal or 0):
        return (
            f"{chain.id} takes at most {duration(now)}, within {goal}, {processors}: no change of "
            "the robot is needed for that."
        )
    if proposal is None:
        return f"{chain.id}: no executor of its own for a callback lowers its bound."
    meaning = f"within {goal}"
    if not proposal.suffices:
        meaning = f"above {goal} still, by what was recorded here, but lower than with any other"
    return (
        f"{proposal.text[0].upper()}{proposal.text[1:]}. {chain.id} then takes at most "
        f"{duration(proposal.bound)}, {meaning}, {processors}. Its bound now: {duration(now)}."
    )


def planned(plan: Plan, privilege: str | None) -> str:
    """Says which reservations keep the change working, if `takt budget` finds some. `privilege`:
    why the kernel grants none; None: it grants them.
    """
    model, said = plan.model.parsed(), plan.budget
    allowance = plan.allowance
    extra = f" and {duration(allowance.extra)}" if allowance.extra else ""
    room = f"With room for callbacks that run {allowance.percent} %{extra} longer than recorded"
    room += f", and messages that take up to {duration(allowance.delay)}"
    bounds = ", ".join(
        f"{chain.id} takes at most {duration(chain.bound)}"
        for chain in plan.bounds.chains
        if chain.goal is not None
    )
    if privilege is not None:
        return f"{room}: {bounds}. Reservations of processor time are left out: {privilege}."
    if said is None or not plan.has_reservations:
        return (
            f"{room}: {bounds}. takt budget finds no reservations of processor time that guarantee "
            "the goals, by what was recorded here."
        )
    names = executor_labels(model)
    shares = ", ".join(
        f"{names[one['id']]} {duration(one['budget'])} in every {duration(one['period'])}"
        for one in said["executors"]
    )
    total, cores = said["processors"]["bandwidth"], len(said["processors"]["cores"])
    return (
        f"So that it does not depend on that, takt budget finds reservations: {shares}; "
        f"{100 * total:.0f} % of one core, of {count(cores, 'core')}. {room}: {bounds}."
    )


def kept(after: Recorded) -> Iterator[str]:
    """Whether the recording keeps to the bounds that had been computed."""
    yield from above_its_bound(after)
    for judged in after.verdicts:
        if judged.bound is None or judged.chain.goal is None or judged.measured is None:
            continue
        bound = f"{judged.chain.id}: within the {duration(judged.bound.bound)} that were computed"
        if judged.status is Status.UNFOUNDED:
            yield f"{bound}, though they do not allow for this: {judged.explanation}."
        elif judged.good and all(_is_shared_processor(one) for one in judged.conditions):
            yield (
                f"{bound}, as long as executors get processors."
                if judged.conditional
                else f"{bound}."
            )
        elif judged.good:
            conditions = "; ".join(one.text for one in judged.conditions)
            yield f"{bound}, which rests on this: {conditions}."
        elif judged.status is Status.NOT_GUARANTEED:
            yield f"{bound}, which are more than the goal of {duration(judged.chain.goal)}."


def refused(recorded: Recorded) -> Iterator[str]:
    """The reservations that the kernel did not grant."""
    for executor, reason in recorded.refusals.items():
        yield f"The kernel did not grant the reservation of {executor}: {reason}."


def by_default(run: Run) -> Iterator[str]:
    """How each chain fared under the default scheduler, level by level."""
    for chain, looks in run.chains.items():
        steps = "; ".join(
            f"beside {processes} processes {missed} of {completed} late"
            for processes, completed, missed in levels(looks)
        )
        one = run.fates()[chain]
        longest = f" The longest took {duration(one.longest)}." if one.longest is not None else ""
        yield f"By the default scheduler, {chain}: {steps}.{longest}"
        yield from _unfollowed(one)
    if not any(missed for looks in run.chains.values() for _, _, missed in levels(looks)):
        yield (
            f"So this machine serves the robot in time beside {run.processes} processes, too; "
            "nothing guarantees that it goes on."
        )


def _unfollowed(one: Fate) -> Iterator[str]:
    """The messages that the figures leave out."""
    for reason, number in one.unfollowed.items():
        yield f"{count(number, 'more message')} arrived and could not be followed: {reason}."


def managed(chain: str, one: Fate, run: Run) -> Iterator[str]:
    """How a chain fared under takt manage."""
    window, number = f"{one.seconds:.1f} s", count(one.completed, "message")
    beside = f"beside {count(run.processes, 'process', 'processes')}"
    missed = f"{one.missed} of {number} late" if one.missed else f"none of {number} late"
    if one.longest is None:
        yield f"Under takt manage, {chain}: no message arrived in {window} {beside}."
    else:
        yield (
            f"Under takt manage, {chain}: {missed} in {window} {beside}. The longest took "
            f"{duration(one.longest)}."
        )
    yield from _unfollowed(one)
    if one.promised and not one.exceeded:
        yield f"It was guaranteed all the time: at most {duration(one.bound)}."
    elif one.promised:
        yield (
            f"That is {duration(one.exceeded)} above the {duration(one.least_bound)} that was "
            f"guaranteed{_cause(one)}."
        )
    else:
        reasons = "; ".join(reason.removesuffix(": ") for reason in one.why_not[:MOST_REASONS])
        yield f"It was not guaranteed all the time: {reasons}."
        if one.missed_though_promised:
            yield (
                f"{one.missed_though_promised} of the late messages came while it was guaranteed"
                f"{_cause(one)}."
            )


def _cause(one: Fate) -> str:
    """Why a guarantee did not hold."""
    if one.by_host:
        return _by_host(round(one.stolen * 1e9))
    if one.explained and one.now is None:
        return ": something took longer than Takt had ever seen, and it promises nothing any more"
    if one.explained:
        return (
            ": something took longer than Takt had ever seen; by what it knows now, the bound is "
            f"{duration(one.now)}"
        )
    return ", and nothing that was measured explains it; please report it, with demo.json"


HEADER = ("", "Messages", "Late", "Longest", "Bound")


def rows(
    recordings: Mapping[str, Recorded], runs: Mapping[str, Run], chain: Chain
) -> list[list[str]]:
    """How a chain fared in each part of the story, in the order of HEADER. A bound that nothing
    promised is left out.
    """
    found = []
    for title, recorded in recordings.items():
        latencies = recorded.latencies[chain.id]
        bound = next(one.bound for one in recorded.evaluation.bounds.chains if one.id == chain.id)
        longest = duration(max(latencies)) if latencies else NONE
        late = str(recorded.late(chain))
        found.append([title, str(len(latencies)), late, longest, duration(bound)])
    for title, run in runs.items():
        one = run.fates()[chain.id]
        bound = one.bound if run.way == "takt manage" else None
        figures = [str(one.completed), str(one.missed), duration(one.longest), duration(bound)]
        found.append([title, *figures])
    return found


def table(lines: list[list[str]], chain: Chain) -> Table:
    """The rows for a terminal."""
    shown = Table(printable(f"{chain.id}, within {duration(chain.goal)}"))
    for column in HEADER[1:]:
        shown.add_column(column, right=True)
    for line in lines:
        shown.add_row(*map(printable, line))
    return shown


def comparison(lines: list[list[str]], chain: Chain) -> Json:
    """The rows as the table `comparison` of takt/viewer documents."""
    title = f"{chain.id}: within {duration(chain.goal)}"
    return {"title": title, "header": ["Run", *HEADER[1:]], "rows": lines}


def next_steps(takt: str, goals: str) -> Iterator[str]:
    """The commands for one's own robot."""
    yield f"Your own robot (goals.yaml: as {goals}, with its names):"
    yield f"  {takt} record -o run1 --duration 20 -- ros2 launch my_robot bringup.launch.py"
    yield f"  {takt} latency run1 --goals goals.yaml"
    yield f"  sudo {takt} manage --goals goals.yaml -- ros2 launch my_robot bringup.launch.py"
