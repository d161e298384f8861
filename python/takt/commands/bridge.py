"""takt bridge: Carry topics between hosts, the most urgent first."""

from __future__ import annotations

import socket
from typing import Annotated

from takt.arguments import Argument, Option
from takt.errors import UserError
from takt.live import bridging
from takt.text import console
from takt.text.terminal import show

EXAMPLES = """
takt bridge --make-key bridge.key            once; copy it to the other host
takt bridge bridge.yaml --host robot         on the one host, until Ctrl-C
takt bridge bridge.yaml --host base          on the other one
takt bridge bridge.yaml --duration 60 --json what went through, for scripts
"""


def bridge(
    file: Annotated[
        str | None,
        Argument(
            metavar="FILE", help="Hosts and topics, YAML; see docs/link.md.", show_default=False
        ),
    ] = None,
    host: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="Which of the file's hosts this is; default: the machine's name.",
            show_default=False,
        ),
    ] = None,
    duration: Annotated[
        float | None,
        Option(metavar="SECONDS", min=0.001, help="End after this time; else on Ctrl-C."),
    ] = None,
    priority: Annotated[
        int,
        Option(metavar="N", min=0, max=99, help="SCHED_FIFO priority; 0: best effort."),
    ] = 0,
    make_key: Annotated[
        str | None,
        Option("--make-key", metavar="FILE", help="Write a new random key, and end."),
    ] = None,
    json: Annotated[
        bool, Option("--json", help="Print the takt/bridge document at the end.")
    ] = False,
) -> None:
    """Carry topics of ROS 2 between hosts in an order that is decided.

    Run it on each of the hosts, which need no other connection: a topic appears on the other host
    when somebody publishes it here, with the same quality of service. The most urgent message goes
    first, and waits for no more than a chunk of a less urgent one. While the other host cannot be
    reached, messages wait, as many as the file says.
    """
    if make_key is not None:
        bridging.make_key(make_key)
        if file is None:
            return
    if file is None:
        raise UserError("say which hosts and topics with FILE; docs/link.md says what is in it")
    request = bridging.Request(file, host or socket.gethostname(), duration, priority)
    document = bridging.run(request, lambda line: console.say(f"takt: {line}"))
    if json:
        console.print_json(document)
    else:
        show(*bridging.view(document))
