"""takt analyze: bounds, goals and exit statuses."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from pathlib import Path

import pytest

from robot import FIXTURES, changed, raw, run_takt
from takt.documents import Model
from takt.documents.names import label, labels

MODEL = FIXTURES / "model.json"
MODELS = Path(__file__).parents[2] / "models"


def test_json_is_one_document_with_every_callback_and_chain() -> None:
    done = run_takt("analyze", MODEL, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert (document["format"], document["version"]) == ("takt/bounds", 1)
    ids = [callback["id"] for callback in document["callbacks"]]
    assert ids == ["camera", "detect", "brake", "log"]
    stop, see = document["chains"]
    assert (stop["goal"], stop["met"]) == (80_000_000, True)
    assert see["goal"] is None
    assert all(chain["bound"] > 0 for chain in (stop, see))


def test_a_bounds_document_says_where_it_comes_from() -> None:
    provenance = json.loads(run_takt("analyze", MODEL, "--json").stdout)["provenance"]
    digest = hashlib.sha256(MODEL.read_bytes()).hexdigest()
    assert provenance["inputs"] == [{"path": str(MODEL), "sha256": digest}]
    assert {"takt", "host", "created"} <= provenance.keys()


def test_tables_name_callbacks_chains_and_verdicts() -> None:
    shown = run_takt("analyze", MODEL).stdout
    for words in (
        "Executor driving",
        "/detector (/image)",
        "4 ms",
        "stop",
        "80 ms",
        "Guaranteed",
        "yes",
    ):
        assert words in shown


def test_the_document_also_goes_to_a_file(tmp_path: Path) -> None:
    output = tmp_path / "bounds.json"
    done = run_takt("analyze", MODEL, "--json", "-o", output)
    assert json.loads(done.stdout) == json.loads(output.read_text())


def test_a_model_from_standard_input() -> None:
    done = run_takt("analyze", "-", "--json", stdin=MODEL.read_text())
    assert json.loads(done.stdout)["converged"] is True


def test_the_better_analysis_is_taken() -> None:
    def bounds_by(analysis: str) -> list[int]:
        document = json.loads(run_takt("analyze", MODEL, "--json", "--analysis", analysis).stdout)
        return [callback["bound"] for callback in document["callbacks"]]

    both = zip(bounds_by("round_robin"), bounds_by("busy_window"), strict=True)
    assert bounds_by("combined") == [min(pair) for pair in both]


def test_an_explanation_adds_up_to_the_bound() -> None:
    document = json.loads(run_takt("analyze", MODEL, "--json", "--explain", "stop").stdout)
    explanation = document["explanation"]
    chain = document["chains"][0]
    assert (explanation["chain"], explanation["bound"]) == ("stop", chain["bound"])
    assert sum(segment["bound"] for segment in explanation["segments"]) == chain["bound"]
    for segment in explanation["segments"]:
        assert sum(term["time"] for term in segment["terms"]) == segment["bound"]
    longest = max(term["time"] for segment in explanation["segments"] for term in segment["terms"])
    assert explanation["dominating"]["time"] == longest


def test_an_explanation_for_people_names_the_longest_part() -> None:
    shown = run_takt("analyze", MODEL, "--explain", "stop").stdout
    for words in ("itself", "together", "Bound of stop", "Longest part"):
        assert words in shown


def test_an_unknown_chain_is_named_with_those_that_there_are() -> None:
    done = run_takt("analyze", MODEL, "--explain", "go")
    assert done.returncode == 2
    assert 'there is no chain "go"; the model has "stop", "see"' in done.stderr


def test_reaction_time_and_data_age_stand_beside_the_bound() -> None:
    for chain in json.loads(run_takt("analyze", MODEL, "--json").stdout)["chains"]:
        assert chain["reaction_time"] is not None or chain["reaction_time_reason"]
        assert chain["data_age"] is not None or chain["data_age_reason"]
    assert "Reaction time" in run_takt("analyze", MODEL).stdout


def test_a_small_effort_gives_coarser_bounds_and_says_so() -> None:
    exact = json.loads(run_takt("analyze", MODEL, "--json").stdout)
    assert exact["coarse"] == []
    done = run_takt("analyze", MODEL, "--effort", "100", "--json")
    coarse = json.loads(done.stdout)
    assert coarse["coarse"] == ["e1"]
    assert "bounds of executor driving are coarser" in done.stderr
    assert "--effort allows more" in done.stderr
    for most, least in zip(coarse["callbacks"], exact["callbacks"], strict=True):
        assert most["bound"] >= least["bound"]
        assert (most["by"] == "linear") == (most["bound"] > least["bound"])


def test_sensitivity_writes_its_document(tmp_path: Path) -> None:
    output = tmp_path / "sensitivity.json"
    done = run_takt("analyze", MODEL, "--sensitivity", "-o", output)
    document = json.loads(output.read_text())
    assert document["format"] == "takt/sensitivity"
    assert "May run longer by" in done.stdout
    output.unlink()
    printed = run_takt("analyze", MODEL, "--sensitivity", "--json", "-o", output)
    assert json.loads(printed.stdout) == json.loads(output.read_text()) == document
    stream = run_takt("analyze", MODEL, "--sensitivity", "-o", "-")
    assert json.loads(stream.stdout) == document


def test_sensitivity_refuses_to_explain() -> None:
    done = run_takt("analyze", MODEL, "--sensitivity", "--explain", "stop")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == ("takt: --explain: of no use to --sensitivity, which shows no bounds\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--effort", "0"), "--effort"),
        (("--effort", "5", "--sensitivity"), "--effort: of no use to --sensitivity"),
    ],
)
def test_an_effort_that_cannot_be_is_named(options: tuple[str, ...], message: str) -> None:
    done = run_takt("analyze", MODEL, *options)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_missed_goal_is_status_1() -> None:
    hasty = changed(raw("model"), "chains", 0, "goal", value=1_000_000)
    done = run_takt("analyze", "-", stdin=json.dumps(hasty))
    assert done.returncode == 1
    assert "is above the goal 1 ms" in done.stdout


def test_divergence_is_status_1_with_the_reason() -> None:
    overloaded = changed(
        raw("model"), "callbacks", 1, "execution_time", "curve", value=[40_000_000]
    )
    done = run_takt("analyze", "-", stdin=json.dumps(overloaded))
    assert done.returncode == 1
    assert "of a processor, its supply gives 0.50" in done.stdout
    document = json.loads(run_takt("analyze", "-", "--json", stdin=json.dumps(overloaded)).stdout)
    assert document["callbacks"][1]["bound"] is None
    assert document["chains"][0]["bound"] is None


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("callbacks", 1, "executor"), "e9", 'callbacks[1].executor: there is no executor "e9"'),
        (("callbacks", 0, "activation", "period"), -5, "callbacks[0].activation.period: "),
        (("executors", 0, "supply", "budget"), 0, "executors[0].supply"),
    ],
)
def test_a_wrong_model_is_one_line_with_the_field(
    path: tuple[str | int, ...], value: object, message: str
) -> None:
    done = run_takt("analyze", "-", stdin=json.dumps(changed(raw("model"), *path, value=value)))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"takt: <stdin>: {message}")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "[" * 100_000, '{"format": "takt/bounds"}']
)
def test_what_is_no_model_is_refused(text: str) -> None:
    done = run_takt("analyze", "-", stdin=text)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("takt: <stdin>: ")
    assert done.stderr.count("\n") == 1


def test_an_unknown_analysis_names_the_known_ones() -> None:
    done = run_takt("analyze", MODEL, "--analysis", "guess")
    assert done.returncode == 2
    assert done.stderr == (
        "takt: Invalid value for '--analysis': 'guess' is not one of 'round_robin', "
        "'busy_window', 'combined', 'tight', 'exact', 'edf_paper'; see 'takt analyze --help'\n"
    )


def test_unknown_fields_are_warned_about() -> None:
    odd = changed(raw("model"), "callbacks", 0, "colour", value="red")
    done = run_takt("analyze", "-", stdin=json.dumps(odd))
    assert done.returncode == 0
    assert "takt: warning: " in done.stderr
    assert "colour" in done.stderr


def test_hostile_names_do_not_reach_the_terminal() -> None:
    hostile = changed(raw("model"), "callbacks", 0, "node", value="/x\u001b]0;y\u0007[red]")
    done = run_takt("analyze", "-", stdin=json.dumps(hostile))
    assert "\u001b" not in done.stdout
    assert "[red]" in done.stdout


def test_callbacks_of_one_name_are_told_apart_by_their_ids() -> None:
    model = Model.read(raw("model"))
    first, second, *others = model.callbacks
    twin = first.replace(id=second.id)
    names = labels([first, twin, *others])
    assert names[first.id] == f"{label(first)} [{first.id}]"
    assert names[second.id] == f"{label(first)} [{second.id}]"
    for other in others:
        assert names[other.id] == label(other)


def test_what_if_changes_the_model_and_compares() -> None:
    model = json.loads((MODELS / "pipeline.json").read_text())
    executor = model["callbacks"][0]["executor"]
    own = model["callbacks"][0]["id"]
    changes = f"executor({executor})=events, split({own})"
    result = run_takt("analyze", MODELS / "pipeline.json", "--what-if", changes)
    assert "Beside the model as it is:" in result.stdout, result.stderr
    assert "unchanged" in result.stdout
    document = json.loads(
        run_takt("analyze", MODELS / "pipeline.json", "--what-if", changes, "--json").stdout
    )
    assert document["format"] == "takt/bounds"
    wrong = run_takt("analyze", MODELS / "pipeline.json", "--what-if", "budget(nobody)=3ms")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith('takt: --what-if: "budget(nobody)=3ms": there is no executor')
    moved = run_takt("analyze", MODELS / "pipeline.json", "--what-if", "move(/camera)=/motor")
    assert moved.stdout.count("Executor ") == 1  # the other one has no callback
    assert wrong.stderr.count("\n") == 1


def pipeline_with_goal(folder: Path, milliseconds: int) -> Path:
    """A pipeline that needs 7 ms on whole processors, and 33 ms with its reservations."""
    model = json.loads((MODELS / "pipeline.json").read_text())
    model["chains"][0]["goal"] = milliseconds * 1_000_000
    model["colour"] = "red"  # is warned about
    path = folder / "my model.json"
    path.write_text(json.dumps(model))
    return path


def test_the_command_for_larger_reservations_can_be_typed(tmp_path: Path) -> None:
    path = pipeline_with_goal(tmp_path, 20)
    done = run_takt("analyze", path, "--analysis", "tight", "--cores", "4")
    warning, hint = done.stderr.splitlines()
    assert "colour" in warning
    words, command = hint.rsplit(": ", maxsplit=1)
    assert words == "takt: these reservations, checked for 4 cores"
    program, *arguments = shlex.split(command)
    assert (done.returncode, program) == (1, "takt")
    options = ["--analysis", "tight", "--cores", "4"]
    assert arguments == ["budget", str(path), *options, "-o", "better.json"]
    found = json.loads(run_takt(*arguments[:-2], "--json").stdout)
    assert found["met"] is True


def test_the_command_for_larger_reservations_takes_the_same_goals(tmp_path: Path) -> None:
    goals = tmp_path / "goals.yaml"
    goals.write_text("chains: [{from: /camera, to: /motor, latency: 20ms}]")
    done = run_takt("analyze", MODELS / "pipeline.json", "--goals", goals, "--cores", "4")
    command = f"takt budget {MODELS / 'pipeline.json'} --goals {goals} --cores 4 -o better.json"
    assert done.stderr.endswith(f": {command}\n")


@pytest.mark.parametrize("options", [(), ("--what-if", "executor=edf")])
def test_no_command_is_named_that_would_not_help(tmp_path: Path, options: tuple[str, ...]) -> None:
    hopeless = pipeline_with_goal(tmp_path, 5)
    assert "takt budget" not in run_takt("analyze", hopeless, *options).stderr
    possible = pipeline_with_goal(tmp_path, 20)
    # What came from a pipe, or was only supposed, is in no file.
    piped = run_takt("analyze", "-", *options, stdin=possible.read_text())
    assert piped.returncode == 1
    assert "takt budget" not in piped.stderr


def test_the_cheapest_change_is_named_and_keeps_its_word(tmp_path: Path) -> None:
    model = json.loads((MODELS / "autoware_reference_system.json").read_text())
    model["chains"][0]["goal"] = 40_000_000
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model))
    words = " ".join(run_takt("analyze", path, "--cores", "4", COLUMNS="400").stdout.split())
    change = re.search(r"by the change '([^']+)'", words)
    assert change, words
    document = json.loads(run_takt("analyze", path, "--what-if", change[1], "--json").stdout)
    assert document["chains"][0]["bound"] <= 40_000_000
