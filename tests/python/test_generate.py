"""Whatever the generator makes every command takes, and what one refuses all refuse alike."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from jsonschema import Draft202012Validator

import takt_design
import takt_native
from robot import run_takt
from takt import documents, pipeline
from takt.documents import Executor, Model
from takt.errors import UserError
from takt.report import modelled, view
from takt.verdicts import verdict

MODELS = 60
MUTATIONS = 1500
KINDS = [kind for kind in get_args(get_type_hints(Executor)["kind"]) if kind != "event_source"]
EVERYTHING = {name: chance for name, _, _, chance in takt_design.model_features()}

Json = dict[str, Any]


def generated(seed: int) -> str:
    return takt_design.generate(seed, KINDS, (1, 4), (2, 12), 4, (5, 60), EVERYTHING)


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    text = (resources.files("takt") / "schemas" / "model.schema.json").read_text("utf-8")
    return Draft202012Validator(json.loads(text))


def is_planned_or_refused(text: str) -> bool:
    """A plan names callbacks by node and topic; where that tells nothing, one line says so."""
    try:
        return bool(pipeline.plan(text, "model", {})["format"] == "takt/plan")
    except takt_native.InputError as refusal:
        line = str(refusal)
    return line.startswith("model: ") and "\n" not in line


@pytest.mark.parametrize("seed", range(MODELS))
def test_every_reader_takes_every_model(seed: int, schema: Draft202012Validator) -> None:
    text = generated(seed)
    schema.validate(json.loads(text))
    normalised, _ = takt_native.parse_model(text, "model")
    assert normalised == text
    model = documents.parse(Model, text, "model")
    # Python's types lose nothing.
    assert json.loads(documents.to_json(model)) == json.loads(text)
    bounds = pipeline.analyze(text, "model")
    assert [bound.id for bound in bounds.callbacks] == [each.id for each in model.callbacks]
    simulation = pipeline.simulate(text, "model", {"duration": 10**9, "timeline": 50})
    assert [each.id for each in simulation.chains] == [each.id for each in model.chains]
    verdicts = verdict.judge(model, bounds, None)
    index, _ = modelled.document(model, bounds, None)
    view.complete(index, model, bounds, None, verdicts, "model")
    assert [each["bound"] for each in index["chains"]] == [each.bound for each in bounds.chains]
    assert is_planned_or_refused(text)


def test_the_command_line_takes_what_it_makes(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    kinds = [argument for kind in KINDS for argument in ("--kind", kind)]
    made = run_takt("generate", "--seed", "3", "--everything", *kinds, "-o", path)
    assert made.returncode == 0, made.stderr
    again = run_takt("generate", "--seed", "3", "--everything", *kinds, "--json")
    assert again.stdout == path.read_text("utf-8")
    for command in (
        ("analyze", "--json"),
        ("simulate", "--json", "--duration", "1"),
        ("diff", path, "--json"),
        ("analyze", "--sensitivity", "--json"),
    ):
        done = run_takt(command[0], path, *command[1:])
        assert done.returncode in (0, 1), done.stderr
        json.loads(done.stdout)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--feature", "joy=1"), 'takt: feature: there is no "joy"'),
        (("--feature", "join"), "takt: --feature join: must be NAME=PERCENT"),
        (("--feature", "join=101"), "takt: feature join: 101 is not between 0 and 100 percent"),
        (("--kind", "magic"), 'takt: kind: "magic" is no kind of executor to choose'),
    ],
)
def test_mistakes(arguments: tuple[str, ...], line: str) -> None:
    done = run_takt("generate", "--seed", "1", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(line)
    assert done.stderr.count("\n") == 1


READERS: dict[str, Callable[[str], object]] = {
    "parse": lambda text: takt_native.parse_model(text, "m.json"),
    "types": lambda text: documents.parse(Model, text, "m.json"),
    "report": lambda text: documents.parse_any(text, "m.json"),
    "analyze": lambda text: pipeline.analyze(text, "m.json"),
    "explain": lambda text: pipeline.explain(text, "m.json", "chain0"),
    "sensitivity": lambda text: pipeline.sensitivity(text, "m.json"),
    "simulate": lambda text: pipeline.simulate(text, "m.json", {"duration": 1000}),
    "plan": lambda text: pipeline.plan(text, "m.json", {}),
    "analyzer": lambda text: takt_native.Analyzer(text, "m.json", "combined"),
}


def places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The paths of everything in a document."""
    if path:
        yield path
    if isinstance(value, dict):
        for name, member in value.items():
            yield from places(member, (*path, name))
    elif isinstance(value, list):
        for position, element in enumerate(value):
            yield from places(element, (*path, position))


def mutated(document: Json, choose: random.Random) -> Json:
    """A copy in which one thing is another, or missing."""
    result = copy.deepcopy(document)
    *parents, last = choose.choice(list(places(result)))
    target: Any = result
    for step in parents:
        target = target[step]
    values: list[object] = [
        None,
        -1,
        0,
        2,
        1.5,
        10**16,
        2**64,
        True,
        "",
        "c0",
        "e0",
        "edf",
        [],
        {},
        [0],
        ["c1"],
    ]
    if choose.random() < 0.2:
        del target[last]
    else:
        target[last] = choose.choice(values)
    return result


def test_what_one_refuses_all_refuse_with_the_same_line(schema: Draft202012Validator) -> None:
    choose = random.Random(1)
    refused = 0
    refused_by_schema = 0
    lines = set()
    for seed in range(MUTATIONS):
        document = mutated(json.loads(generated(seed % MODELS)), choose)
        text = json.dumps(document)
        if document.get("format") != "takt/model":
            continue  # a report takes other formats too
        try:
            takt_native.parse_model(text, "m.json")
        except takt_native.InputError as error:
            line = str(error)
        else:
            assert schema.is_valid(document), text
            documents.parse(Model, text, "m.json")
            continue
        refused += 1
        lines.add(line)
        refused_by_schema += not schema.is_valid(document)
        assert line.startswith("m.json: ")
        assert "\n" not in line
        for name, read in READERS.items():
            with pytest.raises((UserError, takt_native.InputError)) as refusal:
                read(text)
            assert str(refusal.value) == line, name
    assert refused > MUTATIONS / 3
    assert len(lines) > 100
    # A schema cannot express wrong references and contradictory curves.
    assert refused_by_schema > refused * 0.7
