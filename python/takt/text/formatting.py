"""Numbers as people read them."""

from __future__ import annotations

import json
import unicodedata

NONE = "–"

UNITS = {"s": 1_000_000_000, "ms": 1_000_000, "µs": 1_000, "ns": 1}
"""Nanoseconds, the longest first."""


def duration(nanoseconds: float | None) -> str:
    """A time with three significant digits and its unit, "2.13 ms"; a dash for None."""
    if nanoseconds is None:
        return NONE
    if nanoseconds == 0:
        return "0"
    # The unit is chosen after rounding: 999 999 ns read as "1.00 ms", never as "1000 µs".
    rounded = float(f"{abs(nanoseconds):.3g}")
    unit = next((unit for unit, size in UNITS.items() if rounded >= size), "ns")
    return f"{significant(nanoseconds / UNITS[unit])} {unit}"


def exact_duration(nanoseconds: int) -> str:
    """A time with the largest unit that keeps it whole, in ASCII: "250us"."""
    unit = next(unit for unit, size in UNITS.items() if nanoseconds % size == 0)
    return f"{nanoseconds // UNITS[unit]}{unit}".replace("µ", "u")


def goal_of(goal: int | None, kind: str = "latency") -> str:
    """A goal with the time that it is about, unless that is a latency: "100 ms age"."""
    about = "" if goal is None or kind == "latency" else f" {kind}"
    return duration(goal) + about


def since_start(nanoseconds: int) -> str:
    """A moment of a recording, to the millisecond: "3.231 s after the start"."""
    return f"{nanoseconds / 1e9:.3f} s after the start"


def significant(value: float) -> str:
    """Three significant digits without an exponent; whole numbers are never cut."""
    rounded = float(f"{value:.3g}")
    if abs(rounded) >= 100 or value == int(value):
        return f"{value:.0f}"
    return f"{rounded:.1f}" if abs(rounded) >= 10 else f"{rounded:.2f}"


def count(number: int, singular: str, plural: str | None = None) -> str:
    """A number with its noun: "1 event", "12 345 events" (with thin spaces)."""
    noun = singular if number == 1 else plural or singular + "s"
    return f"{grouped(number)} {noun}"


def grouped(number: int) -> str:
    """A whole number with its thousands set apart by narrow no-break spaces."""
    return f"{number:,}".replace(",", "\u202f")


def data_size(number: int) -> str:
    """A number of bytes, "2.1 MB", "13 kB", "999 bytes"."""
    if number < 1000:
        return count(number, "byte")
    # Chosen after rounding: never "1000 kB".
    return f"{number / 1e3:.0f} kB" if number < 999_500 else f"{number / 1e6:.1f} MB"


def frequency(period: int) -> str:
    """The rate of something that happens every `period` nanoseconds: "50 ms" is "20 Hz"."""
    return f"{significant(1e9 / period)} Hz"


def printable(text: str) -> str:
    """Text from anywhere, harmless to terminals and pages: control, format and unassigned
    characters become U+FFFD, line breaks stay.
    """
    if text.isprintable():
        return text
    return "".join(c if c == "\n" or _is_visible(c) else "\N{REPLACEMENT CHARACTER}" for c in text)


def printable_json(text: str) -> str:
    """JSON of the same meaning with all characters escaped that `printable` would replace, so that
    a terminal may show it. Only strings of JSON can hold such characters, but for spaces.
    """
    if text.isprintable():
        return text
    return "".join(c if c in "\n\r\t" or _is_visible(c) else json.dumps(c).strip('"') for c in text)


def _is_visible(character: str) -> bool:
    # Category C contains controls, surrogates and the like; Zl and Zp are line separators.
    category = unicodedata.category(character)
    return not category.startswith("C") and category not in ("Zl", "Zp")
