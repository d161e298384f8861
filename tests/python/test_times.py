"""Activations and identities: what commands say of programs that printed what they saw."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from robot import run_takt

RECORDINGS = Path(__file__).resolve().parents[1] / "recordings" / "times"

Json = dict[str, Any]
MS = 1_000_000
CLOCK_READING = 3 * MS
"""ns: a program looks at its clock after its callback has begun, and before it ends."""
WAKE_UP = 10 * MS
"""ns: how late the threads of the recordings were woken up, at most, and what they chose first."""

TIMERS = ("timer-period", "timer-reset", "timer-autostart", "timer-simulated")


def document(command: str, name: str, *arguments: str) -> Json:
    done = run_takt(command, str(RECORDINGS / f"{name}.tar.xz"), *arguments, "--json")
    assert done.returncode in (0, 1), done.stderr
    parsed: Json = json.loads(done.stdout)
    return parsed


def truth(name: str) -> list[tuple[int, int]]:
    """From publication to the sink's start, and from the sender's start to the sink's end."""
    lines = [line.split() for line in (RECORDINGS / f"{name}.txt").read_text().splitlines()]
    return [(int(first), int(second)) for first, second in lines]


def latency(name: str) -> Json:
    chains = [
        chain
        for chain in document("latency", name)["chains"]
        if not chain["id"].startswith("/simulator")
    ]
    assert len(chains) == 1, [chain["id"] for chain in chains]
    chain: Json = chains[0]
    return chain


