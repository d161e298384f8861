"""Two containers count their processes from 1 each: a recording of both keeps them apart."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from recording import PROGRAMS, Run, takt

Json = dict[str, Any]


@pytest.mark.skipif(os.geteuid() != 0, reason="namespaces of processes need privileges")
@pytest.mark.parametrize("backend", ["ring", "lttng"])
def test_processes_of_the_same_number_are_kept_apart(tmp_path: Path, backend: str) -> None:
    # Without random addresses the objects of both processes have the same addresses, too.
    program = f'setarch -R "{sys.executable}" "{PROGRAMS / "threaded.py"}"'
    contained = f"unshare --pid --fork {program}"
    script = f"{contained} 3 left & {contained} 3 right; wait"
    recorded = Run.of(tmp_path / "trace", ["sh", "-c", script], backend=backend)
    done = takt("model", str(recorded.trace))
    assert done.returncode == 0, done.stderr
    found: Json = json.loads(done.stdout)
    expected = set()
    for node in ("/left", "/right"):
        expected |= {
            (f"{node}:rate-50ms", f"{node}:{node}/scan"),
            (f"{node}:{node}/frames:source", f"{node}:{node}/frames"),
        }
    assert {(edge["from"], edge["to"]) for edge in found["edges"]} == expected
    process: dict[str, set[str]] = {c["id"].split(":")[0]: set() for c in found["callbacks"]}
    executors = {executor["id"]: executor["process"] for executor in found["executors"]}
    for callback in found["callbacks"]:
        process[callback["node"]].add(executors[callback["executor"]])
    assert len(process["/left"]) == len(process["/right"]) == 1
    assert process["/left"] != process["/right"]
    assert found["provenance"]["warnings"] == []
