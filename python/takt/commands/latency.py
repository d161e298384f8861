"""takt latency: Hold measured latencies against bounds and goals."""

from __future__ import annotations

import itertools
import shlex
from typing import Annotated

from takt import bags, inputs, pipeline, processors
from takt.arguments import Argument, Exit, Option
from takt.cli import ANSWER_IS_NO
from takt.errors import UserError
from takt.text import console
from takt.text.terminal import show
from takt.verdicts import remedies, tables, verdict

EXAMPLES = """
takt latency trace/                              every chain: measured, and its bound
takt latency trace/ --goals goals.yaml           against goals, named by topics and nodes
takt latency trace/ model.json                   against the bounds and goals of a model
takt latency trace/ --goals goals.yaml --json    for scripts; the exit status says whether they hold
takt latency rosbag2_2026_11_28/                 a bag of messages alone: ages, rates, latencies
takt latency drive.mcap --goals goals.yaml       goals from topic to topic
"""


def latency(
    traces_and_documents: Annotated[
        list[str],
        Argument(
            metavar="TRACE... [MODEL] | BAG",
            help="Traces (folders or archives) and, if there is one, a takt/model document; else "
            "the model is made from the traces. Or a bag: an .mcap or .db3 file, or the folder.",
        ),
    ],
    goals: inputs.Goals = None,
    analysis: inputs.Analysis = pipeline.DEFAULT_ANALYSIS,
    guaranteed: Annotated[
        bool,
        Option("--guaranteed", help="Exit status 1 also if a bound does not promise a goal."),
    ] = False,
    cores: processors.Cores = None,
    json: Annotated[bool, Option("--json", help="Print the takt/latency document.")] = False,
) -> None:
    """Print how long each chain took, how long it can take at most, and its goal.

    A chain's latency is from the activation of its first callback to the completion of its last,
    or, if its goal leads to a topic, to the publication there.
    The bound is what takt analyze computes for the model. Exit status 1 if a goal is missed: a
    measured latency is above it or, where nothing was measured, the bound.

    A bound rests on assumptions, such as how long each callback runs. Where the recording refutes
    one, or a latency was above it, the bound is refuted: it promises nothing.

    A bag has messages alone. It tells rates, gaps, how old stamps were when their messages were
    recorded, and latencies between topics that carry the same stamps, by which goals from topic to
    topic are judged. There are no bounds.
    """
    if bag := next(filter(bags.is_bag, traces_and_documents), None):
        if len(traces_and_documents) > 1:
            raise UserError(f"{bag}: a bag; give it alone")
        if guaranteed:
            raise UserError(f"--guaranteed: {bag} is a bag, and a bag has no bounds")
        from takt.bags.report import report

        if not report(bag, goals, json):
            raise Exit(ANSWER_IS_NO)
        return
    given = inputs.sort(traces_and_documents)
    evaluation = inputs.evaluate(given, analysis, goals)
    for warning in evaluation.warnings:
        console.say(f"takt: warning: {warning}")
    judged = verdict.judge(evaluation.model, evaluation.bounds, evaluation.measurement)
    text, model = evaluation.text, evaluation.model
    advice = remedies.find(text, model, judged, evaluation.analysis, cores)
    verdicts = advice.verdicts
    if json:
        console.print_json(
            verdict.document(
                evaluation.title, evaluation.analysis, verdicts, evaluation.measurement
            )
        )
    elif verdicts:
        told = [verdict.chain for verdict in verdicts if not verdict.idle]
        guessed = {chain.id: found for chain in told if (found := tables.guesses_of(model, chain))}
        measured = given.traces if given.model_path is None else [*given.traces, given.model_path]
        table = tables.chains(verdicts, dict.fromkeys(guessed, tables.GUESSED))
        show(table, *tables.reasons(verdicts))
        for line in (
            *tables.guesses(itertools.chain.from_iterable(guessed.values())),
            *tables.kinds(verdict.chain for verdict in verdicts),
            *tables.ends(verdicts),
            *tables.idle_chains(verdicts),
            *tables.start_up(evaluation.measurement, verdicts),
            *tables.conditions(verdicts),
            *tables.shared_memory(model, evaluation.measurement),
            *tables.why(verdicts, tables.Asking(shlex.join(measured), goals)),
        ):
            console.say(line)
        for line in advice.lines(inputs.paths_of_model(given), goals, evaluation.analysis):
            console.say(line)
    else:
        console.say("takt: no chain: nothing in the recording triggers anything else")
    if any(each.missed or (guaranteed and each.unpromised) for each in verdicts):
        raise Exit(ANSWER_IS_NO)
