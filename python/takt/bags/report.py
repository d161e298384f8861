"""`takt latency` of a bag."""

from __future__ import annotations

from takt import inputs
from takt.bags import document, files, judge, table
from takt.bags.measure import Measured
from takt.errors import UserError
from takt.text import console
from takt.text.terminal import Part, show


def report(path: str, goals: str | None, json: bool) -> bool:
    """Prints what a bag tells. Returns whether its goals are met. Raises UserError and
    takt_native.InputError. Takes time with the messages, and memory with the topics.
    """
    file = None if goals is None else inputs.goals_file(goals)
    bag = files.open_bag(path)
    measured = Measured()
    with console.progress("Reading the bag") as progress:
        measured.add(bag.messages(progress))
    if measured.count == 0:
        raise UserError((bag.losses.faults or [f"{path}: no message in the bag"])[-1])
    verdicts, warnings = (None, []) if file is None else judge.judge(measured, file)
    warnings = [*document.warnings(bag, measured), *warnings]
    for warning in warnings:
        console.say(f"takt: warning: {warning}")
    if json:
        console.print_json(document.document(bag, measured, verdicts, warnings))
    else:
        pairs = measured.pairs()
        parts: list[Part] = [table.topics(measured)]
        if pairs:
            parts += ["", table.pairs(pairs)]
        if verdicts:
            parts += ["", table.goals(verdicts)]
        show(*parts)
        for line in (*table.left_out(pairs), "", *document.UNTOLD):
            console.say(line)
    return not judge.any_missed(verdicts or ())
