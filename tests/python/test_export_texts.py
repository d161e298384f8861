"""What tables for spreadsheets hold where names are anybody's."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa

from takt.exports.export import _CsvFile

HOSTILE = ["=cmd|' /C calc'!A0", "+1+2", "-2+3", "@SUM(1)", "/node", "a\x1b[31m\u202eb", "\t=1"]


def test_no_cell_is_a_formula_or_holds_a_sequence(tmp_path: Path) -> None:
    names = pa.array(HOSTILE)
    table = pa.table(
        {
            "plain": names,
            "dictionary": names.dictionary_encode(),
            "large": names.cast(pa.large_string()),
            "number": pa.array(range(-3, len(HOSTILE) - 3)),
        }
    )
    file = _CsvFile(tmp_path / "t.csv", table.schema)
    file.write(table)
    file.close({})
    rows = list(csv.DictReader((tmp_path / "t.csv").open(encoding="utf-8", newline="")))
    for row, name, number in zip(rows, HOSTILE, range(-3, 9), strict=False):
        for column in ("plain", "dictionary", "large"):
            cell = row[column]
            assert cell.isprintable()
            assert cell[0] not in "=+-@\t\r"
            kept = "".join(c for c in name if c.isprintable())
            assert kept in cell.replace("\N{REPLACEMENT CHARACTER}", "")
        assert row["number"] == str(number)
    assert rows[4]["plain"] == "/node"
    assert len(rows) == len(HOSTILE)
