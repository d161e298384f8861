"""One model of several runs of a system (performance-engineering 2.10, approach b).

libtakt/merging merges what the models say. This is about where they come from: provenance reads
what users may have edited, convergence says how the largest execution times grew.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import takt_native
from takt.documents import Model
from takt.errors import UserError
from takt.inputs import ModelText
from takt.merging import convergence, provenance
from takt.merging.provenance import Provenance
from takt.text.formatting import count

Json = dict[str, Any]


def merge(texts: Sequence[ModelText], name: str) -> Json:
    """The takt/model document of all runs, each a model that `takt model` wrote. The provenance
    names each run, and says how the largest execution times converged.
    """
    if len(texts) < 2:
        raise UserError("--merge needs several traces or models, one for each run")
    models = [text.parsed() for text in texts]
    runs = [provenance.of(model) for model in models]
    try:
        merged_text, executor_names, contradicting = takt_native.merge_models(texts)
    except takt_native.InputError as error:
        raise UserError(f"--merge: {error}") from None
    merged: Json = json.loads(merged_text)
    merged["name"] = name
    losses: Counter[str] = Counter()
    for run in runs:
        losses.update(run.losses)
    warnings = [warning for run in runs for warning in run.warnings]
    warnings += _disagreements(models, merged, contradicting)
    merged["provenance"] = {
        "tool": runs[0].tool,
        "inputs": [source for run in runs for source in run.inputs],
        "hosts": sorted({host for run in runs for host in run.hosts}),
        "cores": min(run.cores for run in runs),
        "execution_time": _of_all({run.execution_time for run in runs}),
        "suspension": _of_all({run.suspension for run in runs}),
        "duration": sum(run.duration for run in runs),
        "start_up": sum(run.start_up for run in runs),
        "losses": dict(losses),
        "left_out": sorted({id_ for run in runs for id_ in run.left_out}),
        **_not_found(runs),
        "warnings": list(dict.fromkeys(warnings)),
        "observed": _observed(runs),
        "threads": [threads for run in runs for threads in run.threads],
        "unnamed_work": [
            work.replace(executor=names.get(work.executor, work.executor)).json()
            for names, run in zip(executor_names, runs, strict=True)
            for work in run.unnamed_work
        ],
        "filters": [one for run in runs for one in run.filters],
        "runs": [
            one
            for model, run in zip(models, runs, strict=True)
            # Several if it was merged itself.
            for one in run.runs or [_run(model.name, run)]
        ],
        "convergence": convergence.report(models, runs),
    }
    return merged


def _run(name: str, run: Provenance) -> Json:
    return {"name": name, "recorded": run.recorded, "inputs": list(run.inputs)}


def _not_found(runs: Sequence[Provenance]) -> Json:
    """The chains of --chains-from that no run has; nothing if none was looked for."""
    looked_for = [set(run.chains_not_found) for run in runs if run.chains_not_found is not None]
    if not looked_for:
        return {}
    # A model that was given as a run has whatever chains it has.
    return {"chains_not_found": sorted(set.intersection(*looked_for))}


def _of_all(sources: set[str]) -> str:
    return sources.pop() if len(sources) == 1 else "mixed"


def _disagreements(
    models: Sequence[Model], merged: Json, contradicting: Sequence[str]
) -> list[str]:
    """Lines on what does not fit together in the runs. `contradicting`: executors whose callbacks
    were registered in orders that contradict each other.
    """
    lines = []
    runs_of = Counter(callback.id for model in models for callback in model.callbacks)
    if all(number == 1 for number in runs_of.values()):
        lines.append("no callback is in two of the runs: are they of one system?")
    lines += [
        f"executor {executor}: its callbacks were registered in another order in some runs; bounds "
        "hold for any order among those of one kind"
        for executor in contradicting
    ]
    # The model has the callbacks of such a join twice, which makes bounds larger, not smaller.
    for join in merged["joins"]:
        node, _, topics = join["callback"].partition(":")
        if any(f"{node}:{topic}" in runs_of for topic in topics.split("+")):
            lines.append(
                f"{join['callback']} joins its inputs in some runs and not in others: both are in "
                "the model"
            )
    return lines


def _observed(runs: Sequence[Provenance]) -> Json:
    """Execution times of each callback over all runs: means are weighted by instances."""
    merged: Json = {}
    for run in runs:
        for id_, times in run.observed.items():
            known = merged.get(id_)
            if known is None:
                merged[id_] = times.json()
                continue
            number = known["count"] + times.count
            total = known["mean"] * known["count"] + times.mean * times.count
            merged[id_] = {
                "count": number,
                "min": min(known["min"], times.min),
                "mean": total / number,
                "max": max(known["max"], times.max),
            }
    return merged


def summary(merged: Json) -> str:
    """A line on convergence."""
    report = merged["provenance"]["convergence"].values()
    grew = sum(entry["runs_since_growth"] == 0 and entry["runs"] > 1 for entry in report)
    runs = len(merged["provenance"]["runs"])
    return (
        f"{count(runs, 'run')}: the last one raised the longest execution time of "
        f"{grew} of {count(len(merged['callbacks']), 'callback')}"
    )
