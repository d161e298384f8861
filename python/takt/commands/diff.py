"""takt diff: Compare the bounds of two models."""

from __future__ import annotations

import json as json_format
from typing import Annotated

from takt import inputs, pipeline
from takt.arguments import Argument, Exit, Option
from takt.cli import ANSWER_IS_NO
from takt.documents import Bounds
from takt.text import console
from takt.verdicts import differences

EXAMPLES = """
takt diff before.json after.json          what became slower, faster, new or unbounded
takt diff before.json after.json --json   the same as one document
takt diff monday/ friday/                 the models of two recordings
"""


def diff(
    before: Annotated[str, Argument(metavar="BEFORE", help=inputs.MODEL_HELP)],
    after: Annotated[str, Argument(metavar="AFTER", help="Another one.")],
    analysis: inputs.Analysis = pipeline.DEFAULT_ANALYSIS,
    goals: inputs.Goals = None,
    json: Annotated[bool, Option("--json", help="Print the takt/diff document.")] = False,
) -> None:
    """Compare the bounds of two models, callback by callback and chain by chain.

    To compare what was measured in groups of recordings, use 'takt compare'.

    Exit status 1 if a bound grew or was lost, or a goal that was met is missed.
    """
    old, new = (_bounds(model, analysis, goals) for model in (before, after))
    callbacks = differences.changes(old.callbacks, new.callbacks)
    chains = differences.changes(old.chains, new.chains)
    if json:
        document = {
            "format": "takt/diff",
            "version": 1,
            "analysis": analysis,
            "callbacks": callbacks,
            "chains": chains,
        }
        console.print_json(json_format.dumps(document, indent=1))
    else:
        for title, changes in (("Callbacks", callbacks), ("Chains", chains)):
            differences.print_changes(title, changes)
    if any(change["worse"] for change in (*callbacks, *chains)):
        raise Exit(ANSWER_IS_NO)


def _bounds(model: str, analysis: str, goals: str | None) -> Bounds:
    text, source = inputs.model([model], goals)
    return pipeline.analyze(text, source, analysis)
