"""The story of takt demo: which sentence under which measurements, and what Takt proposes."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from robot import bounds, changed, measurement, model, raw
from takt import documents, inputs, pipeline
from takt.documents import Chain
from takt.errors import UserError
from takt.inputs import Evaluation, ModelText
from takt.processes import steal
from takt.story import proposal, sentences
from takt.story.beside_load import Look, Run, fate, levels
from takt.story.proposal import Allowance, Plan, Proposal
from takt.story.recorded import Recorded, record
from takt.verdicts import verdict

ROBOT = Path(__file__).resolve().parents[2] / "models" / "delivery_robot.json"
MS = 1_000_000
WINDOW = 10.0


def look(time: float, completed: int, **fields: Any) -> Look:
    """A look at a chain that is guaranteed 100 ms and has never missed its goal."""
    usual: dict[str, Any] = {
        "processes": 8,
        "until": time,
        "missed": 0,
        "number": completed,
        "late": fields.get("missed", 0),
        "unfollowed": {},
        "longest": 60 * MS,
        "state": "guaranteed",
        "reason": "",
        "bound": 100 * MS,
        "stolen": 0.0,
    }
    return Look(time=time, completed=completed, **(usual | fields))


def managed(*looks: Look) -> str:
    """What is said of these looks at a run under takt manage."""
    run = Run("takt manage", WINDOW, {"pilot": list(looks)}, {})
    return "\n".join(sentences.managed("pilot", fate(looks, WINDOW), run))


def test_only_the_window_of_the_longest_latency_counts() -> None:
    looks = [look(0, 0), look(5.5, 40, missed=7), look(15, 140, missed=7, number=100, late=0)]
    found = fate(looks, WINDOW)
    assert (found.completed, found.missed) == (100, 0)


def test_messages_that_were_not_followed_are_named_with_the_reason() -> None:
    said = managed(look(0, 0), look(10, 98, unfollowed={"a sender still runs": 2}))
    assert "2 more messages arrived and could not be followed: a sender still runs." in said
    assert "could not be followed" not in managed(look(0, 0), look(10, 98))


def test_levels_of_the_load_are_told_apart() -> None:
    looks = [
        look(0, 10, processes=4),
        look(1, 20, processes=4, missed=1),
        look(2, 22, processes=8, missed=2),
        look(3, 30, processes=8, missed=9, number=7, late=6),
    ]
    assert levels(looks) == [(4, 10, 1), (8, 7, 6)]


def test_what_ended_before_a_level_began_is_not_counted_there() -> None:
    looks = [
        look(0, 10, until=-0.5),
        look(0.25, 13, until=-0.25, missed=3),
        look(0.5, 15, until=0, missed=5),
        look(1, 20, until=0.5, missed=6),
        look(2, 22, processes=16, number=2, late=1),
    ]
    assert levels(looks) == [(8, 5, 1), (16, 2, 1)]


def test_a_guarantee_that_was_kept() -> None:
    said = managed(look(0.5, 0), look(10, 98, bound=97 * MS, until=9.5))
    assert "pilot: none of 98 messages late in 9.5 s beside 8 processes" in said
    assert "The longest took 60 ms" in said
    assert "guaranteed all the time: at most 100 ms" in said


def test_nothing_is_called_guaranteed_that_was_not_always() -> None:
    waiting = look(5, 40, missed=3, state="prepared", reason="seen too seldom", bound=None)
    said = managed(look(0.5, 0), waiting, look(10, 98, missed=3, longest=300 * MS))
    assert "3 of 98 messages late" in said
    assert "It was not guaranteed all the time: prepared: seen too seldom" in said
    assert "guaranteed all the time: at most" not in said


def test_what_was_never_guaranteed_says_why() -> None:
    alone = {"state": "unmanaged", "bound": None, "reason": "12 events were lost"}
    said = managed(look(0.5, 0, **alone), look(10, 98, missed=98, **alone))
    assert "98 of 98 messages late" in said
    assert "not guaranteed all the time: unmanaged: 12 events were lost" in said


def test_no_message_at_all_is_said() -> None:
    assert "no message arrived in 10.0 s" in managed(
        look(0.5, 5, longest=None), look(10, 5, longest=None)
    )


@pytest.mark.parametrize(
    ("last", "words", "explained"),
    [
        ({"stolen": 0.25}, "took its processors away for 250 ms", True),
        ({"bound": 170 * MS}, "by what it knows now, the bound is 170 ms", True),
        ({"state": "degraded", "bound": None}, "", True),
        ({}, "nothing that was measured explains it", False),
        ({"stolen": 0.02}, "nothing that was measured explains it", False),
    ],
)
def test_an_exceeded_bound_has_its_cause_or_none(
    last: dict[str, Any], words: str, explained: bool
) -> None:
    looks = [look(0.5, 0), look(10, 98, **({"longest": 160 * MS} | last))]
    said, found = managed(*looks), fate(looks, WINDOW)
    assert words in said
    assert found.explained is explained
    if not explained:
        assert "160 ms" in said
        assert "60 ms above the 100 ms that was guaranteed" in said


def test_what_the_manager_learns_a_moment_later_counts() -> None:
    looks = [look(0.5, 0), look(10, 98, longest=160 * MS)]
    assert not fate(looks, WINDOW).explained
    assert fate(looks, WINDOW, look(12.5, 120, bound=170 * MS)).explained
    assert not fate(looks, WINDOW, look(12.5, 120, bound=159 * MS)).explained


def test_what_the_host_took_before_the_longest_message_is_no_cause() -> None:
    taken = {"longest": 160 * MS, "stolen": 0.25}
    looks = [
        look(0.5, 0),
        look(2, 20, stolen=0.25),
        look(6, 60, stolen=0.25),
        look(10, 98, **taken),
    ]
    assert not fate(looks, WINDOW).explained
    meanwhile = [look(0.5, 0), look(2, 20), look(6, 60, **taken), look(10, 98, **taken)]
    assert fate(meanwhile, WINDOW).by_host


def test_default_scheduler_that_is_never_late_is_not_said_to_be() -> None:
    run = Run("default scheduler", WINDOW, {"pilot": [look(0.5, 0), look(10, 98)]}, {})
    said = "\n".join(sentences.by_default(run))
    assert "beside 8 processes 0 of 98 late" in said
    assert "this machine serves the robot in time beside 8 processes" in said


def test_default_scheduler_that_is_late() -> None:
    run = Run("default scheduler", WINDOW, {"pilot": [look(0.5, 0), look(10, 98, missed=90)]}, {})
    said = "\n".join(sentences.by_default(run))
    assert "beside 8 processes 90 of 98 late" in said
    assert "in time" not in said


def test_stolen_time_is_the_eighth_number_of_the_first_line() -> None:
    lines = ["cpu  1 2 3 4 5 6 7 300 9 10", "cpu0 1 2 3 4 5 6 7 8 9 10"]
    assert steal.stolen_by(lines) == 300 / 100  # USER_HZ is 100 on all Linux
    assert steal.stolen_by(["cpu 1 2 3"]) == 0
    assert steal.stolen_by([]) == 0


def test_what_the_host_took_counts_between_the_readings_around_a_message() -> None:
    host = steal.StolenTimes([(0, 1.0), (20, 1.0), (40, 1.02), (60, 1.02), (80, 1.05)])
    assert host.within(5, 15) == 0
    assert host.within(5, 25) == host.within(25, 35) == 20 * MS
    assert host.within(41, 59) == host.within(40, 60) == 0
    assert host.within(-5, 500) == 50 * MS
    assert steal.StolenTimes().within(0, 10) == 0


def test_the_host_is_watched_as_long_as_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = iter(range(1_000_000))
    monkeypatch.setattr(steal, "stolen", lambda: next(taken) / 1000)
    begin = time.time_ns()
    with steal.StolenTimes() as host:
        time.sleep(3 * steal.LOOK)
    end = time.time_ns()
    seen = next(taken)
    assert seen > 2
    assert host.within(begin, end) == (seen - 1) * MS


# What Takt proposes


def robot(**goal: int) -> Evaluation:
    """The demo's robot, as if it had been recorded just so."""
    document = json.loads(ROBOT.read_text())
    for chain in document["chains"]:
        chain |= goal
    text = documents.to_json(pipeline.read_model(json.dumps(document), "robot"))
    given = inputs.Given(model=ModelText(text, "robot"))
    return inputs.evaluate(given, pipeline.DEFAULT_ANALYSIS)


