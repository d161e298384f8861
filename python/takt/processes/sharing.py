"""Topics that go through shared memory: how commands are started so, and what is shared."""

from __future__ import annotations

import fcntl
import json
import os
import re
import socket
import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from takt import files
from takt.arguments import Option
from takt.errors import UserError
from takt.processes import control, runtime
from takt.text import console
from takt.text.formatting import printable
from takt.text.terminal import Part, Table

Json = dict[str, Any]

Share = Annotated[
    bool,
    Option("--share", help="Have the nodes share topics in memory, as takt share does."),
]
Topics = Annotated[
    str | None,
    Option(
        "--share-topics",
        metavar="PATTERN",
        help="Share only these topics: a shell pattern of full names.",
    ),
]
"""Options of commands that start programs; see asked()."""

ALL = "*"
"""The pattern of all topics."""
PATIENCE = 2.0
"""Seconds that a process may take to answer."""
PACKET = struct.Struct("=IIQ")
"""Packet of libtakt/memory: kind, domain, value."""
STATUS = 0x74616B35
"""A packet of this kind has the size of a text, and comes with the memory that holds it."""
LONGEST_STATUS = 1 << 24
SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
"""Of that memory, whose reader waits for nothing then."""
FIELDS: dict[str, dict[str, type]] = {
    "publisher": {"shared": bool, "latched": bool, "matched": int, "joined": int, "bytes": int},
    "subscription": {"joined": int, "shared": int, "taken": int},
}
"""What is said of each end of a topic that is shared, or would be."""
PEER = (socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
"""The process, user and group at the other end."""
LONGEST_NAME = 16 + 1 + 32 + len(".new")
"""Characters of a socket's name in the folder (ros/share/src/terms.cpp)."""
LONGEST_PATH = 107
"""Characters of a socket's path: sun_path of unix(7)."""


def folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where the programs of this user meet; made if it is missing. UserError if another user could
    write there, or if no socket could be made there.
    """
    place = control.folder(environment) / "share"
    with suppress(FileExistsError):
        place.mkdir(mode=0o700)
    if not files.is_of_this_user_alone(place):
        raise UserError(f"{place}: not a directory of this user alone; remove it")
    if len(os.fsencode(place)) + 1 + LONGEST_NAME > LONGEST_PATH:
        raise UserError(f"{place}: too long for sockets; set XDG_RUNTIME_DIR to a shorter path")
    return place


def shared(environment: Mapping[str, str], topics: str = ALL) -> dict[str, str]:
    """The environment for programs that share topics: those whose names match the shell pattern.
    UserError or NotBuiltError if they could not.
    """
    if environment.get("ROS_SECURITY_ENABLE") == "true":
        console.say("takt: nothing is shared with SROS 2 (ROS_SECURITY_ENABLE=true)")
    return {
        **environment,
        "TAKT_SHARE": str(folder(environment)),
        "TAKT_SHARE_TOPICS": topics,
        "LD_PRELOAD": preloaded_first(str(runtime.share()), environment.get("LD_PRELOAD", "")),
    }


def preloaded_first(library: str, others: str) -> str:
    """LD_PRELOAD with this library before others. It must stand before a tracing library, as it
    hears what the middleware tells that one (ros/share/src/trace.hpp).
    """
    kept = (one for one in re.split("[ :]+", others) if one and one != library)
    return os.pathsep.join([library, *kept])


def inherited(environment: Mapping[str, str]) -> str | None:
    """The pattern of the topics that programs of this environment share; None: none."""
    return environment.get("TAKT_SHARE_TOPICS", ALL) if environment.get("TAKT_SHARE") else None


def asked(topics: str | None, *, share: bool, command: Sequence[str] | None) -> str | None:
    """The pattern of the topics that a command is to share, by the options Share and Topics; None:
    none. UserError if there is none to be started.
    """
    if not share and topics is None:
        return None
    if not command:
        raise UserError(
            f"{'--share' if share else '--share-topics'} goes with a command, after --: what runs "
            "already cannot be made to share"
        )
    return _pattern("--share-topics", topics)


def _pattern(option: str, topics: str | None) -> str:
    """The pattern that an option gives, or that of all topics. UserError if no topic's full name
    can match it.
    """
    if topics is None:
        return ALL
    if not topics.startswith(("/", "*", "?", "[")):
        raise UserError(
            f"{option}: {topics!r} fits no topic, as full names begin with a slash; write "
            f"{'/' + topics if topics.strip('-') else '/camera/*'!r}"
        )
    return topics


def run(command: list[str], topics: str | None) -> None:
    """Becomes the command, with its topics shared. UserError if it cannot be started."""
    environment = shared(os.environ, _pattern("--topics", topics))
    try:
        os.execvpe(command[0], command, environment)
    except OSError as error:
        raise UserError(f"{command[0]}: {error.strerror}") from None


def status(environment: Mapping[str, str] = os.environ) -> Json:
    """What the programs of this user share now: a takt/sharing document."""
    ends = [end for path in _sockets(folder(environment)) for end in _ends(path)]
    names = sorted({end["topic"] for end in ends})
    return {
        "format": "takt/sharing",
        "version": 1,
        "topics": [
            {
                "topic": name,
                "ends": [
                    {key: value for key, value in end.items() if key != "topic"}
                    for end in ends
                    if end["topic"] == name
                ],
            }
            for name in names
        ],
    }


def _sockets(place: Path) -> list[Path]:
    """Of the programs' libraries (ros/share/src/post.cpp): status.PROCESS.NAMESPACE."""
    return sorted(
        path for path in place.iterdir() if re.fullmatch(r"status(\.[0-9]+){2}", path.name)
    )


def _ends(path: Path) -> list[Json]:
    """What the process with this socket says of its publishers and subscriptions; nothing if that
    makes no sense.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.settimeout(PATIENCE)
        try:
            connection.connect(str(path))
            process = struct.unpack("3i", connection.getsockopt(*PEER))[0]
            said = json.loads(_text(connection))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)  # its process has been killed
            return []
        except (OSError, ValueError, RecursionError):
            return []  # it ends just now, or is stopped
    who = {"process": process, "program": _program(process)}
    ends = map(_end, said) if isinstance(said, list) else ()
    return [who | end for end in ends if end is not None]


def _text(connection: socket.socket) -> bytes:
    """The text that comes over this connection. ValueError or OSError if there is none."""
    said, handed, _, _ = socket.recv_fds(connection, PACKET.size, 1)
    try:
        kind, _, size = PACKET.unpack(said) if len(said) == PACKET.size else (0, 0, 0)
        if kind != STATUS or len(handed) != 1 or size > LONGEST_STATUS:
            raise ValueError
        if fcntl.fcntl(handed[0], fcntl.F_GET_SEALS) & SEALS != SEALS:
            raise ValueError
        return os.pread(handed[0], size, 0)
    finally:
        for one in handed:
            os.close(one)


def _end(said: Any) -> Json | None:
    """What is said of a publisher or a subscription. None: it makes no sense."""
    if not isinstance(said, dict) or said.get("end") not in (*FIELDS,):
        return None
    own: dict[str, type] = {"why_not": str} if "why_not" in said else FIELDS[said["end"]]
    fields = {"topic": str, "end": str} | own
    if any(type(said.get(name)) is not kind for name, kind in fields.items()):
        return None
    return {name: said[name] for name in fields}


def _program(process: int) -> str:
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return ""
    return " ".join(Path(word).name if "/" in word else word for word in words[:3]).strip()


def state(end: Json) -> str:
    """How the messages of an end go, in words."""
    if "why_not" in end:
        return f"not shared: {end['why_not']}"
    if end["end"] == "subscription":
        if end["shared"]:
            return f"shared with {_publishers(end['shared'])}, {end['taken']} messages taken"
        if end["joined"]:
            return "not yet: the first message must come by the middleware, and none has"
        return "no publisher shares it"
    if end["shared"]:
        late = ", and by the middleware for those that come later" if end["latched"] else ""
        return f"shared with all {end['matched']} subscriptions{late}"
    if end["matched"] > end["joined"]:
        return (
            f"by the middleware as well: at least {end['matched'] - end['joined']} of "
            f"{end['matched']} subscriptions do not share it"
        )
    return (
        "by the middleware as well, until each subscription that it has matched has a message from "
        "both"
        if end["joined"]
        else "no subscription shares it"
    )


def _publishers(number: int) -> str:
    return "1 publisher" if number == 1 else f"{number} publishers"


def view(document: Json) -> list[Part]:
    """The document for people, without topics that every process has and does not share."""

    shown = [
        topic
        for topic in document["topics"]
        if not all("every process" in end.get("why_not", "") for end in topic["ends"])
    ]
    if not shown:
        return ["No program that was started by takt share has a topic."]
    table = Table("Topic", "End", "Process", "State")
    for topic in shown:
        for end in topic["ends"]:
            process = f"{end['process']} {end['program']}"
            cells = (topic["topic"], end["end"], process, state(end))
            table.add_row(*map(printable, cells))
    return [table]
