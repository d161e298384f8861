"""takt latency, and goals by names wherever commands read a model."""

from __future__ import annotations

import json
import shlex
from datetime import datetime
from pathlib import Path

import pytest

from robot import FIXTURES, Json, changed, raw, run_takt
from takt import inputs, pipeline
from takt.documents import runs
from takt.errors import UserError
from takt.text.formatting import NONE, duration
from takt.verdicts import remedies, verdict

DOCUMENTS = [FIXTURES / f"{name}.json" for name in ("model", "bounds", "measurement")]
PIPELINE = Path(__file__).parents[2] / "models" / "pipeline.json"
RECORDINGS = Path(__file__).parents[1] / "recordings"
RECORDING = RECORDINGS / "pipeline-ring.tar.xz"
AUTOWARE = str(RECORDINGS / "autoware.tar.xz")
PERIOD = 50_000_000
"""Of its timer, in nanoseconds."""

GOALS = "chains: [{name: pilot, from: /camera, to: /motor, latency: %s}]"


def written(folder: Path, name: str, document: Json | str) -> Path:
    path = folder / name
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def test_measured_bound_and_goal_stand_in_one_table() -> None:
    done = run_takt("latency", *DOCUMENTS)
    assert (done.returncode, done.stderr) == (0, "")
    header, first, second = (line.split() for line in done.stdout.splitlines())
    assert " ".join(header) == "Chain Messages p50 p99 Max Goal Verdict Bound Guaranteed"
    assert (first[0], first[-4], first[-1]) == ("stop", "met", "yes")
    assert (second[-4], second[-1]) == (NONE, "yes")


def test_the_document_says_the_same() -> None:
    done = run_takt("latency", *DOCUMENTS, "--json")
    document = json.loads(done.stdout)
    assert (document["format"], document["version"], document["met"]) == ("takt/latency", 1, True)
    measured = raw("measurement")["chains"][0]
    chain = document["chains"][0]
    for number in ("count", "min", "mean", "p50", "p99", "max"):
        assert chain[number] == measured[number]
    assert (chain["id"], chain["goal"], chain["bound"]) == ("stop", 80_000_000, 64_000_000)
    assert (chain["verdict"], chain["missed"], chain["conditional"]) == ("met", False, False)


def test_the_longest_instance_is_named_as_flow_takes_it(tmp_path: Path) -> None:
    goals = written(tmp_path, "goals.yaml", GOALS % "1us")
    done = run_takt("latency", RECORDING, "--goals", goals, "--json")
    (chain,) = json.loads(done.stdout)["chains"]
    number = str(chain["worst"]["instance"])
    told = json.loads(run_takt("flow", RECORDING, "--goals", goals, "--json").stdout)["flows"][0]
    worst = told["worst"][0]
    assert (str(worst["instance"]), worst["latency"]) == (number, chain["max"])
    assert worst["begin"] == chain["worst"]["begin"]
    assert worst["time"] == chain["worst"]["time"]
    recorded = json.loads(run_takt("info", RECORDING, "--json").stdout)["begin"]
    moment = datetime.fromisoformat(worst["time"].replace("Z", "+00:00"))
    assert abs(moment.timestamp() * 1e9 - recorded - worst["begin"]) < 2000
    shown = run_takt("latency", RECORDING, "--goals", goals)
    header, row = (line.split() for line in shown.stdout.splitlines()[:2])
    assert row[header.index("Worst") + 3] == number  # p50, p99 and Max have units
    assert f", {worst['begin'] / 1e9:.3f} s after the start: takt flow" in shown.stderr
    command = shown.stderr.splitlines()[-1].split(": ")[-1].split()
    assert command[-2:] == ["--why", number]
    by_goals = run_takt(*command[1:])
    assert f"sink instance {number}" not in by_goals.stdout
    assert f"instance {number}" in by_goals.stdout
    assert by_goals.stdout == run_takt("flow", RECORDING, "--goals", goals, "--why", "worst").stdout
    alone = run_takt("flow", RECORDING, "--why", number)
    assert alone.returncode == 0, alone.stderr
    assert f"sink instance {number}" in alone.stdout


