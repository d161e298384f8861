"""Performance engineering, section 3.7: what models of many runs converge to. See README.md."""

from __future__ import annotations

import json
import os
import random
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

from takt import merging, pipeline
from takt.recordings import recorder
from takt.text import console
from takt.trials.experiments import Row, Rows

from . import graph

Json = dict[str, Any]

MODELS = Path(__file__).parents[2] / "models"
MS = 1_000_000
PUBLISHED = {
    "rear_filter": (13.82, 17.1, 19.82),
    "front_filter": (23.31, 27.07, 30.5),
    "fusion": (0.41, 3.1, 3.97),
    "voxel_grid": (6.58, 8.47, 13.36),
    "localizer": (2.78, 25.64, 60.93),
}
"""Table 3.3: shortest, mean and longest execution time in ms. The fusion is the subscription that
completes the pairs."""
FILTER = "front_filter"
LOAD, GROWTH, LAST_GROWTH = 27.0, 10.0, 23
MEGABYTES, CORES = 9.0, 0.008


def run(full: bool = False) -> Rows:
    runs, seconds = (50, 10.0) if full else (3, 3.0)
    numbers = random.Random(3)
    models: list[Json] = []
    drawn: list[dict[str, tuple[float, float]]] = []
    volume = processor = recorded = 0.0
    with console.progress("Running and recording") as progress:
        for number in range(runs):
            if progress:
                progress(number, runs)
            times = {name: _draw(numbers, *published) for name, published in PUBLISHED.items()}
            model, size, cost = _record(_loaded(times), seconds)
            models.append(model)
            drawn.append(times)
            volume += size
            processor += cost
            recorded += model["provenance"]["duration"] / 1e9
    merged = merging.merge(models, "model-extraction")
    observed = _by_name(merged)
    rows: Rows = []
    for name, published in PUBLISHED.items():
        times = observed[name]
        for what, theirs, ours in zip(
            ("shortest", "mean", "longest"),
            published,
            (times["min"], times["mean"], times["max"]),
            strict=True,
        ):
            if not (name == "fusion" and what != "longest"):  # others only keep a message
                rows.append(Row(f"{name}: {what}", theirs, round(ours / MS, 2), "ms", "Table 3.3"))
    error = max(
        abs(_by_name(model)[name]["max"] / MS - times[name][0])
        for model, times in zip(models, drawn, strict=True)
        for name in PUBLISHED
    )
    rows.append(Row("largest difference to a longest time that was drawn", None, error, "ms"))
    mean = observed[FILTER]["mean"]
    what = f"{FILTER}: load of a core at 10 Hz"
    rows.append(Row(what, LOAD, round(load(mean), 1), "%", "section 3.7"))
    longest = [_by_name(model)[FILTER]["max"] for model in models]
    maxima = [max(longest[: n + 1]) for n in range(runs)]
    rows += [
        Row(
            f"{FILTER}: growth of the longest",
            GROWTH,
            100 * (maxima[-1] / maxima[0] - 1),
            "%",
            "section 3.7, with Figure 3.9",
        ),
        Row(
            f"{FILTER}: run of the last growth",
            LAST_GROWTH,
            maxima.index(maxima[-1]) + 1,
            place="section 3.7, with Figure 3.9",
        ),
        Row(
            "recording, in 60 s",
            MEGABYTES,
            volume / 1e6 / recorded * 60,
            "MB",
            "section 3.7, overheads",
        ),
        Row("probes while recording", CORES, "not measured", "cores", "section 3.7, overheads"),
        Row("making the model afterwards", None, processor / recorded, "cores"),
    ]
    return rows + graph.rows(merged, _loaded({}))


def load(mean: float) -> float:
    """The share of a core in percent that callbacks of this mean time take at 10 Hz."""
    return mean / (100 * MS) * 100


def _draw(numbers: random.Random, least: float, mean: float, most: float) -> tuple[float, float]:
    """The longest time of a run, and the time of the two instances between two longest ones, chosen
    so that the mean is the published one, as far as the shortest allows.
    """
    longest = numbers.uniform(mean, most)
    return longest, max(least, (3 * mean - longest) / 2)


def _loaded(times: dict[str, tuple[float, float]]) -> Json:
    """Both applications at once, the parking case with these execution times."""
    document: Json = json.loads((MODELS / "parking.json").read_text(encoding="utf-8"))
    for callback in document["callbacks"]:
        if callback["id"] in times:
            longest, other = (round(time * MS) for time in times[callback["id"]])
            callback["execution_time"]["curve"] = [longest + n * other for n in range(3)]
    beside: Json = json.loads((MODELS / "synthetic.json").read_text(encoding="utf-8"))
    for part in ("executors", "callbacks", "edges", "joins", "chains"):
        document[part] += beside[part]
    return document


def _record(document: Json, seconds: float) -> tuple[Json, float, float]:
    """The model of a recording, the recording's bytes, and the processor time the model took."""
    with tempfile.TemporaryDirectory() as folder, Path(os.devnull).open("w") as nowhere:
        model, trace = Path(folder) / "model.json", Path(folder) / "trace"
        model.write_text(json.dumps(document), encoding="utf-8")
        command = (sys.executable, "-m", "takt", "run", str(model), "--duration", str(seconds))
        request = recorder.Request("ring", trace, command=command, command_output=nowhere.fileno())
        recorder.record(request, lambda *_: None)
        size = sum(path.stat().st_size for path in trace.rglob("*") if path.is_file())
        before = _processor_time()
        made = pipeline.synthesize([str(trace)])
        return made, size, _processor_time() - before


def _processor_time() -> float:
    """Processor time of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _by_name(model: Json) -> Json:
    observed = model["provenance"]["observed"]
    return {callback["name"]: observed[callback["id"]] for callback in model["callbacks"]}
