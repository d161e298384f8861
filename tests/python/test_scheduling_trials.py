"""Trials of ways to schedule end, whatever the manager beside them does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from takt.errors import UserError
from takt.processes import control
from takt.trials import scheduling_trials
from takt.trials.scheduling_trials import Goal, Trial, Way

WAY = Way("by hand")
GOALS = {"chain": Goal("a", "b", 5.0)}


def trial(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setattr(scheduling_trials, "TAKT", [sys.executable, "-c", program])
    monkeypatch.setattr(scheduling_trials, "LOOK", 0.01)
    scheduling_trials.measure({}, GOALS, WAY, 0.0, 1.0)


def test_much_of_a_log_does_not_stop_the_manager(monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import sys; sys.stderr.write('x' * 1_000_000 + '\\nthe end\\n\\n')"
    with pytest.raises(UserError, match="by hand: the programs ended too early: the end"):
        trial(monkeypatch, program)


def test_programs_that_say_nothing_are_no_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="they said nothing"):
        trial(monkeypatch, "")


@pytest.mark.parametrize("answers", [0, 3])
def test_a_manager_that_does_not_answer_is_not_waited_for_for_ever(
    monkeypatch: pytest.MonkeyPatch, answers: int
) -> None:
    measured = {"total": 1, "missed": 0}
    chain = {"id": "chain", "measured": measured, "state": "prepared", "bound": None}
    status = {"chains": [chain], "planning_seconds": 0, "window": 0, "cpu_seconds": 0, "seconds": 1}
    status |= {"planning_seconds_total": 0, "modelling_seconds_total": 0}
    left = [status] * answers
    clock = iter(range(1_000_000))

    def request(*_: object) -> Any:
        if left:
            return left.pop()
        raise UserError("no answer")

    monkeypatch.setattr(control, "request", request)
    monkeypatch.setattr(scheduling_trials, "LOOK", 0.0)
    monkeypatch.setattr("takt.trials.scheduling_trials.time.monotonic", lambda: next(clock))
    program = [sys.executable, "-c", "input()"]
    with subprocess.Popen(program, stdin=subprocess.PIPE) as manager:
        running = Trial(WAY, manager, {}, Path(os.devnull))
        with pytest.raises(UserError, match="takt manage has not answered for 60 s"):
            scheduling_trials._follow(running, 0.0, 1e9, ["chain"])


def test_the_last_line_of_a_log_with_anything_in_it(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"one\n\xff two\n \n")
    assert scheduling_trials._last_line(log) == "\ufffd two"
