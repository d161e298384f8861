"""Shell completion and manual pages, made of what --help says."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from robot import run_takt
from takt import cli, installation


def completions(script: Path, *words: str) -> list[str]:
    """What bash proposes for the last of the words after "takt"."""
    line = " ".join(f"'{word}'" for word in ("takt", *words))
    program = (
        f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words)}; _takt; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.fixture(scope="module")
def bash_script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("share") / "takt.bash"
    path.write_text(run_takt("completion", "bash").stdout)
    return path


def test_bash_completes_commands_options_and_values(bash_script: Path) -> None:
    assert set(completions(bash_script, "")) == {*cli.commands(), "--help", "--version"}
    assert completions(bash_script, "lat") == ["latency"]
    assert completions(bash_script, "analyze", "--sens") == ["--sensitivity"]
    assert completions(bash_script, "record", "--backend", "e") == ["ebpf"]
    assert completions(bash_script, "analyze", "--analysis", "round") == ["round_robin"]
    assert completions(bash_script, "budget", "--period", "") == ["auto"]
    assert completions(bash_script, "simulate", "-o", "") == []
    assert completions(bash_script, "fleet", "r") == ["remove", "report"]
    assert completions(bash_script, "fleet", "report", "") == []
    assert completions(bash_script, "completion", "") == ["bash", "zsh", "fish"]
    assert completions(bash_script, "help", "lat") == ["latency"]


def test_bash_leaves_files_to_itself(bash_script: Path) -> None:
    assert completions(bash_script, "analyze", "mod") == []
    assert completions(bash_script, "analyze", "--goals", "-g") == []


@pytest.mark.parametrize("shell", installation.SHELLS)
def test_scripts_are_valid_and_name_every_option(tmp_path: Path, shell: str) -> None:
    script = tmp_path / shell
    script.write_text(installation.completion(shell))
    for command in installation.commands():
        assert command.name in script.read_text()
        for option in command.options:
            assert option.names[-1].lstrip("-") in script.read_text()
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed, so its script was not run")
    subprocess.run([shell, "-n", script], check=True)


def test_a_package_gets_every_file(tmp_path: Path) -> None:
    written = {str(path.relative_to(tmp_path)) for path in installation.write(tmp_path)}
    assert written == {
        "bash-completion/completions/takt",
        "zsh/site-functions/_takt",
        "fish/vendor_completions.d/takt.fish",
        "man/man1/takt.1",
        *(f"man/man1/takt-{name}.1" for name in cli.commands()),
    }


def test_a_page_says_what_the_help_says() -> None:
    page = run_takt("man", "analyze").stdout.replace("\\-", "-")
    assert '.TH TAKT-ANALYZE 1 "" "Takt' in page
    assert "takt-analyze \\- bound the response times of a model\n".replace("\\-", "-") in page
    for words in (
        "takt analyze [OPTIONS] MODEL|TRACE...",
        "\\fB--explain\\fR \\fICHAIN\\fR",
        ".nf",
    ):
        assert words in page


def test_pages_are_what_man_reads(tmp_path: Path) -> None:
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed, so no page was set")
    for path in installation.write(tmp_path):
        if path.suffix == ".1":
            done = subprocess.run(
                ["groff", "-man", "-Tutf8", "-ww", path], capture_output=True, text=True, check=True
            )
            assert done.stderr == "", path


def test_a_page_is_shown_on_a_terminal(tmp_path: Path) -> None:
    """By man, which gets it as it is printed otherwise."""
    man = tmp_path / "man"
    man.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/words\ncat > {tmp_path}/page\n')
    man.chmod(0o700)
    theirs, ours = pty.openpty()
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = [sys.executable, "-m", "takt", "man", "analyze"]
    subprocess.run(command, stdout=ours, env=environment, check=True)
    os.close(ours)
    os.close(theirs)
    assert (tmp_path / "words").read_text() == "-l -\n"
    assert (tmp_path / "page").read_text() == run_takt("man", "analyze").stdout


def test_a_page_of_no_command_is_refused() -> None:
    done = run_takt("man", "nothing")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("takt: No such command 'nothing'")
