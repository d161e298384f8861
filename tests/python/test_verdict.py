"""Goals, bounds and measurements held together, and what to blame when they disagree."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

import pytest

import takt_native
from robot import Json, bounds, changed, measurement, model, raw
from takt.documents import Callback, losses, names
from takt.verdicts import tables
from takt.verdicts.verdict import Status, Verdict, judge

MODEL, BOUNDS, MEASUREMENT = raw("model"), raw("bounds"), raw("measurement")


def verdict(
    model_json: Json = MODEL, bounds_json: Json = BOUNDS, measured: Json | None = MEASUREMENT
) -> Verdict:
    """The verdict on the chain "stop": measured 9.38 ms, bound 64 ms, goal 80 ms."""
    measured_values = measurement(measured) if measured is not None else None
    return judge(model(model_json), bounds(bounds_json), measured_values)[0]


def rests_on(document: Json, *callbacks: str) -> set[str]:
    """The executors on which the bound of a chain of these callbacks depends."""
    chain = {"id": "chain", "callbacks": list(callbacks)}
    text = json.dumps(changed(document, "chains", value=[chain]))
    (executors,) = takt_native.influencing(text, "model")
    return set(executors)


def slow(milliseconds: int, document: Json = MEASUREMENT) -> Json:
    """A measurement in which the chain "stop" took so long."""
    return changed(document, "chains", 0, "max", value=milliseconds * 1_000_000)


def slow_camera() -> Json:
    """A measurement in which the first callback ran longer than its curve."""
    return changed(MEASUREMENT, "callbacks", 0, "execution_time", "max", value=1_500_000_000)


def test_a_goal_above_the_bound_is_met() -> None:
    found = verdict()
    assert (found.status, found.summary, found.conditions) == (Status.MET, "met, guaranteed", ())


def test_without_a_goal_a_chain_is_bounded() -> None:
    found = judge(model(), bounds(), measurement())[1]
    assert (found.status, found.good) == (Status.BOUNDED, True)


def test_a_bound_above_the_goal_guarantees_nothing() -> None:
    found = verdict(changed(MODEL, "chains", 0, "goal", value=60_000_000))
    assert (found.status, found.good) == (Status.NOT_GUARANTEED, False)
    assert found.explanation == "the bound 64 ms is above the goal 60 ms"


def test_a_measured_latency_above_the_goal_misses_it() -> None:
    found = verdict(changed(MODEL, "chains", 0, "goal", value=9_000_000))
    assert found.status is Status.MISSED
    assert found.explanation == "9.38 ms was measured, the goal is 9 ms"


def test_a_diverged_bound_gives_its_reason() -> None:
    diverged = changed(BOUNDS, "chains", 0, "bound", value=None)
    diverged = changed(diverged, "chains", 0, "reason", value="utilisation of e1 is 1.2")
    found = verdict(bounds_json=diverged)
    assert (found.status, found.explanation) == (Status.NOT_GUARANTEED, "utilisation of e1 is 1.2")


def test_a_chain_that_was_never_seen_says_so() -> None:
    unseen = {"id": "stop", "count": 0, "incomplete": 91}
    found = verdict(measured=changed(MEASUREMENT, "chains", 0, value=unseen))
    assert (found.status, found.good, found.missed) == (Status.UNSEEN, False, True)
    assert found.explanation == (
        "of 91 instances that began, none was followed to its end in the recording"
    )


def test_a_model_alone_is_judged_by_its_bounds() -> None:
    assert verdict(measured=None).status is Status.MET


def test_nothing_to_blame_is_said_so() -> None:
    found = verdict(measured=slow(65))
    assert found.status is Status.VIOLATED
    assert (found.explanation or "").startswith("none of the checked assumptions")


def test_an_execution_time_above_its_curve_is_blamed() -> None:
    long_run = changed(MEASUREMENT, "callbacks", 1, "execution_time", "max", value=4_500_000)
    assert verdict(measured=slow(65, long_run)).explanation == (
        "callback /detector (/image) ran for 4.50 ms, longer than the 4 ms of its execution-time "
        "curve"
    )


def linked() -> Json:
    """The model with the messages of its camera on a link."""
    over_link = changed(MODEL, "edges", 0, "link", value="lan")
    return changed(over_link, "links", value=[{"id": "lan", "bandwidth": 10**9}])


def test_a_denser_activation_is_blamed() -> None:
    dense = changed(MEASUREMENT, "callbacks", 0, "min_distance", value=[0, 50_000_000, 99_000_000])
    assert verdict(measured=slow(65, dense)).explanation == (
        "callback /camera was activated 3 times within 99 ms, denser than its activation curve "
        "(100 ms)"
    )


def suspended(longest: int, times: int) -> Json:
    """A measurement in which the last callback suspends itself, in milliseconds."""
    seen = {"count": 100, "min": 0, "mean": 1, "max": longest * 1_000_000, "times": times}
    return changed(MEASUREMENT, "callbacks", 1, "suspension", value=seen)


def test_a_suspension_beyond_the_models_is_blamed() -> None:
    said = "callbacks do not suspend themselves longer than seen: "
    found = verdict(measured=slow(65, suspended(40, 1)))
    assert found.status is Status.VIOLATED
    assert found.explanation is not None
    assert found.explanation.startswith(said)
    assert "40 ms" in found.explanation
    assert "not at all by the model" in found.explanation
    known = {"curve": [40_000_000], "times": 1}
    sleeps = changed(MODEL, "callbacks", 1, "suspension", value=known)
    assert verdict(sleeps, measured=suspended(40, 1)).status is Status.MET
    for longer in (suspended(41, 1), suspended(40, 2)):
        assert verdict(sleeps, measured=longer).status is Status.UNFOUNDED


def test_where_nothing_tells_suspension_from_preemption_that_is_a_condition() -> None:
    unknown = changed(MEASUREMENT, "provenance", "suspension", value="unknown")
    found = verdict(measured=unknown)
    assert found.status is Status.MET
    assert any("does not tell suspension from preemption" in f.text for f in found.conditions)


def windows(executor: str, contradicting: int) -> Json:
    """A measurement with ready sets of an executor."""
    seen = {"executor": executor, "count": 1503, "contradicting": contradicting}
    return changed(MEASUREMENT, "windows", value=[seen])


def test_an_order_that_ready_sets_contradict_is_blamed() -> None:
    ordered = changed(MODEL, "executors", 1, "order", value="registered")
    said = "order: registered is contradicted by 41 of 1\u202f503 ready sets of executor driving"
    assert verdict(ordered, measured=slow(65, windows("e1", 41))).explanation == said
    found = verdict(ordered, measured=windows("e1", 41))
    assert (found.status, found.explanation) == (Status.UNFOUNDED, said)
    assert verdict(ordered, measured=windows("e1", 0)).status is Status.MET


def test_how_often_a_driver_sends_is_known_from_recordings_alone() -> None:
    alone = changed(MODEL, "executors", 0, "kind", value="event_source")
    driver = changed(alone, "callbacks", 0, "kind", value="event_source")
    assert verdict(driver).conditions == ()
    curve = {"kind": "min_distance", "values": [0, 50_000_000]}
    (condition,) = verdict(changed(driver, "callbacks", 0, "activation", value=curve)).conditions
    assert condition.text == (
        "source /camera is assumed to send no more densely than was recorded, which nothing "
        "guaranteed"
    )


def test_messages_of_others_are_blamed() -> None:
    dense = changed(MEASUREMENT, "callbacks", 1, "count", value=230)
    said = "callback /detector (/image) ran 30 times for messages that no sender of the model sent"
    assert said in (verdict(measured=slow(65, dense)).explanation or "")
    # A gate or a bridge may have sent them on: they make the bound conditional, no more.
    found = verdict(measured=dense)
    assert found.status is Status.MET
    assert said in [condition.text for condition in found.conditions]
    # So many may have waited when the recording began, or come from a host that is not in it.
    few = changed(MEASUREMENT, "callbacks", 1, "count", value=210)
    elsewhere = changed(dense, "callbacks", 0, "count", value=0)
    for document in (few, elsewhere):
        assert "no sender" not in str(verdict(measured=slow(65, document)))
    assert "no sender" not in str(verdict(linked(), measured=slow(65, dense)))


def test_a_slow_message_is_blamed() -> None:
    delayed = changed(MEASUREMENT, "edges", 0, "delay", "max", value=3_000_000)
    assert verdict(measured=slow(65, delayed)).explanation == (
        "a message from /camera to /detector (/image) took 3 ms, longer than the 2 ms of the model"
    )


def test_what_failed_is_blamed_before_what_was_not_guaranteed() -> None:
    lossy = changed(MEASUREMENT, "losses", "discarded", value=7)
    assert "7 events of the recording were lost" in str(verdict(measured=slow(65, lossy)).reasons)
    delayed = changed(lossy, "edges", 0, "delay", "max", value=3_000_000)
    assert "lost" not in str(verdict(measured=slow(65, delayed)).reasons)


@pytest.mark.parametrize("kind", losses.KINDS)
def test_a_bound_is_conditional_whatever_the_recording_lost(kind: str) -> None:
    found = verdict(measured=changed(MEASUREMENT, "losses", kind, value=1))
    assert found.summary == "met, guaranteed (conditional)"
    assert found.conditions[0].text.startswith(f"1 {losses.KINDS[kind]} of the recording were lost")


def test_a_missing_reservation_makes_the_bound_conditional() -> None:
    found = verdict(measured=changed(MEASUREMENT, "executors", 1, "policy", value="other"))
    assert (found.summary, found.good) == ("met, guaranteed (conditional)", True)
    assert [condition.text for condition in found.conditions] == [
        "executor driving is assumed to get 5 ms every 10 ms, but ran without a reservation "
        "(policy other)"
    ]


def test_a_smaller_reservation_makes_the_bound_conditional() -> None:
    found = verdict(measured=changed(MEASUREMENT, "executors", 1, "runtime", value=4_000_000))
    assert found.conditions[0].text == (
        "executor driving is assumed to get 5 ms every 10 ms, but its reservation was 4 ms every "
        "10 ms within 10 ms"
    )


def test_an_unrecorded_reservation_makes_the_bound_conditional() -> None:
    found = verdict(measured=changed(MEASUREMENT, "executors", value=[]))
    assert len(found.conditions) == 2
    assert "does not say whether it had that reservation" in found.conditions[0].text


def test_a_dedicated_processor_is_an_unsecured_assumption() -> None:
    dedicated = changed(MODEL, "executors", 1, "supply", value={"kind": "dedicated"})
    assert (
        "a processor to itself, which nothing guaranteed" in verdict(dedicated).conditions[0].text
    )


def test_what_is_said_of_several_executors_is_said_once() -> None:
    dedicated = [{**executor, "supply": {"kind": "dedicated"}} for executor in MODEL["executors"]]
    found = verdict(changed(MODEL, "executors", value=dedicated))
    assert len(found.conditions) == 2
    names = " and ".join(names_of(found))
    assert tables.conditions([found])[2:] == [
        f"  executors {names}: each is assumed to have a processor to itself, which nothing "
        "guaranteed"
    ]


def test_what_names_no_executor_is_said_once_as_it_is() -> None:
    found = verdict(measured=changed(MEASUREMENT, "executors", value=[]))
    told = [
        replace(found.conditions[0], text="messages may be lost", executor=executor, said_of=None)
        for executor in ("e0", "e1")
    ]
    said = tables.conditions([replace(found, findings=tuple(told))])[2:]
    assert said == ["  messages may be lost"]


def names_of(found: Verdict) -> list[str]:
    return [finding.said_of[0] for finding in found.conditions if finding.said_of]


@pytest.mark.parametrize(
    ("while_ran", "text"),
    [
        ("backup", ": it was ready and had none for up to 10.1 ms, while backup ran there"),
        ("swapper/1", "ms, while nobody ran there: the host of a virtual machine, or a processor"),
        ("", ": it was ready and had none for up to 10.1 ms"),
    ],
)
def test_who_had_the_processor_that_was_missing_is_said(while_ran: str, text: str) -> None:
    dedicated = changed(MODEL, "executors", 1, "supply", value={"kind": "dedicated"})
    wait = {"executor": "e1", "longest": 10_100_000, "while_ran": while_ran}
    measured = changed(MEASUREMENT, "processor_waits", value=[wait])
    assert text in verdict(dedicated, measured=measured).conditions[0].text
    # A reservation serves it when it is due, so a wait shows nothing.
    assert not verdict(measured=measured).conditions


def test_another_priority_than_the_model_has_makes_the_bound_conditional() -> None:
    fixed = changed(
        MODEL, "executors", 1, "supply", value={"kind": "fixed_priority", "priority": 80}
    )
    driving = {"id": MODEL["executors"][1]["id"], "policy": "fifo", "priority": 80}
    others = MEASUREMENT["executors"][:1]

    def conditions(*threads: dict[str, object]) -> list[str]:
        measured = changed(MEASUREMENT, "executors", value=[*others, *threads])
        return [condition.text for condition in verdict(fixed, measured=measured).conditions]

    assumed = "executor driving is assumed to run at the fixed priority 80"
    assert conditions(driving) == []
    assert conditions({**driving, "priority": 70}) == [f"{assumed}, but ran at 70"]
    assert conditions({**driving, "policy": "rr"}) == [f"{assumed}, but did not (policy rr)"]
    assert conditions() == [f"{assumed}; the recording does not say at which it ran"]


def test_reservations_are_held_to_the_gfb_test() -> None:
    # Densities 0.2 and 0.5 on one core: 0.7 <= 1. A third of 0.4 is too much for one core, and on
    # two cores 1.1 <= 2 - 0.5.
    third = {"id": "e2", "policy": "deadline", "runtime": 4, "deadline": 10, "period": 10}
    crowded = changed(MEASUREMENT, "executors", value=[*MEASUREMENT["executors"], third])
    assert verdict(measured=changed(MEASUREMENT, "provenance", "cores", value=1)).conditions == ()
    assert verdict(measured=crowded).conditions == ()
    found = verdict(measured=changed(crowded, "provenance", "cores", value=1))
    assert "GFB" in found.conditions[0].text


def test_a_bound_whose_assumption_the_recording_refutes_promises_nothing() -> None:
    found = verdict(measured=slow_camera())
    assert (found.status, found.good, found.missed) == (Status.UNFOUNDED, False, False)
    assert found.unpromised
    assert found.summary == "met, bound refuted"
    assert found.explanation == (
        "callback /camera ran for 1.50 s, longer than the 500 µs of its execution-time curve"
    )
    # Neither conditional, as nothing is left open, nor a mistake of the analysis.
    assert (found.conditional, found.conditions, found.inexplicable) == (False, (), False)
    assert [finding.text for finding in found.refuted] == [found.explanation]


def test_a_bound_without_a_goal_can_be_unfounded() -> None:
    see = judge(model(), bounds(), measurement(slow_camera()))[1]
    assert (see.chain.goal, see.status, see.unpromised) == (None, Status.UNFOUNDED, False)


def test_what_was_not_guaranteed_stays_a_condition_beside_what_failed() -> None:
    found = verdict(measured=changed(slow_camera(), "losses", "discarded", value=7))
    assert found.conditional
    assert ["7 events" in condition.text for condition in found.conditions] == [True]
    assert ["/camera" in assumption.text for assumption in found.refuted] == [True]


def test_worse_verdicts_come_before_an_unfounded_bound() -> None:
    long_run = slow_camera()
    assert verdict(measured=slow(65, long_run)).status is Status.VIOLATED
    tight = changed(MODEL, "chains", 0, "goal", value=60_000_000)
    assert verdict(tight, measured=long_run).status is Status.NOT_GUARANTEED
    strict = changed(MODEL, "chains", 0, "goal", value=9_000_000)
    assert verdict(strict, measured=long_run).status is Status.MISSED
    unseen = changed(long_run, "chains", 0, value={"id": "stop", "count": 0, "incomplete": 91})
    assert verdict(measured=unseen).status is Status.UNSEEN


def test_a_refuted_assumption_concerns_only_chains_that_rest_on_it() -> None:
    apart = changed(MODEL, "chains", 0, "callbacks", value=["camera"])
    long_run = changed(MEASUREMENT, "callbacks", 2, "execution_time", "max", value=10**9)
    assert MODEL["callbacks"][2]["executor"] != MODEL["callbacks"][0]["executor"]
    assert verdict(apart, measured=long_run).status is Status.MET
    assert verdict(measured=long_run).status is Status.UNFOUNDED


def test_what_a_timer_reads_concerns_only_chains_that_go_on_through_it() -> None:
    """The timer "camera" of executor e0 reads what "brake" of e1 sends."""
    read = {"from": "brake", "to": "camera", "delay": 0}
    feedback = changed(MODEL, "edges", value=[*MODEL["edges"], read])
    assert rests_on(feedback, "camera") == {"e0"}
    delay = dict.fromkeys(("min", "mean", "p50", "p99", "max"), 3_000_000)
    late = {"from": "brake", "to": "camera", "count": 1, "delay": delay}
    measured = changed(MEASUREMENT, "edges", value=[*MEASUREMENT["edges"], late])
    assert verdict(feedback, measured=measured).status is Status.MET
    through = changed(feedback, "chains", 0, "callbacks", value=["brake", "camera"])
    assert verdict(through, measured=measured).status is Status.UNFOUNDED


@pytest.mark.parametrize("kind", ["wall_time", "mixed"])
def test_time_with_preemption_refutes_no_execution_time(kind: str) -> None:
    waited = changed(slow_camera(), "provenance", "execution_time", value=kind)
    found = verdict(measured=waited)
    assert found.summary == "met, guaranteed (conditional)"
    assert found.conditions[0].text == (
        "callback /camera took, from start to end, 1.50 s, longer than the 500 µs of its "
        "execution-time curve, and the recording does not say for how much of that it ran"
    )
    # With a processor to itself there was no preemption.
    dedicated = changed(MODEL, "executors", 0, "supply", value={"kind": "dedicated"})
    assert verdict(dedicated, measured=waited).status is Status.UNFOUNDED


def test_reasons_are_told_only_of_bounds_that_are_marked_as_conditional() -> None:
    lossy = changed(MEASUREMENT, "losses", "discarded", value=7)
    heading, reason = tables.conditions([verdict(measured=lossy)])[1:]
    assert heading == "Bounds are conditional for these reasons:"
    assert reason.startswith("  7 events of the recording were lost")
    tight = changed(MODEL, "chains", 0, "goal", value=60_000_000)
    exceeded = verdict(measured=slow(65, lossy))
    for unmarked in (verdict(tight, measured=lossy), exceeded, verdict(measured=slow_camera())):
        assert tables.conditions([unmarked]) == []


def test_only_what_influences_a_chain_counts() -> None:
    apart = changed(MODEL, "chains", 0, "callbacks", value=["camera"])
    unsecured = changed(MEASUREMENT, "executors", 1, "policy", value="fifo")
    assert verdict(apart, measured=unsecured).conditions == ()
    assert rests_on(MODEL, "camera") == {"e0"}
    assert rests_on(MODEL, "brake") == {"e0", "e1"}


def test_what_influences_chains_is_looked_up_once_for_all_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Built anew for each chain, it took most of the time of models with thousands of them."""
    asked: list[str] = []

    def counted(text: str, source: str) -> list[list[str]]:
        asked.append(text)
        return influencing(text, source)

    influencing = takt_native.influencing
    monkeypatch.setattr(takt_native, "influencing", counted)
    many = [dict(MODEL["chains"][0], id=f"chain{n}") for n in range(50)]
    findings = changed(MEASUREMENT, "executors", 1, "policy", value="fifo")
    verdicts = judge(model(changed(MODEL, "chains", value=many)), bounds(), measurement(findings))
    assert len(verdicts) == 50
    assert len(asked) == 1