def test_the_proposed_command_tells_of_the_chain_that_is_named(tmp_path: Path) -> None:
    """Also without goals, by a model, and where a run ends instances of several chains."""
    whole = "name: whole, from: /EuclideanClusterSettings, to: /IntersectionOutput, latency: 1s"
    end = "name: end, from: /EuclideanClusterDetector, to: /IntersectionOutput, latency: 1us"
    two = str(written(tmp_path, "two.yaml", f"chains: [{{{whole}}}, {{{end}}}]"))
    model = str(tmp_path / "model.json")
    assert run_takt("model", AUTOWARE, "--goals", two, "-o", model).returncode == 0
    for given in ([AUTOWARE], [AUTOWARE, model], [AUTOWARE, "--goals", two]):
        line = run_takt("latency", *given).stderr.partition("takt: why ")[2].splitlines()[0]
        chain, _, rest = line.partition(" took ")
        took, _, command = rest.partition(", ")
        told = run_takt(*shlex.split(command.partition(": takt ")[2]))
        assert told.returncode == 0, told.stderr
        assert f" of the {took} from the activation of " in told.stdout, (chain, told.stdout)
        assert (chain == "end") == (len(given) > 1)
    unknown = run_takt("flow", AUTOWARE, "--chain", "/nowhere")
    assert unknown.returncode == 2
    assert unknown.stderr.startswith('takt: there is no chain "/nowhere"; the model has "')


def test_messages_above_the_goal_are_counted(tmp_path: Path) -> None:
    goals = written(tmp_path, "goals.yaml", GOALS % "1s")
    (chain,) = json.loads(run_takt("latency", RECORDING, "--goals", goals, "--json").stdout)[
        "chains"
    ]
    assert chain["late"] == 0
    middle = written(tmp_path, "middle.yaml", GOALS % f"{chain['p50']}ns")
    shown = run_takt("latency", RECORDING, "--goals", middle)
    header, row = (line.split() for line in shown.stdout.splitlines()[:2])
    document = json.loads(run_takt("latency", RECORDING, "--goals", middle, "--json").stdout)
    (late,) = (each["late"] for each in document["chains"])
    latencies = _latencies(middle)
    assert late == sum(latency > chain["p50"] for latency in latencies) > 0
    assert (len(latencies), row[header.index("Late")]) == (chain["count"], str(late))


def _latencies(goals: Path) -> list[int]:
    """All latencies of the recording's only chain."""
    given = inputs.Given([str(RECORDING)])
    evaluation = inputs.evaluate(given, pipeline.DEFAULT_ANALYSIS, str(goals))
    assert evaluation.measurement is not None
    return list(evaluation.measurement.chains[0].samples or ())


def test_late_messages_of_documents_are_those_of_the_goal_that_is_asked(tmp_path: Path) -> None:
    """A measurement counted by another goal tells its late messages only if it has them all."""
    whole = changed(raw("measurement"), "chains", 0, "samples", value=[1, 5, 7, 9])
    whole["chains"][0] |= {"count": 4, "goal": 5, "late": 2}
    strict = changed(raw("model"), "chains", 0, "goal", value=6)
    for goal, some, late in ((5, whole, 2), (6, whole, 2), (8, whole, 1)):
        model = written(tmp_path, "model.json", changed(strict, "chains", 0, "goal", value=goal))
        measured = written(tmp_path, "measured.json", some)
        done = run_takt("latency", model, DOCUMENTS[1], measured, "--json")
        assert json.loads(done.stdout)["chains"][0]["late"] == late
    part = written(tmp_path, "part.json", changed(whole, "chains", 0, "count", value=5000))
    done = run_takt("latency", model, DOCUMENTS[1], part, "--json")
    assert json.loads(done.stdout)["chains"][0]["late"] is None


def test_chains_without_an_instance_or_a_goal_stand_below_the_table(tmp_path: Path) -> None:
    none = dict.fromkeys(("count", "min", "mean", "p50", "p99", "max"))
    unseen = changed(
        raw("measurement"),
        "chains",
        1,
        value={**raw("measurement")["chains"][1], **none, "count": 0, "incomplete": 7},
    )
    documents = [DOCUMENTS[0], DOCUMENTS[1], written(tmp_path, "measured.json", unseen)]
    done = run_takt("latency", *documents)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 2
    name = raw("model")["chains"][1]["id"]
    assert done.stderr.splitlines()[-1] == (
        f"  1 chain, as {name}: of 7 instances that began, none was followed to its end in the "
        "recording"
    )


def test_a_model_of_another_system_is_warned_of() -> None:
    recording = PIPELINE.parents[1] / "tests" / "recordings" / "autoware.tar.xz"
    result = run_takt("latency", PIPELINE, recording)
    assert result.stderr.splitlines()[0] == (
        f"takt: warning: no callback of {PIPELINE} ran in the recording: is it a model of this "
        "system?"
    )
    assert "never completed" in result.stdout
    assert result.returncode == 1


