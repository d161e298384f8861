"""One line, one status, one document: what every command promises."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import click
import pytest

import takt as package
from robot import FIXTURES, changed, raw, run_takt
from takt import cli
from takt.arguments import Exit
from takt.errors import UserError

ROOT = Path(__file__).parents[2]
PIPELINE = str(ROOT / "models" / "pipeline.json")
UNWRITABLE = "takt: standard output: cannot be written: Bad file descriptor\n"


def test_help_lists_every_command_and_loads_none() -> None:
    done = run_takt("--help")
    assert done.returncode == 0
    for name, summary in cli.commands().items():
        assert f"  {name} " in done.stdout
        assert summary in " ".join(done.stdout.split())


def test_no_command_shows_the_help() -> None:
    assert run_takt().stdout == run_takt("--help").stdout


@pytest.mark.parametrize("name", cli.commands())
def test_every_command_has_help_with_examples(name: str) -> None:
    done = run_takt(name, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"Usage: takt {name} " in done.stdout
    assert f"Examples:\n    takt {name} " in done.stdout
    assert "--json" in done.stdout


def test_every_command_is_in_one_group() -> None:
    grouped = [name for names in cli.GROUPS.values() for name in names]
    assert sorted(grouped) == sorted(cli.commands())


@pytest.mark.parametrize("name", ["", "latency"])
def test_help_may_be_asked_for_in_three_forms(name: str) -> None:
    asked = [run_takt("help", *name.split()), run_takt(*name.split(), "-h")]
    for done in asked:
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == run_takt(*name.split(), "--help").stdout


@pytest.mark.parametrize("asked", [["help", "latancy"], ["man", "latancy"], ["latancy"]])
def test_a_wrong_name_gets_the_same_answer_everywhere(asked: list[str]) -> None:
    done = run_takt(*asked)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("takt: No such command 'latancy'. Did you mean ")
    assert "'latency'" in done.stderr


def test_times_may_have_a_unit() -> None:
    for written in ("0.5", "0.5s", "500ms", "500 ms", "500000us"):
        done = run_takt("simulate", PIPELINE, "--json", "--duration", written)
        assert json.loads(done.stdout)["provenance"]["duration"] == 500_000_000, done.stderr


@pytest.mark.parametrize(
    "written", ["-1s", "0ms", "1us", "s", "1e", "nan", "inf", "5min", "2000000s"]
)
def test_what_is_no_duration_is_refused_in_one_line(written: str) -> None:
    done = run_takt("record", f"--duration={written}", "--", "true")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("takt: Invalid value for '--duration': "), done.stderr
    assert done.stderr.count("\n") == 1


def test_version() -> None:
    assert run_takt("--version").stdout == f"takt {package.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["doctro"], "takt: No such command 'doctro'. Did you mean 'doctor'?; see 'takt --help'\n"),
        (["--fast"], "takt: No such option '--fast'; see 'takt --help'\n"),
        (["doctor", "--fast"], "takt: No such option '--fast'; see 'takt doctor --help'\n"),
        (
            ["analyze", "model.json", "--what-if"],
            "takt: Option '--what-if' requires an argument; see 'takt analyze --help'\n",
        ),
        (["report"], "takt: Missing argument 'TRACE|DOCUMENT...'; see 'takt report --help'\n"),
    ],
)
def test_bad_usage_is_one_line_and_status_2(arguments: list[str], message: str) -> None:
    done = run_takt(*arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)


@pytest.mark.parametrize("name", cli.commands())
def test_what_a_command_requires_is_asked_for(name: str) -> None:
    """With none of it, and with all but the last."""
    required = [each for each in cli.load(name).params if each.required]
    arguments = [each for each in required if isinstance(each, click.Argument)]
    for given in {0, max(len(arguments) - 1, 0)} if required else ():
        values = [
            next(iter(getattr(each.type, "choices", [PIPELINE]))) for each in arguments[:given]
        ]
        done = run_takt(name, *values)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("takt: Missing "), done.stderr
        assert done.stderr.count("\n") == 1


def test_bad_input_is_one_line_and_status_2(tmp_path: Path) -> None:
    done = run_takt("report", tmp_path / "nothing.json", "-o", tmp_path / "report.html")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("takt: ")
    assert done.stderr.count("\n") == 1


def command_that(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Replaces `takt doctor` by a command that raises."""

    def doctor() -> None:
        raise error

    module = ModuleType("takt.commands.doctor")
    module.__dict__.update(doctor=doctor, EXAMPLES="takt doctor")
    monkeypatch.setitem(sys.modules, "takt.commands.doctor", module)