def test_each_callback_is_in_the_table_of_its_executor(monkeypatch: pytest.MonkeyPatch) -> None:
    named: list[object] = []

    def counted(of: Iterable[Callback]) -> dict[str, str]:
        named.append(of)
        return names.labels(of)

    monkeypatch.setattr(tables, "labels", counted)
    printed = list(tables.callbacks(model(), bounds()))
    per_executor = [
        sum(callback["executor"] == executor["id"] for callback in MODEL["callbacks"])
        for executor in MODEL["executors"]
    ]
    assert [table.row_count for table in printed] == per_executor
    assert len(named) == 1, "all callbacks are named once, not once for each executor"


def test_activations_are_held_against_the_curve_as_bounds_continue_it() -> None:
    """Three activations take 10 ns, so five take 20 ns, though four take but 10 ns."""
    curve = {"kind": "min_distance", "values": [0, 0, 10, 10]}
    burst = changed(MODEL, "callbacks", 0, "activation", value=curve)
    for longest, status in ((20, Status.MET), (19, Status.UNFOUNDED)):
        seen = [0, 0, 10, 10, longest]
        measured = changed(MEASUREMENT, "callbacks", 0, "min_distance", value=seen)
        assert verdict(burst, measured=measured).status is status


def test_a_goal_is_missed_by_what_was_measured_else_by_the_bound() -> None:
    tight = changed(MODEL, "chains", 0, "goal", value=60_000_000)
    assert verdict(tight).status is Status.NOT_GUARANTEED
    assert not verdict(tight).missed
    assert verdict(tight, measured=None).missed
    assert verdict(changed(MODEL, "chains", 0, "goal", value=9_000_000)).missed
    assert not verdict(measured=slow(65)).missed


