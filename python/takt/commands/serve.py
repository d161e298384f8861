"""takt serve: Look at a trace of any size in the browser."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Annotated

from takt import inputs, pipeline
from takt.arguments import Argument, Option
from takt.errors import UserError
from takt.report import stored
from takt.text import console

EXAMPLES = """
takt serve trace/                              prints the address of the page
takt serve trace/ --goals goals.yaml           with goals by topics and nodes
takt serve trace/ model.json --port 8080       against a model, on a port of your choice
takt serve trace/ --cache /big-disk/takt       keep the index elsewhere
"""


def serve(
    traces_and_documents: Annotated[
        list[str],
        Argument(
            metavar="TRACE|DOCUMENT...",
            help="Traces (folders or archives) and takt/model, bounds or measurement documents.",
        ),
    ],
    port: Annotated[
        int,
        Option("--port", metavar="N", min=0, max=65535, help="Where to listen; 0: any free port."),
    ] = 0,
    cache: Annotated[
        Path | None,
        Option(
            "--cache",
            metavar="DIR",
            help="Where indexes are kept, by default below the user's cache folder.",
        ),
    ] = None,
    analysis: inputs.Analysis = pipeline.DEFAULT_ANALYSIS,
    goals: inputs.Goals = None,
    json: Annotated[
        bool, Option("--json", help="Print one JSON document that says where the page is.")
    ] = False,
) -> None:
    """Look at a trace of any size in the browser: the page of takt report, with the data left where
    they are.

    The trace is indexed once, which takes as much disk as about a fifth of the trace and is kept
    for the next time. The page is served on 127.0.0.1, to whoever has the address with its token,
    until Ctrl-C.
    """
    from takt.report.server import Server

    given = inputs.sort(traces_and_documents)
    if not given.traces:
        raise UserError("no trace: name a recording; takt report shows models")
    folder = stored.folder_of(traces_and_documents, analysis, goals, cache)
    if not stored.is_complete(folder):
        # SIGTERM acts as Ctrl-C, so that no half-made index is left behind.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            stored.make(folder, given, analysis, goals)
        except UserError:
            # Another takt serve may have made the same index meanwhile.
            if not stored.is_complete(folder):
                raise
    page, document = stored.open_page(folder)
    try:
        server = Server(page, document, port)
    except OSError as error:
        raise UserError(f"port {port}: {error.strerror}; name another one") from error
    # Installed before the address is printed, as its reader may send a signal at once.
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        if json:
            where = {"address": server.address, "index": str(folder)}
            console.print_json({"format": "takt/serve", "version": 1, **where})
        else:
            print(server.address, flush=True)
            console.say("takt: open this address in a browser; Ctrl-C ends")
        ended.wait()
        server.shutdown()
