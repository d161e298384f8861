"""Tables and colours of the terminal."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from takt.text import console
from takt.text.terminal import Table, plain, show, styled, width_of, wrapped

WORDS = st.text(alphabet="ab é漢", max_size=60)


def table(*rows: tuple[str, ...]) -> Table:
    made = Table("Name")
    made.add_column("Bytes", right=True)
    made.add_column("What it is")
    for row in rows:
        made.add_row(*row)
    return made


def test_columns_are_aligned() -> None:
    made = table(("a", "5", "short"), ("longer", "1200", "x"))
    assert [plain(line) for line in made.lines(80)] == [
        "Name    Bytes  What it is",
        "a           5  short",
        "longer   1200  x",
    ]


def test_a_table_without_headers_has_no_line_for_them() -> None:
    made = Table(title="Sizes")
    made.add_row("a", "b")
    assert [plain(line) for line in made.lines(80)] == ["Sizes", "a  b"]


def test_text_is_wrapped_between_words_and_numbers_never() -> None:
    made = table(("name", "123456789", "sentences are broken between words"))
    assert [plain(line) for line in made.lines(36)] == [
        "Name      Bytes  What it is",
        "name  123456789  sentences are",
        "                 broken between",
        "                 words",
    ]


def test_words_stand_below_their_row_where_they_have_no_room() -> None:
    made = Table("name")
    made.add_column("Bytes", right=True)
    made.add_column("What it is", words=True)
    made.add_row("name", "123456789", "sentences are broken between words")
    made.add_row("other", "1", "")
    assert [plain(line) for line in made.lines(48)] == [
        "name       Bytes  What it is",
        "name   123456789  sentences are broken between",
        "                  words",
        "other          1",
    ]
    assert [plain(line) for line in made.lines(30)] == [
        "name       Bytes",
        "  What it is",
        "name   123456789",
        "  sentences are broken between",
        "  words",
        "other          1",
    ]


def test_names_of_topics_are_broken_between_their_parts() -> None:
    made = table(("/camera/image/compressed", "1", "a sentence about it"))
    lines = [plain(line) for line in made.lines(36)]
    assert [line[:15].strip() for line in lines[1:]] == ["/camera/image", "/compressed"]
    assert wrapped("/driver:/front", 10) == ["/driver:", "/front"]
    assert wrapped("3 ms / 5 ms", 6) == ["3 ms /", "5 ms"]


def test_a_terminal_that_is_too_narrow_cuts_nothing() -> None:
    made = table(("/a/long/name/of/a/topic", "123456789", "words"))
    shown = "".join(plain(line) for line in made.lines(5))
    assert "123456789" in shown
    assert "words" in shown


def test_what_is_optional_makes_room_before_words_are_broken() -> None:
    made = Table()
    for header in ("Chain", "p50", "Max", "Worst"):
        made.add_column(header, right=header != "Chain", optional=header in ("p50", "Worst"))
    made.add_column("Verdict")
    made.add_row("pilot", "3.18 ms", "39.9 ms", "297", "met (conditional)")
    shown = {width: [plain(line) for line in made.lines(width)] for width in range(1, 60)}
    assert shown[52] == [
        "Chain      p50      Max  Worst  Verdict",
        "pilot  3.18 ms  39.9 ms    297  met (conditional)",
    ]
    assert shown[45][1:] == [
        "pilot  3.18 ms  39.9 ms    297  met",
        "                                (conditional)",
    ]
    assert shown[44][0].split() == ["Chain", "p50", "Max", "Verdict"]
    assert shown[31][0].split() == ["Chain", "Max", "Verdict"]
    for width, lines in shown.items():
        # Broken words fit from 24 columns on, whole ones from 29 on.
        assert ("(conditional)" in " ".join(lines)) == (not 24 <= width < 29), width


def test_wide_and_combining_characters_count_as_terminals_show_them() -> None:
    assert width_of("漢字") == 4
    assert width_of("e\N{COMBINING ACUTE ACCENT}") == 1
    assert width_of(styled("ms", "red")) == 2


@given(WORDS, st.integers(min_value=2, max_value=20))
def test_wrapped_text_fits_and_loses_nothing_but_spaces(text: str, most: int) -> None:
    lines = wrapped(text, most)
    assert all(width_of(line) <= most or len(line) == 1 for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_a_style_goes_on_in_the_next_line_and_colours_nothing_else() -> None:
    lines = wrapped("see " + styled("run as root or with capabilities", "dim"), 12)
    assert [plain(line) for line in lines] == ["see run as", "root or with", "capabilities"]
    assert all(line.endswith("\x1b[0m") for line in lines)
    assert all(line.startswith("\x1b[2m") for line in lines[1:])


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
)
def test_colours_are_for_terminals_that_want_them(
    environment: dict[str, str], coloured: bool
) -> None:
    program = "from takt.text.terminal import *; show(styled('x', 'red'))"
    terminal = {"TERM": "xterm", **environment}
    reader, writer = pty.openpty()
    subprocess.run(
        [sys.executable, "-c", program],
        stdout=writer,
        env={**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, **terminal},
        check=True,
    )
    os.close(writer)
    assert os.read(reader, 100) == (b"\x1b[31mx\x1b[0m\r\n" if coloured else b"x\r\n")
    os.close(reader)


def test_a_pipe_gets_no_colours_unless_they_are_forced() -> None:
    program = "from takt.text.terminal import *; show(styled('x', 'red'))"
    for force, expected in ((None, b"x\n"), ("1", b"\x1b[31mx\x1b[0m\n")):
        environment = {k: v for k, v in os.environ.items() if not k.endswith("_COLOR")}
        if force:
            environment["FORCE_COLOR"] = force
        done = subprocess.run(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, env=environment, check=True
        )
        assert done.stdout == expected


def test_what_is_renewed_takes_the_place_of_what_was_there() -> None:
    program = (
        "from takt.text.terminal import renewed\n"
        "with renewed() as renew:\n"
        "    renew(['one', 'two'])\n"
        "    renew(['three'])\n"
    )
    reader, writer = pty.openpty()
    os.set_blocking(reader, True)
    subprocess.run([sys.executable, "-c", program], stdout=writer, check=True)
    os.close(writer)
    shown = os.read(reader, 1000)
    os.close(reader)
    # The second time the cursor goes up two lines, and what is below is erased.
    assert b"one\x1b[K\r\ntwo\x1b[K\r\n\x1b[J\x1b[2Fthree\x1b[K\r\n\x1b[J" in shown
    assert shown.endswith(b"\x1b[?25h")
    piped = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True)
    assert piped.stdout == b"three\n"


HOSTILE = "\x1b]0;title\x07 \x9b31m \u202e \x1b[5m \u2066 end"
"""A title for the terminal, CSI of C1, marks of direction, and a style that is none of ours."""


def test_nothing_is_shown_that_a_terminal_obeys_or_hides(
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = Table("Name")
    made.add_row(HOSTILE)
    show(HOSTILE, made)
    console.say(HOSTILE)
    console.print_json({"name": HOSTILE})
    shown, said = capsys.readouterr()
    for text in (shown, said):
        assert all(character.isprintable() or character == "\n" for character in text)
    assert json.loads(shown.splitlines()[-1]) == {"name": HOSTILE}


def test_a_terminal_that_has_colours_gets_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stdout", shown)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    show(styled("ours", "red") + HOSTILE, "\x1b[31mstays red")
    assert set(re.findall(r"\x1b[^a-zA-Z]*[a-zA-Z]", shown.getvalue())) == {"\x1b[31m", "\x1b[0m"}
    assert all(
        line.endswith("\x1b[0m") for line in shown.getvalue().splitlines() if "stays" in line
    )


def test_a_terminal_gets_documents_without_what_it_obeys() -> None:
    program = f"from takt import files; files.write_text('-', {HOSTILE!r} + chr(10))"
    reader, writer = pty.openpty()
    subprocess.run([sys.executable, "-c", program], stdout=writer, check=True)
    os.close(writer)
    shown = os.read(reader, 1000).decode()
    os.close(reader)
    assert all(character.isprintable() or character in "\r\n" for character in shown)
    piped = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert piped.stdout.decode() == HOSTILE + "\n"
