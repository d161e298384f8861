"""Every advice that is printed is carried out here, and does what it says.

Models are random, or made of recordings; their goals are shares of their bounds, so that some are
missed. Whether the machine admits a model is computed here in exact fractions.
"""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import takt_design
import takt_native
from robot import Json
from takt import cli, inputs, pipeline
from takt.inputs import ModelText
from takt.processors import CAPACITY
from takt.text.formatting import duration
from takt.verdicts import remedies, verdict
from takt.verdicts.assumptions import Finding, Standing, Subject

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "models"
RECORDINGS = sorted((ROOT / "tests" / "recordings").glob("*.tar.xz"))
SHARES = (50, 80, 95, 130)
"""Goals of chains, in turn, in percent of their bounds."""

KINDS = ("single_threaded", "events", "fixed_priority", "edf", "chain_priority")
FEATURES = {"reservation": 70, "priority": 40, "remote_sender": 60}

CHANGES = re.compile(
    r"(?:guaranteed|kept), with a bound of (?P<bound>\S+ \S+), "
    r"(?:by the changes? (?P<made>.+)|if this held: (?P<held>.+)), "
    r"which takt analyze --what-if shows(?P<unreserved>; that counts on .+)?"
)
RESERVATIONS = re.compile(
    r"guaranteed, with a bound of (?P<bound>\S+ \S+),(?: if this held: (?P<held>.+),)? "
    r"by (?:(?P<made>.+) and )?the reservations of takt budget for .+"
)
NOTHING = "nothing that was tried guarantees it"


