"""takt summarize: Write what a recording comes down to, for comparisons."""

from __future__ import annotations

import json as json_format
from typing import Annotated

from takt import files, inputs
from takt.arguments import Argument, Option
from takt.errors import UserError
from takt.text import console
from takt.text.formatting import count

EXAMPLES = """
takt summarize trace/ -o run1.json               some 100 kB in place of the recording
takt summarize robot/ base/ -o run1.json         several hosts, or parts of one recording, as one
takt summarize trace/ --goals goals.yaml -o run1.json
"""


def summarize(
    traces: Annotated[
        list[str],
        Argument(metavar="TRACE...", help="CTF directories or archives of them: one recording."),
    ],
    output: Annotated[
        str | None, Option("-o", "--output", metavar="FILE", help="Write the summary here.")
    ] = None,
    goals: inputs.Goals = None,
    json: Annotated[bool, Option("--json", help="Print the summary.")] = False,
) -> None:
    """Write the summary of a recording: distributions of all chains, callbacks and links.

    A summary has what is compared between recordings: how long chains took and where, how long
    callbacks ran, how busy executors were, how long messages were on their way, what was lost, the
    bounds, and the labels. In its histograms a value is off by at most 1 %.
    """
    if output is None and not json:
        raise UserError("-o: name the file for the summary")
    if output == files.STANDARD_STREAM and json:
        raise UserError("-o -: standard output has the summary already; leave out -o or --json")
    from takt.fleet import summary

    document = summary.of(traces, goals)
    for warning in document["warnings"]:
        console.say(f"takt: warning: {warning}")
    text = json_format.dumps(document, separators=(",", ":")) + "\n"
    if json:
        console.print_json(document)
    if output is not None:
        files.write_text(output, text)
        chains = count(len(document["chains"]), "chain")
        callbacks = count(len(document["callbacks"]), "callback")
        console.say(f"Summarised {chains}, {callbacks}, {len(text) / 1e3:.0f} kB: {output}")