def test_what_nothing_explains_is_told_from_what_was_not_guaranteed() -> None:
    assert verdict(measured=slow(65)).inexplicable
    assert not verdict().inexplicable
    lossy = changed(MEASUREMENT, "losses", "discarded", value=7)
    assert not verdict(measured=slow(65, lossy)).inexplicable


def test_of_many_assumptions_that_failed_the_first_are_named() -> None:
    document = MEASUREMENT
    for i in range(len(MEASUREMENT["callbacks"])):
        document = changed(document, "callbacks", i, "execution_time", "max", value=10**9)
    assert len(MEASUREMENT["callbacks"]) > 3
    blamed = verdict(measured=slow(65, document)).explanation or ""
    assert blamed.count(" ran for 1.00 s, longer than") + blamed.count(" ran for 1 s, longer") == 3
    assert blamed.endswith("; and 1 other")


def test_bounds_for_phases_of_timers_are_conditional() -> None:
    found = verdict(bounds_json=changed(BOUNDS, "depends_on_phases", value=True))
    assert found.status is Status.MET
    assert ["phases" in condition.text for condition in found.conditions] == [True]


def test_bounds_beside_joins_whose_messages_queue_are_conditional() -> None:
    joining = [MODEL["callbacks"][1]["id"]]
    found = verdict(bounds_json=changed(BOUNDS, "queueing_joins", value=joining))
    assert found.status is Status.MET
    assert ["one by one" in condition.text for condition in found.conditions] == [True]


