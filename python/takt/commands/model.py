"""takt model: Build the timing model from traces."""

from __future__ import annotations

import json as json_format
from typing import Annotated, Any

from takt import files, inputs, pipeline
from takt.arguments import Argument, Option
from takt.errors import UserError
from takt.text import console
from takt.text.formatting import count
from takt.text.terminal import show

SHARE = 1_000_000
AGING = {"period": 1, "weight": SHARE, "threshold": SHARE, "margin": SHARE}
"""The settings of --aging, each with the factor to the library's unit."""
LARGEST_SETTING = 1_000_000

EXAMPLES = """
takt model trace/ -o model.json                         the model of one recording
takt model laptop.tar.xz robot/ -o model.json           of several hosts
takt model trace/ --goals goals.yaml -o model.json      chains and goals by topics and nodes
takt model trace/ --chains-from other.json -o m.json    chains and goals of another model
takt model run1/ run2/ run3/ --merge -o model.json      one model of several runs
takt model trace/ --phases -o model.json                nodes as they are since they changed last
takt model trace/ --aging period=600,weight=0.2         execution times of long ago lose weight
takt model trace/ --what-if 'reserve(/lidar)=3ms/5ms' -o changed.json
takt model robot.json --what-if 'split(/lidar)' -o changed.json         a model, changed
takt model trace/ | takt analyze -                      straight to the bounds
"""


def model(
    traces: Annotated[
        list[str],
        Argument(
            metavar="TRACE...|MODEL",
            help="CTF directories or archives of them; with --merge also models made of them. Or "
            "a model, to be written with --goals and --what-if.",
        ),
    ],
    output: Annotated[
        str,
        Option(
            "--output", "-o", metavar="FILE", help='Where to write the model; "-": standard output.'
        ),
    ] = files.STANDARD_STREAM,
    name: Annotated[
        str | None, Option(metavar="NAME", help="The model's name; else the trace's.")
    ] = None,
    goals: inputs.Goals = None,
    chains_from: Annotated[
        str | None,
        Option(
            metavar="MODEL",
            help="Take the chains with their goals, and executors' names, of this model.",
        ),
    ] = None,
    supplies_from: Annotated[
        str | None,
        Option(metavar="MODEL", help="Take supplies that the trace does not tell from this model."),
    ] = None,
    merge: Annotated[
        bool,
        Option(
            "--merge",
            help="Each trace is a run of the same system: largest times of all runs, shortest "
            "distances, and how they converged.",
        ),
    ] = False,
    phases: Annotated[
        bool,
        Option(
            "--phases",
            help="Leave out what a node did before its parameters, its lifecycle state or the "
            "class of one of its threads changed last.",
        ),
    ] = False,
    timer_phases: Annotated[
        bool,
        Option(
            "--timer-phases",
            help="Timers keep the phases of this run, for 'takt analyze --analysis exact', whose "
            "bounds then hold for these alone, and 'takt simulate'.",
        ),
    ] = False,
    aging: Annotated[
        str | None,
        Option(
            metavar="SETTINGS",
            help="Execution times of long ago lose their weight: period (instances), weight, "
            "threshold and margin, as NAME=VALUE,… What is not given is 600, 0.2, 0.9, 0.",
        ),
    ] = None,
    what_if: inputs.WhatIf = None,
    json: Annotated[
        bool, Option("--json", help="Print the takt/model document, wherever it is written.")
    ] = False,
) -> None:
    """Build the timing model: callbacks, executors, edges, execution times, activations, chains.

    What happened during start-up is left out: until no object had been made for a second.
    """
    if goals is not None and chains_from is not None:
        raise UserError("--goals and --chains-from both say which chains there are; give one")
    given: dict[str, Any] = {"name": name or inputs.title(traces)}
    read = inputs.goals_file(goals) if goals is not None else None
    if read is not None:
        given["links"] = read.links
    for option, path in (("chains_from", chains_from), ("supplies_from", supplies_from)):
        if path is not None:
            other = inputs.ModelText(files.read_document(path), files.source_name(path))
            other.parsed()  # its mistakes are told with its name
            given[option] = other.text
    if phases:
        given["phases"] = True
    if timer_phases:
        if merge:
            raise UserError("--timer-phases and --merge: each run has phases of its own; give one")
        given["timer_phases"] = True
    if aging is not None:
        given["aging"] = _aging(aging)
    if not merge and any(map(inputs.is_document, traces)):
        if unused := [option for option in given if option not in ("name", "links")]:
            raise UserError(f"--{unused[0].replace('_', '-')}: not with a model; leave it out")
        read_model = inputs.model(traces)
        read_model.parsed()  # its mistakes and unknown fields are told before it is handed on
        text, source = read_model
        document = json_format.loads(text)
        if name is not None:
            document["name"] = name
    else:
        document, source = (_merged if merge else pipeline.synthesize)(traces, given), output
    text = json_format.dumps(document, indent=1, ensure_ascii=False) + "\n"
    text = inputs.with_goals(inputs.ModelText(text, source), read).text
    for line in warnings(document.get("provenance", {})):
        console.say(f"takt: warning: {line}")
    if what_if is not None:
        text = _changed(inputs.what_if(inputs.ModelText(text, output), what_if).text, what_if)
    hand_out(text, output, json)


def hand_out(text: str, output: str, json: bool) -> None:
    """Writes a model, and prints it as well or says what it consists of."""
    files.write_text(output, text)
    if output == files.STANDARD_STREAM:
        return
    if json:
        console.print_json(text)
    else:
        show(f"{output}: {summary(json_format.loads(text))}")


def _changed(text: str, changes: str) -> str:
    """The model with a warning that no recording is like it."""
    document = json_format.loads(text)
    document.setdefault("provenance", {}).setdefault("warnings", []).append(
        f"the model was changed by --what-if {changes!r}: nothing recorded it so"
    )
    return json_format.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _aging(text: str) -> dict[str, int]:
    """The settings of --aging as the library takes them: shares in millionths."""
    from decimal import Decimal, InvalidOperation

    settings: dict[str, int] = {}
    for part in text.split(","):
        key, _, value = part.partition("=")
        scale = AGING.get(key.strip())
        try:
            number = Decimal(value.strip())
        except InvalidOperation:
            number = Decimal("NaN")
        if scale is None or not number.is_finite() or abs(number) > LARGEST_SETTING:
            raise UserError(
                f'--aging: "{part}" is not understood; give for example period=600,weight=0.2, '
                f"of {', '.join(AGING)}"
            )
        settings[key.strip()] = round(number * scale)
    return settings


def _merged(runs: list[str], options: dict[str, Any]) -> dict[str, Any]:
    """One model of all runs, each a trace or a model that was made of one. Says how their largest
    execution times converged.
    """
    from takt import merging

    models = []
    for run in runs:
        model = inputs.sort([run]).model
        if model is None:
            found = pipeline.synthesize([run], {**options, "name": inputs.title([run])})
            model = inputs.ModelText(json_format.dumps(found), run)
        models.append(model)
    merged = merging.merge(models, options["name"])
    console.say(f"takt: {merging.summary(merged)}")
    return merged


def warnings(provenance: dict[str, Any]) -> list[str]:
    """What a person should know before trusting the model."""
    lines = list(provenance.get("warnings", []))
    if missing := provenance.get("chains_not_found"):
        lines.append("not in the trace: " + count(len(missing), "chain") + " " + ", ".join(missing))
    return lines


def summary(document: dict[str, Any]) -> str:
    """What the model consists of, in a line."""
    parts = ("executor", "callback", "edge", "join", "chain")
    return ", ".join(count(len(document[part + "s"]), part) for part in parts)
