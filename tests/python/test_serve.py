"""takt serve on a disk that takes no more: one line, exit status 2, nothing left behind."""

from __future__ import annotations

import resource
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

RECORDING = Path(__file__).resolve().parents[1] / "recordings" / "autoware.tar.xz"


@pytest.mark.parametrize("largest", [1 << 10, 100 << 10])
def test_a_full_disk_is_one_line_and_leaves_nothing_behind(tmp_path: Path, largest: int) -> None:
    """No file may get larger, as if the disk were full: before the tables are written, and then."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))

    with tarfile.open(RECORDING) as archive:
        archive.extractall(tmp_path / "trace", filter="data")
    cache = tmp_path / "cache"
    trace = tmp_path / "trace"
    done = subprocess.run(
        [sys.executable, "-m", "takt", "serve", str(trace), "--cache", str(cache)],
        capture_output=True,
        text=True,
        preexec_fn=limit,
    )
    assert done.returncode == 2, done.stderr
    lines = [line for line in done.stderr.splitlines() if "warning" not in line]
    assert len(lines) == 1, done.stderr
    assert "File too large" in lines[0]
    assert list(cache.iterdir()) == []
