"""What comes from outside, or fails beside us, is one line: never an internal error or a hang."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import takt_native
from takt.arguments import BadParameter
from takt.commands import apply
from takt.documents import ChainBound
from takt.errors import UserError
from takt.exports import latency_series
from takt.handoff import expressions, yaml_file
from takt.live import bridging, managing, watching
from takt.processes import control, runtime
from takt.recordings import recording
from takt.report import graph, server, stored
from takt.shaping import gate_process
from takt.story import recorded
from takt.text import times
from takt.text.terminal import Part, Table, plain
from takt.verdicts import differences, tables

ROOT = Path(__file__).parents[2]
SECOND = latency_series.SECOND


def shown(parts: list[Part]) -> str:
    lines = (part.lines(200) if isinstance(part, Table) else [part] for part in parts)
    return plain("\n".join(itertools.chain.from_iterable(lines)))


def test_a_gap_has_one_diagnostic() -> None:
    """Instances in the first second, a million seconds later and two seconds after that."""
    ends = [5, 10**6 * SECOND + 7, (10**6 + 2) * SECOND + 9]
    rows = [{"chain": "c", "end": end, "latency": 3, "complete": True, "parts": {}} for end in ends]
    found = list(latency_series._messages(rows, {"c": None}))
    times_ = [time for time, _, _ in found]
    assert times_ == sorted(times_)
    told = [message["status"][0]["values"][0]["value"] for _, name, message in found if not name]
    assert told == ["1", "0", "1", "0", "1"]
    # Each instance is told at the end of its second.
    for end, (told_at, _, _) in zip(ends, [one for one in found if not one[1]][::2], strict=True):
        assert 0 < told_at - end <= SECOND


@pytest.mark.parametrize(
    "text",
    ["0**-1", "x + 0**-1", "sqrt(-1)", "Max(x, sqrt(-1))", "log(-1)*x", "1 / 0", "asin(2.0)"],
)
def test_expressions_without_a_value_are_refused(text: str) -> None:
    import sympy

    with pytest.raises(UserError, match=r"^here: "):
        expressions.parse(text, {"x": sympy.Symbol("x", real=True)}, "here")


@pytest.mark.parametrize("text", ["? [a]\n: 1", "? {a: 1}\n: 1", "a: 0x" + "f" * 10_000])
def test_plant_files_that_are_no_mappings_of_names_are_refused(text: str) -> None:
    with pytest.raises(UserError, match=r"^plant\.yaml:1: [^\n]*$"):
        yaml_file.load(text, "plant.yaml")


@pytest.mark.parametrize("text", ["9" * 400 + "s", "1" + "0" * 5000 + "ms", "9" * 16 + "ns"])
def test_times_of_any_length_are_refused(text: str) -> None:
    with pytest.raises(BadParameter) as refused:
        times.parse(text, "--grid")
    assert refused.value.param_hint == "--grid"
    with pytest.raises(UserError, match="at most"):
        yaml_file.Section({"time": text}, "here").time("time")
    assert times.parse("1000000s", "--grid") == times.LONGEST


def test_a_goal_that_is_missed_at_an_equal_bound_is_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    bounds = [
        ChainBound(id="c", bound=9, goal=goal, met=met) for goal, met in ((9, True), (8, False))
    ]
    (change,) = differences.changes(bounds[:1], bounds[1:])
    assert change["worse"]
    differences.print_changes("Chains", [change])
    said = capsys.readouterr().out
    assert "misses its goal now" in said
    assert "0 of 1 unchanged" in said


def test_a_question_with_an_impossible_number_is_a_bad_request(tmp_path: Path) -> None:
    traces = [str(ROOT / "tests" / "recordings" / "autoware.tar.xz")]
    takt_native.store_view(traces, takt_native.synthesize(traces, "{}"), "m", str(tmp_path), False)
    view = takt_native.StoredView.open(str(tmp_path))
    served = server.Server("", view)
    threading.Thread(target=served.serve_forever, daemon=True).start()
    import http.client

    try:
        for question in ("tile?level=3000000000&number=0", "area?from=0&to=1&tracks=" + "9" * 30):
            connection = http.client.HTTPConnection(server.HOST, served.server_port)
            connection.request("GET", f"/{served.token}/{question}")
            assert connection.getresponse().status == 400
            connection.close()
    finally:
        served.shutdown()
        served.server_close()


def test_indexes_that_nobody_opens_make_room(tmp_path: Path) -> None:
    ages = {"0" * 32: 2 * stored.UNUSED, "1" * 32: stored.UNUSED // 2, "mine": 2 * stored.UNUSED}
    for name, age in ages.items():
        index = tmp_path / name / stored.INDEX
        index.parent.mkdir()
        index.touch()
        os.utime(index, (time.time() - age,) * 2)
    stored._forget_unused(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1" * 32, "mine"]


def test_names_of_goals_are_no_markup() -> None:
    document = {
        "events": 0,
        "seconds": 1.0,
        "backend": "ring",
        "lost": {"events": 0, "programs": 0},
        "chains": [],
        "alerts": [],
        "unseen": [],
        "executors": [],
        "goals_not_found": [{"name": "[red]x[/]", "reason": "no [/node]"}],
    }
    assert "[red]x[/]: no [/node]" in shown(watching.view(document))


def test_a_measurement_above_its_bound_is_marked() -> None:
    chain = {"id": "pilot", "rate": 10.0, "p50": 5, "p99": 9, "max": 218_000_000, "worst": 10**9}
    chain |= {"goal": None, "kind": "latency", "missed": 0}
    document = {
        "events": 1,
        "seconds": 1.0,
        "lost": {"events": 0, "programs": 0},
        "chains": [chain | {"bound": 22_900_000}],
        "alerts": [],
        "executors": [],
        "goals_not_found": [],
        "unseen": [],
    }
    said = "pilot: 218 ms is above the bound, 22.9 ms: "
    assert said in shown(watching.view(document))
    for bound in (218_000_000, None):
        document["chains"] = [chain | {"bound": bound}]
        assert "above the bound" not in shown(watching.view(document))


def test_terms_of_a_later_version_keep_their_names() -> None:
    assert tables.term_in_words("magic", "/a") == "magic"
    assert tables.term_in_words("execution", "{x}") == "{x} itself"


def test_a_chain_of_two_lines_stays_a_comment() -> None:
    from robot import changed, model, raw

    renamed = model(changed(raw("model"), "chains", 0, "id", value="a\n  evil -> evil"))
    lines = graph.dot(renamed, renamed.chains).splitlines()
    assert "  // chain 0: a   evil -&gt; evil" in lines


@pytest.mark.parametrize("file", ["photos/metadata", "trace/metadata"])
def test_the_demo_removes_recordings_alone(tmp_path: Path, file: str) -> None:
    kept = tmp_path / "before" / file
    kept.parent.mkdir(parents=True)
    kept.touch()
    with pytest.raises(UserError, match="has no trace of a demo"):
        recorded.clear(tmp_path / "before")
    assert kept.exists()
    trace = tmp_path / "before" / "trace" / "ust" / "uid" / "0" / "64-bit" / "metadata"
    trace.parent.mkdir(parents=True)
    trace.touch()
    recorded.clear(tmp_path / "before")
    assert not (tmp_path / "before").exists()


def test_fates_are_those_of_the_viewer() -> None:
    text = (ROOT / "web" / "src" / "data" / "format.ts").read_text()

    def listed(name: str) -> tuple[str, ...]:
        found = re.search(rf"export const {name} = \[(.*?)\] as const", text, re.DOTALL)
        assert found is not None
        return tuple(re.findall(r"'([^']+)'", found[1]))

    assert listed("FATES") == recording.FATES


CHATTER = """
import json, sys, threading
line = json.dumps({"event": "notice", "text": "x"})
over = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
for _ in range(1_000_000):
    if over.is_set():
        print(json.dumps({"event": "stopped"}))
        break
    print(line, flush=True)
