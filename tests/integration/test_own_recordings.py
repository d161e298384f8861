"""No model is refuted by the recording that it was made from, unless the machine took a processor
from the program and the recording shows it.

Callbacks of random programs (programs/activated.py) are activated by threads, loops around wait
sets, actions, components that come and go, and lifecycle nodes; each fifth program is overloaded.
TAKT_PROGRAMS says how many programs of each kind run; usually one. TAKT_SEED chooses others.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from own_bounds import Seen, judge
from recording import PROGRAMS, Run, needs_privileges
from takt.verdicts.assumptions import Standing, Subject

SEED = int(os.environ.get("TAKT_SEED", "1"))
COUNT = int(os.environ.get("TAKT_PROGRAMS", "1"))
pytestmark = [pytest.mark.alone, pytest.mark.timeout(100 + 60 * COUNT)]
SECONDS = 3
OVERLOAD = 1.3
"""The share of a processor that callbacks of overloaded programs need."""
needs_actions = pytest.mark.skipif(
    find_spec("test_msgs") is None, reason="ROS 2's package test_msgs, an action, is not installed"
)
KINDS = (
    "threads",
    "wait_set",
    pytest.param("actions", marks=needs_actions),
    "components",
    "lifecycle",
)


def faults(seen: Seen) -> list[str]:
    """What is refuted but for the supply, and what is above its bound though the supply is not."""
    violated = [each for each in seen.findings if each.standing is Standing.VIOLATED]
    refuted = [each.text for each in violated if each.subject is not Subject.SUPPLY]
    if any(each.subject is Subject.SUPPLY for each in violated):
        return refuted
    return refuted + [str(each) for each in seen.above()]


@pytest.mark.parametrize("kind", KINDS)
def test_a_recording_does_not_refute_its_own_model(kind: str, tmp_path: Path) -> None:
    kernel = [] if needs_privileges.mark.args[0] else ["--kernel"]
    found: list[str] = []
    for seed in range(SEED, SEED + COUNT):
        load = [str(OVERLOAD)] if seed % 5 == 0 else []
        program = [str(PROGRAMS / "activated.py"), kind, str(seed), str(SECONDS), *load]
        trace = tmp_path / f"trace-{seed}"
        recorded = Run.of(trace, [sys.executable, *program], backend="ring", options=kernel)
        seen = judge(recorded)
        if faults(seen):
            # Several short times without a processor add up. What is wrong is so once more.
            print(f"{kind} {seed}, once more: {faults(seen)}")
            again = tmp_path / f"again-{seed}"
            recorded = Run.of(again, [sys.executable, *program], backend="ring", options=kernel)
            seen = judge(recorded)
        assert seen.responses, f"program {seed} did nothing"
        bounded = sum(each.bound is not None for each in seen.responses)
        print(f"{kind} {seed}: {bounded} of {len(seen.responses)} bounded, {seen.refuted}")
        found += [f"program {seed}: {text}" for text in faults(seen)]
    assert not found, "\n".join(found)