@pytest.mark.parametrize("command", ["latency", "report"])
def test_a_missed_goal_is_status_1(tmp_path: Path, command: str) -> None:
    strict = changed(raw("model"), "chains", 0, "goal", value=9_000_000)
    page: list[str | Path] = ["-o", tmp_path / "page.html"] if command == "report" else []
    done = run_takt(
        command, written(tmp_path, "model.json", strict), *DOCUMENTS[1:], "--json", *page
    )
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert document["met"] is False
    assert [chain["missed"] for chain in document["chains"]] == [True, False]


def test_what_no_bound_promises_is_status_1_on_demand(tmp_path: Path) -> None:
    """Measured 9.38 ms, goal 60 ms, bound 64 ms."""
    tight = changed(raw("model"), "chains", 0, "goal", value=60_000_000)
    arguments: list[str | Path] = [
        "latency",
        written(tmp_path, "model.json", tight),
        *DOCUMENTS[1:],
    ]
    assert run_takt(*arguments).returncode == 0
    done = run_takt(*arguments, "--guaranteed")
    assert done.returncode == 1
    assert "not guaranteed" in done.stdout


def test_an_unfounded_bound_promises_no_goal(tmp_path: Path) -> None:
    """The bound is within the goal, but a callback ran longer than the bound takes for granted."""
    slow = changed(raw("measurement"), "callbacks", 0, "execution_time", "max", value=10**9)
    arguments: list[str | Path] = ["latency", *DOCUMENTS[:2], written(tmp_path, "slow.json", slow)]
    done = run_takt(*arguments, COLUMNS="400")
    assert (done.returncode, done.stderr) == (0, "")
    said = "callback /camera ran for 1 s, longer than the 500 µs of its execution-time curve"
    _, first, _, *reasons = done.stdout.splitlines()
    assert (first.split()[-4], first.split()[-1]) == ("met", "refuted")
    assert reasons[:3] == [
        "",
        "stop, see: no measured latency is above the bound, but the recording refutes this:",
        f"  {said}",
    ]
    document = json.loads(run_takt(*arguments, "--json").stdout)
    chain = document["chains"][0]
    assert (document["met"], chain["missed"], chain["verdict"]) == (True, False, "unfounded bound")
    assert (chain["conditional"], chain["conditions"], chain["refuted"]) == (False, [], [said])
    assert run_takt(*arguments, "--guaranteed").returncode == 1


def test_a_bound_that_was_exceeded_promises_no_goal(tmp_path: Path) -> None:
    """Measured 65 ms, goal 80 ms, bound 64 ms."""
    late = changed(raw("measurement"), "chains", 0, "max", value=65_000_000)
    arguments: list[str | Path] = ["latency", *DOCUMENTS[:2], written(tmp_path, "late.json", late)]
    assert run_takt(*arguments).returncode == 0
    assert run_takt(*arguments, "--guaranteed").returncode == 1


def test_a_chain_without_a_goal_needs_no_promise(tmp_path: Path) -> None:
    free = changed(raw("model"), "chains", 0, "goal", value=None)
    slow = changed(raw("measurement"), "callbacks", 0, "execution_time", "max", value=10**9)
    given = (written(tmp_path, "model.json", free), written(tmp_path, "slow.json", slow))
    assert run_takt("latency", *given, DOCUMENTS[1], "--guaranteed").returncode == 0


def test_a_model_alone_is_held_to_its_bounds(tmp_path: Path) -> None:
    for latency, status in (("1s", 0), ("1ms", 1)):
        goals = written(tmp_path, "goals.yaml", GOALS % latency)
        assert run_takt("latency", PIPELINE, "--goals", goals).returncode == status


def test_goals_are_accepted_wherever_models_are(tmp_path: Path) -> None:
    goals = written(tmp_path, "goals.yaml", GOALS % "125ms")
    plan = run_takt("plan", PIPELINE, "--goals", goals, "--executor", "chain_priority")
    assert plan.returncode == 0, plan.stderr
    for command in ("analyze", "simulate", "latency"):
        done = run_takt(command, PIPELINE, "--goals", goals, "--json")
        assert done.returncode == 0, done.stderr
        (chain,) = json.loads(done.stdout)["chains"]
        assert (chain["id"], chain["goal"]) == ("pilot", 125_000_000)
    assert run_takt("diff", PIPELINE, PIPELINE, "--goals", goals).returncode == 0
    page = tmp_path / "page.html"
    assert run_takt("report", PIPELINE, "--goals", goals, "-o", page).returncode == 0
    assert "pilot" in page.read_text()