def bound_with(evaluation: Evaluation, change: str) -> int | None:
    text = pipeline.change(*evaluation.text, change)
    return pipeline.analyze(text, "changed").chains[0].bound


def test_the_culprit_is_found_and_what_if_says_the_same() -> None:
    evaluation = robot()
    found = proposal.find(evaluation.text, evaluation.model.chains[0])
    assert found is not None
    assert found.change == "split(map_saver)"
    assert found.suffices
    assert found.bound == bound_with(evaluation, found.change)
    assert found.before == evaluation.bounds.chains[0].bound
    assert found.before is not None
    assert found.before > found.goal


def test_no_other_callback_would_help_more() -> None:
    evaluation = robot()
    found = proposal.find(evaluation.text, evaluation.model.chains[0])
    assert found is not None
    for callback in evaluation.model.callbacks:
        other = bound_with(evaluation, f"split({callback.id})")
        assert other is None or other >= found.bound


def test_a_goal_that_is_kept_needs_no_change() -> None:
    evaluation = robot(goal=10_000 * MS)
    chain = evaluation.model.chains[0]
    assert proposal.find(evaluation.text, chain) is None
    said = sentences.proposed(None, chain, proposal.bound_of(evaluation.text, chain))
    assert "no change of the robot is needed" in said


def test_a_goal_out_of_reach_is_not_said_to_be_kept() -> None:
    evaluation = robot(goal=10 * MS)
    chain = evaluation.model.chains[0]
    found = proposal.find(evaluation.text, chain)
    assert found is not None
    assert not found.suffices
    said = sentences.proposed(found, chain, found.before)
    assert "above 10 ms still" in said
    assert "within" not in said


