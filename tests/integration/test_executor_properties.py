"""takt doctor --executors on rclcpp: its own executors have the properties of the model, and
executors that lack one are found.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from takt import built, doctor
from takt.doctor import probing, rclcpp_executors
from takt.doctor.check import State

BUILD = Path(__file__).resolve().parents[2] / "build/release"
VIOLATIONS = BUILD / "tests/programs/rclcpp_violations"
pytestmark = pytest.mark.timeout(300)

LACKING = {
    "none": set(),
    "categories": {"rclcpp_categories"},
    "once": {"rclcpp_once", "rclcpp_scenario"},
    "polled_timers": {"rclcpp_polled_timers", "rclcpp_scenario"},
    "polled_messages": {"rclcpp_polled_messages", "rclcpp_scenario"},
    "served": {"rclcpp_served", "rclcpp_scenario"},
    "exclusion": {"rclcpp_exclusion"},
    "conserving": {"rclcpp_conserving"},
    "events": {"rclcpp_events"},
    "timer_thread": {"rclcpp_timer_thread"},
}
BESIDE = {"polled_timers", "polled_messages", "served"}
"""Executors that lack more than what they are named by."""


@pytest.mark.parametrize("property_", LACKING)
def test_executors_of_rclcpp_that_lack_a_property_are_found(
    property_: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not VIOLATIONS.exists():
        pytest.skip("CMake found no rclcpp, so its programs are not built")
    monkeypatch.setattr(probing, "LONGEST", 200)  # on a busy machine
    found = {check.id: check for check in rclcpp_executors.examine(VIOLATIONS, property_)}
    failed = {id_ for id_, check in found.items() if check.state is State.MISSING}
    lacking = LACKING[property_]
    assert len(found) > len(LACKING), [check.detail for check in found.values()]
    assert failed >= lacking if property_ in BESIDE else failed == lacking
    assert doctor.healthy(list(found.values())) is not bool(lacking)
    assert all(found[id_].remedy and found[id_].detail != "holds" for id_ in failed)


def test_without_rclcpp_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(built, "find", lambda target: None)
    (check,) = rclcpp_executors.examine()
    assert check.detail == "not checked: built without rclcpp"
    assert check.state is State.LIMITED
    assert doctor.healthy([check])


@pytest.mark.parametrize("printed", ["", "nonsense", "exit"])
def test_a_probe_that_fails_is_told(printed: str, tmp_path: Path) -> None:
    program = tmp_path / "probe"
    program.write_text(
        f"#!/bin/sh\necho '{printed}'\necho no memory >&2\nexit {len(printed) // 8}\n"
    )
    program.chmod(0o755)
    (check,) = rclcpp_executors.examine(program)
    assert check.detail.startswith("not checked: ")
    assert check.state is State.LIMITED
