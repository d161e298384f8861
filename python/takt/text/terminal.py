"""Text for terminals: colours, tables without lines, and output that is renewed in place.

Colours are the escape sequences that terminals know (ECMA-48, SGR). What is shown holds no others,
and nothing else that a terminal would obey or hide, wherever its names come from: printable() of
takt.text.formatting replaces it. Where colours are not wanted, show() removes ours.
"""

from __future__ import annotations

import itertools
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from takt.text.formatting import printable

PIPE_WIDTH = 160
"""The width of tables, in columns, when standard output is no terminal, or does not say its own."""

_ROWS = 24
"""The height of a page where the terminal's height is not known, in lines."""
_GAP = "  "
_STYLES = {"bold": 1, "dim": 2, "italic": 3, "red": 31, "green": 32, "yellow": 33, "cyan": 36}
_RESET = "\x1b[0m"
_OURS = {_RESET, *(f"\x1b[{code}m" for code in _STYLES.values())}
_BREAKS = re.compile(r"(?=[ \n])(?!(?<=\d) (?:ns|µs|ms|s)\b)|(?<=[^ \n(])(?=/)")
"""Where a line may be broken: at a space, but not before the unit of a time, and before a part of a
name like /camera/image.
"""
_SEQUENCE = re.compile(r"\x1b\[\d+m")


def styled(text: str, style: str) -> str:
    """The text in a style of _STYLES; "": as it is."""
    return f"\x1b[{_STYLES[style]}m{text}{_RESET}" if style and text else text


class Table:
    """Columns with a header each, set apart by spaces.

    Where a table is too wide, words stand below their row instead of in a column, if there is such
    a column, and columns of text are wrapped between words. If that is not enough, optional columns
    are left out, the last first; then words are broken, if the table fits by that. Numbers are
    never wrapped, and nothing is cut: a terminal that is narrower still wraps the lines itself.
    """

    def __init__(self, *headers: str, title: str = "") -> None:
        self._title = title
        self._columns: list[_Column] = []
        self._rows: list[list[str]] = []
        for header in headers:
            self.add_column(header)

    def add_column(
        self,
        header: str = "",
        *,
        right: bool = False,
        wrap: bool | None = None,
        optional: bool = False,
        words: bool = False,
    ) -> None:
        """`right`: aligned to the right, as numbers are, and then not wrapped unless `wrap`.
        `optional`: the table says enough without it. `words`: the last column, which stands below
        where there is no room.
        """
        wraps = not right if wrap is None else wrap
        self._columns.append(_Column(header, right, wraps, optional, words))

    def add_row(self, *cells: str, style: str = "") -> None:
        for _ in range(len(self._columns), len(cells)):
            self.add_column()
        self._rows.append([styled(cell, style) for cell in cells])

    @property
    def row_count(self) -> int:
        return len(self._rows)

    def lines(self, width: int) -> Iterator[str]:
        """The lines of the table, at most `width` columns wide if that is possible."""
        if self._title:
            yield from map(_italic, wrapped(self._title, width))
        headers = [styled(column.header, "bold") for column in self._columns]
        rows = [headers, *self._rows] if any(headers) else self._rows
        below: list[str] = []
        if self._columns and self._columns[-1].words and not self._has_room(rows, width):
            below = [row[-1] for row in rows]
            rows = [row[:-1] for row in rows]
        widths = self._widths(rows, width)
        for number, row in enumerate(rows):
            cells = {i: wrapped(row[i], size) for i, size in widths.items() if i < len(row)}
            for line in range(max(map(len, cells.values()), default=0)):
                parts = (
                    _aligned(
                        cell[line] if line < len(cell) else "", widths[i], self._columns[i].right
                    )
                    for i, cell in cells.items()
                )
                yield _GAP.join(parts).rstrip()
            if below and below[number]:
                yield from (_GAP + line for line in wrapped(below[number], width - len(_GAP)))

    def _has_room(self, rows: list[list[str]], most: int) -> bool:
        """Whether the last column has room for a few words in a line beside the others."""
        *others, words = (
            max(map(width_of, column)) for column in itertools.zip_longest(*rows, fillvalue="")
        )
        return sum(others) + len(_GAP) * len(others) + min(words, _A_FEW_WORDS) <= most

    def _widths(self, rows: list[list[str]], most: int) -> dict[int, int]:
        """Those of the columns that are shown."""
        widths = dict.fromkeys(range(max(map(len, rows), default=0)), 0)
        words = [max(width_of(column.header), _NARROWEST) for column in self._columns]
        for row in rows:
            for i, cell in enumerate(row):
                widths[i] = max(widths[i], *map(width_of, cell.split("\n")))
                words[i] = max(words[i], *(width_of(w.strip(" ")) for w in _BREAKS.split(cell)))
        flexible = {i for i, column in enumerate(self._columns) if column.wrap}

        def least(words: list[int]) -> int:
            """The least width of the table where cells are as wide as these words."""
            gaps = len(_GAP) * (len(widths) - 1)
            return gaps + sum(min(w, words[i]) if i in flexible else w for i, w in widths.items())

        for i in reversed(range(len(widths))):
            if self._columns[i].optional and least(words) > most:
                del widths[i]
        broken = [_NARROWEST] * len(words)
        if least(words) > most >= least(broken):
            words = broken
        room = most - len(_GAP) * (len(widths) - 1)
        while (over := sum(widths.values()) - room) > 0:
            wider = [i for i in widths if i in flexible and widths[i] > words[i]]
            if not wider:
                break
            *others, widest = sorted(wider, key=widths.__getitem__)
            next_widest = widths[others[-1]] - 1 if others else 0
            widths[widest] -= min(over, widths[widest] - max(words[widest], next_widest))
        return widths