def test_nothing_that_lowers_the_bound_is_said() -> None:
    chain = Chain(id="pilot", callbacks=("a",), goal=5 * MS)
    assert "no executor of its own" in sentences.proposed(None, chain, 7 * MS)
    assert "no executor of its own" in sentences.proposed(None, chain, None)


def test_the_plan_fits_on_the_cores_and_keeps_the_goal() -> None:
    evaluation = robot()
    chain = evaluation.model.chains[0]
    found = proposal.plan(evaluation.text, proposal.find(evaluation.text, chain), reserve=True)
    assert found.has_reservations
    supplies = [executor.supply for executor in found.model.parsed().executors]
    shares = [one.budget / one.period for one in supplies if one.budget and one.period]
    assert len(shares) == 2
    assert max(shares) <= 0.9
    cores = os.cpu_count() or 1
    assert sum(shares) <= 0.9 * cores
    bound = found.bounds.chains[0].bound
    assert bound is not None
    assert bound <= (chain.goal or 0)
    said = sentences.planned(found, None)
    assert f"{100 * sum(shares):.0f} % of one core" in said


def test_a_plan_without_reservations_promises_none() -> None:
    evaluation = robot(goal=30 * MS)
    change = proposal.find(evaluation.text, evaluation.model.chains[0])
    found = proposal.plan(evaluation.text, change, reserve=True)
    assert not found.has_reservations
    assert all(one.supply.kind == "dedicated" for one in found.model.parsed().executors)
    assert "finds no reservations" in sentences.planned(found, None)


def test_without_privilege_reservations_are_left_out_in_one_sentence() -> None:
    evaluation = robot()
    change = proposal.find(evaluation.text, evaluation.model.chains[0])
    found = proposal.plan(evaluation.text, change, reserve=False)
    said = sentences.planned(found, "it was refused")
    assert said.count("left out: it was refused") == 1
    assert "every 5 ms" not in said


def test_messages_to_receivers_without_a_processor_are_not_taken_for_slow() -> None:
    text, source = robot().text
    slow = json.loads(text)
    for edge in slow["edges"]:
        edge["delay"] = 160 * MS
    found = proposal.prompt(ModelText(json.dumps(slow), source))
    assert {edge.delay for edge in found.parsed().edges} == {20 * MS}
    said = sentences.slow_messages(pipeline.read_model(json.dumps(slow), source))
    assert said is not None
    assert "up to 160 ms" in said
    assert sentences.slow_messages(robot().model) is None


