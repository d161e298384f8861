"""takt demo: Show the whole way on a real ROS 2 system."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from takt import files, pipeline
from takt.arguments import Exit, Option
from takt.cli import ANSWER_IS_NO
from takt.errors import UserError
from takt.story import acts
from takt.text import console

EXAMPLES = """
takt demo                                         a small robot that is late, in a minute or two
takt demo --model models/autoware_reference_system.json -o /tmp/autoware
"""

ROOT = Path(__file__).resolve().parents[3]
IS_SOURCE_TREE = (ROOT / "models").exists()
# An installation has the models in the package.
MODELS = (ROOT if IS_SOURCE_TREE else Path(__file__).resolve().parents[1]) / "models"
ROBOT = MODELS / "delivery_robot.json"
OUTPUT = ROOT / "build" / "demo" if IS_SOURCE_TREE else Path("takt-demo")


def demo(
    model: Annotated[
        Path,
        Option(metavar="MODEL", help="The timing model to execute.", show_default=False),
    ] = ROBOT,
    duration: Annotated[
        float, Option(metavar="SECONDS", min=1.0, help="How long each recording takes.")
    ] = 8.0,
    output: Annotated[
        Path,
        Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Where the results go; default: build/demo of a source tree, else takt-demo.",
        ),
    ] = OUTPUT,
    manage: Annotated[
        bool,
        Option(
            help="Run it twice more beside processes that only compute: by the default scheduler, "
            "and under takt manage. The latter needs root."
        ),
    ] = True,
    json: Annotated[bool, Option("--json", help="Print the takt/demo document.")] = False,
) -> None:
    """Run a robot as real ROS 2 processes, say why it is late, and what keeps it in time.

    C++ nodes on rcl with Fast DDS run in several processes, and are recorded with LTTng. Takt says
    what the latest message waited for, finds the change that brings the bound of its chain within
    the goal, makes it, and records the robot again. Then processes that only compute run beside it,
    more and more, until the default scheduler is late; beside as many of them, takt manage reserves
    processor time for the robot.

    Exit status 1 if a measured latency is above its bound and nothing that was measured says why.
    """
    if not model.exists():
        raise UserError(f"{model}: no such model; name one with --model")
    robot = pipeline.read_model(files.read_document(str(model)), str(model))
    if not any(chain.goal for chain in robot.chains):
        raise UserError(f"{model}: no chain has a goal, so nothing can be late")
    story = acts.Story(robot, duration, output, quiet=json)
    story.begin()
    story.improve()
    if manage:
        story.load()
    story.end("./takt" if IS_SOURCE_TREE else "takt")
    if json:
        console.print_json(story.document())
    if story.inexplicable():
        raise Exit(ANSWER_IS_NO)
