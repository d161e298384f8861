"""How takt bridge runs its program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from takt.errors import UserError
from takt.live import bridging
from takt.processes import runtime

PROGRAM = """#!/bin/sh
echo "{\\"event\\": \\"notice\\", \\"text\\": \\"logs go to $RCUTILS_LOGGING_USE_STDOUT\\"}"
echo '{"event": "stopped", "sent": []}'
"""


def test_what_ros_logs_is_not_taken_for_lines_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its user may want the logs of ROS 2 on standard output."""
    program = tmp_path / "takt-bridge"
    program.write_text(PROGRAM)
    program.chmod(0o700)
    monkeypatch.setattr(runtime, "bridge", lambda: program)
    monkeypatch.setenv("RCUTILS_LOGGING_USE_STDOUT", "1")
    said: list[str] = []
    document = bridging.run(bridging.Request("bridge.yaml", "robot"), said.append)
    assert said == ["warning: logs go to 0"]
    assert document["sent"] == []


def test_a_key_that_cannot_be_written_is_not_there(tmp_path: Path) -> None:
    """An empty one would be respected by the next call."""
    key = tmp_path / "key"
    program = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "from takt.live import bridging\n"
        f"bridging.make_key({str(key)!r})\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert f"UserError: {key}: cannot be written" in done.stderr
    assert not key.exists()
    bridging.make_key(str(key))
    with pytest.raises(UserError, match="not overwritten"):
        bridging.make_key(str(key))
