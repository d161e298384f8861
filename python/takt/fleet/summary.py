"""The summary of a recording (`takt/summary`): distributions and counts, without single events.

Distributions are histograms that can be merged, so the size of a summary depends on the number of
callbacks and chains, not on the length of the recording.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from takt import documents, histogram, libraries, pipeline
from takt.documents import losses
from takt.documents.types import Summary, SummaryDurations
from takt.errors import UserError
from takt.histogram import LOG_GROWTH, RELATIVE_ERROR, Histogram
from takt.recordings import labels, recording

if TYPE_CHECKING:
    import polars

Json = dict[str, Any]
Frames = dict[str, "polars.DataFrame"]

FORMAT = "takt/summary"
VERSION = 1


def of(traces: list[str], goals: str | None = None) -> Json:
    """The summary of traces that are one recording. Raises UserError, takt_native.InputError.
    All runs of callbacks and all messages are in memory meanwhile.
    """
    polars = libraries.optional("polars", "fleet")
    read = recording.read(traces, goals)
    frames = {name: polars.DataFrame(table) for name, table in read.tables.items()}
    info = read.info
    told = labels.read(traces)
    bounds = pipeline.analyze(*read.model)
    return {
        "format": FORMAT,
        "version": VERSION,
        "relative_error": RELATIVE_ERROR,
        "provenance": pipeline.made_of(info["inputs"]),
        "labels": labels.agreed(told),
        "machines": [each.json() for each in told],
        "begin": info["begin"],
        "duration": info["duration"],
        "events": info["events"],
        "losses": losses.of_recording(info),
        "warnings": info["warnings"],
        "chains": _chains(frames, json.loads(read.model.text)),
        "callbacks": _callbacks(frames),
        "executors": _executors(frames, info),
        "links": _links(frames),
        "bounds": {
            "analysis": bounds.analysis,
            "callbacks": [{"id": each.id, "bound": each.bound} for each in bounds.callbacks],
            "chains": [{"id": each.id, "bound": each.bound} for each in bounds.chains],
        },
    }


def _histograms(
    frame: polars.DataFrame, keys: list[str], value: str
) -> dict[tuple[Any, ...], Histogram]:
    """A histogram of a column for each combination of keys."""
    import polars

    of_value = polars.col(value)
    positive = of_value.clip(lower_bound=0)
    whole = frame.group_by(keys).agg(
        zeros=(of_value <= 0).sum(), total=positive.sum(), max=positive.max()
    )
    found = {
        tuple(row[: len(keys)]): Histogram(row[-3], {}, row[-2], row[-1])
        for row in whole.iter_rows()
    }
    key = (of_value.log() / LOG_GROWTH).ceil().cast(polars.Int64).alias("bucket")
    counts = frame.filter(of_value > 0).group_by([*keys, key]).len()
    for *group, bucket, count in counts.iter_rows():
        found[tuple(group)].buckets[bucket] = count
    return found


def _callbacks(frames: Frames) -> list[Json]:
    durations = _histograms(frames["runs"], ["callback"], "duration")
    kept = ("id", "name", "node", "kind", "topic", "executor")
    return [
        {**{name: row[name] for name in kept}, "duration": durations[(row["callback"],)].json()}
        for row in frames["callbacks"].iter_rows(named=True)
        if (row["callback"],) in durations
    ]


def _executors(frames: Frames, info: Json) -> list[Json]:
    """How long each executor's callbacks ran; with several threads that may exceed the duration."""
    rows = frames["callbacks"].iter_rows(named=True)
    numbers = {row["id"]: row["callback"] for row in rows}
    busy = dict(frames["runs"].group_by("callback").agg(_sum("duration")).iter_rows())
    nodes = {callback["id"]: callback["node"] for callback in info["callbacks"]}
    return [
        {
            "id": executor["id"],
            "kind": executor["kind"],
            "threads": len(executor["threads"]),
            "nodes": sorted({nodes[each] for each in executor["callbacks"] if nodes.get(each)}),
            "callbacks": executor["callbacks"],
            "busy": sum(busy.get(numbers.get(each), 0) for each in executor["callbacks"]),
        }
        for executor in info["executors"]
    ]


def _sum(column: str) -> polars.Expr:
    import polars

    return polars.col(column).sum()