"""


def test_a_bridge_that_never_stops_talking_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridging, "PATIENCE", 120)  # it has to start first
    read, write = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", CHATTER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as program:
        stopped, complaint = bridging._follow(program, read, 0.0, lambda _: None)
    os.close(read)
    os.close(write)
    assert (stopped, complaint) == ({"event": "stopped"}, "")


GATE = """
import json, sys
sys.stderr.write("x" * 1_000_000 + "\\n")
print(json.dumps({"event": "connected", "refusal": None}), flush=True)
sys.stdin.read()
print(json.dumps({"event": "stopped", "released": 3}), flush=True)
sys.stderr.write("takt-gate: the last word\\n")
raise SystemExit(int(sys.argv[1]))
"""


@pytest.mark.parametrize("status", [0, 1])
def test_a_gate_may_say_much(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, status: int) -> None:
    program = tmp_path / "gate"
    program.write_text(f"#!{sys.executable}\nimport sys; sys.argv[1] = '{status}'\n{GATE}")
    program.chmod(0o755)
    monkeypatch.setattr(runtime, "gate", lambda: program)
    monkeypatch.setattr(gate_process, "settings", lambda *_: {})
    plan: Any = type("Plan", (), {"chains": [type("Chain", (), {"id": "c"})], "method": None})
    with gate_process.Gates(plan, 0) as gates:
        assert gates.wait_connected(60.0)
        if status == 0:
            assert gates.results() == [{"chain": "c", "released": 3}]
            return
        with pytest.raises(UserError, match=r'^the gate of chain "c": the last word$'):
            gates.results()
    # It is told as often as one asks.
    with pytest.raises(UserError, match="the last word"):
        gates.results()


def test_applying_a_plan_ends_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look takes ten seconds."""
    now = 0.0
    looks = 0

    class Gates:
        def wait_connected(self, _: float) -> bool:
            nonlocal now, looks
            now += 10
            looks += 1
            return True

        def refusals(self) -> list[str]:
            return []

    monkeypatch.setattr("takt.commands.apply.time.monotonic", lambda: now)
    ended = threading.Event()
    monkeypatch.setattr(ended, "wait", lambda _: False)
    apply._wait(Gates(), ended, 30.0)  # type: ignore[arg-type]
    assert looks == 1 + 3


