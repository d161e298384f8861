"""Whom a recorder records: every robot once, and never itself. What runs beside the tests is kept
out by a namespace of processes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from recording import PROGRAMS, TAKT, takt
from takt.processes.runtime import tracetools

ALONE = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]

# A robot that runs already is recorded; then one is recorded from its start, and what runs beside
# that. Each recording leaves the recorder's output and its exit status.
SCRIPT = """
cd "$1"; library=$2; shift 2
record() {
  name=$1; shift
  $TAKT record --json --backend ring -o "$name" "$@" > "$name.json" 2> "$name.said"
  echo $? > "$name.status"
}
LD_PRELOAD=$library "$@" > robot & robot=$!
until [ -s robot ]; do sleep 0.01; done
record running --duration 1
kill -TERM "$robot"
wait "$robot"
record started -- "$@" & recorder=$!
until [ -n "$(find started.partial -name 'thread_*' 2> /dev/null)" ]; do sleep 0.01; done
record beside --duration 1
kill -TERM "$(grep -m 1 -x '[0-9]*' started.said)"
wait "$recorder"
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="namespaces of processes need privileges")
def test_a_recorder_takes_neither_itself_nor_anothers_robot(tmp_path: Path) -> None:
    tick = [sys.executable, str(PROGRAMS / "tick.py")]
    subprocess.run(
        [*ALONE, "sh", "-c", SCRIPT, "sh", str(tmp_path), str(tracetools()), *tick],
        env={**os.environ, "TAKT": " ".join(TAKT)},
        check=True,
    )

    def said(name: str) -> str:
        return (tmp_path / name).read_text()

    robot = int(said("robot").split()[0])
    assert said("running.status") == said("started.status") == "0\n", said("running.said")
    for name in ("running", "started"):
        document: dict[str, Any] = json.loads(said(f"{name}.json"))
        assert not any(document["losses"].values())
    done = takt("info", "--json", str(tmp_path / "running"))
    assert [process["pid"] for process in json.loads(done.stdout)["processes"]] == [robot]
    # A ring has one reader: a second recorder gets no events of it, and names the first.
    assert said("beside.status") == "2\n", said("beside.said")
    assert said("beside.json") == ""
    *_, last = said("beside.said").splitlines()
    assert re.match(r"takt: takt record \(process \d+\) reads what running programs tell", last)
