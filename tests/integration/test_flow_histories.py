"""What `takt flow` finds in a recording is what the messages themselves say happened to them."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys

import pytest

from recording import PROGRAMS, TAKT, Run

MESSAGES = 20


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    program = [sys.executable, str(PROGRAMS / "histories.py"), str(MESSAGES)]
    return Run.of(tmp_path_factory.mktemp("histories") / "trace", program)


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("first", ["/first", "/relay", "/merger", "/merger", "/sink"]),
        ("second", ["/second", "/merger", "/merger", "/sink"]),
    ],
)
def test_every_message_has_the_history_that_it_carries(
    run: Run, source: str, path: list[str]
) -> None:
    told = json.loads(run.output)
    done = subprocess.run(
        [*TAKT, "flow", str(run.trace), "--json", "--instances", "--from", source, "--to", "sink"],
        capture_output=True,
        check=True,
    )
    (flow,) = json.loads(done.stdout)["flows"]
    assert [step["node"] for step in flow["path"]] == path
    assert flow["count"] in (MESSAGES, MESSAGES + 1)  # one may come while the program ends

    for i, instance in enumerate(flow["instances"][:MESSAGES]):
        logged = told[i]["handled"] - told[i][source]
        # The source looked at its clock before it called publish, the sink when it was called.
        assert 0 < instance["latency"] <= logged
    # Equal stamps are the same message, in the log and in the trace, however fast the machine is.
    stamps = [message[source] for message in told]
    begins = [instance["begin"] for instance in flow["instances"][:MESSAGES]]
    assert [a == b for a, b in itertools.pairwise(stamps)] == [
        a == b for a, b in itertools.pairwise(begins)
    ]
