"""takt report: Write the self-contained report of a trace or a model."""

from __future__ import annotations

from typing import Annotated

from takt import files, inputs, pipeline, processors
from takt.arguments import Argument, Exit, Option
from takt.cli import ANSWER_IS_NO
from takt.errors import UserError
from takt.report import view
from takt.text import console
from takt.verdicts import remedies, verdict

EXAMPLES = """
takt report trace/ -o report.html                          from a recording alone
takt report trace/ --goals goals.yaml                      with goals by topics and nodes
takt report trace/ model.json                              how the recording compares to a model
takt report model.json                                     bounds of a model, nothing measured
takt report model.json bounds.json measurement.json        from documents made earlier
"""


def report(
    traces_and_documents: Annotated[
        list[str],
        Argument(
            metavar="TRACE|DOCUMENT...",
            help="Traces (folders or archives) and takt/model, bounds or measurement documents.",
        ),
    ],
    output: Annotated[
        str, Option("--output", "-o", metavar="FILE", help="Where to write the page.")
    ] = "report.html",
    analysis: inputs.Analysis = pipeline.DEFAULT_ANALYSIS,
    goals: inputs.Goals = None,
    cores: processors.Cores = None,
    json: Annotated[
        bool, Option("--json", help="Print the takt/latency document of the page's chains.")
    ] = False,
) -> None:
    """Write one HTML page that needs nothing else: graph, chains, latencies, bounds, timeline.

    What is not among the inputs is made from them: the model and the measurement from the traces,
    the bounds from the model. Exit status 1 if a goal is missed, as of takt latency.
    """
    given = inputs.sort(traces_and_documents)
    evaluation = inputs.evaluate(given, analysis, goals)
    for warning in evaluation.warnings:
        console.say(f"takt: warning: {warning}")
    judged = verdict.judge(evaluation.model, evaluation.bounds, evaluation.measurement)
    text, model = evaluation.text, evaluation.model
    advice = remedies.find(text, model, judged, evaluation.analysis, cores)
    verdicts = advice.verdicts
    asking = view.asking(given, goals)
    page = view.page_of(given.traces, evaluation, verdicts, evaluation.title, asking=asking)
    if json and output == files.STANDARD_STREAM:
        raise UserError("--json and -o - both want standard output; name a file for the page")
    files.write_text(output, page)
    if json:
        console.print_json(
            verdict.document(
                evaluation.title, evaluation.analysis, verdicts, evaluation.measurement
            )
        )
    if output != files.STANDARD_STREAM:
        console.say(f"wrote {output}")
    for line in advice.lines(inputs.paths_of_model(given), goals, evaluation.analysis):
        console.say(line)
    missed = [judged.chain.id for judged in verdicts if judged.missed]
    if missed:
        console.say(f"takt: missed: {', '.join(missed)}")
        raise Exit(ANSWER_IS_NO)