def _links(frames: Frames) -> list[Json]:
    """Messages of each topic to each callback, from sending to taking."""
    import polars

    names = frames["callbacks"].select("callback", "id")
    taken = (
        frames["takes"]
        .join(frames["publications"].select("publication", "sent"), on="publication")
        .join(frames["runs"].select("run", "callback"), on="run", how="left")
        .join(names, on="callback", how="left")
        .with_columns(latency=polars.col("taken") - polars.col("sent"))
    )
    arrived = taken.filter(polars.col("latency").is_not_null(), polars.col("id").is_not_null())
    times = _histograms(arrived, ["topic", "id"], "latency")
    lost = dict(taken.filter(polars.col("fate") == "lost").group_by("topic").len().iter_rows())
    sent = dict(taken.group_by("topic").len().iter_rows())
    return [
        {
            "topic": topic,
            "to": to,
            "latency": histogram.json(),
            "topic_deliveries": sent[topic],
            "topic_lost": lost.get(topic, 0),
        }
        for (topic, to), histogram in sorted(times.items())
    ]


def _chains(frames: Frames, model: Json) -> list[Json]:
    import polars

    paths = {chain["id"]: chain["callbacks"] for chain in model["chains"]}

    flows = frames["flows"]
    complete = flows.filter("complete")
    latencies = _histograms(complete, ["chain"], "latency")
    ended = dict(flows.filter(~polars.col("complete")).group_by("chain").len().iter_rows())
    ids = dict(frames["callbacks"].select("callback", "id").iter_rows())
    parts = (
        frames["parts"]
        .join(complete.select("flow", "chain"), on="flow")
        .join(frames["runs"].select("run", "callback"), on="run", how="left")
    )
    actors: dict[tuple[str, int], str] = {}
    running = parts.filter(polars.col("kind") == "running", polars.col("callback").is_not_null())
    grouped = running.group_by("chain", "step", "callback").len().sort("len", "callback")
    for chain, step, callback, _ in grouped.iter_rows():
        actors[chain, step] = ids[callback]  # the most frequent one comes last
    by_flow = parts.group_by("flow", "chain", "step", "kind").agg(_sum("duration"))
    times = _histograms(by_flow, ["chain", "step", "kind"], "duration")
    waits = parts.filter(polars.col("behind").is_not_null())
    behind: dict[tuple[str, int, str], dict[str, int]] = {}
    grouped = waits.group_by("chain", "step", "kind", "behind").agg(_sum("duration"))
    for chain, step, kind, other, total in grouped.sort("chain", "step", "behind").iter_rows():
        behind.setdefault((chain, step, kind), {})[ids[other]] = total
    return [
        {
            "id": chain,
            "callbacks": paths[chain],
            "latency": latencies.get((chain,), Histogram()).json(),
            "incomplete": ended.get(chain, 0),
            "parts": [
                {
                    "step": step,
                    "callback": actors.get((chain, step)),
                    "kind": kind,
                    "duration": times[(chain, step, kind)].json(),
                    "behind": behind.get((chain, step, kind), {}),
                }
                for (of_chain, step, kind) in sorted(times)
                if of_chain == chain
            ],
        }
        for chain in flows["chain"].unique(maintain_order=True).to_list()
    ]


def parse(text: str, source: str) -> Summary:
    """Reads a `takt/summary` document. UserError names the field."""
    found = documents.parse(Summary, text, source)
    if found.relative_error != RELATIVE_ERROR:
        raise UserError(f"{source}: relative_error: must be {RELATIVE_ERROR}")
    for place, durations in _distributions(found):
        if (fault := histogram.fault(durations)) is not None:
            raise UserError(f"{source}: {place}: {fault}")
    return found


def _distributions(summary: Summary) -> Iterator[tuple[str, SummaryDurations]]:
    """All histograms, each with its place in the document."""
    for number, chain in enumerate(summary.chains):
        yield f"chains[{number}].latency", chain.latency
        for part, of_chain in enumerate(chain.parts):
            yield f"chains[{number}].parts[{part}].duration", of_chain.duration
    for number, callback in enumerate(summary.callbacks):
        yield f"callbacks[{number}].duration", callback.duration
    for number, link in enumerate(summary.links):
        yield f"links[{number}].latency", link.latency
