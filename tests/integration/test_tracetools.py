"""The drop-in libtracetools.so: the functions and the events of the installed ROS 2."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import babeltrace
import upstream
from recording import EBPF, PROGRAMS, Run

Call = tuple[str, list[tuple[str, Any]]]

OURS = {
    "ros2:message_link_periodic_async",
    "ros2:message_link_partial_sync",
    "takt:executor_init",
    "takt:thread_cpu_time",
    "takt:callback_release",
    "takt:message_kept",
    "takt:message_chosen",
    "takt:inputs_linked",
    "takt:links_declared",
    "takt:callback_init",
    "takt:waitable_triggered",
    "takt:link_send",
    "takt:link_receive",
    "takt:message_stamp",
    "takt:share_take",
    "takt:rate_sleep",
    "takt:rate_wakeup",
    "takt:rate_stop",
    "takt:limited_spin",
    "takt:client_library",
}
SERVICE_CALLS = {
    "ros2:rmw_client_init",
    "ros2:rmw_send_request",
    "ros2:rmw_take_request",
    "ros2:rmw_send_response",
    "ros2:rmw_take_response",
}
"""Events that the library tells where upstream's has none (Jazzy)."""
EXECUTOR = {
    "executor": "e0",
    "kind": "events",
    "timers": "polled",
    "threads": 2,
    "policy": "deadline",
    "runtime": 2_000_000,
    "deadline": 4_000_000,
    "period": 5_000_000,
    "priority": 0,
    "cpu": -1,
}
SUBS, PUBS = [0x10, 0x20, 0x30], [0x40]


RELEASE: list[tuple[str, Any]] = [("int64_t", 7), ("int64_t", 5), ("int64_t", 3)]


def gid_size() -> int:
    """The size of the middleware's gid in bytes."""
    for prefix in os.environ["AMENT_PREFIX_PATH"].split(":"):
        header = Path(prefix) / "include/rmw/rmw/types.h"
        if header.exists():
            line = next(x for x in header.read_text().splitlines() if "RMW_GID_STORAGE_SIZE " in x)
            return int(line.split()[2].rstrip("u"))
    raise FileNotFoundError("rmw/types.h")


def calls() -> list[Call]:
    """Every function of tracetools once, and then ours."""
    result: list[Call] = []
    for number, tracepoint in enumerate(upstream.tracepoints()):
        values = upstream.arguments(tracepoint, number)
        kinds = [kind.removeprefix("const ") for kind, _ in tracepoint.parameters]
        typed = list(zip(kinds, values, strict=True))
        if tracepoint.name == "rclcpp_publish":  # its first argument is no field
            typed.insert(0, ("void *", 0xBAD))
        result.append((f"ros_trace_{tracepoint.name}", typed))
    links = [("void **", SUBS), ("size_t", len(SUBS)), ("void **", PUBS), ("size_t", len(PUBS))]
    result.append(("takt_trace_message_link_periodic_async", links))
    result.append(("takt_trace_message_link_partial_sync", links))
    kinds = ["char *" if isinstance(value, str) else "int64_t" for value in EXECUTOR.values()]
    result.append(("takt_trace_executor_init", list(zip(kinds, EXECUTOR.values(), strict=True))))
    result.append(("takt_trace_callback_release", [("void *", 0xCA11), *RELEASE]))
    result += [(f"takt_trace_message_{what}", [("void *", 0x3E55)]) for what in ("kept", "chosen")]
    inputs = [("char *", "newest"), ("void **", SUBS), ("size_t", len(SUBS)), ("void *", 0x50)]
    result.append(("takt_trace_inputs_linked", inputs))
    result.append(("takt_trace_links_declared", [("uint64_t", 1)]))
    made = [("void *", 0x60), ("void *", 0x61), ("char *", "event_source"), ("int64_t", 9)]
    result.append(("takt_trace_callback_init", made))
    result.append(("takt_trace_waitable_triggered", [("void *", 0x60)]))
    message = [("uint8_t *", list(range(gid_size()))), ("int64_t", 11)]
    result += [(f"takt_trace_link_{what}", message) for what in ("send", "receive")]
    result.append(("takt_trace_message_stamp", [("void *", 0x5B), ("int64_t", 13)]))
    result.append(("takt_trace_share_take", [("void *", 0x5A), ("int64_t", 12)]))
    result.append(("takt_trace_rate_sleep", [("int64_t", 9)]))
    result.append(("takt_trace_rate_wakeup", []))
    result.append(("takt_trace_rate_stop", []))
    result.append(("takt_trace_limited_spin", [("bool", True)]))
    result.append(("takt_trace_client_library", [("char *", "rclpy")]))
    return result


