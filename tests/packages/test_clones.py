"""After each target of the Makefile in a fresh clone, every command works, or one line names the
target that builds what it lacks. tests/integration/test_targets.py does the same in a minute with
the build that is there.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import short_calls
from packages import ROOT, outside, run
from short_calls import Done, faults
from takt import loopback

# Building takes as long as the machine needs.
pytestmark = pytest.mark.timeout(0)


@pytest.mark.parametrize("target", ["demo", "build", "web"])
def test_every_command_works_or_says_what_builds_the_part_that_it_lacks(
    target: str, tmp_path: Path
) -> None:
    clone, here = tmp_path / "clone", tmp_path / "here"
    here.mkdir()
    environment = loopback.environment(outside() | {"ROS_DISTRO": "jazzy"})
    del environment["ROS_DISTRO"]
    run("git", "clone", "--quiet", ROOT, clone)
    run("make", target, cwd=clone, environment=environment)

    def takt(*arguments: str) -> Done:
        return short_calls.run([str(clone / "takt")], *arguments, cwd=here, environment=environment)

    checks = json.loads(takt("doctor", "--json").stdout)["checks"]
    (libraries,) = (check for check in checks if check["id"] == "tracetools")
    missing = libraries["facts"]["missing"]
    assert (missing == []) == (target == "build")

    def says(line: str) -> bool:
        said = re.fullmatch(rf"takt: (\S+) is missing: run 'make[^']*' in {clone}\n", line)
        return said is not None and said[1] in missing

    assert faults(takt, here, says) == []
