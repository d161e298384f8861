"""The protocols of links, in all their executions by SPIN: acknowledgements and RDMA between
machines, and shared memory on one."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

PROTOCOLS = Path(__file__).parents[2] / "libtakt/transport/protocol"

if shutil.which("spin") is None or shutil.which("cc") is None:
    pytest.skip(
        "SPIN or a C compiler is not installed (setup/packages.txt)", allow_module_level=True
    )


def verify(folder: Path, model: str, *definitions: str) -> tuple[int, int]:
    """How many errors and how many states were found."""
    options = [f"-D{definition}" for definition in definitions]
    subprocess.run(["spin", *options, "-a", str(PROTOCOLS / model)], cwd=folder, check=True)
    compiler = ["cc", "-O2", "-w", "-DSAFETY", "-DCOLLAPSE", "-o", "pan", "pan.c"]
    subprocess.run(compiler, cwd=folder, check=True)
    done = subprocess.run(
        ["./pan", "-m100000"], cwd=folder, check=True, capture_output=True, text=True
    )
    errors = re.search(r"errors: (\d+)", done.stdout)
    states = re.search(r"(\d+) states, stored", done.stdout)
    assert errors is not None, done.stdout
    assert states is not None
    assert "max search depth too small" not in done.stdout
    return int(errors[1]), int(states[1])


def test_nothing_is_torn_doubled_or_reported_wrongly_and_nothing_stops(tmp_path: Path) -> None:
    errors, states = verify(tmp_path, "acknowledgement.pml", "LOSSES=1")
    assert errors == 0
    assert states > 100_000


def test_a_sender_that_confuses_chunks_is_found(tmp_path: Path) -> None:
    errors, _ = verify(tmp_path, "acknowledgement.pml", "LOSSES=1", "CONFUSED")
    assert errors > 0


@pytest.mark.parametrize("sender", ["LISTENER", "CALLER"])
def test_shared_memory_gives_each_chunk_once_and_wakes_whoever_waits(
    tmp_path: Path, sender: str
) -> None:
    errors, states = verify(tmp_path, "shared_memory.pml", f"SENDER={sender}")
    assert errors == 0
    assert states > 100_000


@pytest.mark.parametrize("sender", ["LISTENER", "CALLER"])
def test_memory_of_a_former_session_is_found(tmp_path: Path, sender: str) -> None:
    errors, _ = verify(tmp_path, "shared_memory.pml", f"SENDER={sender}", "FORGETFUL")
    assert errors > 0


@pytest.mark.parametrize("sender", ["LISTENER", "CALLER"])
def test_rdma_gives_each_chunk_once_to_a_queue_pair_that_is_there(
    tmp_path: Path, sender: str
) -> None:
    errors, states = verify(tmp_path, "rdma.pml", f"SENDER={sender}")
    assert errors == 0
    assert states > 10_000


@pytest.mark.parametrize("sender", ["LISTENER", "CALLER"])
def test_a_session_before_the_other_end_is_connected_is_found(tmp_path: Path, sender: str) -> None:
    errors, _ = verify(tmp_path, "rdma.pml", f"SENDER={sender}", "HASTY")
    assert errors > 0
