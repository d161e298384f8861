"""Promises of `takt manage` to random robots of stock rclpy, by what these say themselves.

TAKT_ROBOTS says how many robots run, usually one; TAKT_SEED chooses others. How often a promise is
broken depends on the machine. That a broken one is withdrawn and counted does not.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from random_robots import TIMES, TROUBLES, Robot, run, summary

pytestmark = pytest.mark.alone
COUNT = int(os.environ.get("TAKT_ROBOTS", "1"))
SEED = int(os.environ.get("TAKT_SEED", "2"))
SHORT = 8.0, 3.0, 3.0


@pytest.mark.skipif(os.geteuid() != 0, reason="reservations need root")
def test_no_broken_promise_goes_unnoticed(tmp_path: Path) -> None:
    outcomes = []
    for seed in range(SEED, SEED + COUNT):
        trouble = TROUBLES[seed % len(TROUBLES)]
        robot = Robot.random(seed, trouble, SHORT if COUNT == 1 else TIMES)
        outcomes.append(run(robot, tmp_path / str(seed)))
        print(outcomes[-1].line(), flush=True)
    print(summary(outcomes))
    for outcome in outcomes:
        assert not outcome.failure, outcome.line()
        assert not outcome.unnoticed, outcome.line()
        assert outcome.measured > 0, outcome.line()
