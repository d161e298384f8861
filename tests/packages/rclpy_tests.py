"""Runs rclpy's own tests of executors with Takt's executors in the place of rclpy's.

    rclpy_tests.py [SOURCE] [--executor CLASS]...

SOURCE is a source tree of rclpy, of the release that is installed; test_msgs must be found. The
tests are copied from it into a temporary folder and run once for each class, which takes the place
of SingleThreadedExecutor and, with several threads, of MultiThreadedExecutor. Without SOURCE it
says so and runs nothing. What fails is run again, twice at most: some tests count the expiries of
timers of a millisecond, which rclpy's own executors lose as well where the machine is busy. Exit
status 1 if a test fails each time or none ran.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree

from takt import loopback

FOLDER = Path("rclpy/test")
TESTS = (
    "test_executor.py",
    "test_callback_group.py",
    "test_task.py",
    "test_timer.py",
    "test_waitable.py",
    "test_guard_condition.py",
    "test_create_while_spinning.py",
    "test_wait_for_message.py",
    "test_action_server.py",
    "test_action_client.py",
    "test_rate.py",
    "test_qos_event.py",
)

CLASSES = (
    "EventsExecutor",
    "FixedPriorityExecutor",
    "EdfExecutor",
    "ChainPriorityExecutor",
    "GraphAwareExecutor",
    "GraphAwareEdfExecutor",
)
INTERNALS = {
    "test_executor.py::TestExecutor::test_multi_threaded_executor_num_threads": (
        "looks at the private pool of rclpy's class"
    ),
    "test_executor.py::TestExecutor::test_create_task_dependent_coroutines": (
        "expects the newest task first, which rclpy itself does not do any more since Kilted"
    ),
    "test_action_server.py::TestActionServer::test_feedback": (
        "expects a message before a response that came earlier: the order of rclpy's wait set"
    ),
    "test_action_server.py::TestActionServer::test_different_feedback_type_raises": (
        "expects the same"
    ),
}
"""Tests of what rclpy's executors have inside, with the reason: 4 of 140."""

ATTEMPTS = 3

ONE_THREAD = ("GraphAwareExecutor", "GraphAwareEdfExecutor")
SEVERAL_THREADS = {
    "test_callback_group.py::TestCallbackGroup::test_reentrant_group_not_blocking": (
        "runs two callbacks at once"
    ),
}
"""Left out for classes that have one thread."""

SUBSTITUTION = """
import os
import rclpy.executors
import takt.executors

Executor = getattr(takt.executors, os.environ["TAKT_EXECUTOR"])


class SingleThreadedExecutor(Executor):
    def __init__(self, *, context=None):
        super().__init__(context=context)


class MultiThreadedExecutor(Executor):
    def __init__(self, num_threads=None, *, context=None):
        one_thread = os.environ["TAKT_ONE_THREAD"] == "True"
        several = {} if one_thread else {"num_threads": num_threads or 4}
        super().__init__(context=context, **several)


rclpy.executors.SingleThreadedExecutor = SingleThreadedExecutor
rclpy.executors.MultiThreadedExecutor = MultiThreadedExecutor
"""


def copy(source: Path, folder: Path) -> None:
    for name in TESTS:
        original = source / FOLDER / name
        if not original.is_file():
            raise SystemExit(f"{source}: has no {FOLDER / name}; is it rclpy's source tree?")
        shutil.copyfile(original, folder / name)
    (folder / "conftest.py").write_text(SUBSTITUTION, encoding="utf-8")


def version_of(source: Path) -> str:
    package = ElementTree.parse(source / "rclpy/package.xml")
    return package.getroot().findtext("version", "")


def run(folder: Path, executor: str) -> Counter[str]:
    """How many tests passed, failed and were skipped with that class."""
    left_out = [*INTERNALS, *(SEVERAL_THREADS if executor in ONE_THREAD else [])]
    total = Counter[str]()
    tests = [*TESTS, *(f"--deselect={test}" for test in left_out)]
    for _ in range(ATTEMPTS):
        counted, tests, output = attempt(folder, executor, tests)
        total += counted
        if not tests:
            return total
    print(output)
    return total + Counter(failed=len(tests))


def attempt(folder: Path, executor: str, tests: list[str]) -> tuple[Counter[str], list[str], str]:
    """How many passed and were skipped, which failed, and what was said."""
    report = folder / "report.xml"
    report.unlink(missing_ok=True)
    options = ["-q", "-n0", "-p", "no:cacheprovider", "--timeout=120", f"--junitxml={report}"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=folder,
        env={
            **loopback.environment(),
            "TAKT_EXECUTOR": executor,
            "TAKT_ONE_THREAD": str(executor in ONE_THREAD),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    output = f"{executor}: ended with status {done.returncode}\n{done.stdout}{done.stderr}"
    counted: Counter[str] = Counter()
    failed = []
    if report.exists():
        for case in ElementTree.parse(report).iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                module, *group = (case.get("classname") or "").split(".")
                failed.append("::".join([f"{module}.py", *group, case.get("name") or ""]))
            else:
                counted["passed" if case.find("skipped") is None else "skipped"] += 1
    if failed or done.returncode == 0:
        return counted, failed, output
    # It broke off, or ended badly after all tests: everything is tried again.
    return Counter(), tests, output


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("source", type=Path, metavar="SOURCE", nargs="?")
    parser.add_argument("--executor", action="append", choices=CLASSES, metavar="CLASS")
    arguments = parser.parse_args()
    if arguments.source is None:
        print("rclpy's own tests: skipped, no source tree of rclpy was named")
        return 0
    tree, installed = version_of(arguments.source), metadata.version("rclpy")
    if tree != installed:
        print(f"the tests are those of rclpy {tree}, installed is {installed}")
    for test, reason in INTERNALS.items():
        print(f"left out: {test}: {reason}")
    for test, reason in SEVERAL_THREADS.items():
        print(f"left out for {', '.join(ONE_THREAD)}: {test}: {reason}")
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="takt-rclpy-") as temporary:
        copy(arguments.source, Path(temporary))
        for executor in arguments.executor or CLASSES:
            counted = run(Path(temporary), executor)
            print(f"{executor}: " + ", ".join(f"{n} {what}" for what, n in counted.items()))
            total += counted
    passed, failed, skipped = (total[what] for what in ("passed", "failed", "skipped"))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if passed > 0 and failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