def test_a_message_over_a_link_may_take_longer_than_the_delay_beside_the_link() -> None:
    delayed = changed(MEASUREMENT, "edges", 0, "delay", "max", value=900_000_000)
    assert verdict(measured=delayed).refuted
    assert not verdict(linked(), measured=delayed).refuted
    for longest, is_refuted in ((898_000_000, False), (897_999_999, True)):  # and 2 ms of delay
        on_link = {"link": "lan", "from": "camera", "topic": "/image", "to": ["detect"]}
        known = changed(BOUNDS, "links", value=[{**on_link, "bound": longest}])
        assert bool(verdict(linked(), known, delayed).refuted) is is_refuted


def test_nothing_guarantees_what_a_link_carries() -> None:
    said = "link lan is assumed to carry what the model says, which nothing guaranteed"
    assert [condition.text for condition in verdict(linked()).conditions].count(said) == 1
    assert said not in [condition.text for condition in verdict().conditions]


def test_senders_that_share_a_link_with_a_chain_influence_it() -> None:
    """The edges of the model lead over links, and those of "other" and "far" over the first one."""
    first, *rest = MODEL["edges"]
    beside = dict(MODEL["callbacks"][0], id="other", executor="e2")
    far = dict(MODEL["callbacks"][-1], id="far", executor="e3")
    shared = changed(MODEL, "callbacks", value=[*MODEL["callbacks"], beside, far])
    executors = [dict(MODEL["executors"][0], id=name) for name in ("e2", "e3")]
    shared = changed(shared, "executors", value=[*MODEL["executors"], *executors])
    links = [{"id": name, "bandwidth": 10**9} for name in ("lan", "wan")]
    shared = changed(shared, "links", value=links)

    def over(link: str) -> set[str]:
        sent = {"from": "other", "to": "far", "link": link}
        edges = [dict(first, link="lan"), *rest, sent]
        return rests_on(changed(shared, "edges", value=edges), first["from"], first["to"])

    assert over("lan") - over("wan") == {"e2"}


