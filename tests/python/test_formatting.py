"""Numbers as people read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from takt.text.formatting import count, data_size, duration, frequency, printable

UNITS = {"ns": 1, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (None, "–"),
        (0, "0"),
        (1, "1 ns"),
        (999, "999 ns"),
        (1_000, "1 µs"),
        (2_134_000, "2.13 ms"),
        (21_340_000, "21.3 ms"),
        (213_400_000, "213 ms"),
        (50_000_000, "50 ms"),
        (999_999, "1.00 ms"),
        (999_499, "999 µs"),
        (10_020_000_000, "10.0 s"),
        (86_400_000_000_000, "86400 s"),
        (-1_500, "-1.50 µs"),
    ],
)
def test_duration(nanoseconds: int | None, text: str) -> None:
    assert duration(nanoseconds) == text


@given(st.integers(min_value=-(2**63), max_value=2**63))
def test_duration_is_right_to_three_digits(nanoseconds: int) -> None:
    text = duration(nanoseconds)
    if nanoseconds == 0:
        assert text == "0"
        return
    number, unit = text.split(" ")
    assert float(number) * UNITS[unit] == pytest.approx(nanoseconds, rel=0.005)
    assert unit == "s" or abs(float(number)) < 1000


def test_count_has_its_noun() -> None:
    assert count(1, "event") == "1 event"
    assert count(0, "event") == "0 events"
    assert count(12_345, "entry", "entries") == "12\u202f345 entries"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1_000, "1 kB"),
        (49_600, "50 kB"),
        (999_499, "999 kB"),
        (999_500, "1.0 MB"),
        (2_140_000, "2.1 MB"),
        (5_000_000_000, "5000.0 MB"),
    ],
)
def test_data_size(number: int, text: str) -> None:
    assert data_size(number) == text


def test_frequency() -> None:
    assert frequency(50_000_000) == "20 Hz"
    assert frequency(120_000_000) == "8.33 Hz"


def test_what_terminals_and_pages_would_obey_is_replaced() -> None:
    assert (
        printable("a\x1b[31mb\x00\u202ec\u2028d\ud800") == "a\ufffd[31mb\ufffd\ufffdc\ufffdd\ufffd"
    )
    assert printable("/größe → 3\u202f000 µs\nnext") == "/größe → 3\u202f000 µs\nnext"