class Terminal:
    """Runs commands in this process and reads what they print."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def run(self, *arguments: str | Path) -> tuple[int, str, str]:
        self._capture.readouterr()
        status = cli.main(list(map(str, arguments)))
        printed = self._capture.readouterr()
        assert status in (0, 1), printed.err
        return status, printed.out, printed.err

    def document(self, *arguments: str | Path) -> Json:
        document: Json = json.loads(self.run(*arguments, "--json")[1])
        return document


@pytest.fixture
def terminal(capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(capsys)


def with_goals(text: str, shares: tuple[int, ...], rotation: int) -> Json:
    """The model with goals that are shares of the present bounds, where there are bounds."""
    model: Json = json.loads(text)
    bounds = json.loads(takt_native.analyze(text, "model", "combined"))["chains"]
    for i, (chain, bound) in enumerate(zip(model["chains"], bounds, strict=True)):
        share = shares[(i + rotation) % len(shares)]
        chain["goal"] = bound["bound"] * share // 100 if bound["bound"] else None
    return model


def is_admitted(model: Json, cores: int) -> bool:
    """Whether the reservations are served: on their cores if they have some, else by the test of
    Goossens, Funk and Baruah; and the kernel takes them.
    """
    capacity = Fraction(CAPACITY, 100)
    executors = [e for e in model["executors"] if e["supply"]["kind"] == "reservation"]
    densities = [
        Fraction(e["supply"]["budget"], e["supply"].get("deadline") or e["supply"]["period"])
        for e in executors
        for _ in range(e.get("threads") or 1)
    ]
    if not densities:
        return True
    pinned = [e.get("cpu") for e in executors for _ in range(e.get("threads") or 1)]
    if all(core is not None for core in pinned):
        on_core: Counter[int] = Counter()
        for core, density in zip(pinned, densities, strict=True):
            on_core[core] += density  # type: ignore[assignment]
        return all(
            0 <= core < cores and Fraction(sum_) <= capacity for core, sum_ in on_core.items()
        )
    largest = max(densities)
    return (
        not any(core is not None for core in pinned)
        and largest <= capacity
        and sum(densities) <= cores * capacity
        and sum(densities) <= cores - (cores - 1) * largest
    )


def carry_out(terminal: Terminal, path: Path, cores: int) -> Counter[str]:
    """Carries out what `takt latency` advises for a model. Counts the kinds of advice."""
    found: Counter[str] = Counter()
    model: Json = json.loads(path.read_text())
    goals = {chain["id"]: chain["goal"] for chain in model["chains"] if chain.get("goal")}
    options = ("--cores", str(cores))
    chains = terminal.document("latency", path, *options)["chains"]
    met = [c["id"] for c in chains if c["id"] in goals and c["verdict"] == "met"]
    better = path.with_name("better.json")
    planned: Json | None = None
    changed_any = False
    for chain in chains:
        remedy = chain["remedy"]
        if remedy is None:
            continue
        if (by := CHANGES.fullmatch(remedy)) is not None:
            found["changes" if by["made"] else "wishes"] += 1
            (changes,) = shlex.split(by["made"] or by["held"])
            text = takt_native.change(path.read_text(), str(path), changes)
            bounds = terminal.document("analyze", path, "--what-if", changes)["chains"]
            changed_any = True
        elif (by := RESERVATIONS.fullmatch(remedy)) is not None:
            given = [
                one for words in (by["held"], by["made"]) if words for one in shlex.split(words)
            ]
            found["changes and reservations" if given else "reservations"] += 1
            if planned is None:
                changed = ("--what-if", ", ".join(given)) if given else ()
                planned = terminal.document("budget", path, *options, *changed, "-o", better)
            text = better.read_text()
            bounds = terminal.document("analyze", better)["chains"]
        else:
            assert remedy.startswith(NOTHING)
            found["nothing"] += 1
            continue
        bound_of = {entry["id"]: entry["bound"] for entry in bounds}
        assert bound_of[chain["id"]] <= goals[chain["id"]], remedy
        assert duration(bound_of[chain["id"]]) == by["bound"]
        for other in met:
            assert bound_of[other] <= goals[other], (other, remedy)
        changed = json.loads(text)
        assert is_admitted(changed, cores), remedy
        # What takt budget calls impossible, nobody calls guaranteed, and the other way round.
        again = path.with_name("again.json")
        again.write_text(text)
        planned_again = terminal.document("budget", again, *options)
        states = {entry["id"]: entry["state"] for entry in planned_again["chains"]}
        if remedy.startswith("kept"):
            found["kept"] += 1
            assert by["unreserved"], remedy
            assert states[chain["id"]] != "guaranteed", remedy
        else:
            assert states[chain["id"]] != "not possible", remedy
    # All advice holds together, as the command below the table has it.
    lines = [
        line
        for line in terminal.run("latency", path, *options)[2].splitlines()
        if "checked" in line
    ]
    assert len(lines) == (changed_any or planned is not None)
    for line in lines:
        program, command, *rest = shlex.split(line.split(": ", 2)[2])
        assert program == "takt"
        if command == "budget":
            rest[rest.index("-o") + 1] = str(better)
            terminal.run(command, *rest)
            continue
        bounds = terminal.document(command, *rest)["chains"]
        advised = [c["id"] for c in chains if c["remedy"] and not c["remedy"].startswith(NOTHING)]
        bound_of = {entry["id"]: entry["bound"] for entry in bounds}
        assert all(bound_of[chain] <= goals[chain] for chain in (*met, *advised))
    return found


@pytest.mark.parametrize("cores", [1, 2, 8])
def test_advice_on_random_models_does_what_it_says(
    terminal: Terminal, tmp_path: Path, cores: int
) -> None:
    found: Counter[str] = Counter()
    path = tmp_path / "model.json"
    for seed in range(20):
        text = takt_design.generate(
            seed,
            [KINDS[seed % len(KINDS)]],
            (1, 4),
            (4, 12),
            4,
            (15, 60),
            # Two processors have numbers.
            FEATURES | ({"cpu": 15} if cores > 1 else {}),
        )
        path.write_text(json.dumps(with_goals(text, SHARES, seed)))
        found += carry_out(terminal, path, cores)
    # One core has room for few reservations.
    kinds = ("changes", "reservations", "wishes") if cores > 1 else ("changes",)
    assert all(found[kind] > 0 for kind in kinds), found


@pytest.mark.parametrize("percent", [20, 40, 50, 80])
def test_advice_on_the_reference_system_does_what_it_says(
    terminal: Terminal, tmp_path: Path, percent: int
) -> None:
    model: Json = json.loads((MODELS / "autoware_reference_system.json").read_text())
    for chain in model["chains"]:
        chain["goal"] = chain["goal"] * percent // 100
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model))
    carry_out(terminal, path, 2)


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem.split(".")[0])
def test_advice_on_recordings_does_what_it_says(
    terminal: Terminal, tmp_path: Path, recording: Path
) -> None:
    path = tmp_path / "model.json"
    terminal.run("model", recording, "-o", path)
    path.write_text(json.dumps(with_goals(path.read_text(), SHARES, 0)))
    carry_out(terminal, path, 2)


def with_a_late_wake_up(model: Json) -> Json:
    """The reference system as a recording would show it in which executor Sensors once paused for
    5.45 ms before a run, and otherwise for 150 us at most, as in the model.
    """
    changed: Json = json.loads(json.dumps(model))
    sensors = next(e for e in changed["executors"] if e["id"] == "sensors")
    usual = sensors["overhead"][0]
    late = 5_450_000
    sensors["overhead"] = [late, late + usual]
    entry = {"of": "overhead", "id": "sensors", "value": late, "at": 3_210_000_000}
    changed["provenance"]["outliers"] = [{**entry, "without": [usual]}]
    return changed


def test_an_observation_that_makes_a_bound_is_named(terminal: Terminal, tmp_path: Path) -> None:
    """Without it, the bounds are those of the model as it is published."""
    model: Json = json.loads((MODELS / "autoware_reference_system.json").read_text())
    usual = terminal.document("analyze", MODELS / "autoware_reference_system.json")["chains"]
    bound_of = {chain["id"]: chain["bound"] for chain in usual}
    path = tmp_path / "model.json"
    path.write_text(json.dumps(with_a_late_wake_up(model)))
    chains = terminal.document("latency", path, "--cores", "2")["chains"]
    made = [chain for chain in chains if chain["outlier"]]
    assert {chain["bound"] is None for chain in made} == {False, True}
    for chain in made:
        outlier = chain["outlier"]
        bound = chain["bound"]
        assert outlier["bound"] == bound_of[chain["id"]] <= chain["goal"]
        assert bound is None or bound > chain["goal"]
        makes = (
            "is why there is no bound"
            if bound is None
            else f"makes {duration(bound - outlier['bound'])} of the {duration(bound)}"
        )
        assert outlier["text"] == (
            "one pause before a run of executor Sensors of 5.45 ms, 3.210 s after the start, "
            f"{makes}: without it the bound is {duration(outlier['bound'])}"
        )
        without = terminal.document("analyze", path, "--what-if", outlier["change"])["chains"]
        assert {c["id"]: c["bound"] for c in without} == bound_of
    assert "one pause before a run of executor Sensors" in " ".join(
        terminal.run("latency", path)[1].split()
    )
    page = tmp_path / "report.html"
    terminal.run("report", path, "-o", page)
    assert "one pause before a run of executor Sensors" in page.read_text()
    status, *said = terminal.run("budget", path, "--cores", "1")
    assert ("one pause before a run of executor Sensors" in " ".join(said)) == (status != 0)
    carry_out(terminal, path, 2)


def test_a_recording_says_which_observations_stand_out(terminal: Terminal, tmp_path: Path) -> None:
    """Of each, the model has the value, and the curve without it is at least a fifth below."""
    path = tmp_path / "model.json"
    terminal.run("model", ROOT / "tests" / "recordings" / "autoware.tar.xz", "-o", path)
    model: Json = json.loads(path.read_text())
    outliers = model["provenance"]["outliers"]
    assert outliers
    curves = {("overhead", e["id"]): e["overhead"] for e in model["executors"]}
    for callback in model["callbacks"]:
        curves["execution_time", callback["id"]] = callback["execution_time"]["curve"]
        if callback["suspension"]:
            curves["suspension", callback["id"]] = callback["suspension"]["curve"]
    for entry in outliers:
        assert 0 <= entry["at"] <= model["provenance"]["duration"]
        if entry["of"] in ("overhead", "execution_time", "suspension"):
            curve = curves[entry["of"], entry["id"]]
            assert curve[0] == entry["value"]
            assert entry["without"][0] * 5 < entry["value"] * 4
            pairs = zip(entry["without"], curve, strict=False)
            assert all(without <= value for without, value in pairs)


def test_what_takt_budget_says_is_needed_is_enough(terminal: Terminal, tmp_path: Path) -> None:
    tried = 0
    path = tmp_path / "model.json"
    for seed in range(30):
        text = takt_design.generate(
            seed, [KINDS[seed % len(KINDS)]], (2, 4), (4, 12), 4, (15, 60), FEATURES
        )
        model = with_goals(text, SHARES, seed)
        if not any(chain["goal"] for chain in model["chains"]):
            continue
        path.write_text(json.dumps(model))
        chains = terminal.document("budget", path, "--cores", "1")["chains"]
        first = next((chain["id"] for chain in chains if not chain["met"]), None)
        for line in terminal.run("budget", path, "--cores", "1")[2].splitlines():
            if line.startswith("takt: possible with: "):
                _, *command = shlex.split(line.removeprefix("takt: possible with: "))
                after = {c["id"]: c["met"] for c in terminal.document(*command)["chains"]}
                assert after[first], line
                tried += 1
    assert tried > 20


def test_without_advice_there_is_no_command(terminal: Terminal) -> None:
    assert (
        "checked for" not in terminal.run("analyze", MODELS / "autoware_reference_system.json")[2]
    )


@pytest.mark.parametrize("standing", [Standing.UNSECURED, Standing.VIOLATED])
def test_what_had_to_share_processors_gets_advice_and_what_is_not_understood_none(
    standing: Standing,
) -> None:
    """On two cores an executor more has no processor of its own, so it comes with reservations."""
    text = ModelText((MODELS / "delivery_robot.json").read_text(), "delivery_robot.json")
    evaluation = inputs.evaluate(inputs.Given(model=text), pipeline.DEFAULT_ANALYSIS)
    (judged,) = verdict.judge(evaluation.model, evaluation.bounds, None)
    finding = Finding(Subject.SUPPLY, standing, "it had a processor to itself", None)
    late = replace(judged, status=verdict.Status.VIOLATED, findings=(finding,))
    advice = remedies.find(text, evaluation.model, [late], cores=2)
    if standing is Standing.VIOLATED:
        assert advice.verdicts[0].remedy is None
        return
    assert advice.changes == ("split(map_saver)",)
    remedy = advice.verdicts[0].remedy
    assert remedy is not None
    assert "by 'split(map_saver)' and the reservations of takt budget for 2 cores" in remedy
