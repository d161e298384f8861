"""By what running programs are heard as things happen: the rings of those with Takt's library, or
probes in the kernel, which need no library and see less.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from typing import TypeVar

import takt_native
from takt.text import console
from takt.text.formatting import count

Started = TypeVar("Started")

_DAEMON = ("ros2cli.daemon", "_ros2_daemon")
"""In the command line of the daemon of ros2cli, which is no part of a robot."""


class Backend(str, Enum):
    RING = "ring"
    EBPF = "ebpf"


METAVAR = "|".join(backend.value for backend in Backend)
HELP = (
    "Hear programs by Takt's library in them, or by probes in the kernel (root); default: ring, "
    "and ebpf where only programs without the library run."
)


def start(
    asked: Backend | None, command: Sequence[str], begin: Callable[[str], Started]
) -> Started:
    """What `begin` makes of the backend that was asked for. If none was, root tries probes where
    programs run and none has the library. What is chosen, and what is not heard, is said in a line.
    """
    if asked or command:
        return begin((asked or Backend.RING).value)
    heard, others = _running()
    if not others:
        return begin(Backend.RING.value)
    programs = count(others, "program")
    if heard or os.geteuid() != 0:
        console.say(
            f"takt: not heard: {programs} of ROS 2 without Takt's library; "
            "--backend ebpf (root) hears all"
        )
        return begin(Backend.RING.value)
    console.say(
        f"takt: {programs} of ROS 2, none with Takt's library: hearing them by probes in the "
        "kernel (--backend ebpf)"
    )
    try:
        return begin(Backend.EBPF.value)
    except takt_native.InputError as error:
        console.say(f"takt: {error}; until then programs with Takt's library are heard")
    return begin(Backend.RING.value)


def _running() -> tuple[int, int]:
    """How many programs of ROS 2 run with Takt's library, and without it."""
    programs = takt_native.running_programs(Backend.RING.value)
    robots = {process: has for process, has in programs.items() if not _is_daemon(process)}
    return sum(robots.values()), sum(not has for has in robots.values())


def _is_daemon(process: int) -> bool:
    try:
        command = Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return False
    return any(word in command for word in _DAEMON)


def nobody_heard(backend: str) -> str:
    """Why a backend heard nothing, in words."""
    if backend == Backend.EBPF.value:
        return "no program of ROS 2 did anything; start one, or wait"
    return (
        "no program of ROS 2 was heard; those that Takt does not start need its library, as "
        "'takt doctor' says, or --backend ebpf (root)"
    )
