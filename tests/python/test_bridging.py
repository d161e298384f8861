"""How takt bridge runs its program."""

from __future__ import annotations

from pathlib import Path

import pytest

from takt import bridging, runtime

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
