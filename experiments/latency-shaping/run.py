"""Abaza, chapter 4: Tables 4.1 and 4.3 to 4.5, and 4.5.4, by simulation. See README.md."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import takt_design
from takt.documents import Model
from takt.shaping import gates, profile
from takt.trials.experiments import RATIO, Row, Rows, drawn

from . import kernel, loop
from .chains import (
    FIVE,
    GRAPH_PERIOD,
    MS,
    PARKING,
    PERIOD,
    PUBLISH,
    SHORTEST,
    SLOTS,
    parking,
    random_graph,
    synthetic,
)

Json = dict[str, Any]

CYCLES = 500
BANDS = range(1, 9)
FIGURE_4_7 = "section 4.5.1, with Figure 4.7"
FIGURE_4_8 = "section 4.5.2, with Figure 4.8"
FIGURE_4_9 = "section 4.5.1, with Figure 4.9"
APART = MS
"""Latencies that are further from each other are in different bands."""


def run(full: bool = False) -> Rows:
    rows = _table_4_1() + _table_4_3() + _table_4_4() + _table_4_5() + _graph()
    return rows + kernel.rows() + loop.rows() if full else rows


def simulate(
    model: Json, *, shortest: float = 1 / 3, period: int = PERIOD, **more: Any
) -> list[int]:
    """The chain's latencies over so many cycles."""
    options = {"shortest": shortest, **more}
    return profile.simulated(Model.read(model), "model", CYCLES, period, 1, options)["chain"]


def jitter(latencies: list[int]) -> float:
    return (max(latencies) - min(latencies)) / 2 / MS


def longest(latencies: list[int]) -> float:
    return max(latencies) / MS


def mean(latencies: list[int]) -> float:
    return sum(latencies) / len(latencies) / MS


def by_priority(model: Json, cores: dict[str, int], count: int) -> Json:
    """Threads under SCHED_FIFO: those named "interferer" low."""
    threads = {
        one["id"]: {
            "policy": "fifo",
            "cpu": cores.get(one["id"], 0),
            "priority": 10 if one["id"].startswith("interferer") else 50,
        }
        for one in model["executors"]
    }
    return {"cores": count, "threads": threads}


def pictured(what: str, latencies: list[int], figure: str) -> Row:
    """A row whose latencies are drawn, each."""
    samples = drawn(one / MS for one in latencies)
    what = f"{what}: each latency, mean"
    return Row(what, None, mean(latencies), "ms", figure=figure, samples=samples)


def bands(latencies: list[int]) -> int:
    """How many there are."""
    return 1 + sum(after - before > APART for before, after in pairwise(sorted(latencies)))


def _table_4_1() -> Rows:
    rows: Rows = []
    published = ((57.35, 16.2), (58.1, 16.72), (58.78, 17.14), (59.8, 17.73), (62.8, 18.13))
    for load, (most, varies) in zip((0, 10, 20, 30, 40), published, strict=True):
        model = synthetic()
        if load:
            model.add("interferer", load)
        document = model.document(*FIVE)
        seen = simulate(document, **by_priority(document, {}, 1))
        what = f"synthetic, FIFO, load {load} ms"
        rows.append(Row(f"{what}: longest", most, longest(seen), "ms", "Table 4.1"))
        rows.append(Row(f"{what}: jitter", varies, jitter(seen), "ms", "Table 4.1"))
    table = [(16.0 * number, 16.0 * (number + 1)) for number in range(5)]
    seen = simulate(synthetic(table).document(*FIVE))
    what = "synthetic, a server per callback"
    rows.append(Row(f"{what}: longest", 80.0, longest(seen), "ms", "Table 4.1"))
    rows.append(Row(f"{what}: jitter", 5.0, jitter(seen), "ms", "Table 4.1"))
    return rows


def _slots(slots: list[tuple[int, int]]) -> str:
    return " ".join(f"[{start // MS},{end // MS}]" for start, end in slots)


def parking_servers() -> list[tuple[int, int]]:
    """A slot for each callback: the throttlers', then those of PARKING."""
    ids = ["throttle 0", "throttle 1", *PARKING]
    cores = [0, 1, *(core for _, core in PARKING.values())]
    lengths = [2 * MS, 2 * MS, *(length * MS for length in SLOTS)]
    after: list[list[int]] = [[], [], [0, 1], [0, 1], [2, 3], [4], [5]]
    return takt_design.callback_servers(ids, cores, lengths, after, PERIOD)[2:]


def one_server(latencies: list[int]) -> tuple[int, int]:
    """Slots of the chain's one server and, behind it, of the gate, from its longest latency."""
    placed = place(latencies, 1)
    return placed[0]


