"""One model of several runs of a system (performance-engineering 2.10, approach b).

Callbacks of different runs are the same if their ids are: node, kind, topic, service or period, and
order of registration, which survive restarts. What a merged model says holds in every run that was
merged: execution times are the largest, distances of activations the shortest, delays the longest.

alignment knows executors again, groups and order merge callback groups and orders of registration,
provenance checks what users may have edited.
"""

from __future__ import annotations

import functools
import math
import random
import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple

import takt_native
from takt.errors import UserError
from takt.formatting import count
from takt.merging import provenance
from takt.merging.alignment import aligned
from takt.merging.groups import merged_groups
from takt.merging.order import number_registrations

Json = dict[str, Any]

LEAST_RUNS = 5
"""An extreme-value distribution is fitted to the maxima of at least so many runs."""
FITS = 1000
"""The number of samples by which the uncertainty of the fit is estimated."""
MOST_VALUES = 256
"""A model lists no more distances of activations."""
EULER = 0.5772156649015329


def merge(models: Sequence[Json], name: str) -> Json:
    """The takt/model document of all runs; `models` as `takt model` writes them. The provenance
    names each run, and says how the largest execution times converged.
    """
    for model in models:
        provenance.check(model)
    models = aligned(models)
    merged: Json = {"format": "takt/model", "version": 1, "name": name, "provenance": {}}
    merged["executors"] = _executors(models)
    merged["callbacks"] = _callbacks(models)
    contradicting = _weaken_orders(
        merged["executors"], number_registrations(models, merged["callbacks"])
    )
    merged["links"] = _links(models)
    merged["edges"] = _edges(models)
    merged["joins"] = _joins(models)
    merged["chains"] = _chains(models)
    merged["provenance"] = _provenance(models, merged, contradicting)
    for model in models:  # what no version of ours knows
        for field in model:
            merged.setdefault(field, model[field])
    return merged


def _merged_activation(a: Json | None, b: Json | None) -> Json | None:
    if a is None or b is None or a == b:
        return a or b
    gaps = max(_determining_gaps(a), _determining_gaps(b))
    if "min_distance" in (a["kind"], b["kind"]) and gaps < MOST_VALUES:
        # The smaller of two super-additive functions is super-additive, and so is its continuation
        # below theirs.
        spans = zip(_spans(a, gaps), _spans(b, gaps), strict=True)
        return {"kind": "min_distance", "values": list(map(min, spans))}
    separation = min(_separation(a), _separation(b))
    jitter = max(_jitter(a, separation), _jitter(b, separation))
    if a["kind"] == b["kind"] == "periodic":
        return {"kind": "periodic", "period": separation, "jitter": jitter}
    return {"kind": "sporadic", "min_separation": separation, "jitter": jitter}


