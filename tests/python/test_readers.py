"""Who reads the rings of running programs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from takt.processes import readers

READER = """
import fcntl, os, struct, sys
memory = os.memfd_create(sys.argv[1])
lock = struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 0, 0)
if sys.argv[2] == "locks":
    fcntl.fcntl(memory, fcntl.F_OFD_SETLK, lock)
print("ready", flush=True)
sys.stdin.read()
"""


@contextmanager
def process(memory: str, locks: str) -> Iterator[int]:
    """One that has a memory by that name open, and `locks` it or not."""
    with subprocess.Popen(
        [sys.executable, "-c", READER, memory, locks],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as started:
        assert started.stdout is not None
        assert started.stdin is not None
        assert started.stdout.readline() == "ready\n"
        yield started.pid
        started.stdin.close()


def test_only_who_holds_the_lock_of_a_ring_reads_it() -> None:
    with (
        process("takt-ring", "locks") as reader,
        process("takt-ring", "looks") as traced,
        process("something", "locks") as other,
    ):
        found = {one.pid: one.command for one in readers.others()}
    assert found[reader] == Path(sys.executable).name
    assert traced not in found
    assert other not in found
    assert os.getpid() not in found


def test_the_sentence_says_what_to_do() -> None:
    manager, recorder = readers.Reader(7, "takt manage"), readers.Reader(8, "takt record")
    assert readers.in_words([manager]) == (
        "takt manage (process 7) reads what running programs tell, and only one process may: ask "
        "'takt status', end it first, or record with --backend ebpf"
    )
    assert readers.in_words([manager, recorder]).startswith(
        "takt manage (process 7) and takt record (process 8) read what running programs tell"
    )
    assert "takt status" not in readers.in_words([recorder])