@pytest.fixture(scope="module", params=["lttng", "ring", EBPF])
def run(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Run:
    return Run.of(
        tmp_path_factory.mktemp("emit") / "trace",
        [sys.executable, str(PROGRAMS / "emit.py")],
        backend=request.param,
        text=json.dumps(calls()),
    )


def test_every_event_is_recorded_once_in_order_with_its_values(run: Run) -> None:
    recorded = [event for event in babeltrace.events(run.trace) if event.name[:5] == "ros2:"]
    expected = [
        (f"ros2:{t.name}", upstream.expected(t, upstream.arguments(t, n), gid_size()))
        for n, t in enumerate(upstream.tracepoints())
    ]
    links = {"_subs_length": 3, "subs": SUBS, "_pubs_length": 1, "pubs": PUBS}
    expected.append(("ros2:message_link_periodic_async", links))
    expected.append(("ros2:message_link_partial_sync", links))
    assert [(event.name, event.fields) for event in recorded] == expected


def test_a_take_from_shared_memory_has_its_fields(run: Run) -> None:
    (said,) = (e.fields for e in babeltrace.events(run.trace) if e.name == "takt:share_take")
    assert said == {"rmw_subscription_handle": 0x5A, "source_timestamp": 12}


def test_events_carry_process_thread_and_program(run: Run) -> None:
    facts = json.loads(run.output)
    recorded = {(e.process, e.thread, e.program) for e in babeltrace.events(run.trace)}
    assert recorded == {(facts["process"], facts["thread"], facts["name"])}


def test_layouts_are_upstreams(run: Run) -> None:
    layouts = babeltrace.layouts(run.trace)
    for tracepoint in upstream.tracepoints():
        declared = [field.declaration for field in tracepoint.fields]
        assert layouts.pop(f"ros2:{tracepoint.name}") == declared, tracepoint.name
    if run.backend == "ebpf":
        of_probes = {"dds:write", "dds:receive", "rcl:call"}
        assert set(layouts) == (OURS - {"takt:thread_cpu_time"}) | of_probes
    else:
        known = {f"ros2:{tracepoint.name}" for tracepoint in upstream.tracepoints()}
        assert set(layouts) == OURS | (SERVICE_CALLS - known)


def test_processor_time_stands_inside_the_callback(run: Run) -> None:
    if run.backend == "ebpf":
        pytest.skip("is read by libtracetools, not by the program")
    events = list(babeltrace.events(run.trace))
    names = [event.name for event in events]
    start = names.index("ros2:callback_start") + 1
    end = names.index("ros2:callback_end") - 1
    assert names[start] == names[end] == "takt:thread_cpu_time"
    assert 0 < events[start].fields["cpu_time"] < events[end].fields["cpu_time"]


def test_processor_time_stands_beside_what_threads_without_callbacks_do(run: Run) -> None:
    if run.backend == "ebpf":
        pytest.skip("is read by libtracetools, not by the program")
    names = [event.name for event in babeltrace.events(run.trace)]
    for name in ("ros2:rmw_publish", "ros2:rclcpp_intra_publish", "takt:rate_sleep"):
        assert names[names.index(name) - 1] == "takt:thread_cpu_time", name
    assert names[names.index("takt:rate_wakeup") + 1] == "takt:thread_cpu_time"


def test_executor_says_what_it_is(run: Run) -> None:
    said = [e.fields for e in babeltrace.events(run.trace) if e.name == "takt:executor_init"]
    assert said == [EXECUTOR]


def test_executor_says_what_it_was_told(run: Run) -> None:
    said = [e.fields for e in babeltrace.events(run.trace) if e.name == "takt:callback_release"]
    assert said == [{"callback": 0xCA11, "activation": 7, "origin": 5, "completed": 3}]
    for what in ("kept", "chosen"):
        named = [e.fields for e in babeltrace.events(run.trace) if e.name == f"takt:message_{what}"]
        assert named == [{"message": 0x3E55}]


def test_links_say_which_message_goes_and_comes(run: Run) -> None:
    for what in ("send", "receive"):
        (said,) = (e.fields for e in babeltrace.events(run.trace) if e.name == f"takt:link_{what}")
        assert said["timestamp"] == 11
        assert said["writer"][: gid_size()] == list(range(gid_size()))


@pytest.mark.parametrize("backend", ["lttng", "ring", EBPF])
def test_only_the_chosen_events(tmp_path: Path, backend: str) -> None:
    run = Run.of(
        tmp_path / "trace",
        [sys.executable, str(PROGRAMS / "emit.py")],
        backend=backend,
        text=json.dumps(calls()),
        options=["--event", "ros2:rcl_*_init", "--event", "ros2:rcl_init"],
    )
    recorded = Counter(event.name for event in babeltrace.events(run.trace))
    chosen = {
        f"ros2:{t.name}": 1
        for t in upstream.tracepoints()
        if t.name == "rcl_init" or (t.name.startswith("rcl_") and t.name.endswith("_init"))
    }
    assert recorded == chosen


def exported(library: Path) -> set[str]:
    text = subprocess.run(
        ["nm", "--dynamic", "--defined-only", str(library)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return {line.split()[-1] for line in text.splitlines()}


def test_every_function_of_the_stock_library_is_there() -> None:
    from takt.processes.runtime import tracetools

    stock = next(
        library
        for prefix in os.environ["AMENT_PREFIX_PATH"].split(":")
        if (library := Path(prefix) / "lib" / "libtracetools.so").exists()
    )
    functions = {name for name in exported(stock) if "ros_trace" in name or "tracetools6" in name}
    assert len(functions) > 100
    assert functions <= exported(tracetools())


def test_untraced_programs_run_as_ever(tmp_path: Path) -> None:
    """No session daemon, not even a place for one: the calls do nothing."""
    from takt.processes.runtime import tracetools

    done = subprocess.run(
        [sys.executable, str(PROGRAMS / "emit.py")],
        env={
            **os.environ,
            "LD_PRELOAD": str(tracetools()),
            "HOME": "/nonexistent",
            "TAKT_GATE": str(tmp_path / "nobody"),
        },
        input=json.dumps(calls()),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert done.stderr == ""
