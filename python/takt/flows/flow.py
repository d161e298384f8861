"""A `takt/flow` document for people: tables, and the story of one message."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from takt.documents import Model
from takt.text.formatting import NONE, count, duration, grouped, printable, since_start
from takt.text.parts import STAGES
from takt.text.terminal import Table
from takt.verdicts.tables import GUESSED, guesses

Json = dict[str, Any]

RUNS = ("running", "preempted", "blocked", "waiting_for_reservation")
"""The stages within a run of the callback that a part names."""

MOST_SHOWN = 30
"""The most paths that a table shows; the document has all."""

MOST_ALIKE = 3
"""So many parts in a row that say the same have a line each in a story; more have one together."""

MOST_CHAINS = 1000
"""The most flows that are made chains of a model; the model of a recording has as many at most."""


def table(flows: list[Json]) -> Table:
    """Latencies and what their means consist of, the worst first: of every chain, or of every path
    between two ends. With several pairs of ends it shows the worst path of each pair.
    """
    of_pair = _by_ends(flows)
    alone = len(of_pair) == 1
    shown = Table()
    chains = all("chain" in flow for flow in flows)
    by_way = alone and len(flows) > 1
    for column in ("Chain",) if chains else ("By way of",) if by_way else ("From", "To"):
        shown.add_column(column)
    for column in ("Messages", "Min", "p50", "p99", "Max", "Worst"):
        shown.add_column(column, right=True)
    shown.add_column("Of the mean", words=True)
    rows = flows if alone or chains else [paths[0] for paths in of_pair.values()]
    for flow in rows[:MOST_SHOWN]:
        others = len(of_pair[flow["from"], flow["to"]]) - 1
        left_out = flow["left_out"]
        ends = [
            flow["from"] + (" (before: left out)" if left_out["before"] else ""),
            flow["to"]
            + (f" (and {count(others, 'other way')})" if others else "")
            + (" (after: left out)" if left_out["after"] else ""),
        ]
        shown.add_row(
            *map(printable, [flow["chain"]] if chains else [ways(flow)] if by_way else ends),
            grouped(flow["count"]) + (f" {GUESSED}" if flow["guessed"] else ""),
            *(_figure(flow, name) for name in ("min", "p50", "p99", "max")),
            str(flow["worst"][0]["instance"]) if flow["worst"] else NONE,
            shares(flow),
        )
    return shown


def _figure(flow: Json, name: str) -> str:
    """A latency, or from which to which it is where it is not known which messages joins used."""
    least = duration(flow[name])
    if not flow["uncertain"]:
        return least
    if flow["at_most"] is None:
        return f"≥ {least}"
    most = duration(flow["at_most"][name])
    return least if most == least else f"{least} to {most}"


def names(flows: list[Json]) -> list[str]:
    """What to call each flow: its chain, or its ends and, if other flows have the same ends, the
    nodes on its way that not all of them pass. Numbers distinguish what is still alike.
    """
    shared = {
        ends: set[str].intersection(*(set(_nodes(path)) for path in paths))
        for ends, paths in _by_ends(flows).items()
    }
    told: Counter[str] = Counter()
    found = []
    for flow in flows:
        common = shared[flow["from"], flow["to"]]
        via = ", ".join(node for node in _nodes(flow) if node not in common)
        name = f"{flow['from']} → {flow['to']}" + (f" via {via}" if via else "")
        name = flow.get("chain", name)
        told[name] += 1
        found.append(name if told[name] == 1 else f"{name} #{told[name]}")
    return found


class Chains(NamedTuple):
    """Flows as chains of a timing model."""

    chains: list[Json]
    """As in `takt/model`, with the names of the flows as ids; flows that differ only in the inputs
    of a join are one chain.
    """
    missing: dict[str, str]
    """The names of the flows that are not chains of the model, each with the reason."""


def chains(document: Json, model: Model) -> Chains:
    """The flows as chains of the model that the document was made with, at most MOST_CHAINS."""
    flows, ids = document["flows"], document["in_model"]
    edges = {(edge.source, edge.target) for edge in model.edges}
    found: dict[tuple[str, ...], Json] = {}
    missing = {}
    for name, flow in zip(names(flows), flows, strict=True):
        steps = [_name(step) for step in flow["path"]]
        callbacks = tuple(ids.get(step, step) for step in steps)
        gap = next((pair for pair in itertools.pairwise(callbacks) if pair not in edges), None)
        if gap:
            missing[name] = f"the model has no edge from {gap[0]} to {gap[1]}"
        elif len(callbacks) == 1:
            missing[name] = "a chain of the page has at least two callbacks"
        elif callbacks not in found and len(found) == MOST_CHAINS:
            missing[name] = f"the page has the {MOST_CHAINS} worst flows at most"
        else:
            found.setdefault(callbacks, {"id": name, "callbacks": [*callbacks]})
    return Chains(list(found.values()), missing)


def guessed(flows: list[Json]) -> Iterator[str]:
    """A line for people on the links that were guessed."""
    return guesses((each["from"], each["to"]) for flow in flows for each in flow["guessed"])


def left_out(missing: dict[str, str]) -> Iterator[str]:
    """Lines on flows that are missing somewhere, by name, with the reason. Flows with the same
    reason share a line.
    """
    of_reason: dict[str, list[str]] = defaultdict(list)
    for name, reason in missing.items():
        of_reason[reason].append(name)
    for reason, (first, *others) in of_reason.items():
        more = f" and {count(len(others), 'other flow')}" if others else ""
        yield f"{first}{more}: {reason}"


def shares(flow: Json) -> str:
    """The stages that make up the mean latency of a path, the largest share first; stages below 5 %
    are left out.
    """
    total = sum(flow["breakdown"].values())
    parts = sorted(flow["breakdown"].items(), key=lambda entry: -entry[1])
    return ", ".join(
        f"{100 * share / total:.0f} % {STAGES[stage]}"
        for stage, share in parts
        if total > 0 and share >= total / 20
    )


def ways(flow: Json) -> str:
    """The nodes that a path passes."""
    return " → ".join(node for node, _ in itertools.groupby(_nodes(flow)))


NO_CHAIN = "no instance of a chain was followed to its end in this recording"


def nothing(document: Json) -> str:
    """The sentence that a document has no flow. Where it is unknown what nodes do with what they
    receive, it says so, with a declaration that would give the link.
    """
    ends = "".join(f" {word} {name}" for word in ("from", "to") if (name := document[word]))
    ends = ends or " from a source to a sink"
    unknown = document.get("unknown")
    if not unknown:
        return f"no message leads{ends} in this recording"
    names = ", ".join(each["name"] for each in unknown[:_MOST_NAMED])
    if len(unknown) > _MOST_NAMED:
        names += f" and {len(unknown) - _MOST_NAMED} more"
    return (
        f"nothing recorded shows that a message leads{ends}, but what {names} may use or go into "
        f"is unknown; if one does, {_declaration(unknown[0])}"
    )


_MOST_NAMED = 3


def _declaration(unknown: Json) -> str:
    """How a link over what is unknown is declared; words in capitals are to be filled in."""
    if "publishes" in unknown:
        return "the program can declare it (docs/flow.md#links)"
    period = f"{unknown['period'] / 1e6:g}ms" if "period" in unknown else "PERIOD"
    link = f"{{node: {unknown['node']}, timer: {period}, uses: {unknown.get('receives', 'TOPIC')}}}"
    return f"declare it: --links FILE with links: [{link}] (docs/goals.md#links)"


def find_instance(document: Json, wanted: str) -> tuple[Json, Json] | None:
    """The flow and the record of an instance: the one of this number, or the worst."""
    if wanted == "worst":
        return next(((flow, flow["worst"][0]) for flow in document["flows"] if flow["worst"]), None)
    told = ((flow, flow["asked"]) for flow in document["flows"] if flow.get("asked"))
    return max(told, key=lambda pair: int(pair[1]["latency"]), default=None)


def story(flow: Json, instance: Json) -> Iterator[str]:
    """What happened to one message, a line each; the first names the cause."""
    yield cause(flow, instance)
    yield ""
    number = f"{'' if 'chain' in flow else 'sink '}instance {instance['instance']}"
    moment = f"{since_start(instance['begin'])}{_of_the_day(instance['time'])}"
    yield f"{ways(flow)}, {number}, {moment}, from {_begin(flow)}:"
    now = 0
    for what, group in itertools.groupby(_told(flow, instance), lambda told: told[1]):
        lines = [Counter({detail: part["duration"]}) for part, _, detail in group]
        if len(lines) > MOST_ALIKE:
            together: Counter[str] = Counter()
            for line in lines:
                together.update(line)
            lines = [together]
        for details in lines:
            time = details.total()
            yield f"  {duration(now):>8}  {duration(time):>8}  {_with_detail(what, details)}"
            now += time
    yield f"  {duration(now):>8}  {_until(flow)}"


def _of_the_day(time: str | None) -> str:
    """The time of day of "2026-11-29T20:55:26.123456Z" in brackets, if it is known."""
    return "" if time is None else f" ({time[11:23]} UTC)"


def cause(flow: Json, instance: Json) -> str:
    """What took most of an instance's time, in a sentence, and the detail with the largest share
    of it: behind which callback it waited, say. Flows and chains begin and end differently, so it
    says that.
    """
    whole = f"the {duration(instance['latency'])} from {_begin(flow)} until {_until(flow)}"
    times: dict[str, Counter[str]] = defaultdict(Counter)
    for part, what, detail in _told(flow, instance):
        times[what][detail] += part["duration"]
    if not times:
        return f"{flow['to']} was reached after {duration(instance['latency'])}."
    what, details = max(times.items(), key=lambda entry: entry[1].total())
    return f"{duration(details.total())} of {whole}: {_with_detail(what, details)}."


def _with_detail(what: str, details: Counter[str]) -> str:
    """What happened, and the detail with the largest share of its time."""
    detail, longest = details.most_common(1)[0]
    if not detail:
        return what
    return f"{what}{f', {duration(longest)} of it' if len(details) > 1 else ''} {detail}"


def _told(flow: Json, instance: Json) -> Iterator[tuple[Json, str, str]]:
    """Each part of an instance with what happened, in words, and a detail of that or nothing.

    A callback that stores a message for another input of its join stays the element of the path
    until the set is complete. From then on the time is that of the other input's message, until
    its callback runs: the last that runs at this element.
    """
    last = {
        part["step"]: part["callback"]
        for part in instance["parts"]
        if part["stage"] in RUNS and part["callback"]
    }
    stored = set()
    for part in instance["parts"]:
        step = part["step"]
        reader = _name(flow["path"][step])
        receiver = last[step] if step in stored else reader
        if part["stage"] == "waiting_for_input" and receiver == reader:
            receiver = _name(flow["path"][step + 1])  # which passes the message on
        yield part, *_words(part, reader, receiver)
        if part["stage"] in RUNS and part["callback"] == reader:
            stored.add(step)


def _words(part: Json, reader: str, receiver: str) -> tuple[str, str]:
    """What a part's time went into, and a detail of that. `reader` is the element of the path,
    `receiver` the callback to which the message of this part goes.
    """
    callback, by = part["callback"], part["by"]
    other = f"while {by} ran" if by else ""
    match part["stage"]:
        case "running":
            return f"{callback or receiver} ran", ""
        case "preempted":
            return f"{callback or receiver} waited for a processor", other
        case "blocked":
            return f"{callback or receiver} slept, or waited for something", ""
        case "waiting_in_executor":
            return f"{receiver} waited in its executor", f"behind {callback}" if callback else other
        case "waiting_for_timer":
            return f"stored until {receiver} was due", ""
        case "waiting_for_input":
            return f"stored by {reader} until the message to {receiver} was sent", ""
        case "sending":
            return f"the message to {receiver} was being sent", ""
        case "in_transport":
            return f"the message to {receiver} was in transport", ""
        case "in_shared_memory":
            return f"the message to {receiver} was in shared memory", ""
        case _:
            return f"{callback or receiver} had used up its reservation", other


def measures(flows: list[Json]) -> str:
    """A line for people: from when until when latencies are."""
    if all("chain" in flow for flow in flows):
        return "as takt latency: from the activation of the first callback to the end of the chain"
    whole = "--goals or --chain: as takt latency"
    return f"from the call of publish to the start of the last callback; {whole}"


BEGINS = {
    "publication": "the publication by {}",
    "start": "the start of {}",
    "activation": "the activation of {}",
    "input": "an input of {}",
}
UNTIL = {"start": "{} begins", "publication": "{} publishes", "completion": "{} completes"}
"""From when until when a latency is, by `measured` of a flow."""


def _begin(flow: Json) -> str:
    return BEGINS[flow["measured"]["from"]].format(_name(flow["path"][0]))


def _until(flow: Json) -> str:
    return UNTIL[flow["measured"]["until"]].format(_name(flow["path"][-1]))


def _by_ends(flows: list[Json]) -> dict[tuple[str, str], list[Json]]:
    of_pair: dict[tuple[str, str], list[Json]] = {}
    for flow in flows:
        of_pair.setdefault((flow["from"], flow["to"]), []).append(flow)
    return of_pair


def _nodes(flow: Json) -> list[str]:
    return [step["node"] or "unknown" for step in flow["path"]]


def _name(step: Json) -> str:
    return str(step["callback"] or step["node"] or "a program outside the trace")