def test_applying_a_plan_waits_for_publishers_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look takes ten seconds, and nobody ever publishes."""
    now = 0.0

    class Gates:
        def wait_connected(self, _: float) -> bool:
            nonlocal now
            now += 10
            assert now <= 30, "it waits on"
            return False

    monkeypatch.setattr("takt.commands.apply.time.monotonic", lambda: now)
    apply._wait(Gates(), threading.Event(), 30.0)  # type: ignore[arg-type]
    assert now == 30


def test_a_manager_that_ends_while_its_status_is_published_is_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The last word of the manager is what is returned."""

    class Publisher:
        def is_due(self) -> bool:
            return True

        def publish(self, _: Any) -> None:
            raise AssertionError

        def end(self) -> None:
            pass

    class Program:
        def __init__(self, _program: Path, _settings: Any, hear: Any) -> None:
            self.hear = hear

        def listen(self) -> bool:
            self.hear({"event": "failed", "reason": "the guard was killed"})
            return False

        def end(self) -> None:
            pass

        def last_word(self) -> dict[str, Any]:
            return {"format": "takt/status"}

    def refuse(_: str) -> Any:
        raise UserError("no takt manage of this user runs")

    monkeypatch.setattr("takt.live.diagnostics.Publisher", Publisher)
    monkeypatch.setattr(managing, "Companion", Program)
    monkeypatch.setattr(control, "request", refuse)
    monkeypatch.setattr(control, "path", lambda: Path("socket"))
    managed = managing.manage(managing.Request("goals", diagnostics=True), lambda _: None)
    assert managed == ({"format": "takt/status"}, None, "the guard was killed")