_NARROWEST = 8
"""Columns of text are not made narrower."""
_A_FEW_WORDS = 30
"""Words stand below their row rather than in a narrower column."""


class _Column:
    def __init__(self, header: str, right: bool, wrap: bool, optional: bool, words: bool) -> None:
        self.header = header
        self.right = right
        self.wrap = wrap
        self.optional = optional
        self.words = words


Part = str | Table
"""What is shown: text, which may have several lines, or a table."""


def show(*parts: Part) -> None:
    """Prints each part to standard output, from a line of its own on."""
    text = "".join(f"{_harmless(line)}\n" for part in parts for line in _lines(part, width()))
    sys.stdout.write(text if _has_colours() else plain(text))


@contextmanager
def renewed(*, screen: bool = False) -> Iterator[Callable[[Iterable[Part]], None]]:
    """Yields a function that shows parts in place of those before; `screen`: on a screen of their
    own, which is gone afterwards. In a pipe only the last parts are shown, at the end.
    """
    if not sys.stdout.isatty():
        last: list[Part] = []

        def keep(parts: Iterable[Part]) -> None:
            last[:] = parts

        try:
            yield keep
        finally:
            show(*last)
        return
    shown = 0

    def renew(parts: Iterable[Part]) -> None:
        nonlocal shown
        columns, rows = width(), os.get_terminal_size(sys.stdout.fileno()).lines or _ROWS
        whole = (_harmless(line) for part in parts for line in _lines(part, columns))
        lines = [piece for line in whole for piece in wrapped(line, columns)][: rows - 1]
        start = "\x1b[H" if screen else f"\x1b[{shown}F" if shown else ""
        sys.stdout.write(start + "".join(f"{line}\x1b[K\n" for line in lines) + "\x1b[J")
        sys.stdout.flush()
        shown = len(lines)

    sys.stdout.write("\x1b[?1049h\x1b[?25l" if screen else "\x1b[?25l")
    try:
        yield renew
    finally:
        sys.stdout.write("\x1b[?25h\x1b[?1049l" if screen else "\x1b[?25h")
        sys.stdout.flush()


def _harmless(line: str) -> str:
    """The line with styles of ours alone, which end with it."""
    pieces = _SEQUENCE.split(line)
    if len(pieces) == 1:
        return printable(line)
    styles = [code if code in _OURS else "" for code in _SEQUENCE.findall(line)]
    texts = map(printable, pieces)
    shown = next(texts) + "".join(style + text for style, text in zip(styles, texts, strict=True))
    on = next((style for style in reversed(styles) if style), _RESET)
    return shown if on == _RESET else shown + _RESET


def width() -> int:
    """How many columns standard output has."""
    if not sys.stdout.isatty():
        return PIPE_WIDTH
    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    return os.get_terminal_size(sys.stdout.fileno()).columns or PIPE_WIDTH


def plain(text: str) -> str:
    """The text without styles."""
    return _SEQUENCE.sub("", text)


def width_of(line: str) -> int:
    """How many columns a line takes on a terminal."""
    line = plain(line)
    if line.isascii():
        return len(line)
    from unicodedata import combining, east_asian_width

    return sum(
        0 if combining(character) else 1 + (east_asian_width(character) in "WF")
        for character in line
    )


def wrapped(text: str, most: int) -> list[str]:
    """The lines of the text, broken between words, or within those wider than `most` columns. A
    style that is on at the end of a line goes on in the next.
    """
    lines: list[str] = []
    for line in text.split("\n"):
        if width_of(line) <= most:
            lines.append(line)
            continue
        current = ""
        for word in _BREAKS.split(line):
            if width_of(current + word) <= most:
                current += word
                continue
            if current:
                lines.append(current)
            *full, current = _broken(word.removeprefix(" "), most)
            lines += full
        lines.append(current)
    return list(_closed(lines)) if "\x1b" in text else lines


def _broken(word: str, most: int) -> list[str]:
    """A word in pieces that fit."""
    pieces = [""]
    for token in re.findall(r"\x1b\[\d+m|.", word):
        if width_of(pieces[-1] + token) > most and pieces[-1]:
            pieces.append("")
        pieces[-1] += token
    return pieces


def _closed(lines: list[str]) -> Iterator[str]:
    """Each line with its style ended at its end, and begun anew in the next."""
    on = ""
    for line in lines:
        whole = on + line
        on = next((code for code in reversed(_SEQUENCE.findall(whole))), "")
        on = "" if on == _RESET else on
        yield whole + (_RESET if on else "")


def _lines(part: Part, columns: int) -> Iterable[str]:
    return part.lines(columns) if isinstance(part, Table) else part.split("\n")


def _aligned(text: str, size: int, right: bool) -> str:
    space = " " * (size - width_of(text))
    return space + text if right else text + space


def _italic(line: str) -> str:
    return styled(line, "italic")


def _has_colours() -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
