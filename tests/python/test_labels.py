"""Labels of recordings: where they come from, and that they stay with the recording."""

from __future__ import annotations

import json
import shutil
import tarfile
from pathlib import Path

import pytest

from robot import run_takt
from takt.errors import UserError
from takt.recordings import labels

RECORDING = Path(__file__).parents[1] / "recordings" / "pipeline-ring.tar.xz"


def test_options_win_over_the_environment_and_that_over_a_file(tmp_path: Path) -> None:
    file = tmp_path / "labels"
    file.write_text("# of this robot\nrobot = r1\nsite=Ulm\n\nversion=1\n")
    environment = {labels.VARIABLE: "robot=r2, version=2"}
    assert labels.given(["version=3", "note=a=b"], str(file), environment) == {
        "robot": "r2",
        "site": "Ulm",
        "version": "3",
        "note": "a=b",
    }
    assert labels.given([], None, {}) == {}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("robot", "write KEY=VALUE"),
        ("robot=", "write KEY=VALUE"),
        ("=r7", "a key is"),
        ("a/b=r7", "a key is"),
        ("k" * 65 + "=r7", "a key is"),
        ("robot=r\x1b[2J7", "one line"),
        ("robot=" + "r" * 257, "one line"),
    ],
)
def test_a_label_that_is_none_is_said_with_its_place(text: str, complaint: str) -> None:
    with pytest.raises(UserError, match=f"^--label: .*{complaint}"):
        labels.given([text], None, {})
    with pytest.raises(UserError, match=f"^TAKT_LABELS: .*{complaint}"):
        labels.given([], None, {labels.VARIABLE: text})


def test_the_first_folder_that_has_a_package_wins(tmp_path: Path) -> None:
    for prefix, name, version in [("a", "x", "1.2.3"), ("b", "x", "9.9.9"), ("b", "y", "4.5.6")]:
        folder = tmp_path / prefix / "share" / name
        folder.mkdir(parents=True)
        (folder / "package.xml").write_text(f"<package>\n<version> {version}\n</version>")
    (tmp_path / "b" / "share" / "z").mkdir()
    assert labels.packages(f"{tmp_path / 'a'}:{tmp_path / 'b'}:") == {"x": "1.2.3", "y": "4.5.6"}


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    with tarfile.open(RECORDING) as archive:
        archive.extractall(tmp_path, filter="data")
    folder = tmp_path / "pipeline-ring"
    labels.write(folder, labels.document({"robot": "r7", "version": "1.4"}, {"ROS_DISTRO": "j"}))
    return folder


@pytest.mark.parametrize("kind", [None, "gztar", "xztar", "zip"])
@pytest.mark.parametrize("inside", [True, False])
def test_info_shows_them_of_folders_and_archives(
    labelled: Path, kind: str | None, inside: bool
) -> None:
    trace = str(labelled)
    if kind is not None:
        parent = labelled if not inside else labelled.parent
        trace = shutil.make_archive(
            str(labelled.parent.parent / "archive"), kind, parent, labelled.name if inside else "."
        )
    text = run_takt("info", trace)
    assert text.returncode == 0, text.stderr
    assert "robot=r7, version=1.4" in text.stdout.splitlines()[1]
    document = json.loads(run_takt("info", trace, "--json").stdout)
    (told,) = document["labels"]
    assert told["labels"] == {"robot": "r7", "version": "1.4"}
    assert told["kernel"]
    assert told["boot"] == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    bare = json.loads(run_takt("info", str(RECORDING), "--json").stdout)
    assert bare["labels"] == []
    assert (document["events"], document["nodes"]) == (bare["events"], bare["nodes"])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[" * 100_000,
        "[]",
        '{"format": "takt/model"}',
        '{"format": "takt/labels", "version": 2}',
        '{"format": "takt/labels", "version": 1, "labels": {"robot": 7}, "packages": {}}',
    ],
)
def test_a_file_that_is_none_is_one_line(labelled: Path, text: str) -> None:
    (labelled / labels.FILE).write_text(text)
    done = run_takt("info", str(labelled))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert labels.FILE in done.stderr


def test_two_hosts_of_one_recording_have_labels_each(labelled: Path) -> None:
    base = labelled.parent / "base"
    shutil.copytree(labelled, base)
    labels.write(base, labels.document({"robot": "r7", "version": "1.5"}, {}))
    told = labels.read([str(labelled), str(base)])
    assert [each.labels["version"] for each in told] == ["1.4", "1.5"]
    summary = json.loads(run_takt("summarize", labelled, base, "--json").stdout)
    # They disagree about the version, so the recording has none.
    assert summary["labels"] == {"robot": "r7"}
    assert [each["labels"]["version"] for each in summary["machines"]] == ["1.4", "1.5"]