def place(latencies: list[int], bands: int) -> list[tuple[int, int]]:
    options = {"cycle": PERIOD, "bands": bands}
    placed = json.loads(takt_design.place_slots(latencies, json.dumps(options)))
    return [(band["start"], band["end"]) for band in placed["bands"]]


def _table_4_3() -> Rows:
    servers = parking_servers()
    published = ((2, 23), (2, 33), (33, 37), (37, 47), (47, 98))
    rows = [
        Row(
            f"slot with a server per callback, {name}",
            f"[{a},{b}]",
            _slots([slot]),
            # The front filter's is printed beside the table.
            place="section 4.5.1" if name == "front_filter" else "Table 4.3",
        )
        for name, (a, b), slot in zip(PARKING, published, servers, strict=True)
    ]
    start, end = one_server([round(84.7 * MS), round(32.9 * MS)])
    table = "Table 4.3"
    chain = _slots([(2 * MS, start)])
    rows.append(Row("slot with a server per chain", "[2,86]", chain, place=table))
    rows.append(Row("slot of one band", "[86,87]", _slots([(start, end)]), place=table))
    return rows


def gated(model: Json, last: str, slots: list[tuple[int, int]], period: int = PERIOD) -> Json:
    """With a gate that lets outputs out when a slot begins, not within it."""
    begins = [(start, start + 1) for start, _ in slots]
    return gates.insert(Model.read(model), last, begins, period, PUBLISH).json()


def _table_4_4() -> Rows:
    free = parking()
    seen = {"FIFO": simulate(free, shortest=SHORTEST)}
    servers = dict(zip(PARKING, ((a / MS, b / MS) for a, b in parking_servers()), strict=True))
    seen["a server per callback"] = simulate(parking(servers), shortest=SHORTEST)
    # The slot of the chain's server is as long as its longest latency behind the throttlers' slot.
    behind = simulate(parking(dict.fromkeys(PARKING, (2.0, 100.0))), shortest=SHORTEST)
    last = one_server(behind)
    together = parking(dict.fromkeys(PARKING, (2.0, last[0] / MS)))
    seen["a server per chain"] = simulate(together, shortest=SHORTEST)
    choices = {
        "one band": [last],
        # As far from the last as printed.
        "random three bands": [
            (last[0] - early * MS, last[1] - early * MS) for early in (36, 16, 0)
        ],
        "optimised three bands": place(behind, 3),
    }
    for name, slots in choices.items():
        shaped = gated(together, "localiser", slots)
        seen[name] = simulate(shaped, shortest=SHORTEST)
    published = {
        "FIFO": (67.4, 84.7, 25.9),
        "a server per callback": (72.8, 95.7, 24.3),
        "a server per chain": (64.2, 84.4, 25.8),
        "one band": (86.6, 86.7, 0.1),
        "random three bands": (76.4, 86.6, 12.5),
        "optimised three bands": (71.3, 86.5, 12.5),
    }
    rows: Rows = []
    for name, (average, most, varies) in published.items():
        rows.append(Row(f"parking, {name}: mean", average, mean(seen[name]), "ms", "Table 4.4"))
        rows.append(Row(f"parking, {name}: longest", most, longest(seen[name]), "ms", "Table 4.4"))
        if name != "random three bands":
            # That of all bands together is printed beside the table.
            where = "section 4.5.1" if name == "optimised three bands" else "Table 4.4"
            rows.append(Row(f"parking, {name}: jitter", varies, jitter(seen[name]), "ms", where))
    band = max(_spread(seen[name], slots) for name, slots in choices.items())
    rows.append(Row("parking, jitter within a band", 0.1, band, "ms", "Table 4.4"))
    return rows + _figure_4_9(seen) + _ratios(seen) + _bands(together, behind)


def _figure_4_9(seen: dict[str, list[int]]) -> Rows:
    """The latencies of Table 4.4, each; and what the text says of their bands."""
    said = {
        "one band": ("a short band", 1),
        "random three bands": ("three short bands", 3),
    }
    rows = [
        Row(
            f"parking, {name}: latencies lie in",
            words,
            bands(seen[name]),
            "bands",
            FIGURE_4_9,
            meaning=number,
        )
        for name, (words, number) in said.items()
    ]
    pictures = [
        pictured(f"parking, {name}", latencies, "Figure 4.9") for name, latencies in seen.items()
    ]
    return [*rows, *pictures]


def _bands(together: Json, behind: list[int]) -> Rows:
    """The mean latency by the number of bands, each set of them at its best places."""
    means = [
        mean(simulate(gated(together, "localiser", place(behind, n)), shortest=SHORTEST))
        for n in BANDS
    ]
    rows = [
        Row(f"parking, bands: {n}: mean", None, found, "ms")
        for n, found in zip(BANDS, means, strict=True)
    ]
    falls = all(more <= fewer for fewer, more in pairwise(means))
    further = 100 * (1 - means[-1] / means[3])
    return [
        *rows,
        Row(
            "parking: mean with more bands",
            "falls",
            "falls" if falls else "does not always fall",
            place=FIGURE_4_7,
        ),
        Row(
            "parking: mean with eight bands, below that with four by",
            "negligible",
            further,
            "%",
            FIGURE_4_7,
            meaning="≤ 5",
        ),
    ]


