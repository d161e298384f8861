"""takt compare: Say what became slower between two groups of recordings."""

from __future__ import annotations

import json as json_format
from typing import Annotated

from takt import files, inputs, libraries
from takt.arguments import Argument, Exit, Option
from takt.cli import ANSWER_IS_NO
from takt.errors import UserError
from takt.text import console
from takt.text.terminal import Table, show, styled

EXAMPLES = """
takt compare monday/ friday/                      folders of recordings or of their summaries
takt compare main/ branch/ --tolerance 10         exit status 1 if something is 10 % slower
takt compare main/ branch/ --markdown summary.md  also for a pull request
takt compare main/ branch/ --json                 the takt/comparison document
"""

RUNS_HELP = (
    "A folder of recordings and summaries (takt summarize), each of them a run, or one of them."
)
COLOURS = {"worse": "red", "some runs": "yellow", "better": "green"}


def compare(
    baseline: Annotated[str, Argument(metavar="BASELINE", help=RUNS_HELP)],
    candidate: Annotated[str, Argument(metavar="CANDIDATE", help="Another one.")],
    goals: inputs.Goals = None,
    tolerance: Annotated[
        float | None,
        Option(
            metavar="PERCENT",
            min=0,
            max=1000,
            help="Growth up to this is no regression: else the goals' tolerance, else 5.",
        ),
    ] = None,
    markdown: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help='Write the result as Markdown, too; "-": to standard output, instead.',
        ),
    ] = None,
    json: Annotated[bool, Option("--json", help="Print the takt/comparison document.")] = False,
) -> None:
    """Compare what was measured in two groups of runs, such as before and after a change.

    Median and 99th percentile of each chain, callback and link, how busy executors were, lost
    messages, and what is missing in some runs are compared over runs. If the versions are equal, a
    regression is reported in at most 10 of 100 comparisons. For chains it says where the time went.
    With fewer than 5 runs of a side it says that it cannot tell. To compare the bounds of two
    models, use 'takt diff'.

    Exit status 1 if something became worse by more than the tolerance. A run of a folder that
    cannot be read is left out, and named.
    """
    if json and markdown == files.STANDARD_STREAM:
        raise UserError("--markdown -: standard output has the JSON document; name a file")
    libraries.optional("numpy", "fleet")
    from takt.fleet import comparison, page, runs

    if tolerance is None and goals is not None:
        tolerance = inputs.goals_file(goals).tolerance
    share = comparison.TOLERANCE if tolerance is None else tolerance / 100
    before, after = (runs.read(path, goals) for path in (baseline, candidate))
    if goals is not None and (before.from_summaries or after.from_summaries):
        console.say(
            "takt: summaries keep the chains that they were made with, whatever --goals says"
        )
    document = comparison.compare(before.runs, after.runs, share)
    document["left_out"] = {"baseline": before.left_out, "candidate": after.left_out}
    if json:
        console.print_json(json_format.dumps(document, indent=1))
    elif markdown != files.STANDARD_STREAM:
        table = Table()
        for column in page.HEADERS:
            table.add_column(column, right=column in page.HEADERS[2:])
        for verdict, word, *cells in page.rows(document):
            table.add_row(styled(word, COLOURS[verdict]), *cells)
        show(page.conclusion(document), *([table] if table.row_count else []))
        show(*page.remarks(document))
    if markdown is not None:
        files.write_text(markdown, page.markdown(document))
    if document["regressions"]:
        raise Exit(ANSWER_IS_NO)
