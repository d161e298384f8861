"""takt experiment all: every table and figure, with verdicts that follow from results."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from takt import cli
from takt.commands.experiment import ALL, experiment
from takt.errors import UserError
from takt.processes import supervision
from takt.reproduction import catalogue, document, drawings, judged, page, runs, verdict
from takt.reproduction.catalogue import Document, Item, Kind
from takt.reproduction.verdict import Verdict
from takt.trials import experiments
from takt.trials.experiments import Experiment, Row

Json = dict[str, Any]

DOCUMENTS = catalogue.read()
YES, SOME, NO = Verdict.REPRODUCED, Verdict.TENDENCY, Verdict.NOT

QUICK = (
    "edf-case-study",
    "edf-two-chains",
    "events-executor-schedulability",
    "latency-shaping",
    "reservation-period",
    "rta-synthetic-graph",
    "rta-turtlebot",
)
"""Simulations and analyses that take a second."""

NUMBERED_TOGETHER = {"ros-llama"}
"""One row of numbers for tables, figures and listings."""


@pytest.mark.parametrize("found", DOCUMENTS, ids=lambda found: found.id)
def test_no_table_and_no_figure_is_left_out(found: Document) -> None:
    """Numbers of a chapter go from 1 on without a gap, each once."""
    names = [item.name for item in found.items]
    assert max(Counter(names).values()) == 1
    numbers: dict[tuple[str, str], list[int]] = {}
    for name in names:
        kind, number = name.split(" ")
        chapter, _, place = number.rpartition(".")
        kind = "" if found.id in NUMBERED_TOGETHER else kind
        numbers.setdefault((kind, chapter), []).append(int(place))
    for group, listed in numbers.items():
        assert listed == list(range(1, len(listed) + 1)), group


def test_the_documents_have_what_their_lists_have() -> None:
    """Counted in the documents' own lists of tables and figures."""
    counted = {
        found.id: (
            sum(item.name.startswith("Figure") for item in found.items),
            sum(item.name.startswith("Table") for item in found.items),
        )
        for found in DOCUMENTS
    }
    assert counted == {
        "ros-llama": (35, 3),
        "edf-executor": (4, 3),
        "performance-engineering": (38, 8),
        "component-cps": (31, 3),
        "message-flow": (19, 4),
    }


def test_each_experiment_is_of_one_document() -> None:
    named = [name for found in DOCUMENTS for name in found.experiments]
    assert sorted(named) == [each.name for each in experiments.all_experiments()]
    for found in DOCUMENTS:
        for item in found.items:
            if item.kind in (Kind.EXPERIMENT, Kind.INPUT):
                assert item.experiment in found.experiments, item.name
            assert bool(item.why) == (item.kind in (Kind.MISSING, Kind.CANNOT)), item.name
            assert not item.lacks or item.kind is Kind.EXPERIMENT


def results_of(names: tuple[str, ...]) -> list[runs.Result]:
    found = []
    for name in names:
        experiment = experiments.find(name)
        rows = [json.loads(json.dumps(vars(row))) for row in experiment.run()]
        lines = runs._together([rows])
        found.append(runs.Result(experiment, lines, "", 1.0, False, (runs.Noise(0.5, 0.1),)))
    return found


@pytest.fixture(scope="module")
def quick() -> list[judged.JudgedDocument]:
    return judged.judge(DOCUMENTS, results_of(QUICK))


def test_rows_name_places_that_the_documents_have(quick: list[judged.JudgedDocument]) -> None:
    assert [each.unknown for each in quick] == [()] * len(DOCUMENTS)


def test_every_published_row_gets_a_verdict(quick: list[judged.JudgedDocument]) -> None:
    """Words have a meaning, and each table or figure of an experiment has rows."""
    lines = 0
    for each in quick:
        for item in each.items:
            if item.item.experiment in QUICK and item.item.kind is Kind.EXPERIMENT:
                assert item.lines, item.item.name
        for line in (*each.claims, *(line for item in each.items for line in item.lines)):
            assert line.verdict in (YES, SOME, NO), line.line.what
            lines += 1
    assert lines > 50


