"""Runs rclcpp's own tests of executors with Takt's executors among those that they test.

    rclcpp_tests.py SOURCE --build COMMAND

SOURCE is a source tree of rclcpp, of the release that Takt's executors were built for. The tests
are copied from it into a temporary folder, with Takt's classes inserted into their lists of
executors. COMMAND is called with that folder and another one, into which it puts a program for each
test that the first has: how those are built depends on how rclcpp was. The programs are run then,
one after the other. Exit status 1 if a test with one of Takt's classes fails or none ran.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

FOLDER = Path("rclcpp/test/rclcpp")
TESTS = (
    "executors/test_executors.cpp",
    "executors/test_executors_busy_waiting.cpp",
    "executors/test_executors_intraprocess.cpp",
    "executors/test_executors_timer_cancel_behavior.cpp",
    "executors/test_executors_warmup.cpp",
    "test_add_callback_groups_to_executor.cpp",
)
SHARED = (
    "executors/executor_types.hpp",
    "executors/test_waitable.cpp",
    "executors/test_waitable.hpp",
)

CLASSES = (
    "EventsExecutor",
    "FixedPriorityExecutor",
    "RateMonotonicExecutor",
    "EdfExecutor",
    "ChainPriorityExecutor",
    "GraphAwareExecutor",
)
PREFIX = "Takt"
"""The names of Takt's classes begin with it in the names of tests."""

# Lists of executors, the function that names them, and conditions that hold for one executor alone.
LIST = re.compile(r"using \w+ =\s*::testing::Types<(?=\s*rclcpp::)")
NAMES = re.compile(r"\(void\)idx;")
ONLY_EVENTS = re.compile(
    r"!std::is_same<ExecutorType, rclcpp::experimental::executors::EventsExecutor>\(\)"
)
FIRST_INCLUDE = "#include <gtest/gtest.h>"


def insert_classes(text: str) -> str:
    """The source of a test with Takt's executors wherever it lists executors."""
    types = "".join(f" takt::rclcpp::{name}," for name in CLASSES)
    names = "".join(
        f'\n    if (std::is_same<T, takt::rclcpp::{name}>()) return "{PREFIX}{name}";'
        for name in CLASSES
    )
    changed = LIST.sub(lambda match: match[0] + types, text)
    changed = NAMES.sub(lambda match: match[0] + names, changed)
    changed = ONLY_EVENTS.sub(
        lambda match: f"{match[0]} && !std::is_base_of<takt::rclcpp::Executor, ExecutorType>()",
        changed,
    )
    if changed == text:
        return text
    include = FIRST_INCLUDE + '\n#include "takt/rclcpp/executors.hpp"'
    return changed.replace(FIRST_INCLUDE, include, 1)


def copy(source: Path, folder: Path) -> None:
    for name in (*TESTS, *SHARED):
        original = source / FOLDER / name
        if not original.is_file():
            raise SystemExit(f"{source}: has no {FOLDER / name}; is it rclcpp's source tree?")
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(insert_classes(original.read_text(encoding="utf-8")), encoding="utf-8")


def run(program: Path, report: Path) -> Counter[str]:
    """How many instances with Takt's classes passed, failed and were skipped."""
    command = [str(program), f"--gtest_filter=*{PREFIX}*", f"--gtest_output=json:{report}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    counted: Counter[str] = Counter()
    if not report.exists():
        print(f"{program.name}: ended with status {done.returncode}\n{done.stdout}{done.stderr}")
        return Counter(failed=1)
    suites: list[dict[str, Any]] = json.loads(report.read_text())["testsuites"]
    for suite in suites:
        for test in suite["testsuite"]:
            if "failures" in test:
                counted["failed"] += 1
                print(f"failed: {suite['name']}.{test['name']}")
                print(test["failures"][0]["failure"])
            else:
                counted["passed" if test["result"] == "COMPLETED" else "skipped"] += 1
    if done.returncode != 0 and not counted["failed"]:
        print(f"{program.name}: ended with status {done.returncode}\n{done.stderr}")
        counted["failed"] += 1
    return counted


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("source", type=Path, metavar="SOURCE")
    parser.add_argument("--build", required=True, metavar="COMMAND")
    arguments = parser.parse_args()
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="takt-rclcpp-") as temporary:
        sources, programs = Path(temporary) / "sources", Path(temporary) / "programs"
        programs.mkdir()
        copy(arguments.source, sources)
        subprocess.run([*shlex.split(arguments.build), sources, programs], check=True)
        for test in TESTS:
            program = programs / Path(test).stem
            if not program.exists():
                raise SystemExit(f"{arguments.build}: made no {program.name}")
            counted = run(program, program.with_suffix(".json"))
            print(f"{program.name}: " + ", ".join(f"{n} {what}" for what, n in counted.items()))
            total += counted
    passed, failed, skipped = (total[what] for what in ("passed", "failed", "skipped"))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if passed > 0 and failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