def _determining_gaps(activation: Json) -> int:
    """The number of gaps between activations whose span is above 0 and determines longer ones."""
    if activation["kind"] == "min_distance":
        return len(activation["values"]) - 1
    return int(activation["jitter"] // _separation(activation) + 1)


def _spans(activation: Json, gaps: int) -> list[int]:
    """The shortest spans of 0 to `gaps` gaps between activations."""
    values, jitter = activation.get("values", []), activation.get("jitter", 0)
    return takt_native.shortest_spans(values, _separation(activation), jitter, gaps + 1)


def _separation(activation: Json) -> int:
    """The time between activations in the long run, rounded down to 1 ns or more."""
    if activation["kind"] == "min_distance":
        values = activation["values"]
        return int(max(1, values[-1] // (len(values) - 1)))
    return int(activation["period" if activation["kind"] == "periodic" else "min_separation"])


def _jitter(activation: Json, separation: int) -> int:
    """How much earlier than at multiples of `separation`, which is not above its own, an activation
    may come.
    """
    if activation["kind"] != "min_distance":
        return int(activation["jitter"])
    values = activation["values"]
    if values[-1] < len(values) - 1:
        raise UserError("--merge: activations that are less than 1 ns apart cannot be merged")
    return int(max(n * separation - span for n, span in enumerate(values)))


def _by_id(models: Sequence[Json], part: str) -> dict[str, list[Json]]:
    found: dict[str, list[Json]] = {}
    for model in models:
        for element in model.get(part, []):
            found.setdefault(element["id"], []).append(element)
    return found


def _executors(models: Sequence[Json]) -> list[Json]:
    merged = []
    for same in _by_id(models, "executors").values():
        executor = dict(same[0])
        for other in same[1:]:
            executor["overhead"] = takt_native.merge_costs(executor["overhead"], other["overhead"])
            if other["threads"] > executor["threads"]:
                executor["threads"], executor["kind"] = other["threads"], other["kind"]
            elif other["threads"] == executor["threads"]:
                _same("executor", executor, other, "kind")
            _same("executor", executor, other, "timers", "cpu", "table")
            executor["order"] = _merged_order(executor, other)
            executor["release_overhead"] = max(
                executor.get("release_overhead", 0), other.get("release_overhead", 0)
            )
            executor["supply"] = _merged_supply(executor, other)
            executor["unclassifiable"] = executor.get("unclassifiable") or other.get(
                "unclassifiable"
            )
        merged.append(executor)
    return merged


def _merged_order(executor: Json, other: Json) -> str:
    """What holds of both orders."""
    orders: set[str] = {one.get("order", "unknown") for one in (executor, other)}
    if len(orders) == 1:
        return orders.pop()
    return "any_in_category" if orders == {"registered", "any_in_category"} else "unknown"


def _weaken_orders(executors: list[Json], contradicting: Sequence[str]) -> list[str]:
    """Lets no order go by registrations where those of the runs contradict each other. Returns
    these executors.
    """
    weakened = []
    for executor in executors:
        if executor["id"] in contradicting and executor.get("order") == "registered":
            executor["order"] = "any_in_category"
            weakened.append(executor["id"])
    return weakened


def _same(what: str, one: Json, other: Json, *settings: str) -> None:
    """UserError if a setting differs that has no value which stands for both."""
    for setting in settings:
        if one.get(setting) != other.get(setting):
            raise UserError(
                f'--merge: the {setting} of {what} "{one["id"]}" differs between the runs; '
                "make it the same"
            )


def _merged_supply(executor: Json, other: Json) -> Json:
    """A supply that gives no more processor time than either."""
    supplies = [one.get("supply") or {"kind": "dedicated"} for one in (executor, other)]
    a, b = sorted(supplies, key=lambda supply: supply["kind"] == "dedicated")
    if b["kind"] == "dedicated" or a == b:
        return a
    if a["kind"] != "reservation" or b["kind"] != "reservation":
        _same("executor", executor, other, "supply")
    period = max(a["period"], b["period"])
    deadline = max(supply.get("deadline") or supply["period"] for supply in (a, b))
    return {**a, "budget": min(a["budget"], b["budget"]), "period": period, "deadline": deadline}


def _callbacks(models: Sequence[Json]) -> list[Json]:
    merged = []
    groups = merged_groups(models)
    for id_, same in _by_id(models, "callbacks").items():
        callback = {**same[0], "callback_group": groups[id_]}
        for other in same[1:]:
            curve = takt_native.merge_costs(
                callback["execution_time"]["curve"], other["execution_time"]["curve"]
            )
            callback["execution_time"] = {**callback["execution_time"], "curve": curve}
            callback["suspension"] = _merged_suspension(callback, other)
            callback["activation"] = _merged_activation(callback["activation"], other["activation"])
            _same("callback", callback, other, "priority", "deadline")
            depths = [one["queue_depth"] for one in (callback, other) if one.get("queue_depth")]
            if depths:
                callback["queue_depth"] = max(depths)
        merged.append(callback)
    return merged


def _merged_suspension(one: Json, other: Json) -> Json | None:
    seen = [callback["suspension"] for callback in (one, other) if callback.get("suspension")]
    if len(seen) < 2:
        return seen[0] if seen else None
    return {
        **seen[0],
        "curve": takt_native.merge_costs(seen[0]["curve"], seen[1]["curve"]),
        "times": max(suspension["times"] for suspension in seen),
    }


def _links(models: Sequence[Json]) -> list[Json]:
    links = _by_id(models, "links")
    for name, same in links.items():
        if any(link != same[0] for link in same):
            raise UserError(f'--merge: link "{name}" differs between the runs; make it the same')
    return [same[0] for same in links.values()]


def _edges(models: Sequence[Json]) -> list[Json]:
    merged: dict[tuple[Any, ...], Json] = {}
    for model in models:
        seen: dict[tuple[Any, ...], int] = {}
        for edge in model["edges"]:
            ends = (edge["from"], edge["to"], edge["topic"])
            seen[ends] = seen.get(ends, 0) + 1
            known = merged.setdefault((*ends, seen[ends]), dict(edge))
            for setting in ("link", "priority"):
                if known.get(setting) != edge.get(setting):
                    raise UserError(
                        f"--merge: the {setting} of the edge from {edge['from']} to {edge['to']} "
                        "differs between the runs; make it the same"
                    )
            travel = max(one.get("travel") or one.get("delay", 0) for one in (known, edge))
            for size in ("delay", "message_size"):
                known[size] = max(known.get(size, 0), edge.get(size, 0))
            known["travel"] = travel if travel > known["delay"] else None
            shares = [(one.get("messages"), one.get("instances")) for one in (known, edge)]
            if shares[0] != shares[1]:
                known |= {"messages": None, "instances": None}
            triggers = (known["triggered_by"], edge["triggered_by"])
            known["triggered_by"] = (
                None if None in triggers else sorted({*(triggers[0] or []), *(triggers[1] or [])})
            )
            if known.get("transport") != edge.get("transport"):
                known["transport"] = None
            sure = (known.get("confidence"), edge.get("confidence"))
            known["confidence"] = None if None in sure else max(sure)
    return list(merged.values())


def _joins(models: Sequence[Json]) -> list[Json]:
    merged: dict[str, Json] = {}
    for model in models:
        for join in model["joins"]:
            known = merged.setdefault(join["callback"], dict(join))
            if known["kind"] != join["kind"]:
                known["kind"] = "newest"
            known["inputs"] = list(dict.fromkeys([*known["inputs"], *join["inputs"]]))
            if known.get("confidence") is None or join.get("confidence") is None:
                # A join that one run declares is declared in all.
                known |= {"confidence": None, "completed_by": [], "keeping_time": 0}
                continue
            known["confidence"] = max(known["confidence"], join["confidence"])
            known["keeping_time"] = max(known["keeping_time"], join["keeping_time"])
            known["completed_by"] = (
                list(dict.fromkeys([*known["completed_by"], *join["completed_by"]]))
                if known["completed_by"] and join["completed_by"]
                else []
            )
    return list(merged.values())


def _chains(models: Sequence[Json]) -> list[Json]:
    merged: dict[tuple[str, ...], Json] = {}
    ids: set[str] = set()
    for model in models:
        for chain in model["chains"]:
            what = (chain.get("kind", "latency"), *chain["callbacks"])
            if what in merged:
                for urgency in ("goal", "rank"):
                    given = [one.get(urgency) for one in (merged[what], chain)]
                    known = [value for value in given if value is not None]
                    if known:
                        merged[what][urgency] = min(known)
                continue
            unique, number = chain["id"], 1
            while unique in ids:
                number += 1
                unique = f"{chain['id']}#{number}"
            ids.add(unique)
            merged[what] = {**chain, "id": unique}
    return list(merged.values())


def _provenance(models: Sequence[Json], merged: Json, contradicting: Sequence[str]) -> Json:
    runs = [model["provenance"] for model in models]
    warnings = [warning for run in runs for warning in run.get("warnings", [])]
    warnings += _disagreements(models, merged, contradicting)
    return {
        "tool": runs[0].get("tool"),
        "inputs": [source for run in runs for source in run.get("inputs", [])],
        "hosts": sorted({host for run in runs for host in run.get("hosts", [])}),
        "cores": min((run.get("cores", 0) for run in runs), default=0),
        "execution_time": _source(runs, "execution_time", "wall_time"),
        "suspension": _source(runs, "suspension", "unknown"),
        "duration": sum(run.get("duration", 0) for run in runs),
        "start_up": sum(run.get("start_up", 0) for run in runs),
        "losses": _sums([run.get("losses", {}) for run in runs]),
        "left_out": sorted({id_ for run in runs for id_ in run.get("left_out", [])}),
        **_not_found(runs),
        "warnings": list(dict.fromkeys(warnings)),
        "observed": observed(models),
        "threads": [threads for run in runs for threads in run.get("threads", [])],
        "unnamed_work": [work for run in runs for work in run.get("unnamed_work", [])],
        "filters": [one for run in runs for one in run.get("filters", [])],
        "runs": [one for model in models for one in _runs(model)],
        "convergence": convergence(models),
    }


def _runs(model: Json) -> list[Json]:
    """The runs that the model is of: several if it was merged itself."""
    run = model["provenance"]
    own = {
        "name": model["name"],
        "recorded": run.get("recorded"),
        "inputs": run.get("inputs", []),
    }
    return run.get("runs") or [own]


def _not_found(runs: Sequence[Json]) -> Json:
    """The chains of --chains-from that no run has; nothing if none was looked for."""
    missing = [run.get("chains_not_found") for run in runs]
    looked_for = [set(names) for names in missing if names is not None]
    if not looked_for:
        return {}
    # A model that was given as a run has whatever chains it has.
    return {"chains_not_found": sorted(set.intersection(*looked_for))}


def _source(runs: Sequence[Json], what: str, otherwise: str) -> str:
    sources = {run.get(what, otherwise) for run in runs}
    return sources.pop() if len(sources) == 1 else "mixed"


def _sums(counts: Sequence[Json]) -> Json:
    total: Json = {}
    for each in counts:
        for name, number in each.items():
            total[name] = total.get(name, 0) + number
    return total


def _disagreements(models: Sequence[Json], merged: Json, contradicting: Sequence[str]) -> list[str]:
    """Lines on what does not fit together in the runs. `contradicting`: executors whose callbacks
    were registered in orders that contradict each other.
    """
    lines = []
    if all(len(same) == 1 for same in _by_id(models, "callbacks").values()):
        lines.append("no callback is in two of the runs: are they of one system?")
    lines += [
        f"executor {executor}: its callbacks were registered in another order in some runs; bounds "
        "hold for any order among those of one kind"
        for executor in contradicting
    ]
    # The model has the callbacks of such a join twice, which makes bounds larger, not smaller.
    for join in merged["joins"]:
        node, _, topics = join["callback"].partition(":")
        members = {f"{node}:{topic}" for topic in topics.split("+")}
        if any(callback["id"] in members for callback in merged["callbacks"]):
            lines.append(
                f"{join['callback']} joins its inputs in some runs and not in others: both are in "
                "the model"
            )
    return lines


def observed(models: Sequence[Json]) -> Json:
    """Execution times of each callback over all runs: means are weighted by instances."""
    merged: Json = {}
    for model in models:
        for id_, times in model["provenance"].get("observed", {}).items():
            known = merged.get(id_)
            if known is None:
                merged[id_] = dict(times)
                continue
            number = known["count"] + times["count"]
            total = known["mean"] * known["count"] + times["mean"] * times["count"]
            merged[id_] = {
                "count": number,
                "min": min(known["min"], times["min"]),
                "mean": total / number,
                "max": max(known["max"], times["max"]),
            }
    return merged


def convergence(models: Sequence[Json]) -> Json:
    """How the largest execution time of each callback grew from run to run.

    `longest`: the largest of each run. `maxima`: the largest so far, run by run.
    `runs_since_growth`: runs after the last that raised it. `next_exceeds`: the probability that
    another run has a larger one, if runs are exchangeable: 1 / (n + 1). `gumbel_next_exceeds`: the
    same by an extreme-value distribution fitted to the maxima of the runs, with a 95 % interval
    (`gumbel_interval`); null for fewer than 5 runs. For information: none of it enters a bound.
    """
    report: Json = {}
    longest_of: dict[str, list[int]] = {}
    for model in models:
        merged = model["provenance"].get("convergence", {})
        for callback in model["callbacks"]:
            alone = [(callback["execution_time"]["curve"] or [0])[0]]
            known = merged.get(callback["id"], {}).get("longest", alone)
            longest_of.setdefault(callback["id"], []).extend(known)
    for id_, longest in longest_of.items():
        maxima = [max(longest[: i + 1]) for i in range(len(longest))]
        fitted = gumbel_exceedance(longest)
        report[id_] = {
            "runs": len(longest),
            "longest": longest,
            "maxima": maxima,
            "runs_since_growth": len(maxima) - 1 - maxima.index(maxima[-1]),
            "next_exceeds": 1 / (len(longest) + 1),
            "gumbel_next_exceeds": fitted and fitted.probability,
            "gumbel_interval": fitted and list(fitted.interval),
        }
    return report


class Exceedance(NamedTuple):
    """How probable it is that the next run has a larger maximum than all before."""

    probability: float
    interval: tuple[float, float]


def gumbel_exceedance(maxima: Sequence[int]) -> Exceedance | None:
    """The exceedance by a Gumbel distribution that is fitted to the maxima of the runs, by its
    moments. None for fewer than 5 runs.

    The fit is uncertain itself, and with few runs it looks too certain. Fits to samples of the
    standard distribution tell how far it may be off; location and scale do not matter, so this
    holds for every distribution of the family. The probability is the mean over these fits, and the
    interval holds 95 % of them.
    """
    n = len(maxima)
    if n < LEAST_RUNS:
        return None
    location, scale = _gumbel(maxima)
    if scale == 0:
        return Exceedance(1 / (n + 1), (0.0, 1.0))  # always the same: nothing can be fitted
    z = (max(maxima) - location) / scale
    exceeds = sorted(-math.expm1(-math.exp(-(mu + beta * z))) for mu, beta in _fits(n))
    low, high = (exceeds[round(q * (len(exceeds) - 1))] for q in (0.025, 0.975))
    return Exceedance(statistics.fmean(exceeds), (low, high))


def _gumbel(values: Sequence[float]) -> tuple[float, float]:
    scale = statistics.stdev(values) * math.sqrt(6) / math.pi
    return statistics.fmean(values) - EULER * scale, scale


@functools.cache
def _fits(n: int) -> list[tuple[float, float]]:
    """Location and scale that the fit finds for samples of n values from location 0 and scale 1."""
    draws = random.Random(n)
    # 1 - u is never 0.
    samples = (
        [-math.log(-math.log1p(-draws.random()) or 5e-324) for _ in range(n)] for _ in range(FITS)
    )
    return [_gumbel(sample) for sample in samples]


def summary(merged: Json) -> str:
    """A line on convergence."""
    report = merged["provenance"]["convergence"].values()
    grew = sum(entry["runs_since_growth"] == 0 and entry["runs"] > 1 for entry in report)
    runs = len(merged["provenance"]["runs"])
    return (
        f"{count(runs, 'run')}: the last one raised the longest execution time of "
        f"{grew} of {count(len(merged['callbacks']), 'callback')}"
    )


def check(models: Sequence[Json]) -> None:
    """UserError if there is nothing to merge."""
    if len(models) < 2:
        raise UserError("--merge needs several traces or models, one for each run")
