"""takt handoff: Design a safe hand-over between state estimators."""

from __future__ import annotations

import hashlib
import json as json_format
from typing import TYPE_CHECKING, Annotated, Any

from takt import files, inputs, pipeline
from takt.arguments import Argument, Exit, Option
from takt.cli import ANSWER_IS_NO
from takt.errors import UserError
from takt.text import console
from takt.text.formatting import count, duration, printable
from takt.text.terminal import Table, show

if TYPE_CHECKING:
    from takt.handoff.attack import Outcome
    from takt.handoff.design import Design

EXAMPLES = """
takt handoff plant.yaml -o handoff.json                      the decision bound and the regions
takt handoff plant.yaml --check 100000                       tries to break the design
takt handoff plant.yaml --picture plant.svg                  safe set, regions, worst sequence
takt handoff plant.yaml --model robot.json --callback /est   the time of a hand-over from bounds
takt handoff plant.yaml --keep 0.4                           how long may it take, at most?
"""

SEQUENCES = 20_000
"""The sequences that an adversary tries for a picture."""


def handoff(
    plant: Annotated[str, Argument(metavar="PLANT", help="A YAML file; docs/handoff.md.")],
    output: Annotated[
        str | None,
        Option(
            "--output", "-o", metavar="FILE", help='Write the takt/handoff document; "-": print it.'
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        Option(
            metavar="MODEL|TRACE", help="Take period and response time of a callback from there."
        ),
    ] = None,
    callback: Annotated[
        str | None,
        Option(metavar="NAME", help="The estimator's callback: its id, node or name."),
    ] = None,
    analysis: inputs.Analysis = pipeline.DEFAULT_ANALYSIS,
    keep: Annotated[
        float | None,
        Option(
            metavar="SHARE",
            min=0.001,
            max=1,
            help="Say which period, and with a model which reservation, keep at least this share "
            "of the decision's inputs.",
        ),
    ] = None,
    check: Annotated[
        int | None,
        Option(
            metavar="N",
            min=1,
            max=10**8,
            help="Try so many adversarial sequences of inputs. Exit status 1 if one breaks the "
            "bound.",
        ),
    ] = None,
    seed: Annotated[int, Option(metavar="N", min=0, help="Of the sequences.")] = 0,
    picture: Annotated[
        str | None, Option(metavar="FILE", help="Write a picture of the design, .svg.")
    ] = None,
    pairs: Annotated[
        bool,
        Option(
            "--pairs",
            help="Also write the sets of state and estimate of two states, not only of one.",
        ),
    ] = False,
    json: Annotated[bool, Option("--json", help="Print the takt/handoff document.")] = False,
) -> None:
    """Find within which inputs a linear estimator is safe, and from where it may be used again.

    A linear filter is right near its operating point. Handing over to a nonlinear one takes time,
    in which the error must not exceed its bound. This finds the largest bound of the inputs with
    which it never does, whatever inputs come during the hand-over, and the region from which the
    way back is safe. Needs the extra "estimation".
    """
    attacked = check is not None or picture is not None
    found, document = _design(plant, model, callback, analysis, pairs, attacked)
    if keep is not None:
        document["design"]["keep"] = _keep(found, keep, model, analysis)
    worst = _attack(found, check, seed) if attacked else None
    if worst is not None and check:
        document["design"]["check"] = {
            "sequences": worst.sequences,
            "violations": worst.violations,
            "largest_error": worst.largest * found.plant.epsilon,
            "seed": seed,
        }
    if picture is not None and worst is not None:
        from takt.handoff import picture as drawing

        files.write_text(picture, drawing.svg(found, worst))
    text = json_format.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    if output is not None:
        files.write_text(output, text)
    if json and output != files.STANDARD_STREAM:
        console.print_json(document)
    elif output != files.STANDARD_STREAM:
        _print(found, document, worst if check else None)
        if output is not None:
            console.say(f"The design: {output}")
    if worst is not None and check and worst.violations:
        raise Exit(ANSWER_IS_NO)


def _design(
    path: str,
    models: list[str] | None,
    callback: str | None,
    analysis: str,
    pairs: bool,
    attacked: bool,
) -> tuple[Design, dict[str, Any]]:
    if (models is None) != (callback is None):
        raise UserError("--model and --callback belong together: give both")
    try:
        from takt.handoff import design, plant, timing
        from takt.handoff import document as documents
    except ModuleNotFoundError as missing:
        raise UserError(
            f"takt handoff needs {missing.name}, which is not installed: pip install "
            "'takt-ros[estimation]'"
        ) from missing
    text = files.read_document(path)
    read = plant.parse(text, files.source_name(path))
    if attacked and len(read.states) > design.LARGEST_GRID:
        raise UserError(
            f"{read.source}: --check and --picture are for plants of up to {design.LARGEST_GRID} "
            f"states, and this one has {len(read.states)}; leave them out"
        )
    origins = [(files.source_name(path), text)]
    window = timing.Window(read.timing)
    if models is not None and callback is not None:
        model = inputs.model(models)
        window = timing.from_model(read.timing, model, callback, analysis)
        origins.append((model.source, model.text))
    with console.progress("Designing the hand-over") as progress:
        found = design.design(read, window, progress, pairs)
    digests = [
        {"path": name, "sha256": hashlib.sha256(content.encode()).hexdigest()}
        for name, content in origins
    ]
    return found, documents.document(found, digests)


def _keep(found: Design, share: float, models: list[str] | None, analysis: str) -> dict[str, Any]:
    """The window, period and reservation that keep a share of the decision's inputs."""
    from takt.handoff import design, timing

    plant, window = found.plant, found.window
    with console.progress("Looking for the longest hand-over") as progress:
        longest = design.longest_window(plant, share, progress)
    fixed = plant.timing.actuation_delay + window.jitter + window.response
    answer: dict[str, Any] = {
        "share": share,
        "longest_window": longest,
        "longest_period": max((longest - fixed) // plant.timing.load_periods, 0),
        "met": window.length <= longest,
    }
    if models is not None:
        text = inputs.model(models)
        answer["reservation"] = timing.reservation(text, window, longest, analysis)
    return answer


def _attack(found: Design, check: int | None, seed: int) -> Outcome:
    from takt.handoff.attack import Attack

    with console.progress("Trying adversarial inputs") as progress:
        return Attack(found).run(check or SEQUENCES, seed, progress=progress)


def _print(found: Design, document: dict[str, Any], worst: Outcome | None) -> None:
    plant = found.plant
    table = Table()
    for column in ("Input", "Linear from", "to", "Possible from", "to"):
        table.add_column(column, right=column != "Input")
    for number, name in enumerate(plant.inputs):
        limits = (
            found.decision.lower[number],
            found.decision.upper[number],
            plant.physical.lower[number],
            plant.physical.upper[number],
        )
        table.add_row(printable(name), *(f"{limit:.4g}" for limit in limits))
    show(table, "")
    figures = document["design"]
    show(
        f"Error at most {figures['largest_error']:.4g} of {plant.epsilon:g} allowed, with a "
        f"hand-over of {duration(found.window.length)} (method: {found.method})",
    )
    if (wide := _too_wide(found)) is not None:
        show(wide)
    if (kept := figures.get("keep")) is not None:
        show(_kept(kept))
    if worst is not None:
        show(
            f"{count(worst.sequences, 'adversarial sequence')}: {worst.violations} broke the "
            f"bound, the largest error was {worst.largest * plant.epsilon:.4g}",
        )


def _too_wide(found: Design) -> str | None:
    """Says for which states the filters settle with a wider confidence set than the way back may
    have.
    """
    linear = found.linear
    if linear.settled is None:
        return None
    states = [
        f"{name} (±{settled:.3g}, at most ±{most:.3g})"
        for name, settled, most in zip(
            found.plant.states, linear.settled, linear.half_widths, strict=True
        )
        if settled > most
    ]
    if not states:
        return None
    return (
        "The estimator hardly ever goes back to the linear mode: the noise leaves too wide a "
        f"confidence set of {', '.join(states)}; allow more by confidence.half_widths, or less by "
        "confidence.deviations"
    )


def _kept(kept: dict[str, Any]) -> str:
    from takt.handoff.design import LONGEST_WINDOW

    share = f"{100 * kept['share']:.3g} % of the inputs: "
    if kept["longest_window"] == 0:
        return f"{share}no hand-over is short enough for that"
    if kept["longest_window"] == LONGEST_WINDOW:
        return f"{share}no hand-over is too long, as no physical input breaks the bound"
    lines = [
        f"{share}a hand-over may take {duration(kept['longest_window'])}, so the period may be "
        f"{duration(kept['longest_period'])}"
    ]
    reservation = kept.get("reservation")
    if reservation is not None and not reservation["met"]:
        lines.append("No reservation of the estimator's executor is enough for that")
    elif reservation is not None:
        lines += [
            f"Executor {one['id']}: {duration(one['budget'])} every {duration(one['period'])}"
            for one in reservation["executors"]
            if one["budget"]
        ]
    return "\n".join(lines)
