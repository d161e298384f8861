"""Links within nodes: what flows and models say of programs that printed what they did."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from robot import run_takt

RECORDINGS = Path(__file__).resolve().parents[1] / "recordings" / "links"

Json = dict[str, Any]
CLOCK_READING = 3_000_000
"""ns: a program looks at its clock before it publishes, and after its callback has begun."""


def document(command: str, name: str, *arguments: str) -> Json:
    done = run_takt(command, str(RECORDINGS / f"{name}.tar.xz"), *arguments, "--json")
    assert done.returncode in (0, 1), done.stderr
    parsed: Json = json.loads(done.stdout)
    return parsed


def truth(name: str) -> list[list[int]]:
    lines = (RECORDINGS / f"{name}.txt").read_text().splitlines()
    return [[0 if word == "-" else int(word) for word in line.split()] for line in lines]


def only(flows: list[Json], source: str) -> Json:
    (flow,) = (flow for flow in flows if flow["from"].startswith(source))
    return flow


@pytest.mark.parametrize("name", ["transforms-apart", "transforms-together"])
def test_a_planner_uses_the_newest_objects_and_no_transforms(name: str) -> None:
    expected = sorted(line[0] for line in truth(name))
    found = document("flow", name, "--from", "/scan", "--to", "/base:/cmd_vel", "--instances")
    (flow,) = found["flows"]
    measured = sorted(instance["latency"] for instance in flow["instances"])
    assert len(expected) >= 200
    assert len(measured) == len(expected)
    apart = [abs(one - other) for one, other in zip(measured, expected, strict=True)]
    assert max(apart) < CLOCK_READING
    (link,) = (link for link in found["links"] if "/planner:/objects" in link["inputs"])
    assert link["inputs"] == ["/planner:/objects"]
    assert not any("/tf" in text for link in found["links"] for text in link["inputs"])


@pytest.mark.parametrize("name", ["transforms-apart", "transforms-together", "transforms-case"])
def test_models_have_the_links_of_flows(name: str) -> None:
    links = document("flow", name)["links"]
    model = document("model", name)
    sampled = {(edge["from"], edge["to"]) for edge in model["edges"] if not edge["topic"]}
    readers = {to.split(":")[0] for _, to in sampled}
    inferred = {text for link in links for text in link["inputs"]}
    assert {text for text, _ in sampled} == inferred
    assert readers == {text.split(":")[0] for text in inferred}
    assert model["joins"] == []


def test_a_goal_is_about_the_way_that_was_observed(tmp_path: Path) -> None:
    goals = tmp_path / "goals.yaml"
    goals.write_text("chains: [{name: drive, from: /scan, to: /cmd_vel, latency: 10s}]\n")
    measured = document("latency", "transforms-case", "--goals", str(goals))
    (chain,) = measured["chains"]
    assert chain["callbacks"] == ["/detector:/scan", "/planner:/objects"]


@pytest.mark.parametrize(
    "name", ["filters-exact-10-10", "filters-approximate-10-10", "filters-approximate-20-7"]
)
def test_joins_of_message_filters_are_in_flows_and_models(name: str) -> None:
    found = document("flow", name, "--to", "/sink")
    (link,) = found["links"]
    assert (link["kind"], link["inputs"]) == ("partial_sync", ["/fusion:/a", "/fusion:/b"])
    assert link["matches_stamps"]
    assert any("message_filters" in line for line in found["provenance"]["warnings"])
    assert link["origin"] == "inferred"
    expected = truth(name)
    # The input that completed the sets: the truth is what was observed.
    completing = only(found["flows"], "/b")
    assert completing["count"] == len(expected)
    assert completing["p50"] == pytest.approx(
        sorted(b for _, b in expected)[len(expected) // 2], abs=CLOCK_READING
    )
    # Which message of the other input it was is not known where several waited.
    stored = only(found["flows"], "/a")
    ages = sorted(a for a, _ in expected)
    assert stored["p50"] <= ages[len(ages) // 2] + CLOCK_READING
    assert stored["max"] <= ages[-1] + CLOCK_READING
    if stored["uncertain"] and stored["at_most"]:
        assert stored["at_most"]["p50"] >= ages[len(ages) // 2] - CLOCK_READING
        assert stored["at_most"]["max"] >= ages[-1] - CLOCK_READING
    elif not stored["uncertain"]:
        assert stored["p50"] == pytest.approx(ages[len(ages) // 2], abs=CLOCK_READING)
    model = document("model", name)
    (join,) = model["joins"]
    assert {text.split(":")[0] for text in join["inputs"]} == {"/a", "/b"}
    assert any(
        "by message_filters, and chains do not go by stamps: " in line
        for line in model["provenance"]["warnings"]
    )


def measured(flow: Json) -> list[int]:
    return sorted(instance["latency"] for instance in flow["instances"])


def assert_alike(found: list[int], expected: list[int]) -> None:
    """The programs look at their clocks a little before and after."""
    assert len(found) == len(expected)
    apart = [abs(one - other) for one, other in zip(found, sorted(expected), strict=True)]
    assert max(apart) < CLOCK_READING


@pytest.mark.parametrize("name", ["polls-timer", "polls-thread", "polls-several"])
def test_messages_that_programs_take_themselves_lead_on(name: str) -> None:
    expected = truth(name)
    found = document("flow", name, "--from", "/objects", "--to", "/sink", "--instances")
    assert len(expected) >= 200
    (flow,) = found["flows"]
    assert_alike(measured(flow), [line[0] for line in expected])
    assert flow["uncertain"] == 0
    assert found["losses"] == {"discarded": 0}
    # The thread of the third takes a message of /map, too, and may only look at it.
    origins = {link["origin"] for link in found["links"]}
    assert origins == {"polls-timer": {"observed"}, "polls-thread": set()}.get(name, {"inferred"})


def test_a_thread_may_have_used_all_that_it_took_since_it_published_last() -> None:
    expected = [line[1] for line in truth("polls-several") if line[1]]
    found = document("flow", "polls-several", "--from", "/map", "--to", "/sink", "--instances")
    (flow,) = found["flows"]
    assert_alike(measured(flow), expected)
    assert flow["uncertain"] == flow["count"]


def test_a_timer_that_takes_messages_samples_them_in_the_model() -> None:
    model = document("model", "polls-timer")
    (edge,) = (edge for edge in model["edges"] if edge["topic"] == "/objects")
    assert (edge["from"], edge["to"]) == ("/sensor:timer-20ms", "/planner:timer-50ms")
    assert edge["confidence"] is None
    chains = [chain["callbacks"] for chain in model["chains"]]
    assert ["/sensor:timer-20ms", "/planner:timer-50ms", "/sink:/trajectory"] in chains


def test_a_measured_chain_goes_through_the_message_that_was_taken() -> None:
    found = document("latency", "polls-timer")
    chain = next(chain for chain in found["chains"] if len(chain["callbacks"]) == 3)
    # Start-up is left out.
    ages = sorted(line[0] for line in truth("polls-timer"))
    assert 200 <= chain["count"] <= len(ages)
    assert chain["min"] == pytest.approx(ages[0], abs=CLOCK_READING)
    assert ages[0] - CLOCK_READING < chain["p50"] < ages[-1] + CLOCK_READING
    assert chain["max"] <= chain["bound"]


EDGE = ("/sensor:timer-45ms", "/planner:timer-50ms")
"""From the sensor to the planner, whose timer takes one message at each run."""


def figures(line: str) -> tuple[int, int]:
    """How many takes left a newer message in the queue, and of how many."""
    (found,) = re.findall(r"(\d+) of (\d+) takes left a newer one in the queue", line)
    return int(found[0]), int(found[1])


def ends(edge: Json) -> tuple[str, str]:
    return edge["from"], edge["to"]


def test_a_timer_that_takes_the_oldest_message_of_a_queue_is_bounded_with_those_before_it() -> None:
    expected = truth("polls-oldest")
    found = document("flow", "polls-oldest", "--from", "/objects", "--to", "/sink", "--instances")
    (flow,) = found["flows"]
    assert len(expected) >= 200
    assert_alike(measured(flow), [line[0] for line in expected])
    model = document("model", "polls-oldest")
    (edge,) = (edge for edge in model["edges"] if ends(edge) == EDGE)
    assert edge["delay"] == 3 * 50_000_000
    (line,) = (w for w in model["provenance"]["warnings"] if "does not read the newest" in w)
    # By the program's own log: a message that was older than the period when it was taken was there
    # at the run before.
    left, takes = figures(line)
    ages = [age for age, *_ in expected[-takes:]]
    assert takes >= 200
    assert left == sum(age > 52_000_000 for age in ages)
    chain = chain_of_three("polls-oldest")
    assert chain["max"] > 100_000_000
    assert chain["max"] <= chain["bound"]
    assert chain["refuted"] == []


def test_that_a_timer_did_not_take_the_newest_message_is_what_a_bound_fails_for(
    tmp_path: Path,
) -> None:
    model = document("model", "polls-oldest")
    for edge in model["edges"]:
        edge["delay"] = 0 if ends(edge) == EDGE else edge["delay"]
    assuming = tmp_path / "newest.json"
    assuming.write_text(json.dumps(model))
    chain = chain_of_three("polls-oldest", str(assuming))
    assert chain["max"] > chain["bound"]
    assert chain["verdict"] == "violated assumption"
    left, takes = figures(chain["explanation"])
    ages = [age for age, *_ in truth("polls-oldest")[-takes:]]
    assert left == sum(age > 52_000_000 for age in ages) > 200
    assert chain["explanation"] == (
        "/planner is assumed to read the newest message of /sensor, "
        f"but {left} of {takes} takes left a newer one in the queue"
    )
    assert chain["refuted"] == [chain["explanation"]]
    report = tmp_path / "report.html"
    trace = str(RECORDINGS / "polls-oldest.tar.xz")
    run_takt("report", trace, str(assuming), "-o", str(report))
    assert chain["explanation"] in report.read_text()


@pytest.mark.parametrize("name", ["polls-timer", "polls-single"])
def test_timers_that_empty_their_queue_or_have_one_of_one_message_read_the_newest(
    name: str,
) -> None:
    model = document("model", name)
    (edge,) = (edge for edge in model["edges"] if edge["topic"] == "/objects")
    assert edge["delay"] == 0
    assert not any("newest message of" in line for line in model["provenance"]["warnings"])
    chain = chain_of_three(name)
    assert chain["count"] >= 200
    assert chain["refuted"] == []


def chain_of_three(name: str, *arguments: str) -> Json:
    """What is measured of the chain from the sensor over the planner to the sink."""
    chains: list[Json] = document("latency", name, *arguments)["chains"]
    (chain,) = (chain for chain in chains if len(chain["callbacks"]) == 3)
    return chain


def test_a_thread_that_takes_and_publishes_is_a_callback_of_its_own() -> None:
    model = document("model", "polls-thread")
    (thread,) = (each for each in model["callbacks"] if each["id"] == "/planner:/objects")
    alone = [each["id"] for each in model["callbacks"] if each["executor"] == thread["executor"]]
    assert alone == ["/planner:/objects"]
    assert any(edge["from"] == "/planner:/objects" for edge in model["edges"])


def test_a_polling_planner_of_rclcpp_uses_what_its_timer_took() -> None:
    found = document("flow", "polls-rclcpp", "--from", "/objects", "--to", "/trajectory")
    assert [flow["count"] for flow in found["flows"]] == [80, 80]
    assert all(
        [step["callback"] for step in flow["path"]][:3]
        == ["/sensor:timer-50ms", "/planner:/objects", "/planner:timer-100ms"]
        for flow in found["flows"]
    )


def test_what_a_thread_stores_for_a_timer_is_the_newest_message_or_an_older_one() -> None:
    expected = sorted(line[0] for line in truth("stores-thread"))
    found = document("flow", "stores-thread", "--from", "/x", "--to", "/sink")
    (flow,) = found["flows"]
    assert 200 <= flow["count"] <= len(expected)
    assert flow["uncertain"] == flow["count"]
    assert flow["p50"] - CLOCK_READING < expected[len(expected) // 2]
    assert flow["at_most"] is None  # what came before the first message that is known is not
    warnings = document("model", "stores-thread")["provenance"]["warnings"]
    assert any("messages of /x that something else of its node took itself" in w for w in warnings)


def test_sets_that_match_late_are_between_the_newest_and_the_oldest_message() -> None:
    (flow,) = document("flow", "filters-late", "--from", "/x", "--to", "/sink")["flows"]
    assert flow["count"] == flow["uncertain"] == 262
    assert flow["p50"] < 40_000_000
    assert flow["at_most"]["p50"] == pytest.approx(120_100_000, abs=CLOCK_READING)
    limited = run_takt(
        "flow", str(RECORDINGS / "filters-late.tar.xz"), "--from", "/x", "--to", "/sink",
        "--max", "60ms",
    )  # fmt: skip
    assert limited.returncode == 1
    assert "it is not known whether 60 ms was kept" in limited.stderr


def test_bounds_that_leave_out_what_waits_in_a_filter_promise_nothing() -> None:
    """Its set needs messages of /x that are 120 ms old, of which the bound knows nothing."""
    found = run_takt("analyze", str(RECORDINGS / "filters-late.tar.xz"))
    assert found.returncode == 1, found.stderr
    assert "refuted" in found.stdout
    assert "always waited for those of another input" in " ".join(found.stdout.split())
    chains = document("latency", "filters-late")["chains"]
    (seen,) = (chain for chain in chains if chain["count"] > 200)
    assert any("ApproximateTime in C++ may use an older one" in text for text in seen["conditions"])


def chain_of(tmp_path: Path, name: str, goal: str) -> Json:
    goals = tmp_path / "goals.yaml"
    goals.write_text(f"chains: [{{{goal}, latency: 1s}}]\n")
    (chain,) = document("latency", name, "--goals", str(goals))["chains"]
    found: Json = chain
    return found


def test_responses_begin_when_the_message_arrives(tmp_path: Path) -> None:
    """Both callbacks publish first: the camera goes on for 20 ms, the planner runs 5 ms."""
    for end, length in (("publication", 100_000), ("completion", 5_000_000)):
        chain = chain_of(tmp_path, "publishes-early", f"from: /scan, to: /cmd_vel, end: {end}")
        assert chain["count"] > 40
        assert chain["end"] == end
        assert chain["p50"] == pytest.approx(length, abs=100_000)
        assert chain["max"] <= chain["bound"]
        assert chain["verdict"] == "met"


@pytest.mark.parametrize(
    ("to", "end"),
    [("/cmd_vel", "publication"), ("/planner:/cmd_vel", "publication"), ("/planner", "completion")],
)
def test_a_chain_ends_as_its_name_says(tmp_path: Path, to: str, end: str) -> None:
    assert chain_of(tmp_path, "publishes-early", f"from: /scan, to: '{to}'")["end"] == end


def declared(tmp_path: Path, text: str) -> str:
    path = tmp_path / "links.yaml"
    path.write_text(text)
    return str(path)


DENIED = "{no_link: {node: /planner, from: /objects}}"


def test_a_denied_link_leads_nowhere(tmp_path: Path) -> None:
    ends = ("--from", "/scan", "--to", "/base")
    for name in ("transforms-apart", "transforms-together"):
        links = declared(tmp_path, f"links: [{DENIED}]\n")
        assert document("flow", name, *ends)["flows"]
        assert not document("flow", name, *ends, "--links", links)["flows"]
        links = declared(tmp_path, "exclude: ['/obj*']\n")
        assert not document("flow", name, *ends, "--links", links)["flows"]
        links = declared(tmp_path, "include: [/planner]\n")
        assert document("flow", name, *ends, "--links", links)["flows"]


def test_flows_and_models_have_what_is_declared(tmp_path: Path) -> None:
    model = document("model", "transforms-apart")
    (timer,) = {edge["to"] for edge in model["edges"] if edge["to"].startswith("/planner:timer")}
    period = timer.removeprefix("/planner:timer-")
    uses = f"{{node: /plan*, timer: {period}, uses: [/objects]}}"
    chains = "chains: [{name: drive, from: /scan, to: /base, latency: 10s}]"
    path = declared(tmp_path, f"{chains}\nlinks: [{uses}]\n")
    found = document("flow", "transforms-apart", "--links", path)
    (link,) = (link for link in found["links"] if "/planner:/objects" in link["inputs"])
    assert link["origin"] == "declared"
    model = document("model", "transforms-apart", "--goals", path)
    (edge,) = (edge for edge in model["edges"] if edge["to"] == timer)
    assert edge["confidence"] is None


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("{node: /planner, timer: 7ms, uses: /objects}", "has no timer of that period; it has"),
        ("{node: /planer, timer: 7ms, uses: /objects}", 'no node in the recording is called "/pla'),
        ("{node: /planner, callback: x, uses: /objects}", 'has no callback "x"'),
        ("{join: '/planner:/a', with: ['/planner:/b']}", "no subscription in the recording"),
        ("{no_join: /planner}", "denies nothing"),
        ("{no_link: {node: /planner, from: /a}}", "denies nothing"),
    ],
)
def test_a_declaration_without_effect_says_why(tmp_path: Path, entry: str, why: str) -> None:
    links = declared(tmp_path, f"links: [{entry}]\n")
    warnings = document("flow", "transforms-apart", "--links", links)["provenance"]["warnings"]
    (line,) = (line for line in warnings if "links[0]" in line)
    assert why in line


@pytest.mark.parametrize(
    "entry",
    [
        "{}",
        "{node: /planner, uses: /objects}",
        "{node: /planner, timer: fast, uses: /objects}",
        "{node: /planner, timer: 7ms}",
        "{join: /a}",
        "{join: /a, with: /b, kind: exact}",
        "{no_link: 3}",
        "{node: /planner, timer: 7ms, uses: /objects, topics: /x}",
        "7",
    ],
)
def test_a_mistake_in_a_declaration_is_one_line(tmp_path: Path, entry: str) -> None:
    done = run_takt(
        "flow", str(RECORDINGS / "transforms-apart.tar.xz"), "--links",
        declared(tmp_path, f"links: [{entry}]\n"),
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "links[0]" in done.stderr