def test_verdicts_of_what_is_known(quick: list[judged.JudgedDocument]) -> None:
    """By the tables of the experiments' READMEs."""
    found = {
        (each.document.id, item.item.name): item.verdict for each in quick for item in each.items
    }
    assert found["component-cps", "Table 3.1"] is YES  # to a hundredth of a millisecond
    assert found["edf-executor", "Table 2"] is SOME  # no real threads, and three rows differ
    assert found["ros-llama", "Figure 6.4"] is SOME  # (a) as published, (b) the shape alone
    assert found["component-cps", "Figure 4.1"] is Verdict.CANNOT
    assert found["performance-engineering", "Table 4.3"] is YES  # each slot as printed
    assert found["performance-engineering", "Figure 4.7"] is YES  # the shape, which words tell
    assert found["component-cps", "Table 3.2"] is None


@pytest.mark.parametrize(
    ("published", "ours", "expected"),
    [
        (100.0, [90.0], YES),
        (100.0, [89.0], SOME),
        (100.0, [50.0], SOME),
        (100.0, [49.0], NO),
        (100.0, [201.0], NO),
        (-6.0, [-6.5], YES),
        (-6.0, [6.0], NO),
        (0.0, [0.0], YES),
        (0.0, [1.0], NO),
        (100.0, [91.0, 109.0], YES),
        (100.0, [60.0, 120.0], SOME),  # a wide range reproduces nothing
        (100.0, [10.0, 100.0, 300.0], NO),
        ("about 50", [50.0, 70.0], SOME),
        ("30 to 45 %", [40.0, 90.0], NO),
        (100.0, [40.0, 60.0], NO),
        (14, [14], YES),
        ("< 10", [9.0], YES),
        ("< 10", [10.0], SOME),
        ("< 10", [12.0], NO),
        ("< 25 ms", [9.0, 30.0], NO),  # every run must keep a limit
        ("≥ 250", [250], YES),
        ("≥ 250", [230], SOME),
        ("≤ 0.1", [0.0], YES),
        ("> 0", [0.0], SOME),
        ("about 50", [54.0], YES),
        ("around 670", [400.0], SOME),
        ("100 to 999", [100.0], YES),
        ("100 to 999", [95.0], SOME),
        ("100 to 999", [20.0], NO),
        ("30 to 45 %", [40.0], YES),
        ("converge", ["converge"], YES),
        ("converge", ["diverge"], NO),
        ("misses", ["misses", "misses"], YES),
        ("misses", ["meets", "misses"], NO),
        ("0/7989", ["0 of 300"], YES),
        ("0/7989", ["1 of 300"], NO),
        ("66/5429", ["0 of 300"], NO),
        ("10/100", ["20 of 210"], YES),
        ("10/100", ["90 of 100"], SOME),
        ("3/10", ["0 of 0"], Verdict.OPEN),
        ("[450,451]", ["[493,494]"], YES),
        ("[450,451]", ["[700,701]"], SOME),
        ("3, 6, 9", ["3, 6"], NO),
        ("as without", [7.0], Verdict.OPEN),  # words without a meaning are never a success
        (100.0, ["nothing arrived"], Verdict.OPEN),
    ],
)
def test_a_verdict_on_a_row(
    published: verdict.Value, ours: list[verdict.Value], expected: Verdict
) -> None:
    assert verdict.of_row(published, ours) is expected


def test_of_a_quotient_the_distance_from_one_counts() -> None:
    for ours, expected in ((1.064, YES), (1.10, SOME), (1.155, NO), (0.98, NO)):
        assert verdict.of_row(1.06, [ours], unit=experiments.RATIO) is expected
    assert verdict.of_row(1.06, [1.155]) is YES  # which it is not, as a quotient


def test_what_cannot_be_measured_is_never_a_success() -> None:
    assert verdict.of_row(30.0, [30.0], cannot=True) is Verdict.CANNOT


@pytest.mark.parametrize(
    ("rows", "is_whole", "expected"),
    [
        ([YES, YES], True, YES),
        ([YES, YES], False, SOME),
        ([YES, SOME], True, SOME),
        ([YES, NO], True, SOME),
        ([YES, NO, NO], True, NO),
        ([YES, Verdict.CANNOT], True, SOME),
        ([Verdict.CANNOT], True, Verdict.CANNOT),
        ([Verdict.OPEN], True, Verdict.OPEN),
        ([], True, Verdict.OPEN),
    ],
)
def test_a_verdict_on_a_table(rows: list[Verdict], is_whole: bool, expected: Verdict) -> None:
    assert verdict.of_item(rows, is_whole) is expected


