"""Programs that run executors and print what these do, and what follows from it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from takt import loopback
from takt.doctor.check import Check, State
from takt.text.formatting import count

LONGEST = 55
"""Seconds that a probe may take."""
ANOTHER_ORDER = 'bounds of its executors are too low: give them the order "unknown" in the model'
NO_BOUND = "no bound of its executors holds: report this, with the version of ROS 2"

Ran = list[str]
"""Node, kind and name of a callback."""
Seen = TypeVar("Seen")


class NotChecked(Exception):  # noqa: N818
    """A probe that did not come to its end. The message says why."""


def run(command: Sequence[str]) -> dict[str, Any]:
    """The JSON object with which the program's output ends."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=LONGEST,
            env=loopback.environment(),
            check=True,
        )
        seen: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        raise NotChecked(f"it took longer than {LONGEST} s") from None
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        raise NotChecked(_reason(error)) from None
    return seen


def unchecked(id_: str, reason: str) -> Check:
    return Check(id_, id_.partition("_")[0], State.LIMITED, f"not checked: {reason}")


def of_windows(
    id_: str,
    name: str,
    windows: Sequence[Seen],
    holds: Callable[[Seen], bool],
    shown: Callable[[Seen], list[Ran]],
    remedy: str,
) -> Check:
    """Whether a property holds for all windows, and how often and where it does not."""
    failed = [window for window in windows if not holds(window)]
    of = f"{len(failed)} of {count(len(windows), 'ready set')}"
    example = " ".join("/".join(ran) for ran in shown(failed[0])) if failed else ""
    return result(id_, name, not failed, f"contradicted by {of}: {example}", remedy)


def result(id_: str, name: str, holds: bool, seen: str, remedy: str) -> Check:
    """`seen`: what contradicts the property."""
    if holds:
        return Check(id_, name, State.OK, "holds", required=True)
    return Check(id_, name, State.MISSING, seen, remedy, required=True)


def _reason(error: Exception) -> str:
    printed = getattr(error, "stderr", None)
    lines = printed.strip().splitlines() if isinstance(printed, str) else []
    return lines[-1] if lines else str(error)
