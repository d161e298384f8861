"""One line, one status, one document: what every command promises."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import typer

import takt as package
from robot import run_takt
from takt import cli
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


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys; from takt.cli import main; main(['--help']);"
        "heavy = {'rich', 'plotly', 'jinja2', 'pydantic', 'takt_native'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_no_command_shows_the_help() -> None:
    assert run_takt().stdout == run_takt("--help").stdout


@pytest.mark.parametrize("name", cli.commands())
def test_every_command_has_help_with_examples(name: str) -> None:
    done = run_takt(name, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"Usage: takt {name} " in done.stdout
    assert f"Examples:\n    takt {name} " in done.stdout
    assert "--json" in done.stdout


def test_version() -> None:
    assert run_takt("--version").stdout == f"takt {package.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["doctro"], "takt: No such command 'doctro'. Did you mean 'doctor'?; see 'takt --help'\n"),
        (["--fast"], "takt: No such option: --fast; see 'takt --help'\n"),
        (["doctor", "--fast"], "takt: No such option: --fast; see 'takt doctor --help'\n"),
        (["report"], "takt: Missing argument 'TRACE|DOCUMENT...'; see 'takt report --help'\n"),
    ],
)
def test_bad_usage_is_one_line_and_status_2(arguments: list[str], message: str) -> None:
    done = run_takt(*arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)


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
        (typer.Exit(1), 1, ""),
        (KeyboardInterrupt(), 130, "interrupted"),
        (typer.Abort(), 130, "interrupted"),
        (
            ZeroDivisionError("division by zero"),
            70,
            "internal error: ZeroDivisionError: division by zero; please report it with what "
            "TAKT_DEBUG=1 prints",
        ),
        (
            ModuleNotFoundError("No module", name="takt_native"),
            2,
            "the C++ library takt_native is not built; run 'make' in the project's root",
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