def test_only_published_words_have_another_meaning() -> None:
    with pytest.raises(ValueError, match="only published words"):
        Row("a", 1.0, 1.0, place="Table 1", meaning="> 0")


def test_a_figure_and_what_is_drawn_for_it_belong_together() -> None:
    for more in ({"figure": "Figure 1"}, {"samples": (1.0,)}, {"spans": (("a", 0.0, 1.0),)}):
        with pytest.raises(ValueError, match="belong together"):
            Row("a", None, 1.0, **more)


def test_of_many_samples_the_extremes_are_kept() -> None:
    assert experiments.drawn([3.0, 1.0, 2.0]) == (1.0, 2.0, 3.0)
    many = experiments.drawn(range(10_001))
    assert (len(many), many[0], many[100], many[-1]) == (201, 0, 5000, 10_000)


def line(what: str, published: verdict.Value, place: str, *values: verdict.Value) -> runs.Line:
    return runs.Line(what, published, place, "ms", None, None, "", values)


@pytest.fixture
def made(tmp_path: Path) -> tuple[Document, list[runs.Result]]:
    """A document and an experiment of it, with names that a page must not take for its own."""
    (tmp_path / "README.md").write_text("# A <title>\n\nWhat <b>differs</b> & why.\n")
    found = Document(
        "paper",
        "A. <Author>",
        "On & on",
        "2022",
        ("odd",),
        (
            Item("Table 1", "times", Kind.EXPERIMENT, "odd"),
            Item("Figure 1", "layers", Kind.ILLUSTRATION),
            Item("Figure 2", "more", Kind.CANNOT, why="a <robot>"),
        ),
    )
    lines: tuple[runs.Line, ...] = (
        line("<script>x</script>", 10.0, "section 1, with Table 1", 9.0, 11.0, 10.5),
        line("elsewhere", 1.0, "Table 9", 1.0),
        line("in the text", "all", "section 2", "none"),
    )
    lines += (
        replace(line("<curve>", "", ""), published=None, figure="Figure 2", samples=(1.0, 3.0)),
        replace(
            line("a schedule", "", ""),
            published=None,
            figure="Table 8",
            spans=(("<lane>", 0.0, 1.5), ("other", 1.5, 2.0)),
        ),
    )
    noise = (runs.Noise(1.5, 2.5),) * 3
    result = runs.Result(Experiment("odd", tmp_path), lines, "", 12.0, True, noise)
    return found, [result]


