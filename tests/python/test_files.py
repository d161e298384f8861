"""Files are read within bounds and written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from takt import files
from takt.errors import UserError


def test_a_written_file_replaces_the_old_one_whole(tmp_path: Path) -> None:
    target = tmp_path / "new" / "report.html"
    files.write_text(str(target), "old")
    files.write_text(str(target), "new")
    assert target.read_text() == "new"
    assert list(target.parent.iterdir()) == [target]


def test_a_failing_writer_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    target.write_text("old")

    def write_half() -> None:
        with files.replacement(target) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_the_mode_of_a_written_file_follows_the_umask(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    previous = os.umask(0o027)
    try:
        files.write_text(str(target), "")
    finally:
        os.umask(previous)
    assert target.stat().st_mode & 0o777 == 0o640


def test_an_unwritable_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"file/report\.html: cannot be written: "):
        files.write_text(str(tmp_path / "file" / "report.html"), "")


def test_a_place_is_tried_without_a_change(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    for wrong in (tmp_path, tmp_path / "file" / "report.html"):
        with pytest.raises(UserError, match="cannot be written: "):
            files.check_output(str(wrong))
    files.check_output(str(tmp_path / "file"))
    files.check_output(str(tmp_path / "new" / "report.html"))
    files.check_output("/dev/null")
    files.check_output("-")
    assert (tmp_path / "file").read_text() == "old"
    assert [*(tmp_path / "new").iterdir()] == []


def test_missing_and_binary_documents_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nothing\.json: cannot be read: No such file"):
        files.read_document(str(tmp_path / "nothing.json"))
    (tmp_path / "binary.json").write_bytes(b'{"\xff')
    with pytest.raises(UserError, match=r"binary\.json: not a text file \(byte 2 "):
        files.read_document(str(tmp_path / "binary.json"))


def test_an_endless_document_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST_DOCUMENT", 1 << 20)
    with pytest.raises(UserError, match=r"/dev/zero: larger than 1 MiB"):
        files.read_document("/dev/zero")
