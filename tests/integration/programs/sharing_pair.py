"""sharing_pair.py BYTES: a talker and listeners (sharing_talk.py, sharing_listen.py), which inherit
how this program was started. A second listener, which shares nothing, is there for a while.

Prints what each listener heard, a line each, after the listener's name.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO

ROUND = 20
"""Messages before the second listener comes, while it is there, and after it has gone."""
FOLDER = Path(__file__).parent


def the(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


class Listener:
    """With a node of its own name: without messages for a second, one of the same name would be
    taken for the one that came back.
    """

    def __init__(self, name: str, environment: Mapping[str, str] = os.environ) -> None:
        self.name = name
        self.process = subprocess.Popen(
            [sys.executable, str(FOLDER / "sharing_listen.py")],
            stdout=subprocess.PIPE,
            text=True,
            env={**environment, "LISTENER": f"listen_{name}"},
        )
        self.heard: list[str] = []
        assert the(self.process.stdout).readline() == "ready\n"

    def hear(self, last: int) -> None:
        """Until it has heard the message `last` on both topics."""
        missing = {f"{topic} a {last} whole" for topic in ("text", "image")}
        while missing:
            line = the(self.process.stdout).readline().strip()
            self.heard.append(line)
            missing.discard(line)

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()
        for line in self.heard:
            print(self.name, line, flush=True)


listener = Listener("shared")
talker = subprocess.Popen(
    [sys.executable, str(FOLDER / "sharing_talk.py"), "a", sys.argv[1]],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    text=True,
)


def tell(line: str) -> None:
    the(talker.stdin).write(line + "\n")
    the(talker.stdin).flush()
    assert the(talker.stdout).readline().strip() == line


tell("matched 1")
tell(f"publish {ROUND}")
listener.hear(ROUND)
other = Listener("foreign", {k: v for k, v in os.environ.items() if k != "TAKT_SHARE"})
tell("matched 2")
tell(f"publish {ROUND}")
listener.hear(2 * ROUND)
other.hear(2 * ROUND)
other.end()
tell("matched 1")
tell(f"publish {ROUND}")
listener.hear(3 * ROUND)
the(talker.stdin).close()
talker.wait()
listener.end()