class Reader(HTMLParser):
    """The elements of a page, and whether each that is opened is closed."""

    VOID = frozenset({"meta", "rect", "line", "circle"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags[tag] += 1
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags[tag] += 1

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_has_everything_and_runs_nothing(
    made: tuple[Document, list[runs.Result]],
) -> None:
    found, results = made
    told = document.origin(full=True, times=3)
    (paper,) = judged.judge([found], results)
    paper = replace(paper, unknown=(*paper.unknown, "<script>y</script>\x1b"))
    text = page.render(told, [paper], results)
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    assert not {"script", "b>differs", "link", "img", "iframe"} & set(reader.tags)
    assert "src=" not in text
    assert "http" not in text.replace("http-equiv", "")
    assert "default-src 'none'" in text
    assert "\x1b" not in text
    for words in (
        "<script>x</script>",
        "a <robot>",
        "Rows name places that the list lacks: Table 8, Table 9",
        "<curve>",
        "9 to 11",
        "reproduced",
        "What <b>differs</b> & why.",
        "2.5 ms",
    ):
        assert words in reader.text, words
    # From 1 of the lower to all of the higher, in a step for each.
    (points,) = re.findall('<polyline points="([^"]*)"', text)
    heights = [float(point.split(",")[1]) for point in points.split()]
    assert heights == [200.0, 100.0, 100.0, 0.0]


def test_a_schedule_has_a_line_for_each_that_runs() -> None:
    spans = (("first", 0.0, 1.5), ("<second>", 1.5, 2.0), ("first", 2.0, 2.5))
    drawn = replace(line("example", "", ""), published=None, figure="Figure 1", spans=spans)
    reader = Reader()
    reader.feed(drawings.of([drawn]))
    assert reader.open == []
    assert reader.tags["rect"] == 3
    assert reader.text.count("first") == reader.text.count("<second>") == 1


def test_the_document_says_the_same(made: tuple[Document, list[runs.Result]]) -> None:
    found, results = made
    told = document.origin(full=False, times=3)
    (paper,) = document.document(told, judged.judge([found], results), results)["documents"]
    assert paper["unknown_places"] == ["Table 8", "Table 9"]
    assert [len(item["drawn"]) for item in paper["items"]] == [0, 0, 1]
    assert [item["verdict"] for item in paper["items"]] == ["reproduced", None, "cannot be here"]
    (row,) = paper["items"][0]["rows"]
    assert (row["ours"], row["range"], row["published"]) == (10.5, [9.0, 11.0], 10.0)
    assert [claim["verdict"] for claim in paper["claims"]] == ["not reproduced"]


def test_all_of_them_are_run_and_one_that_fails_costs_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def rows(name: str, full: bool) -> tuple[list[Json], str]:
        asked.append(name)
        if name == "data-aging":
            return [], "no processor"
        return [json.loads(json.dumps(vars(Row("a", None, 1.0))))], ""

    monkeypatch.setattr(runs, "_rows", rows)
    monkeypatch.setattr(runs, "WATCHED", 0.0)
    written = tmp_path / "page.html"
    status = cli.main(["experiment", "all", "--runs", "2", "--json", "-o", str(written)])
    assert status == cli.ANSWER_IS_NO
    names = [each.name for each in experiments.all_experiments()]
    assert Counter(asked) == {name: 1 if name == "data-aging" else 2 for name in names}
    told = json.loads(capsys.readouterr().out)
    failures = {each["name"]: each["failure"] for each in told["experiments"]}
    assert failures == {name: "no processor" if name == "data-aging" else None for name in names}
    assert re.search('Figure&nbsp;6.15</td>.{0,80}<td><span class="open">', written.read_text())


def test_options_of_the_page_are_for_all() -> None:
    assert cli.main(["experiment", "rta-turtlebot", "--runs", "2"]) == cli.BAD_INPUT
    assert cli.main(["experiment", "all"]) == cli.BAD_INPUT


def test_a_page_that_cannot_be_written_is_said_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for options in (["-o", f"{tmp_path}/file/page.html"], ["-o", str(tmp_path)]):
        with pytest.raises(UserError, match="cannot be written"):
            experiment(ALL, output=options[1])
    with pytest.raises(UserError, match="both want standard output"):
        experiment(ALL, output="-", json=True)


STARTS_OTHERS = """#!/bin/sh
sleep 1000 & echo $! > {folder}/left
(trap '' INT TERM; sleep 1000 & echo $! > {folder}/stubborn; wait)
"""


def is_running(file: Path) -> bool:
    stat = Path(f"/proc/{file.read_text().strip()}/stat")
    return stat.exists() and stat.read_text().split()[2] not in "ZX"


def wait_for(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_an_experiment_that_takes_too_long_leaves_nothing_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "python"
    script.write_text(STARTS_OTHERS.format(folder=tmp_path))
    script.chmod(0o755)
    monkeypatch.setattr(runs, "LONGEST", 2)
    monkeypatch.setattr(sys, "executable", str(script))
    monkeypatch.setattr(supervision, "PATIENCE", 0.5)
    rows, failure = runs._rows("x", False)
    assert (rows, "took longer" in failure) == ([], True)
    assert not is_running(tmp_path / "left")
    assert not is_running(tmp_path / "stubborn")


def test_an_experiment_that_is_ended_leaves_nothing_running(tmp_path: Path) -> None:
    folder = tmp_path / "experiments" / "x"
    folder.mkdir(parents=True)
    (folder / "README.md").write_text("# X\n")
    (tmp_path / "start").write_text(STARTS_OTHERS.format(folder=tmp_path))
    words = ["sh", str(tmp_path / "start")]
    (folder / "run.py").write_text(
        f"import subprocess\ndef run():\n    subprocess.run({words}, check=True)\n    return []\n"
    )
    program = (
        "import pathlib, sys; from takt import cli; from takt.trials import experiments; "
        f"experiments.ROOT = pathlib.Path({str(folder.parent)!r}); "
        "sys.exit(cli.main(['experiment', 'x']))"
    )
    with subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE) as running:
        wait_for(
            lambda: all(
                (tmp_path / name).is_file() and (tmp_path / name).read_text()
                for name in ("left", "stubborn")
            )
        )
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=60)
    assert running.returncode == cli.INTERRUPTED
    assert not is_running(tmp_path / "left")
    assert not is_running(tmp_path / "stubborn")
