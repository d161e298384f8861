"""takt record --join: what can be joined, and what is said of the rest."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from robot import run_takt

RECORDINGS = Path(__file__).parents[1] / "recordings"
RING, LTTNG = (RECORDINGS / f"pipeline-{name}.tar.xz" for name in ("ring", "lttng"))


def unpacked(recording: Path, folder: Path) -> Path:
    shutil.unpack_archive(recording, folder)
    (found,) = folder.iterdir()
    return found


@pytest.mark.parametrize("name", ["a/b/joined", "a/b/joined.tar.xz"])
def test_a_recording_is_written_into_a_new_folder(tmp_path: Path, name: str) -> None:
    done = run_takt("record", "--join", RING, LTTNG, "-o", tmp_path / name, "--json")
    assert done.returncode == 0, done.stderr
    apart = [
        json.loads(run_takt("info", each, "--json").stdout)["events"] for each in (RING, LTTNG)
    ]
    assert json.loads(done.stdout)["events"] == sum(apart)
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == [Path(name).name]


def test_the_same_recording_is_joined_once_whatever_it_is_called(tmp_path: Path) -> None:
    folder = unpacked(RING, tmp_path / "unpacked")
    copy = tmp_path / "copy.tar.xz"
    shutil.copy(RING, copy)
    for other in (RING, copy, folder, f"{RECORDINGS}/./{RING.name}"):
        done = run_takt("record", "--join", RING, LTTNG, other, "-o", tmp_path / "joined")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "the same recording" in done.stderr
        assert not (tmp_path / "joined").exists()


@pytest.mark.parametrize("end", [".tar.zst", ".tar.bz2", ".zip", ".tbz2", ".tzst", ".7z"])
def test_an_archive_that_is_not_written_is_no_folder(tmp_path: Path, end: str) -> None:
    done = run_takt("record", "--join", RING, LTTNG, "-o", tmp_path / f"joined{end}")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert ".tar.xz" in done.stderr
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    "options",
    [
        ["--label", "robot=r7"],
        ["--label-file", "labels"],
        ["--duration", "3"],
        ["--backend", "ring"],
        ["--kernel", "--exclude", "/tf"],
        ["--snapshot", "--snapshot-size", "8"],
        ["--event", "ros2:*", "--include", "/a", "--buffer", "4"],
    ],
)
def test_an_option_without_effect_is_refused(tmp_path: Path, options: list[str]) -> None:
    done = run_takt("record", "--join", *options, "-o", tmp_path / "joined", "--", RING, LTTNG)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "of no use with --join" in done.stderr
    for option in (option for option in options if option.startswith("--")):
        assert option in done.stderr
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("name", ["joined", "joined.tar.gz"])
def test_a_recording_that_was_cut_short_is_not_complete_wherever_it_goes(
    tmp_path: Path, name: str
) -> None:
    partial = unpacked(RING, tmp_path / "unpacked").rename(tmp_path / "run.partial")
    joined = tmp_path / name
    done = run_takt("record", "--join", partial, LTTNG, "-o", joined)
    assert done.returncode == 0, done.stderr
    for each in (partial, joined):
        shown = run_takt("info", each)
        assert ", not complete, " in shown.stdout
        assert "of a recording that was interrupted" in shown.stderr
    assert ", none lost, " in run_takt("info", LTTNG).stdout