def test_a_change_reaches_the_robot_by_its_own_names() -> None:
    own = json.loads(robot().text.text)
    recorded = json.loads(robot().text.text)
    for callback in recorded["callbacks"]:
        callback["id"] = f"{callback['node']}:{callback['topic'] or callback['kind']}"
    for edge in recorded["edges"]:
        ends = {one["id"].split(":")[0][1:]: one["id"] for one in recorded["callbacks"]}
        edge |= {"from": ends[edge["from"]], "to": ends[edge["to"]]}
    recorded["chains"] = []
    parsed = pipeline.read_model(json.dumps(recorded), "recorded")
    change = Proposal("split(/map_saver:timer)", "", None, 1, 1)
    made = proposal.applied(own, change, parsed)
    assert made == json.loads(pipeline.change(json.dumps(own), "own", "split(map_saver)"))


def test_an_allowance_makes_everything_longer_and_no_bound_lower() -> None:
    evaluation = robot()
    before = json.loads(evaluation.text.text)
    after = Allowance(20, 500_000, 20 * MS).of(evaluation.text)
    made = json.loads(after.text)
    for old, new in zip(before["callbacks"], made["callbacks"], strict=True):
        for a, b in zip(
            old["execution_time"]["curve"], new["execution_time"]["curve"], strict=True
        ):
            assert b == a * 12 // 10 + 500_000
    delays = {edge["topic"]: edge["delay"] for edge in made["edges"]}
    assert delays == {"/image": 20 * MS, "/obstacles": 0, "/cmd_vel": 20 * MS}
    bound = pipeline.analyze(*after).chains[0].bound
    assert bound is not None
    assert bound > (evaluation.bounds.chains[0].bound or 0)


# What a recording shows


def recorded(
    document: dict[str, Any] | None = None,
    measured: dict[str, Any] | None = None,
    stolen: int = 0,
) -> Recorded:
    """A recording of the robot of the fixtures: the chain "stop" has a goal of 80 ms, a bound of
    64 ms, and took 9.38 ms at most.
    """
    parsed, limits = model(document), bounds()
    seen = measurement(measured or raw("measurement"))
    text = ModelText(json.dumps(document or raw("model")), "model.json")
    evaluation = Evaluation(text, parsed, limits, seen, "combined", "robot", ())
    judged = verdict.judge(parsed, limits, seen)
    latencies = {chain.id: [chain.max or 0] for chain in seen.chains}
    unfinished: dict[str, dict[str, int]] = {chain.id: {} for chain in seen.chains}
    taken = {chain.id: [stolen] for chain in seen.chains}
    return Recorded(Path("trace"), evaluation, judged, latencies, unfinished, {}, taken)


def slow(milliseconds: int) -> dict[str, Any]:
    return changed(raw("measurement"), "chains", 0, "max", value=milliseconds * MS)


def test_late_messages_are_counted_by_the_goal() -> None:
    one = recorded()
    chain = one.evaluation.model.chains[0]

    def said(changed: Recorded) -> str:
        return "\n".join(sentences.lateness(changed, chain))

    late = replace(one, latencies={chain.id: [79 * MS, 81 * MS]})
    assert late.late(chain) == 1
    assert said(late) == "stop: 1 of 2 messages took longer than 80 ms. The longest took 81 ms."
    assert "none of 1 message took longer" in said(one)
    assert "no message was followed" in said(replace(one, latencies={chain.id: []}))
    lost = replace(one, unfinished={chain.id: {"it was lost": 3}})
    assert "stop: 3 more did not get to the end: it was lost." in said(lost)


def test_messages_of_which_none_arrives_are_not_said_to_be_in_time() -> None:
    one = recorded()
    chain = one.evaluation.model.chains[0]
    unfinished = {chain.id: {"its message was lost": 72}}
    none = replace(one, latencies={chain.id: []}, unfinished=unfinished)
    (said,) = sentences.lateness(none, chain)
    assert said == (
        "stop: none of 72 messages got to the end after start-up: their messages were lost."
    )


