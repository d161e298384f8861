"""takt generate: Make a random valid model."""

from __future__ import annotations

from typing import Annotated

from takt import built, files
from takt.arguments import Option
from takt.commands.model import hand_out
from takt.errors import UserError

EXAMPLES = """
takt generate --seed 7                                       a model of a few callbacks
takt generate --seed 7 --kind edf --kind events -o m.json    with executors of these kinds
takt generate --seed 7 --executors 20 --callbacks 300        a large one
takt generate --seed 7 --everything                          with every feature of the format
takt generate --seed 7 --feature join=80 --feature delay=0   with chances of single features
"""


def _features() -> list[tuple[str, str, int, int]]:
    """Names, meanings, and usual and largest chances. Without takt_design, which the help does
    without: none.
    """
    if built.find("takt_design") is None:
        return []
    import takt_design

    return takt_design.model_features()


FEATURES = _features()

EVERYTHING = {name: chance for name, _, _, chance in FEATURES}
TO_RUN = {"as_ros": 100}

HELP = "Chance of a feature in percent. Features and their usual chances: " + "; ".join(
    f"{name} ({usual}): {meaning}" for name, meaning, usual, _ in FEATURES
)


def generate(
    seed: Annotated[
        int, Option(metavar="N", min=0, max=2**64 - 1, help="The same seed, the same model.")
    ],
    output: Annotated[
        str,
        Option("--output", "-o", metavar="FILE", help='Where to write it; "-": standard output.'),
    ] = files.STANDARD_STREAM,
    kind: Annotated[
        list[str] | None,
        Option(metavar="KIND", help="Kinds of executors; usually single_threaded."),
    ] = None,
    executors: Annotated[int, Option(metavar="N", min=1, max=1000, help="How many executors.")] = 2,
    callbacks: Annotated[
        int, Option(metavar="N", min=1, max=10_000, help="How many callbacks.")
    ] = 8,
    chains: Annotated[
        int, Option(metavar="N", min=1, max=1000, help="How many chains at most.")
    ] = 3,
    load: Annotated[
        int,
        Option(
            metavar="PERCENT", min=1, max=200, help="Long-run demand of each executor's supply."
        ),
    ] = 40,
    everything: Annotated[
        bool, Option("--everything", help="Let every feature of the format occur.")
    ] = False,
    feature: Annotated[list[str] | None, Option(metavar="NAME=PERCENT", help=HELP)] = None,
    json: Annotated[
        bool, Option("--json", help="Print the takt/model document, wherever it is written.")
    ] = False,
) -> None:
    """Make a random valid model, to try commands and tools on.

    Its times are those of robots: periods from 10 ms to 1 s. 'takt run' takes it, unless
    --everything or --feature as_ros=0 asks for more than ROS 2 has.
    """
    import takt_design

    chances = dict(EVERYTHING if everything else TO_RUN)
    chances |= dict(map(_chance, feature or ()))
    text = takt_design.generate(
        seed,
        kind or ["single_threaded"],
        (executors, executors),
        (callbacks, callbacks),
        chains,
        (load, load),
        chances,
    )
    hand_out(text, output, json)


def _chance(assignment: str) -> tuple[str, int]:
    name, _, percent = assignment.partition("=")
    try:
        return name, int(percent)
    except ValueError as error:
        raise UserError(
            f"--feature {assignment}: must be NAME=PERCENT, e.g. join=80; see --help"
        ) from error
