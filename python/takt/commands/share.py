"""takt share: Send messages between processes through shared memory."""

from __future__ import annotations

from typing import Annotated

from takt.arguments import Argument, Option
from takt.errors import UserError
from takt.processes import sharing
from takt.text import console
from takt.text.terminal import show

EXAMPLES = """
takt share -- ros2 launch demo robot.launch.py         all topics of these nodes
takt share --topics '/camera/*' -- ros2 run demo eye   those of a camera only
takt share --status                                    each topic: shared, or why not
takt share --status --json                             for scripts
"""


def share(
    command: Annotated[
        list[str] | None,
        Argument(metavar="[-- COMMAND...]", help="What to start.", show_default=False),
    ] = None,
    topics: Annotated[
        str | None,
        Option(metavar="PATTERN", help="Topics to share, as a shell pattern of their full names."),
    ] = None,
    status: Annotated[
        bool, Option("--status", help="Say what is shared by the programs that run.")
    ] = False,
    json: Annotated[
        bool, Option("--json", help="With --status, print the takt/sharing document.")
    ] = False,
) -> None:
    """Start a command whose nodes send messages to each other through shared memory.

    The nodes stay as they are. All processes that were started so share with each other; everybody
    else gets messages by the middleware, as before. A topic is shared if it keeps the last
    messages. docs/share.md says how it works, and what it does not do.
    """
    if status == bool(command):
        raise UserError("give either a command, after --, or --status")
    if json and not status:
        raise UserError("--json goes with --status")
    if topics is not None and status:
        raise UserError("--topics goes with a command")
    if command:
        sharing.run(command, topics)
    document = sharing.status()
    if json:
        console.print_json(document)
    else:
        show(*sharing.view(document))