def test_a_kept_bound_is_said_to_be_kept() -> None:
    said = list(sentences.kept(recorded()))
    assert said == ["stop: within the 64 ms that were computed."]


def test_an_exceeded_bound_is_not_said_to_be_kept() -> None:
    one = recorded(measured=slow(70))
    said = "\n".join(sentences.kept(one))
    assert "70 ms is above the bound, 64 ms" in said
    assert "within" not in said
    assert any(one.is_inexplicable(judged) for judged in one.verdicts)


def test_the_host_explains_only_the_time_that_it_took() -> None:
    enough, little = (
        recorded(measured=slow(70), stolen=6 * MS),
        recorded(measured=slow(70), stolen=5 * MS),
    )
    assert "took its processors away for 6 ms" in "\n".join(sentences.kept(enough))
    assert not any(enough.is_inexplicable(judged) for judged in enough.verdicts)
    assert "/proc/stat" not in "\n".join(sentences.kept(little))
    assert any(little.is_inexplicable(judged) for judged in little.verdicts)


def test_what_the_host_took_from_one_message_excuses_no_other() -> None:
    one = recorded(measured=slow(70))
    judged = next(each for each in one.verdicts if each.chain.id == "stop")
    chain = judged.chain.id

    def taken(*times: int) -> Recorded:
        latencies = [70 * MS, 66 * MS, 50 * MS]
        stolen = {chain: [t * MS for t in times]}
        return replace(one, verdicts=[judged], latencies={chain: latencies}, stolen=stolen)

    assert taken(6, 2, 0).is_by_host(judged)
    assert "for 6 ms meanwhile" in "\n".join(sentences.above_its_bound(taken(6, 2, 10)))
    assert not taken(6, 1, 50).is_by_host(judged)
    assert not taken(5, 20, 50).is_by_host(judged)
    assert "/proc/stat" not in "\n".join(sentences.above_its_bound(taken(0, 0, 50)))


def test_what_a_bound_does_not_allow_for_is_named() -> None:
    longer = changed(raw("measurement"), "callbacks", 0, "execution_time", "max", value=1_500 * MS)
    said = "\n".join(sentences.kept(recorded(measured=longer)))
    assert "though they do not allow for this: " in said
    assert "ran for 1.50 s" in said


def test_a_processor_that_nothing_guarantees_is_named() -> None:
    supply = {"kind": "dedicated"}
    document = raw("model")
    for executor in document["executors"]:
        executor["supply"] = supply
    said = "\n".join(sentences.kept(recorded(document, slow(70))))
    assert "counts on a processor for each executor" in said


def test_the_table_has_a_row_for_each_part_and_no_bound_that_nothing_promised() -> None:
    one = recorded()
    chain = one.evaluation.model.chains[0]
    run = {chain.id: [look(0.5, 0), look(10, 98, missed=2)]}
    runs = {
        "default": Run("default scheduler", WINDOW, run, {}),
        "managed": Run("takt manage", WINDOW, run, {}),
    }
    rows = sentences.rows({"as it is": one}, runs, chain)
    assert rows == [
        ["as it is", "1", "0", "9.38 ms", "64 ms"],
        ["default", "98", "2", "60 ms", "–"],
        ["managed", "98", "2", "60 ms", "100 ms"],
    ]
    assert sentences.comparison(rows, chain)["rows"] == rows


def test_a_plan_says_what_it_leaves_room_for() -> None:
    evaluation = robot()
    limits = pipeline.analyze(*evaluation.text)
    assert "20 % and 500 µs longer" in sentences.planned(
        Plan(evaluation.text, proposal.ALLOWANCES[0], None, limits), "no root"
    )
    assert "5 % longer" in sentences.planned(
        Plan(evaluation.text, proposal.ALLOWANCES[-1], None, limits), "no root"
    )


def test_a_recording_in_which_hardly_anything_ran_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine that has much else to do."""
    monkeypatch.setattr("takt.story.recorded._run", lambda *_: {"executors": []})
    seen = ModelText(json.dumps(raw("model") | {"chains": []}), "model.json")
    with pytest.raises(UserError, match=r"in 2 s, .*record for longer \(--duration\)"):
        record(raw("model"), 2, tmp_path / "demo", expected=seen)
