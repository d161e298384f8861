"""The chains of a model as flows: the instances that `takt latency` and reports measure, told in
the words of `takt flow`.
"""

from __future__ import annotations

import itertools
import json
import tempfile
from array import array
from collections import Counter
from typing import Any

import takt_native
from takt import pipeline
from takt.documents import Model
from takt.documents.names import chains_named
from takt.inputs import ModelText
from takt.text.parts import STAGE_OF, STAGES
from takt.verdicts import tables

Json = dict[str, Any]

WORST = 10
"""Instances of each chain that the document has with their parts."""

KINDS = list(STAGE_OF)
LONGEST = 2**63 - 1


def document(
    traces: list[str], model: ModelText, asked: int | None = None, only: str | None = None
) -> Json:
    """A `takt/flow` document of the model's chains of which an instance was measured, the one with
    the longest latency first, or of the chain `only`. Instances have the numbers of the runs with
    which they end, as in `takt latency`; the one that is `asked` for is there with its parts.
    Raises takt_native.InputError; UserError if the model has no such chain.
    """
    parsed = pipeline.read_model(model.text, model.source)
    wanted = {
        chain.id for chain in (parsed.chains if only is None else chains_named(parsed, [only]))
    }
    with tempfile.TemporaryDirectory(prefix="takt-") as folder:
        index, measurement = pipeline.store_view(
            traces, model.text, model.source, folder, all_chains=True
        )
        reader = _Reader(folder, index, parsed)
        flows = [
            reader.flow(number, asked)
            for number, chain in enumerate(index["chains"])
            if chain["worst"] >= 0 and parsed.chains[number].id in wanted
        ]
    return {
        "format": "takt/flow",
        "version": 1,
        "provenance": dict(measurement.provenance),
        "losses": dict(measurement.losses),
        "from": None,
        "to": None,
        "flows": sorted(flows, key=lambda flow: -flow["max"]),
    }


class _Reader:
    """Reads the folder that libtakt/viewer wrote."""

    def __init__(self, folder: str, index: Json, model: Model) -> None:
        self._folder, self._index, self._model = folder, index, model
        self._view = takt_native.StoredView.open(folder)
        self._subjects = self._column("spans", "subject")
        self._uncertainty = 0 if len(index["hosts"]) < 2 else None

    def flow(self, number: int, asked: int | None) -> Json:
        chain = self._index["chains"][number]
        path = [self._step(callback) for callback in chain["callbacks"]]
        modelled = self._model.chains[number]
        end = modelled.end_topic
        path[-1]["publishes"] = end
        worst = json.loads(self._view.instances(number, -LONGEST, LONGEST, False, WORST))["rows"]
        told = None if asked is None else self._ending_with(asked, number)
        return {
            "chain": chain["name"],
            "from": _end(path[0]),
            "to": _end(path[-1]),
            "measured": {
                "from": "input" if chain.get("time") == "reaction time" else "activation",
                "until": "completion" if end is None else "publication",
            },
            "path": path,
            "guessed": [
                {"from": source, "to": target}
                for source, target in tables.guesses_of(self._model, modelled)
            ],
            **{figure: chain[figure] for figure in ("count", "min", "mean", "p50", "p99", "max")},
            "left_out": {"before": False, "after": False},
            "uncertain": 0,
            "at_most": None,
            "uncertainty": self._uncertainty,
            "breakdown": self._breakdown(number, chain["mean"]),
            "worst": [self._story(instance) for instance in worst],
            **({} if asked is None else {"asked": told and self._story(told)}),
        }

    def _ending_with(self, run: int, chain: int) -> Json | None:
        """The chain's instance that ends with a run; of several (reactions) the longest."""
        columns = (self._column("instances", name) for name in ("run", "chain"))
        rows = [row for row, ends in enumerate(zip(*columns, strict=True)) if ends == (run, chain)]
        found: list[Json] = [json.loads(self._view.instance(row)) for row in rows]
        return max(found, key=lambda instance: int(instance["latency"]), default=None)

    def _column(self, table: str, name: str) -> array[int]:
        return array("q", takt_native.read_column(self._folder, table, name))

    def _step(self, number: int) -> Json:
        callback, topic = self._index["callbacks"][number], None
        if callback["topic"] >= 0:
            topic = self._index["topics"][callback["topic"]]["name"]
        return {
            "callback": self._name(number),
            "node": callback["node"] or None,
            "topic": topic,
            "publishes": None,
        }

    def _name(self, number: int) -> str:
        callback = self._index["callbacks"][number]
        return str(callback["id"] or callback["name"])

    def _story(self, instance: Json) -> Json:
        return {
            "instance": instance["run"],
            "begin": instance["start"],
            "time": takt_native.time_of_day(int(self._index["origin"]) + instance["start"]),
            "latency": instance["latency"],
            "uncertainty": self._uncertainty,
            "parts": [
                {
                    "stage": STAGE_OF[KINDS[part["kind"]]],
                    "step": part["step"],
                    "duration": part["duration"],
                    "callback": self._ran(part["span"]),
                    "by": self._index["actors"][part["actor"]] if part["actor"] >= 0 else None,
                }
                for part in instance["parts"]
            ],
        }

    def _ran(self, span: int) -> str | None:
        return self._name(self._subjects[span]) if span >= 0 else None

    def _breakdown(self, number: int, mean: int) -> Json:
        """The stages' shares of the mean, which they add up to."""
        kinds, durations = self._column("parts", "kind"), self._column("parts", "duration")
        columns = ("chain", "ending", "first", "parts")
        rows = zip(*(self._column("instances", name) for name in columns), strict=True)
        sums: Counter[int] = Counter()
        for chain, ending, first, count in rows:
            if chain == number and ending < 0:
                for part in range(first, first + count):
                    sums[kinds[part]] += durations[part]
        total = sum(sums.values())
        until = itertools.accumulate(sums[kind] for kind in range(len(KINDS)))
        shares = [round(mean * each / total) if total else 0 for each in until]
        return {
            stage: share - before
            for stage, share, before in zip(STAGES, shares, [0, *shares], strict=False)
        }


def _end(step: Json) -> str:
    topic = step["publishes"] or step["topic"]
    return f"{step['node']}:{topic}" if topic else str(step["callback"])
