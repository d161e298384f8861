"""The tables of takt status and takt manage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from robot import run_takt
from takt.errors import UserError
from takt.live import managing
from takt.processes.companion import Companion
from takt.text.terminal import Table

HEADER = json.dumps(
    {
        "format": "takt/decisions",
        "version": 1,
        "margin": 10,
        "calm": 3,
        "spare": 10,
        "left": 25,
        "period": None,
    }
)
MS = 1_000_000
WIDTH = 200
PROMISES: dict[str, Any] = {
    "kept": 0,
    "broken": 0,
    "since": None,
    "guaranteed": 0,
    "bound": 0,
    "longest": 0,
    "breach": None,
    "by_host": 0,
    "last_by_host": None,
}


def chain(name: str, state: str, **fields: object) -> dict[str, Any]:
    return {
        "id": name,
        "state": state,
        "reason": "",
        "goal": 100 * MS,
        "bound": None,
        "needs": None,
        "measured": None,
        "promises": PROMISES,
        **fields,
    }


def lines(*chains: dict[str, Any]) -> list[str]:
    document = {
        "cpu_seconds": 0.1,
        "seconds": 20,
        "decisions": 4,
        "lost_events": 0,
        "dry_run": False,
        "chains": list(chains),
        "executors": [],
        "alerts": [],
    }
    parts = managing.view(document)
    return [
        line
        for part in parts
        for line in (part.lines(WIDTH) if isinstance(part, Table) else [str(part)])
    ]


def test_a_degraded_chain_says_what_would_make_it_fit() -> None:
    needs = {
        "goal": 130 * MS,
        "cores": 3,
        "execution_time": {"callback": "/relay", "from": 20 * MS, "to": 5 * MS, "what_if": ""},
        "period": None,
        "all_execution_times_percent": 60,
        "what_if": {},
    }
    said = lines(chain("pilot", "guaranteed"), chain("camera", "degraded", needs=needs))
    assert (
        "camera: possible with 3 cores, or with a goal of at least 130 ms, or if /relay ran at "
        "most 5 ms instead of 20 ms, or if all callbacks that it depends on ran 40 % shorter"
    ) in said
    assert not any(line.startswith("pilot: possible") for line in said)


def test_a_goal_says_what_it_is_about() -> None:
    promised = {**PROMISES, "bound": 80 * MS}
    said = lines(
        chain("pilot", "guaranteed", kind="age", promises=promised), chain("camera", "guaranteed")
    )
    (pilot,) = (line for line in said if line.startswith("pilot: guaranteed"))
    assert "at most 80 ms of 100 ms age" in pilot
    table = "\n".join(said)
    assert table.count("100 ms age") == 2


def promise_line(**promised: object) -> str:
    promises = {**PROMISES, "bound": 80 * MS, "longest": 70 * MS, **promised}
    (line,) = (
        line
        for line in lines(chain("pilot", "guaranteed", promises=promises))
        if line.startswith("pilot: guaranteed")
    )
    return line


def test_a_promise_is_not_compared_with_a_later_goal() -> None:
    assert "at most 80 ms of 100 ms" in promise_line(kept=9)
    promises = {**PROMISES, "guaranteed": 10 * 1000 * MS, "bound": 140 * MS}
    (line,) = (
        line
        for line in lines(chain("pilot", "guaranteed", goal=30 * MS, promises=promises))
        if line.startswith("pilot: guaranteed")
    )
    assert "at most 140 ms;" in line
    assert "30 ms" not in line


def test_a_manager_that_was_killed_is_said_to_have_been(tmp_path: Path) -> None:
    program = tmp_path / "takt-manager"
    program.write_text("#!/bin/sh\necho '{\"environment\": {}}'; kill -KILL $$\n")
    program.chmod(0o755)
    killed = Companion(program, {}, lambda _: None)
    killed.end()
    with pytest.raises(UserError, match=r"takt-manager was killed \(SIGKILL\)"):
        killed.last_word()


def test_a_log_that_is_cut_off_within_a_line_is_said_to_be(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(HEADER + '\n{"time": 1, "cut')
    done = run_takt("manage", "--replay", log)
    assert done.returncode == 0, done.stderr
    assert f"{log}: its last line is cut off and left out" in done.stderr
    assert json.loads(run_takt("manage", "--replay", log, "--json").stdout)["cut_off"] is True
    log.write_text(HEADER + "\n")
    assert "cut off" not in run_takt("manage", "--replay", log).stderr


def test_what_the_host_held_up_is_said_apart() -> None:
    last = {"latency": 99 * MS, "bound": 80 * MS, "stolen": 20 * MS}
    held_up = (
        "; the host held 2 other messages up, the last for 99 ms instead of 80 ms, and took the "
        "processors for 20 ms meanwhile"
    )
    assert "the host" not in promise_line(kept=9)
    assert promise_line(kept=9, by_host=2, last_by_host=last).endswith(
        "the longest of 9 messages took 70 ms, and none more than its bound" + held_up
    )
    breach = {"latency": 90 * MS, "bound": 80 * MS, "reason": "c0 ran 9 ms"}
    assert promise_line(kept=8, broken=1, breach=breach, by_host=2, last_by_host=last).endswith(
        "and 1 more than its bound, the last 90 ms instead of 80 ms: c0 ran 9 ms" + held_up
    )
    assert promise_line(by_host=2, last_by_host=last).endswith("at most 80 ms of 100 ms" + held_up)