KINDS = {"reaction": "reaction_time", "age": "data_age"}
"""The kinds of goals that are not about latencies, and the bounds' names of what they are about."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_goal_may_be_about_reactions_or_ages(kind: str, tmp_path: Path) -> None:
    goals = written(tmp_path, "goals.yaml", GOALS % f"1s, kind: {kind}")
    (bound,) = json.loads(run_takt("analyze", PIPELINE, "--goals", goals, "--json").stdout)[
        "chains"
    ]
    assert (bound["kind"], bound["bound"]) == (kind, bound[KINDS[kind]])
    (seen,) = json.loads(run_takt("simulate", PIPELINE, "--goals", goals, "--json").stdout)[
        "chains"
    ]
    assert (seen["kind"], seen["max"]) == (kind, seen[KINDS[kind]]["max"])
    for command in ("analyze", "latency"):
        done = run_takt(command, PIPELINE, "--goals", goals)
        assert done.returncode == 0, done.stderr
        assert f" 1 s {kind} " in done.stdout
        assert f"takt: {kind}: " in done.stderr


def test_recorded_reactions_and_ages_follow_from_the_latencies(tmp_path: Path) -> None:
    """Every message of this recording gets to the end: an output is as old as its message is on
    its way, and what just missed a message waits for the next one of the timer.
    """

    def measured(kind: str) -> Json:
        goals = written(tmp_path, "goals.yaml", GOALS % f"1s, kind: {kind}")
        done = run_takt("latency", RECORDING, "--goals", goals, "--json")
        assert done.returncode == 0, done.stderr
        (chain,) = json.loads(done.stdout)["chains"]
        return {number: chain[number] for number in ("count", "min", "p50", "max")}

    latency, reaction = measured("latency"), measured("reaction")
    assert measured("age") == latency
    assert latency.pop("count") - reaction.pop("count") in (0, 1)  # what the first one read
    assert reaction == {number: time + PERIOD for number, time in latency.items()}


def test_a_wrong_name_is_one_line_with_those_like_it(tmp_path: Path) -> None:
    goals = written(tmp_path, "goals.yaml", "chains: [{from: /camra, to: /motor, latency: 1s}]")
    done = run_takt("analyze", PIPELINE, "--goals", goals)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f'takt: {goals}: chains[0] ("/camra -> /motor"): from: no topic, node or callback is '
        'called "/camra"; did you mean "/camera"?\n'
    )


def test_what_a_recording_lacks_is_said_before_goals_that_do_not_fit(tmp_path: Path) -> None:
    model = json.loads(PIPELINE.read_text())
    model["provenance"] = {"warnings": ["12 events were lost"]}
    path = written(tmp_path, "model.json", model)
    goals = written(tmp_path, "goals.yaml", "chains: [{from: /camra, to: /motor, latency: 1s}]")
    for command in ("analyze", "latency", "budget"):
        done = run_takt(command, path, "--goals", goals)
        warning, error = done.stderr.splitlines()
        assert done.returncode == 2
        assert warning == "takt: warning: 12 events were lost"
        assert 'did you mean "/camera"?' in error


def test_start_up_is_said_to_be_left_out() -> None:
    done = run_takt("latency", RECORDING)
    told = json.loads(run_takt("latency", RECORDING, "--json").stdout)
    model = json.loads(run_takt("model", RECORDING, "-o", "-").stdout)
    assert told["start_up"] == model["provenance"]["start_up"] > 0
    assert f"Start-up, the first {duration(told['start_up'])}, is left out" in done.stderr
    documents = run_takt("latency", *DOCUMENTS)
    assert "Start-up" not in documents.stderr


def recorded(begin: int, *pids: int, host: str = "robot") -> Json:
    """What takt info says of a recording of 5 s."""
    return {
        "begin": begin * 10**9,
        "duration": 5 * 10**9,
        "hosts": [{"name": host, "clock": host}],
        "nodes": [{"name": f"/n{pid}", "pid": pid, "host": host} for pid in pids],
    }


def test_runs_are_told_from_parts_of_one_recording() -> None:
    first = ("a", recorded(10, 1, 2))
    said = runs.in_a_row([("my b", recorded(16, 3, 4)), first]) or ""
    assert said.startswith("my b began after a, of the same host, had ended")
    assert said.endswith("by: takt model a 'my b' --merge")
    for other in (
        recorded(14, 3, 4),  # at the same time
        recorded(16, 2, 3),  # of a program that went on
        recorded(16, 3, 4, host="other"),
    ):
        assert runs.in_a_row([first, ("b", other)]) is None
    assert runs.in_a_row([first]) is None


def test_inputs_are_told_apart_by_what_is_in_them(tmp_path: Path) -> None:
    given = inputs.sort([*map(str, DOCUMENTS), str(tmp_path)])
    assert given.traces == [str(tmp_path)]
    assert given.model is not None
    assert given.bounds is not None
    assert given.measurement is not None
    with pytest.raises(UserError, match="a second takt/model document"):
        inputs.sort([str(DOCUMENTS[0]), str(PIPELINE)])


def remedy(model: Json) -> str | None:
    text = inputs.ModelText(json.dumps(model), "model.json")
    evaluation = inputs.evaluate(inputs.Given(model=text), "combined")
    judged = verdict.judge(evaluation.model, evaluation.bounds, None)
    found = remedies.find(text, evaluation.model, judged, cores=2)
    return found.verdicts[0].remedy


def alone(supply: Json, goal: int) -> Json:
    """One timer of 3 ms every 100 ms."""
    return {
        "format": "takt/model",
        "version": 1,
        "executors": [{"id": "e", "name": "Motor", "supply": supply}],
        "callbacks": [
            {
                "id": "c",
                "executor": "e",
                "kind": "timer",
                "execution_time": {"curve": [3_000_000]},
                "activation": {"kind": "periodic", "period": 100_000_000},
            }
        ],
        "chains": [{"id": "k", "callbacks": ["c"], "goal": goal}],
    }


RESERVATION = {"kind": "reservation", "budget": 1_000_000, "period": 10_000_000}


def test_a_guaranteed_goal_needs_no_remedy() -> None:
    assert remedy(alone(RESERVATION, 100_000_000)) is None


def test_a_larger_budget_is_proposed_as_small_as_it_suffices() -> None:
    """With a budget of Q >= 3 ms every 10 ms, 3 ms are served within 2 (10 ms - Q) + 3 ms; 15 ms
    ask for Q = 4 ms.
    """
    assert remedy(alone(RESERVATION, 15_000_000)) == (
        "guaranteed, with a bound of 15 ms, by the change 'budget(e)=4ms', which takt analyze "
        "--what-if shows"
    )


def test_larger_budgets_are_proposed_where_one_does_not_suffice() -> None:
    """Two reservations, 13 ms each at best with the other as it is."""
    model = alone(RESERVATION, 22_000_000)
    model["executors"].append({"id": "f", "name": "Wheel", "supply": RESERVATION})
    model["callbacks"].append(
        {
            "id": "d",
            "executor": "f",
            "kind": "subscription",
            "execution_time": {"curve": [3_000_000]},
        }
    )
    model["edges"] = [{"from": "c", "to": "d"}]
    model["chains"][0]["callbacks"] = ["c", "d"]
    assert (remedy(model) or "").endswith("by the reservations of takt budget for 2 cores")


def test_late_messages_are_named_where_they_are_the_reason() -> None:
    slow = changed(json.loads(PIPELINE.read_text()), "edges", 0, "delay", value=1_000_000_000)
    slow = changed(slow, "chains", value=[{"id": "k", "callbacks": ["camera", "motor"]}])
    slow = changed(slow, "chains", 0, "goal", value=500_000_000)
    assert (remedy(slow) or "").startswith("guaranteed, with a bound of ")
    assert "if this held: delay=" in (remedy(slow) or "")


def test_shorter_callbacks_keep_to_what_models_allow() -> None:
    """Each value rounded down, three instances would cost 1 ns more than two and one. 66 %: see the
    next test.
    """
    model = alone({"kind": "dedicated"}, 2_000_000)
    for first in range(3_000_001, 3_000_101, 7):
        curve = [first, 2 * first, 3 * first]
        model["callbacks"][0]["execution_time"]["curve"] = curve
        assert "'execution_time(e)=66%'" in (remedy(model) or "")


def test_shorter_callbacks_are_proposed_where_no_budget_suffices() -> None:
    """Of 3 ms, 66 % are within the goal of 2 ms. No reservation that a core grants has more than
    90 % of it, so one of 5 ms may keep a callback waiting for 2 * 0.5 ms, which the goal has no
    room for.
    """
    assert remedy(alone({"kind": "dedicated"}, 2_000_000)) == (
        "kept, with a bound of 1.98 ms, if this held: 'execution_time(e)=66%', which takt analyze "
        "--what-if shows; that counts on a processor for each executor: no reservations were found "
        "that guarantee it"
    )
