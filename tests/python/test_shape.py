"""takt shape: slots for the outputs of a chain. Facts P19 to P33 are those of the specification on
latency shaping (performance-engineering, section 8); those about placement alone are in
tests/unit/shaping.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import takt_design
import takt_native
from robot import run_takt
from shaped import (
    MS,
    PERIOD,
    by_priority,
    chain_model,
    jitter,
    latencies,
    with_interference,
)
from takt import documents
from takt.documents import Model, ServerSlot, Shaping, ShapingServer
from takt.errors import UserError
from takt.shaping import dispatcher, gate_process, gates, loops, picture, plans, profile, remapping
from takt.text.formatting import duration

Json = dict[str, Any]

FIVE = [15.0] * 5  # U[5, 15] ms each
MODELS = Path(__file__).parents[2] / "models"
STEP = plans.Request(grid=MS, publish_time=MS // 10, slack=MS)


def plan_of(model: Json, request: plans.Request, cycles: int = 500) -> Shaping:
    wanted = json.dumps(
        {"execution": "random", "shortest": 1 / 3, "duration": cycles * PERIOD, "seed": 1}
    )
    seen = takt_design.simulated_latencies(json.dumps(model), "model", wanted)
    return plans.make(Model.read(model), {"chain": seen["chain"]}, "simulation", request)


def test_p19_jitter_is_half_the_range() -> None:
    assert profile.statistics([84_700, 32_900, 60_000]).jitter == 25_900


def test_p20_a_server_for_each_callback_leaves_the_jitter_of_the_last() -> None:
    slots = [(16.0 * i, 16.0 * (i + 1)) for i in range(5)]
    table = latencies(chain_model(FIVE, slots=slots))
    assert max(table) <= 80
    assert min(table) >= 69
    assert 4.5 <= jitter(table) <= 5
    fifo = chain_model(FIVE)
    assert 13 <= jitter(latencies(fifo, by_priority(fifo))) <= 20
    assert max(latencies(fifo, by_priority(fifo))) < max(table)


def test_p27_more_bands_never_change_the_longest_latency_and_never_raise_the_mean() -> None:
    found = [
        plan_of(chain_model(FIVE), plans.Request(bands=bands, grid=MS)).chains[0].after
        for bands in range(1, 6)
    ]
    assert len({one.max for one in found}) == 1
    means = [one.mean for one in found if one.mean is not None]
    assert means == sorted(means, reverse=True)


def test_p29_logical_execution_time_costs_whole_periods() -> None:
    model = Model.read(chain_model(FIVE))
    publish = MS // 10
    for variant, expected in (
        (gates.let_per_callback(model, "chain", publish), 500),
        (gates.let_per_chain(model, "chain", publish), 100),
    ):
        fixed = {"execution_times": gates.publish_times(variant)}
        assert set(latencies(variant.json(), fixed, cycles=50)) == {expected + 0.1}


def test_p30_one_slot_costs_little_and_takes_the_jitter_away() -> None:
    plan = plan_of(chain_model(FIVE), plans.Request(grid=MS // 10)).chains[0]
    assert plan.profile.jitter is not None
    assert plan.after.jitter is not None
    assert plan.after.max is not None
    assert plan.profile.max is not None
    assert plan.profile.jitter > 13 * MS
    assert plan.after.jitter < MS // 10
    assert plan.after.max / plan.profile.max < 1.03


def test_p31_interference_below_the_chain_changes_nothing() -> None:
    model = chain_model(FIVE)
    plan = plan_of(model, STEP)
    shaped = plans.gated_model(Model.read(model), plan, trimmed=True)
    gated = shaped.json()
    disturbed = with_interference(gated)
    gate = {"execution_times": gates.publish_times(shaped)}
    alone = latencies(gated, by_priority(gated, {"cb5/gate"}) | gate)
    loaded = latencies(disturbed, by_priority(disturbed, {"cb5/gate"}) | gate)
    assert max(loaded) - min(loaded) < 0.001
    assert loaded == alone


def test_p33_a_graph_over_two_cores_has_a_slot_on_each() -> None:
    period = 764 * MS
    model = chain_model([1.0, 1.0], period=period)
    # The chain's end also waits for a callback on the other core.
    model["executors"].append({"id": "side", "cpu": 0})
    side = {**model["callbacks"][0], "id": "side", "executor": "side", "node": "/side"}
    model["callbacks"].append(side)
    model["edges"].append({"from": "side", "to": "cb2", "topic": "/side"})
    for executor in model["executors"]:
        executor["cpu"] = int(executor["id"] != "side")
    request = plans.Request(grid=MS, slack=0, publish_time=MS)
    plan = plans.make(Model.read(model), {"chain": [450 * MS - 1, 230 * MS]}, "trace", request)
    (server,) = plan.servers
    assert (plan.cycle, server.cores) == (period, (0, 1))
    assert [(slot.start, slot.end) for slot in server.slots] == [(0, 450 * MS)]
    (band,) = plan.chains[0].gate.slots
    assert (band.start, band.end) == (450 * MS, 451 * MS)


@pytest.mark.parametrize(("cores", "joint"), [((0, 0), True), ((0, 1), False), ((0, None), True)])
def test_chains_of_different_cores_have_tables_of_their_own(
    cores: tuple[int | None, int | None], joint: bool
) -> None:
    model = chain_model([6.0, 4.0])
    model["edges"] = []
    model["chains"] = [{"id": f"chain {one}", "callbacks": [one]} for one in ("cb1", "cb2")]
    for number, core in enumerate(cores):
        timer = {"kind": "periodic", "period": (number + 1) * 50 * MS, "jitter": 0}
        model["callbacks"][number].update(kind="timer", topic=None, activation=timer)
        model["executors"][number]["cpu"] = core
    seen = {"chain cb1": [6 * MS], "chain cb2": [4 * MS]}
    plan = plans.make(
        Model.read(model), seen, "trace", plans.Request(grid=MS, slack=MS, publish_time=MS)
    )
    assert plan.cycle == 100 * MS
    first, second = ([(one.start, one.end) for one in server.slots] for server in plan.servers)
    assert first == [(0, 7 * MS), (50 * MS, 57 * MS)]
    assert second == ([(7 * MS, 12 * MS)] if joint else [(0, 5 * MS)])
    assert plan.chains[1].profile.max == (11 * MS if joint else 4 * MS)


@pytest.mark.parametrize("logical", [None, "callback"])
def test_tables_that_hardly_ever_repeat_are_refused(logical: str | None) -> None:
    """The periods of a recording, on cores of their own: 50 million slots."""
    model = chain_model([6.0, 4.0])
    model["edges"] = []
    model["chains"] = [{"id": f"chain {one}", "callbacks": [one]} for one in ("cb1", "cb2")]
    for number, period in enumerate((33_333_333, 50 * MS)):
        timer = {"kind": "periodic", "period": period, "jitter": 0}
        model["callbacks"][number].update(kind="timer", topic=None, activation=timer)
        model["executors"][number]["cpu"] = number
    seen = {"chain cb1": [6 * MS], "chain cb2": [4 * MS]}
    if logical:
        seen = {f"{chain}: {chain.split()[1]}": times for chain, times in seen.items()}
    request = plans.Request(grid=MS, slack=MS, publish_time=MS, logical=logical)
    with pytest.raises(UserError, match="a plan for each chain"):
        plans.make(Model.read(model), seen, "trace", request)


@pytest.mark.parametrize("bands", [1, 2, 4])
def test_the_simulated_gate_does_what_the_plan_predicts(bands: int) -> None:
    model = chain_model(FIVE)
    plan = plan_of(model, plans.Request(bands=bands, grid=MS))
    gated = plans.gated_model(Model.read(model), plan, trimmed=True)
    seen = latencies(gated.json(), {"execution_times": gates.publish_times(gated)})
    after = plan.chains[0].after
    predicted = profile.statistics([round(one * MS) for one in seen])
    for name in ("min", "p50", "p99", "max"):
        assert getattr(after, name) == getattr(predicted, name), name
    assert after.mean == pytest.approx(predicted.mean, rel=1e-3)


PLACEMENTS: list[Json] = [
    {"reservation": "latest"},
    {"reservation": "constant_bandwidth"},
    *({"reservation": "random", "seed": seed} for seed in range(3)),
]


def behind_gates(model: Json, plan: Shaping, placement: Json) -> list[int]:
    """The latencies of the pipeline with budgets at these places."""
    gated = plans.gated_model(Model.read(model), plan, trimmed=True)
    times = gates.publish_times(gated)
    wanted = {"execution": "random", "duration": 200 * 50 * MS, "execution_times": times}
    text = json.dumps(wanted | placement)
    found = takt_design.simulated_latencies(documents.to_json(gated), "model", text)
    return found["image to motor"]


def test_a_plan_holds_wherever_reservations_place_their_budgets() -> None:
    model = json.loads((MODELS / "pipeline.json").read_text(encoding="utf-8"))
    chain = "image to motor"
    shape = ("shape", MODELS / "pipeline.json", "--chain", chain, "--cycles", "200", "--json")
    plan = plans.parse(run_takt(*shape).stdout, "plan")
    (one,) = plan.chains
    assert one.bound == 33 * MS
    assert one.presumes is None
    (slot,) = one.gate.slots
    assert slot.start >= one.bound
    for placement in PLACEMENTS:
        assert max(behind_gates(model, plan, placement)) == slot.latency, placement
    # What was seen with budgets as they are first asked for does not hold elsewhere.
    seen = profile.simulated(
        Model.read(model), "model", 200, 50 * MS, 0, {"reservation": "constant_bandwidth"}
    )
    short = plans.make(Model.read(model), {chain: seen[chain]}, "simulation", plans.Request())
    assert "simulation" in (short.chains[0].presumes or "")
    (slot,) = short.chains[0].gate.slots
    late = [max(behind_gates(model, short, placement)) > slot.latency for placement in PLACEMENTS]
    assert late == [True, False, True, True, True]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "None can take longer than 33 ms, the bound"),
        (("--let", "chain"), "None can take longer than 33 ms, the bound"),
        (("--slack", "1ms"), "presumes that reservations place their budgets as in the simulation"),
    ],
)
def test_a_plan_says_what_it_presumes_of_reservations(
    arguments: tuple[str, ...], says: str
) -> None:
    shape = ("shape", MODELS / "pipeline.json", "--chain", "image to motor", "--cycles", "50")
    text = run_takt(*shape, *arguments).stdout
    assert says in " ".join(text.split())


def test_a_plan_whose_period_has_no_room_for_the_bound_says_so() -> None:
    model = json.loads((MODELS / "pipeline.json").read_text(encoding="utf-8"))
    bounds = {"image to motor": 50 * MS}
    seen = {"image to motor": [20 * MS]}
    (one,) = plans.make(Model.read(model), seen, "simulation", plans.Request(), None, bounds).chains
    assert one.bound is None
    assert one.presumes == "reservations place their budgets as in the simulation"
    assert one.gate.slots[0].start < 21 * MS
    recorded = plans.make(Model.read(model), seen, "trace", plans.Request()).chains[0]
    assert recorded.presumes == "reservations place their budgets as in the recording"
    whole = plans.make(
        Model.read(chain_model(FIVE)), {"chain": [MS]}, "simulation", plans.Request()
    ).chains[0]
    assert whole.presumes is None


def test_a_gate_leaves_the_rest_of_the_model_as_it_is() -> None:
    model = json.loads((MODELS / "fusion.json").read_text())
    chain = model["chains"][0]
    for callback in chain["callbacks"]:
        gated = gates.insert(Model.read(model), callback, [(0, MS)], PERIOD, MS // 10)
        takt_native.parse_model(documents.to_json(gated), "gated")
        assert f"{callback}/gate" in gated.chains[0].callbacks
        assert len(gated.edges) == len(model["edges"]) + 1


def test_a_model_need_not_list_edges() -> None:
    model = chain_model([1.0])
    del model["edges"]
    gated = gates.insert(Model.read(model), "cb1", [(0, 10)], MS, 1)
    assert [(edge.source, edge.target) for edge in gated.edges] == [("cb1", "cb1/gate")]


def test_a_gate_before_an_inferred_join_is_named_wherever_its_callback_was() -> None:
    model = json.loads((MODELS / "fusion.json").read_text())
    model["joins"][0] |= {"confidence": 90, "completed_by": ["frame"]}
    gated = gates.insert(Model.read(model), "frame", [(0, MS)], PERIOD, MS // 10)
    takt_native.parse_model(documents.to_json(gated), "gated")
    (join,) = gated.joins
    assert join.inputs == ("frame/gate", "filter")
    assert join.completed_by == ("frame/gate",)


def test_a_gate_is_where_the_callback_is_that_it_follows() -> None:
    model = chain_model(FIVE)
    model["executors"][4]["cpu"] = 3
    for callback, expected in (("cb5", 3), ("cb4", None)):
        gated = gates.insert(Model.read(model), callback, [(0, MS)], PERIOD, MS // 10)
        assert gated.executors[-1].id == f"{callback}/gate"
        assert gated.executors[-1].cpu == expected


def test_what_begins_a_chain_is_punctual_unless_it_does_other_work() -> None:
    model = chain_model(FIVE)
    plan = plan_of(model, plans.Request())
    assert plans.punctual_executors(Model.read(model), plan) == {"e1", "cb5/gate"}
    model["callbacks"][1]["executor"] = "e1"
    assert plans.punctual_executors(Model.read(model), plan) == {"cb5/gate"}


def test_several_chains_of_a_core_share_a_table() -> None:
    model = json.loads((MODELS / "pipeline.json").read_text())
    second = {**model["callbacks"][0], "id": "radar", "node": "/radar", "registration": 1}
    second["activation"] = {"kind": "periodic", "period": 20 * MS, "jitter": 0}
    model["callbacks"].append(second)
    model["chains"].append({"id": "radar", "callbacks": ["radar"]})
    seen = {"image to motor": [6 * MS, 12 * MS], "radar": [2 * MS, 4 * MS]}
    plan = plans.make(
        Model.read(model), seen, "trace", plans.Request(grid=MS, slack=MS, publish_time=MS)
    )
    assert plan.cycle == 100 * MS
    pieces = sorted((slot.start, slot.end) for server in plan.servers for slot in server.slots)
    assert all(a[1] <= b[0] for a, b in pairwise(pieces))
    radar = next(chain for chain in plan.chains if chain.id == "radar")
    assert radar.gate.slots[-1].end <= 20 * MS


def test_the_command_writes_a_plan_and_a_picture(tmp_path: Path) -> None:
    plan, picture = tmp_path / "plan.json", tmp_path / "plan.html"
    model = str(MODELS / "pipeline.json")
    arguments = ("--chain", "image to motor", "--cycles", "200", "--bands", "2", "--json")
    done = run_takt("shape", model, *arguments, "-o", plan, "--picture", picture)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["format"], document["version"]) == ("takt/shaping", 1)
    assert json.loads(plan.read_text()) == document
    assert document["provenance"]["inputs"][0]["path"].endswith("pipeline.json")
    chain = document["chains"][0]
    assert [one["policy"] for one in chain["overshoots"]] == ["skip", "defer", "degrade"]
    assert chain["overshoots"][0]["dropped"] > 0
    assert [one["name"] for one in chain["baselines"]] == ["LET per chain", "LET per callback"]
    assert "<svg" in picture.read_text()
    assert plans.read(str(plan)).chains[0].gate.slots


def test_the_command_says_what_a_plan_without_a_topic_lacks(tmp_path: Path) -> None:
    model = str(MODELS / "pipeline.json")
    shape = ("shape", model, "--chain", "image to motor", "--cycles", "200")
    done = run_takt(*shape, "-o", tmp_path / "without.json")
    assert "on which topic its output leaves; takt apply needs it: --topic" in done.stderr
    done = run_takt(*shape, "--topic", "/turn", "-o", tmp_path / "with.json")
    assert done.stderr == ""
    assert plans.read(str(tmp_path / "with.json")).chains[0].gate.topic == "/turn"


def test_the_document_follows_its_schema(tmp_path: Path) -> None:
    from importlib import resources

    from jsonschema import Draft202012Validator

    text = (resources.files("takt") / "schemas" / "shaping.schema.json").read_text("utf-8")
    plan = plan_of(chain_model(FIVE), STEP, cycles=50)
    document = plan.json()
    Draft202012Validator(json.loads(text)).validate(document)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--chain", "nothing"), 'no chain "nothing"; the model has "image to motor"'),
        (("--chain", "image to motor", "--freshness", "5"), "with its unit"),
        (("--chain", "image to motor", "--bands", "60", "--grid", "1ms"), "do not fit between"),
        (("--chain", "image to motor", "--grid", "60ms"), "after the cycle"),
        (("--chain", "image to motor") * 2, "named twice"),
        (("--chain", "image to motor", "--tail", "0.5"), "--tail: of no use without"),
        (("--chain", "image to motor", "--picture", "-"), "--picture -: name a file"),
    ],
)
def test_mistakes_are_one_line(arguments: tuple[str, ...], message: str) -> None:
    done = run_takt("shape", str(MODELS / "pipeline.json"), *arguments, "--cycles", "50")
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_dispatcher_goes_by_the_slots_of_all_servers() -> None:
    model = chain_model(FIVE)
    plan = plan_of(model, STEP, cycles=20)
    servers = tuple(
        ShapingServer(chain=chain, slots=tuple(ServerSlot(start=a, end=b) for a, b in slots))
        for chain, slots in (("a", [(0, 10), (40, 50)]), ("b", [(10, 20), (90, 100)]))
    )
    slots = dispatcher.table(plan.replace(servers=servers))
    assert [(slot.start, slot.end) for slot in slots] == [(0, 20), (40, 50), (90, 100)]


def test_only_the_last_node_of_a_chain_is_remapped() -> None:
    chain = plan_of(chain_model(FIVE), STEP, cycles=20)
    assert remapping.remapped(["robot"], chain) == [
        *("robot", "--ros-args"),
        *("-r", "cb5:/out:=/out/unshaped"),
    ]
    with pytest.raises(UserError, match=r"remappings=\[\('/out', '/out/unshaped'\)\]"):
        remapping.remapped(["ros2", "launch", "robot", "robot.launch.py"], chain)


def test_a_plan_with_overlapping_slots_is_refused(tmp_path: Path) -> None:
    plan = plan_of(chain_model(FIVE), STEP, cycles=20).json()
    plan["chains"][0]["gate"]["slots"] *= 2
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plan))
    with pytest.raises(Exception, match="in order, apart"):
        plans.read(str(path))


def test_a_loop_is_known_by_its_earliest_messages() -> None:
    """It is 50 ppm slower than the chain, one message in three comes late, and the chain begins
    2 to 3 ms after it."""
    period = 50 * MS
    drift = 1 + 50e-6
    told = [round(i * period * drift) + (i % 3) * MS // 4 for i in range(200)]
    begins = [round(i * period * drift) + 3 * MS for i in range(1, 199)]
    seen = loops.observe(told, begins, period, "/tick")
    assert seen.count == 200
    assert seen.drift == pytest.approx(50e-6, abs=1e-9)
    assert seen.spread == pytest.approx(MS // 2, abs=10)
    assert seen.offset == pytest.approx(2.5 * MS, abs=10)
    phase = loops.locked(loops.parse("/tick", None), seen, period, None)
    # Cycles begin with the chain: the next message comes after the rest of the period.
    assert phase.delay == pytest.approx(47.5 * MS, abs=10)
    assert loops.locked(loops.parse("tick", MS), seen, period, MS).delay == MS
    said = loops.text(phase)
    assert said is not None
    assert "drift +50.0 ppm" in said


def test_a_loop_that_does_not_go_with_the_chain_is_refused() -> None:
    told = [i * 50 * MS for i in range(100)]
    with pytest.raises(UserError, match="come every 50 ms, the chain is activated every 100 ms"):
        loops.observe(told, [], 100 * MS, "/tick")
    drifting = [round(i * 50 * MS * 1.005) for i in range(100)]
    seen = loops.observe(told, drifting, 50 * MS, "/tick")
    with pytest.raises(UserError, match="it is not locked to them"):
        loops.locked(loops.parse("/tick", None), seen, 50 * MS, None)


@pytest.mark.parametrize(
    ("text", "delay", "message"),
    [("bus:7", None, "must be a topic, or begin with one of udp:"), (None, MS, "--phase-of")],
)
def test_what_is_no_loop_is_one_line(text: str | None, delay: int | None, message: str) -> None:
    with pytest.raises(UserError, match=message):
        loops.parse(text, delay)


def test_a_loop_outside_of_ros_2_is_in_the_plan_and_in_what_the_gate_is_told() -> None:
    request = plans.Request(grid=MS, phase=loops.parse("udp:7400", 2 * MS))
    plan = plan_of(chain_model(FIVE), request, cycles=20)
    told = gate_process.settings(plan.chains[0], 90, None)
    assert told["phase_external"] == "udp:7400"
    assert told["phase_delay"] == 2 * MS
    assert "phase_topic" not in told


def test_p28_what_the_document_concludes_of_slots() -> None:
    """One and three slots against none, as of Table 4.4; experiments/latency-shaping has the ratios
    of that chain.
    """
    free = plan_of(chain_model(FIVE), plans.Request(grid=MS // 10)).chains[0].profile
    one, three = (
        plan_of(chain_model(FIVE), plans.Request(bands=bands, grid=MS // 10)).chains[0].after
        for bands in (1, 3)
    )
    assert free.max
    assert free.mean
    assert one.max
    assert one.mean
    assert three.max
    assert three.mean
    assert free.jitter
    assert three.jitter
    # The worst case is that of one slot, the mean is in between, and the jitter is smaller.
    assert three.max == one.max < 1.03 * free.max
    assert free.mean < three.mean < one.mean
    assert three.jitter < 0.75 * free.jitter


@pytest.mark.parametrize("overshoot", ["degrade", "skip"])
def test_a_simulated_plan_says_what_a_table_does_otherwise(tmp_path: Path, overshoot: str) -> None:
    model, plan = str(MODELS / "pipeline.json"), tmp_path / "plan.json"
    wanted = ("--chain", "image to motor", "--cycles", "200", "--overshoot", overshoot)
    assert run_takt("shape", model, *wanted, "-o", plan).returncode == 0
    done = run_takt("simulate", model, "--plan", plan, "--seed", "1", "--json")
    assert done.returncode == 0, done.stderr
    (chain,) = json.loads(done.stdout)["chains"]
    (shaped,) = json.loads(plan.read_text())["chains"]
    assert chain["min"] == chain["max"] == shaped["after"]["max"]
    assert ("late outputs wait for the next slot here" in done.stderr) == (overshoot == "skip")


def test_gates_are_not_run_by_other_executors(tmp_path: Path) -> None:
    model, plan = str(MODELS / "pipeline.json"), tmp_path / "plan.json"
    arguments = ("--chain", "image to motor", "--cycles", "50")
    assert run_takt("shape", model, *arguments, "-o", plan).returncode == 0
    for command in ("simulate", "run"):
        done = run_takt(command, model, "--plan", plan, "--executor", "edf")
        assert done.returncode == 2
        assert "leave out --executor" in done.stderr
        assert done.stderr.count("\n") == 1


def test_the_picture_has_each_band_with_its_slot_and_what_leaves_there() -> None:
    plan = plan_of(chain_model(FIVE), plans.Request(bands=3, grid=MS))
    drawn = picture.svg(plan)
    (chain,) = plan.chains
    assert [drawn.count(f'class="{kind}"') for kind in ("slot", "after")] == [3, 3]
    assert [drawn.count(f'class="band{number}"') for number in (0, 1)] == [2, 1]
    bins = sum(drawn.count(f'class="before{number}"') for number in (0, 1))
    assert bins == len(chain.histogram)
    for band in chain.gate.slots:
        assert f">{duration(band.latency)}</text>" in drawn


@pytest.mark.parametrize(("let", "expected", "gates_"), [("chain", 100, 1), ("callback", 500, 5)])
def test_p29_logical_execution_time_is_a_plan_as_others_are(
    tmp_path: Path, let: str, expected: int, gates_: int
) -> None:
    model, plan = tmp_path / "model.json", tmp_path / "plan.json"
    model.write_text(json.dumps(chain_model(FIVE)))
    arguments = ("--chain", "chain", "--cycles", "50", "--let", let)
    done = run_takt("shape", model, *arguments, "-o", plan)
    assert done.returncode == 0, done.stderr
    assert len(plans.read(str(plan)).chains) == gates_
    done = run_takt("simulate", model, "--plan", plan, "--seed", "1", "--json")
    (chain,) = json.loads(done.stdout)["chains"]
    assert chain["min"] == chain["max"] == expected * MS


def test_logical_execution_time_needs_chains_that_end_within_their_period() -> None:
    request = plans.Request(logical="chain")
    with pytest.raises(UserError, match="has no room for it"):
        plans.make(Model.read(chain_model(FIVE)), {"chain": [100 * MS]}, "trace", request)


@pytest.mark.parametrize("choice", [("--bands", "2"), ("--objective", "cvar")])
def test_one_slot_alone_goes_with_logical_execution_time(choice: tuple[str, str]) -> None:
    model = str(MODELS / "pipeline.json")
    wanted = ("--chain", "image to motor", "--let", "chain", *choice)
    done = run_takt("shape", model, *wanted)
    assert done.returncode == 2
    assert "--let has one slot" in done.stderr


def test_slots_of_real_executors_have_time_to_wake_up() -> None:
    grace = gates.GRACE
    far = [(MS, MS + 1), (10 * MS, 10 * MS + 1)]
    assert gates.with_grace(far, 20 * MS) == [(MS, MS + grace), (10 * MS, 10 * MS + grace)]
    close = [(MS, MS + 1), (MS + grace // 2, 5 * MS)]
    assert gates.with_grace(close, 20 * MS) == [(MS, MS + grace // 2), (MS + grace // 2, 5 * MS)]
    # A slot at the end of the cycle continues in the next one, until its first slot at the latest.
    late = 20 * MS - 1
    assert gates.with_grace([(late, 20 * MS)], 20 * MS) == [(0, grace - 1), (late, 20 * MS)]
    assert gates.with_grace([(0, 1), (late, 20 * MS)], 20 * MS) == [(0, grace), (late, 20 * MS)]


def test_a_gate_chooses_anew_as_the_plan_was_chosen() -> None:
    request = plans.Request(bands=2, grid=MS, confidence=0.9, freshness=30 * MS)
    plan = plan_of(chain_model(FIVE), request, cycles=50)
    told = gate_process.settings(plan.chains[0], 90, None, plan.method)["adapt"]
    assert {key: told[key] for key in ("bands", "confidence", "freshness", "grid", "tail")} == {
        "bands": 2,
        "confidence": 0.9,
        "freshness": 30 * MS,
        "grid": MS,
        "tail": 0,
    }