def _spread(latencies: list[int], slots: list[tuple[int, int]]) -> float:
    """The greatest jitter within a slot."""
    within = [[one for one in latencies if start <= one <= end] for start, end in slots]
    return max(jitter(each) for each in within if each)


def _ratios(seen: dict[str, list[int]]) -> Rows:
    """Fact 28: what the dissertation concludes from the table, in whole per cent."""
    fifo, one = seen["FIFO"], seen["one band"]
    chance, best = seen["random three bands"], seen["optimised three bands"]
    per_callback = seen["a server per callback"]
    printed = (
        ("longest: a server per callback / FIFO", 1.13, longest(per_callback) / longest(fifo)),
        ("mean: random three bands / FIFO", 1.13, mean(chance) / mean(fifo)),
        ("mean: random three bands / one band", 0.88, mean(chance) / mean(one)),
        ("mean: optimised / random three bands", 0.93, mean(best) / mean(chance)),
        ("mean: optimised three bands / FIFO", 1.06, mean(best) / mean(fifo)),
        ("longest: optimised three bands / FIFO", 1.02, longest(best) / longest(fifo)),
        ("jitter: optimised three bands / FIFO", "< 0.5", jitter(best) / jitter(fifo)),
    )
    where = "section 4.5.1"
    return [Row(what, theirs, ours, RATIO, where) for what, theirs, ours in printed]


def _table_4_5() -> Rows:
    rows: Rows = []
    model = synthetic().document(*FIVE)
    fifo = simulate(model)
    shaped = simulate(gated(model, "cb5", [one_server(fifo)]))
    rows += [
        Row("synthetic, FIFO: longest", 58.5, longest(fifo), "ms", FIGURE_4_8),
        Row("synthetic, FIFO: jitter", 16.5, jitter(fifo), "ms", FIGURE_4_8),
        Row("synthetic, one band: jitter", "< 0.1", jitter(shaped), "ms", FIGURE_4_8),
        Row(
            "synthetic, longest: one band / FIFO",
            1.02,
            longest(shaped) / longest(fifo),
            RATIO,
            FIGURE_4_8,
        ),
        Row("synthetic, one band: longest", 59.6, longest(shaped), "ms", FIGURE_4_8),
        Row("synthetic, one band: longest", 59.2, longest(shaped), "ms", "Table 4.5"),
    ]
    rows += [
        pictured("synthetic, FIFO", fifo, "Figure 4.8"),
        pictured("synthetic, one band", shaped, "Figure 4.8"),
    ]
    for name, printed in (("callback", 500.0), ("chain", 100.0)):
        let = gates.let_per_callback if name == "callback" else gates.let_per_chain
        seen = simulate(let(Model.read(model), "chain", 1).json())
        what = f"synthetic, LET per {name}: longest"
        rows.append(Row(what, printed, longest(seen), "ms", "Table 4.5"))
    seen = simulate(
        gates.let_per_chain(Model.read(parking()), "chain", 1).json(), shortest=SHORTEST
    )
    what = "parking, LET per chain: longest"
    rows.append(Row(what, 100.0, longest(seen), "ms", "Table 4.5"))
    return rows


def _graph() -> Rows:
    """A graph of 18 callbacks on two cores, of our own making: the published one is lost."""
    model, cores = random_graph()
    placement = by_priority(model, cores, 2)
    options = {"period": GRAPH_PERIOD, "shortest": 0.5, **placement}
    fifo = simulate(model, **options)
    end = math.ceil(max(fifo) / MS) * MS
    slot = (end, end + MS)
    shaped = gated(model, "v17", [slot], GRAPH_PERIOD)
    threads = {**placement["threads"], "v17/gate": {"policy": "fifo", "cpu": 1, "priority": 90}}
    after = simulate(shaped, **(options | {"threads": threads}))
    place = "section 4.5.4, with Figure 4.10"
    return [
        Row("graph, FIFO: longest", 450.0, longest(fifo), "ms", place),
        Row("graph, slot of the output", "[450,451]", _slots([slot]), place=place),
        Row("graph, FIFO: jitter", None, jitter(fifo), "ms"),
        pictured("graph, FIFO", fifo, "Figure 4.10"),
        pictured("graph, shaped", after, "Figure 4.10"),
        Row(
            "graph, shaped: jitter",
            "almost constant",
            jitter(after),
            "ms",
            place,
            meaning="≤ 0.1",
        ),
    ]