@pytest.mark.parametrize("name", TIMERS)
def test_latencies_of_timers_are_those_that_the_program_saw(name: str) -> None:
    seen = [span for _, span in truth(name)]
    measured = latency(name)
    # Start-up, at most a quarter of each program's time, does not count.
    assert 0.75 * len(seen) <= measured["count"] <= len(seen)
    # A timer is due before its callback begins, so latencies are longer than what was seen.
    assert min(seen) - CLOCK_READING <= measured["min"] <= max(seen)
    assert abs(measured["p50"] - sorted(seen)[len(seen) // 2]) <= CLOCK_READING
    assert min(seen) <= measured["max"] <= max(seen) + WAKE_UP


@pytest.mark.parametrize("name", ["timer-period", "timer-simulated"])
def test_the_activation_of_a_timer_that_changes_is_what_was_seen(name: str) -> None:
    model = document("model", name)
    (timer,) = (callback for callback in model["callbacks"] if callback["kind"] == "timer")
    assert timer["activation"]["kind"] == "min_distance"
    (line,) = (line for line in model["provenance"]["warnings"] if "did not keep" in line)
    assert timer["id"] in line


@pytest.mark.parametrize("name", ["timer-reset", "timer-autostart"])
def test_a_timer_that_is_reset_keeps_its_period(name: str) -> None:
    model = document("model", name)
    (timer,) = (
        callback
        for callback in model["callbacks"]
        if callback["node"] == "/adaptive"
        and callback["kind"] == "timer"
        and callback["id"] in {edge["from"] for edge in model["edges"]}
    )
    assert timer["activation"]["kind"] == "periodic"


@pytest.mark.parametrize("name", TIMERS)
def test_a_recording_does_not_refute_the_model_that_is_made_of_it(name: str) -> None:
    for chain in document("latency", name)["chains"]:
        assert chain["refuted"] == [], chain["refuted"]


@pytest.mark.parametrize("name", ["node-respawned", "node-anew"])
def test_what_comes_back_is_one_thing(name: str) -> None:
    seen = sorted(first for first, _ in truth(name))
    (callback,) = (entry for entry in document("info", name)["callbacks"] if entry["topic"] == "/s")
    assert callback["id"] == "/relay:/s"
    assert callback["count"] == len(seen)
    nodes = [node["name"] for node in document("info", name)["nodes"]]
    assert nodes.count("/relay") == 1
    (flow,) = document("flow", name, "--from", "/s", "--to", "/motor")["flows"]
    assert flow["count"] == len(seen)
    model = document("model", name)
    assert [c["id"] for c in model["callbacks"] if c["node"] == "/relay"] == ["/relay:/s"]
    assert model["provenance"]["alike_nodes"] == {}
    assert latency(name)["id"] == "/driver->/motor"


def test_nodes_that_live_at_the_same_time_stay_two() -> None:
    callbacks = document("info", "node-alike")["callbacks"]
    ids = [entry["id"] for entry in callbacks if entry["topic"] == "/s"]
    assert ids == ["/relay:/s", "/relay:/s#2"]
    assert len(document("latency", "node-alike")["chains"]) == 2


def test_a_node_that_is_activated_again_has_one_timer() -> None:
    seen = truth("node-activated")
    (timer,) = (
        entry
        for entry in document("info", "node-activated")["callbacks"]
        if entry["kind"] == "timer"
    )
    assert (timer["id"], timer["count"]) == ("/relay:timer-20ms", len(seen))
    assert latency("node-activated")["max"] <= max(s for _, s in seen) + WAKE_UP


@pytest.mark.parametrize(
    ("name", "delay"), [("shots", 12), ("shots-overlapping", 80), ("shots-rclcpp", 12)]
)
def test_timers_that_fire_once_are_activated_by_what_makes_them(name: str, delay: int) -> None:
    found = document("flow", name, "--from", "/x", "--to", "/sink", "--instances")
    (flow,) = found["flows"]
    timer = f"/middle:timer-{delay}ms"
    assert [step["callback"] for step in flow["path"]][1:] == ["/middle:/x", timer, "/sink:/z"]
    measured = sorted(instance["latency"] for instance in flow["instances"])
    if name == "shots-rclcpp":
        assert len(measured) == 266
        assert abs(measured[133] - 12.5 * MS) < MS
    else:
        expected = sorted(first for first, _ in truth(name))
        assert len(measured) == len(expected)
        apart = [abs(one - other) for one, other in zip(measured, expected, strict=True)]
        assert max(apart) < CLOCK_READING
    model = document("model", name)
    (callback,) = (c for c in model["callbacks"] if c["id"] == timer)
    assert callback["activation"] is None
    (edge,) = (e for e in model["edges"] if e["to"] == timer)
    assert (edge["from"], edge["delay"]) == ("/middle:/x", delay * MS)
    (chain,) = document("latency", name)["chains"]
    assert chain["max"] <= chain["bound"]


def test_time_before_a_subscription_was_there_counts_nowhere() -> None:
    words = [line.split() for line in (RECORDINGS / "latched.txt").read_text().splitlines()]
    had = {name: int(time) for name, time in words}
    done = run_takt("flow", str(RECORDINGS / "latched.tar.xz"), "--from", "/map")
    assert "before the subscription was there" in done.stdout + done.stderr
    flows = document("flow", "latched", "--from", "/map", "--to", "/watcher")["flows"]
    for flow in flows:
        (name,) = (name for name in had if any(s["node"] == f"/{name}" for s in flow["path"]))
        assert had[name] - CLOCK_READING <= flow["max"] <= had[name] + WAKE_UP
        assert flow["worst"][0]["before_readers"] > 1000 * MS
    for chain in document("latency", "latched")["chains"]:
        assert chain["max"] <= chain["bound"]


def test_latched_messages_are_handed_over_within_a_process() -> None:
    had = [int(line) for line in (RECORDINGS / "latched-in-process.txt").read_text().split()]
    found = document(
        "flow", "latched-in-process", "--from", "/map", "--to", "/sink:/costmap", "--instances"
    )
    (flow,) = found["flows"]
    assert [step["node"] for step in flow["path"]][-2:] == ["/cost", "/sink"]
    measured = sorted(instance["latency"] for instance in flow["instances"])
    assert len(measured) == len(had)
    # /cost runs for 10 ms before it sends.
    for one, handled in zip(measured, sorted(had), strict=True):
        assert handled <= one <= handled + 10 * MS + WAKE_UP
    assert flow["worst"][0]["before_readers"] > 1000 * MS


def test_a_late_subscription_waits_for_its_executor_to_spin() -> None:
    had = [int(line) for line in (RECORDINGS / "latched-spins-later.txt").read_text().split()]
    flows = document(
        "flow", "latched-spins-later", "--from", "/map", "--to", "/late", "--instances"
    )
    measured = [i for flow in flows["flows"] for i in flow["instances"] if i["before_readers"]]
    assert len(measured) == 2
    for instance, handled in zip(sorted(measured, key=lambda i: i["begin"]), had, strict=False):
        assert abs(instance["latency"] - handled) < CLOCK_READING
    for chain in document("latency", "latched-spins-later")["chains"]:
        assert chain["refuted"] == [], chain["refuted"]


def test_a_latched_message_that_comes_again_was_sent_once() -> None:
    (had,) = (RECORDINGS / "latched-again.txt").read_text().split()
    (flow,) = document("flow", "latched-again", "--from", "/map", "--to", "/sink")["flows"]
    assert flow["count"] == int(had)
    for chain in document("latency", "latched-again")["chains"]:
        assert chain["refuted"] == [], chain["refuted"]


def test_a_callback_that_never_ends_is_an_answer() -> None:
    done = run_takt("info", str(RECORDINGS / "hangs.tar.xz"))
    lines = (done.stdout + done.stderr).splitlines()
    assert any("/worker: /work has not returned for " in line for line in lines)
    assert any("/client: 1 call of /work had no response" in line for line in lines)
    assert any("/worker: 1 call of /help had no response" in line for line in lines)


def test_threads_of_one_executor_are_one_in_models_as_in_the_recording() -> None:
    (observed,) = document("info", "two-threads")["executors"]
    (executor,) = document("model", "two-threads")["executors"]
    assert executor["kind"] == observed["kind"] == "multi_threaded"
    assert executor["threads"] == len(observed["threads"]) == 2


def test_a_watchdog_does_not_read_what_it_watches() -> None:
    links = document("flow", "watchdog")["links"]
    assert [link["inputs"] for link in links] == [["/status:/x"]]