def test_a_processor_that_was_seen_missing_for_long_comes_before_excesses_of_microseconds() -> None:
    """What was never guaranteed may be what failed: here the scheduler's events show it."""
    late = slow(90)
    callback = MODEL["callbacks"][0]
    longest = callback["execution_time"]["curve"][0] + 2_000
    late = changed(late, "callbacks", 0, "execution_time", "max", value=longest)
    wait = {"executor": callback["executor"], "longest": 60_100_000, "while_ran": "hogger (1707)"}
    dedicated = changed(MODEL, "executors", 0, "supply", value={"kind": "dedicated"})
    found = verdict(dedicated, measured=changed(late, "processor_waits", value=[wait]))
    assert found.status is Status.VIOLATED
    assert found.explanation is not None
    first, second = found.explanation.split("; ")[:2]
    assert first.endswith("had none for up to 60.1 ms, while hogger (1707) ran there")
    assert "longer than the" in second
    # As long as the bound holds, it is no more than a condition.
    kept = verdict(dedicated, measured=changed(MEASUREMENT, "processor_waits", value=[wait]))
    assert (kept.status, kept.conditional) == (Status.MET, True)


def test_without_events_of_the_scheduler_the_stage_that_exceeded_its_bound_is_named() -> None:
    """Nothing guarantees any executor's processor; one callback was late by its own bound."""
    dedicated = MODEL
    for i in range(len(MODEL["executors"])):
        dedicated = changed(dedicated, "executors", i, "supply", value={"kind": "dedicated"})
    on_chain = MODEL["chains"][0]["callbacks"]
    callback = next(one for one in MODEL["callbacks"] if one["id"] == on_chain[-1])
    place = next(i for i, one in enumerate(MEASUREMENT["callbacks"]) if one["id"] == on_chain[-1])
    bound = next(one["bound"] for one in BOUNDS["callbacks"] if one["id"] == on_chain[-1])
    late = changed(slow(90), "callbacks", place, "response_time", "max", value=bound + 14_000_000)
    found = verdict(dedicated, measured=late)
    assert found.status is Status.VIOLATED
    assert found.explanation is not None
    executor = names.executor_labels(model())[callback["executor"]]
    assert found.explanation.startswith(f"executor {executor} is assumed to have a processor")
    assert "14 ms more than its bound" in found.explanation
    assert found.explanation.count("processor to itself") == 1
    # Nobody exceeded its own: each of them may have been the cause.
    nobody = verdict(dedicated, measured=slow(90)).explanation
    assert nobody is not None
    assert nobody.count("processor to itself") == len({one.executor for one in found.conditions})
    # What explains the delay is refuted, so the processor is not to blame.
    at = next(i for i, one in enumerate(MEASUREMENT["callbacks"]) if one["id"] == on_chain[-1])
    longest = callback["execution_time"]["curve"][0] + 13_000_000
    ran = verdict(
        dedicated,
        measured=changed(late, "callbacks", at, "execution_time", "max", value=longest),
    )
    assert ran.explanation is not None
    assert "more than its bound" not in ran.explanation
    assert "longer than the" in ran.explanation


def test_a_run_that_sends_more_messages_than_the_model_is_named() -> None:
    edge = MODEL["edges"][0]
    seen = {"from": edge["from"], "to": edge["to"], "count": 5, "most_of_one_run": 5}
    seen["delay"] = dict.fromkeys(("min", "mean", "p50", "p99", "max"))
    found = verdict(measured=changed(slow(90), "edges", value=[seen]))
    assert found.explanation is not None
    assert "5 messages" in found.explanation.split("; ")[0]
    assert found.explanation.split("; ")[0].endswith("in one run, 1 by the model")
    seen["most_of_one_run"] = 1
    found = verdict(measured=changed(slow(90), "edges", value=[seen]))
    assert found.explanation is not None
    assert "in one run" not in found.explanation
