"""takt model: Build the timing model from traces."""

from __future__ import annotations

import json as json_format
from typing import Annotated, Any

import typer

from takt import console, files, inputs, merging, pipeline
from takt.errors import UserError
from takt.formatting import count

EXAMPLES = """
takt model trace/ -o model.json                         the model of one recording
takt model laptop.tar.xz robot/ -o model.json           of several hosts
takt model trace/ --goals goals.yaml -o model.json      chains and goals by topics and nodes
takt model trace/ --chains-from other.json -o m.json    chains and goals of another model
takt model run1/ run2/ run3/ --merge -o model.json      one model of several runs
takt model trace/ | takt analyze -                      straight to the bounds
"""


def model(
    traces: Annotated[
        list[str],
        typer.Argument(
            metavar="TRACE...",
            help="CTF directories or archives of them; with --merge also models made of them.",
        ),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="FILE", help='Where to write the model; "-": standard output.'
        ),
    ] = files.STANDARD_STREAM,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="The model's name; else the trace's.")
    ] = None,
    goals: inputs.Goals = None,
    chains_from: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Take the chains with their goals, and executors' names, of this model.",
        ),
    ] = None,
    supplies_from: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL", help="Take supplies that the trace does not tell from this model."
        ),
    ] = None,
    merge: Annotated[
        bool,
        typer.Option(
            "--merge",
            help="Each trace is a run of the same system: largest times of all runs, shortest "
            "distances, and how they converged.",
        ),
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print the takt/model document, wherever it is written.")
    ] = False,
) -> None:
    """Build the timing model: callbacks, executors, edges, execution times, activations, chains.

    What happened during start-up is left out: until no object had been made for a second.
    """
    if goals is not None and chains_from is not None:
        raise UserError("--goals and --chains-from both say which chains there are; give one")
    options: dict[str, str | None] = {"name": name or inputs.title(traces)}
    for option, path in (("chains_from", chains_from), ("supplies_from", supplies_from)):
        options[option] = files.read_document(path) if path is not None else None
    given = {option: value for option, value in options.items() if value is not None}
    if merge:
        document = _merged(traces, given)
        console.say(f"takt: {merging.summary(document)}")
    else:
        document = pipeline.synthesize(traces, given)
    for line in warnings(document["provenance"]):
        console.say(f"takt: warning: {line}")
    text = json_format.dumps(document, indent=1, ensure_ascii=False) + "\n"
    if goals is not None:
        text = inputs.with_goals(inputs.ModelText(text, output), goals).text
    files.write_text(output, text)
    if output == files.STANDARD_STREAM:
        return
    if json:
        console.print_json(text)
    else:
        print(f"{output}: {summary(json_format.loads(text))}")


def _merged(runs: list[str], options: dict[str, str]) -> dict[str, Any]:
    """One model of all runs, each a trace or a model that was made of one."""
    models = []
    for run in runs:
        given = inputs.sort([run])
        if given.model is not None:
            given.model.parsed()  # says what is wrong with it
            models.append(json_format.loads(given.model.text))
        else:
            models.append(pipeline.synthesize([run], {**options, "name": inputs.title([run])}))
    merging.check(models)
    return merging.merge(models, options["name"])


def warnings(provenance: dict[str, Any]) -> list[str]:
    """What a person should know before trusting the model."""
    lines = list(provenance["warnings"])
    if missing := provenance.get("chains_not_found"):
        lines.append("not in the trace: " + count(len(missing), "chain") + " " + ", ".join(missing))
    return lines


def summary(document: dict[str, Any]) -> str:
    """What the model consists of, in a line."""
    parts = ("executor", "callback", "edge", "join", "chain")
    return ", ".join(count(len(document[part + "s"]), part) for part in parts)