class InputError(ValueError):
    """Stands for takt_native.InputError."""


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (UserError("a.json: goal: must not\nbe negative"), 2, "a.json: goal: must not be negative"),
        (InputError("b.json: no such field"), 2, "b.json: no such field"),
        (Exit(1), 1, ""),
        (KeyboardInterrupt(), 130, "interrupted"),
        (click.Abort(), 130, "interrupted"),
        (
            ZeroDivisionError("division by zero"),
            70,
            "internal error: ZeroDivisionError: division by zero; please report it with what "
            "TAKT_DEBUG=1 prints",
        ),
    ],
)
def test_every_exception_has_its_status_and_line(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    status: int,
    message: str,
) -> None:
    monkeypatch.setitem(sys.modules, "takt_native", SimpleNamespace(InputError=InputError))
    monkeypatch.delenv("TAKT_DEBUG", raising=False)
    command_that(monkeypatch, error)
    assert cli.main(["doctor"]) == status
    assert capsys.readouterr().err == (f"takt: {message}\n" if message else "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["info", "{}", "--active-phase"], "neither allocations nor page faults"),
        (["info", "{}", "--active-phase", "--json"], "neither allocations nor page faults"),
        (["info", "{}", "--active-phase", "--all"], "--all: of no use"),
        (
            ["export", "{}", "-o", "/dev/null", "--format", "csv", "--worst", "3"],
            "--worst: of no use",
        ),
        (["export", "{}", "-o", "-", "--format", "openmetrics", "--worst", "3"], "only to otlp"),
    ],
)
def test_what_a_command_cannot_do_is_said_in_any_form(arguments: list[str], said: str) -> None:
    recording = Path(__file__).parents[1] / "recordings" / "pipeline-ring.tar.xz"
    done = run_takt(*(each.format(recording) for each in arguments))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr


def test_a_traceback_is_shown_on_request(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TAKT_DEBUG", "1")
    command_that(monkeypatch, UserError("wrong"))
    assert cli.main(["doctor"]) == 2
    shown = capsys.readouterr().err
    assert "Traceback" in shown
    assert shown.endswith("takt: wrong\n")


def test_a_reader_that_has_gone_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "takt", "--help"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")


@pytest.mark.parametrize(
    ("redirection", "arguments", "said"),
    [
        (">&-", ["--version"], UNWRITABLE),
        (">&-", ["graph", PIPELINE], UNWRITABLE),
        (">&-", ["analyze", PIPELINE], UNWRITABLE),
        (">&-", ["analyze", PIPELINE, "--json"], UNWRITABLE),
        ("<&-", ["analyze", "-"], "takt: -: cannot be read: Bad file descriptor\n"),
        ("2>&-", ["analyze", "nothing.json"], ""),
    ],
)
def test_a_closed_stream_is_one_line(redirection: str, arguments: list[str], said: str) -> None:
    command = [sys.executable, "-m", "takt", *arguments]
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {redirection}', "sh", *command],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


@pytest.mark.parametrize("command", ["info", "analyze", "latency"])
def test_a_link_to_itself_is_one_line(tmp_path: Path, command: str) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    done = run_takt(command, loop)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"takt: {loop}: Too many levels of symbolic links\n"


def test_a_stream_that_cannot_show_a_character_gets_another_and_json_stays_whole() -> None:
    documents = [FIXTURES / f"{name}.json" for name in ("model", "bounds", "measurement")]
    ascii_only = {"LC_ALL": "POSIX", "PYTHONIOENCODING": "ascii"}
    usual, plain = run_takt("latency", *documents), run_takt("latency", *documents, **ascii_only)
    assert "–" in usual.stdout
    assert plain.returncode == usual.returncode
    assert plain.stdout == usual.stdout.replace("–", "-")
    named = changed(raw("model"), "chains", 0, "id", value="/größe→\N{PILE OF POO}")
    text = json.dumps(named)
    given = ("analyze", "-", "--json")
    usual, plain = run_takt(*given, stdin=text), run_takt(*given, stdin=text, **ascii_only)
    assert plain.stdout.isascii()
    assert json.loads(plain.stdout)["chains"] == json.loads(usual.stdout)["chains"]


def test_control_c_is_one_line() -> None:
    program = (
        "import signal, sys; from takt import cli, files;"
        # A shell starts background programs with SIGINT ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler);"
        "files.read_document = lambda path: signal.raise_signal(signal.SIGINT);"
        "sys.exit(cli.main(['report', '-']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (130, "takt: interrupted\n")


def test_what_cannot_be_opened_is_told_in_a_line() -> None:
    for command in ("analyze", "latency"):
        done = run_takt(command, "a" * 300)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1


def test_a_mark_of_byte_order_makes_no_trace_of_a_document(tmp_path: Path) -> None:
    marked = tmp_path / "model"
    marked.write_bytes(b"\xef\xbb\xbf" + Path(PIPELINE).read_bytes())
    assert run_takt("analyze", marked).returncode == 0


def test_a_pipe_may_be_called_by_its_name() -> None:
    named = run_takt("analyze", PIPELINE, "-o", "/dev/stdout")
    assert (named.returncode, named.stderr) == (0, "")
    assert '"format": "takt/bounds"' in named.stdout


def test_bounds_of_another_model_are_refused(tmp_path: Path) -> None:
    bounds, slower = tmp_path / "bounds.json", tmp_path / "slower.json"
    page = str(tmp_path / "page.html")
    assert run_takt("analyze", PIPELINE, "--analysis", "round_robin", "-o", bounds).returncode == 0
    told = run_takt("report", PIPELINE, bounds, "--json", "-o", page)
    assert json.loads(told.stdout)["analysis"] == "round_robin"
    model = json.loads(Path(PIPELINE).read_text())
    model["callbacks"][0]["execution_time"]["curve"] = [10_000_000]
    slower.write_text(json.dumps(model))
    refused = run_takt("report", slower, bounds, "-o", page)
    assert refused.returncode == 2
    assert refused.stderr == (
        f"takt: {slower}: the bounds are those of another model; leave them out, or make them anew "
        "with takt analyze\n"
    )


def test_bounds_belong_to_the_model_with_its_goals(tmp_path: Path) -> None:
    goals, bounds = tmp_path / "goals.yaml", tmp_path / "bounds.json"
    goals.write_text("chains: [{name: image, from: /camera, to: /motor, latency: 1s}]\n")
    page = str(tmp_path / "page.html")
    assert run_takt("analyze", PIPELINE, "--goals", goals, "-o", bounds).returncode == 0
    told = run_takt("report", PIPELINE, bounds, "--goals", goals, "-o", page)
    assert told.returncode == 0, told.stderr
    assert run_takt("report", PIPELINE, bounds, "-o", page).returncode == 2


def test_cores_from_the_last_to_the_first_are_refused(tmp_path: Path) -> None:
    goals = tmp_path / "goals.yaml"
    goals.write_text("chains: [{name: c, from: /a, to: /b, latency: 1s}]\n")
    done = run_takt("manage", "--goals", goals, "--pin", "3-1")
    assert done.returncode == 2
    assert "'3-1' ends before it begins" in done.stderr


def test_remedies_are_looked_for_where_fields_are_null(tmp_path: Path) -> None:
    model = json.loads(Path(PIPELINE).read_text())
    for chain in model["chains"]:
        chain["goal"] = 1
    model["edges"][0]["delay"] = None
    source = model["callbacks"][0]
    alone = {**model, "callbacks": [source], "edges": None, "joins": None}
    alone["chains"] = [{"id": "source", "callbacks": [source["id"]], "goal": 1}]
    path = tmp_path / "model.json"
    for document in (model, alone):
        path.write_text(json.dumps(document))
        done = run_takt("analyze", path)
        assert done.returncode == 1, done.stderr
