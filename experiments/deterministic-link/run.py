"""Performance Engineering for Real-Time Autonomous Applications, section 5.5: a link that decides
what is sent next, beside plain TCP and UDP. See README.md."""

from __future__ import annotations

import statistics

from takt import console
from takt.experiments import Row, Rows

from .namespaces import Arrival, Stream, exchange, link, program

METHODS = ("takt", "tcp", "udp")
MEGABYTE = 1_000_000
CHUNK = 64 << 10
LARGE = 32 * MEGABYTE
# Headers of Ethernet, IP, UDP and ours for each packet of 1400 bytes.
PACKET = 1400
HEADERS = 14 + 20 + 8 + 68
# What a chunk costs beyond its bits: dispatch, two ways through the machine, acknowledgement.
PER_CHUNK_MS = 0.25
# The publication's intermediate result of its network, and the computing around it.
TENSOR = 5_640_000
COMPUTING_MS = 100.0


def run(full: bool = False) -> Rows:
    program()
    rows: Rows = []
    rows += _order()
    rates = (1000, 100) if full else (1000,)
    for rate in rates:
        rows += _priorities(rate, 100 if full else 20)
    for rate in rates:
        rows += _blocking(rate, 100_000 if full else 5_000)
    rows += _overhead(500 if full else 100)
    rows += _pipeline(50 if full else 10)
    return rows


def _order() -> Rows:
    """Three senders of equal priority, each four packets at its turn, 100 times."""
    rows: Rows = []
    streams = [Stream(5, 1000, 400)] * 3
    with link(1000) as names:
        for method in METHODS:
            console.say(f"order, {method}")
            arrivals = exchange(names, method, streams, burst=4)
            places = [place for place, arrival in enumerate(arrivals) if arrival.stream == 0][:100]
            right = sum(place == 12 * (n // 4) + n % 4 for n, place in enumerate(places))
            published = 100.0 if method == "takt" else None
            what = f"order, {method}: packets of one sender in their places"
            rows.append(Row(what, published, float(right), "%"))
    rows.append(Row("order, native RDMA without scheduler", 30.0, "not measured", "%"))
    return rows


def _priorities(rate: int, count: int) -> Rows:
    """A message of 1 MB, alone and beside transfers of 32 MB of two less urgent senders."""
    rows: Rows = []
    interval = 50_000_000 // rate
    urgent = Stream(2, MEGABYTE, count, interval)
    others = [Stream(1, LARGE), Stream(0, LARGE)]
    with link(rate) as names:
        for method in METHODS:
            console.say(f"priorities at {rate} Mbit/s, {method}")
            alone = _times(exchange(names, method, [urgent]))
            beside = _times(exchange(names, method, [urgent, *others]))
            what = f"{rate} Mbit/s, 1 MB, {method}"
            published = 8.9 if rate == 1000 else None
            rows.append(Row(f"{what}: alone, least", published, min(alone), "ms"))
            if not beside:
                rows.append(Row(f"{what}: beside 32 MB", None, "nothing arrived whole"))
                continue
            rows += [
                Row(f"{what}: beside 32 MB, median", None, statistics.median(beside), "ms"),
                Row(
                    f"{what}: beside 32 MB, most",
                    20.6 if rate == 1000 and method != "takt" else None,
                    max(beside),
                    "ms",
                ),
            ]
            if method == "takt":
                limit = 1.05 * min(alone) + _chunk_ms(rate)
                within = 100 * sum(time <= limit for time in beside) / len(beside)
                rows.append(Row(f"{what}: within 5 % of the least and a chunk", 100.0, within, "%"))
            elif len(beside) < count:
                rows.append(Row(f"{what}: arrived", None, 100 * len(beside) / count, "%"))
    return rows


def _blocking(rate: int, count: int) -> Rows:
    """Short urgent messages beside transfers of 32 MB, against their bound."""
    # Intervals that drift through the chunks.
    urgent = Stream(2, 1000, count, round(1.37e6 / rate))
    others = [Stream(1, LARGE), Stream(0, LARGE)]
    with link(rate) as names:
        console.say(f"blocking at {rate} Mbit/s: {count} messages")
        times = sorted(_times(exchange(names, "takt", [urgent, *others])))
        alone = _times(exchange(names, "takt", [urgent]))
    own = _wire_ms(1000, rate) + PER_CHUNK_MS
    # What the machine alone keeps from its turn.
    punctual = sum(time <= own for time in alone)
    bound = _chunk_ms(rate) + own
    within = sum(time <= bound for time in times)
    what = f"{rate} Mbit/s, blocking"
    share = 100 * punctual / count
    return [
        Row(f"{what}: bound of a short message", None, bound, "ms"),
        Row(f"{what}: median", None, statistics.median(times), "ms"),
        Row(f"{what}: 99 %", None, times[round(0.99 * len(times)) - 1], "ms"),
        Row(f"{what}: most", None, times[-1], "ms"),
        Row(f"{what}: of {count} messages within the bound", 100.0, 100 * within / count, "%"),
        Row(f"{what}: without other senders, within a bound without a chunk", 100.0, share, "%"),
    ]


def _overhead(count: int) -> Rows:
    """Transfers of one chunk on a link without a limit, beside TCP."""
    rows: Rows = []
    with link(None) as names:
        for size in (1000, 64_000):
            console.say(f"overhead of {size} bytes")
            stream = [Stream(1, size, count, 2000)]
            ours = statistics.median(_times(exchange(names, "takt", stream)))
            plain = statistics.median(_times(exchange(names, "tcp", stream)))
            what = f"overhead of a transfer of {size // 1000} kB over TCP"
            rows.append(Row(what, 670.0, 1000 * (ours - plain), "µs"))
    return rows


def _pipeline(count: int) -> Rows:
    """Two nodes that share a network: its computing and the transfer between."""
    rows: Rows = []
    published = {"takt": 150.67, "tcp": 165.0}
    with link(1000) as names:
        for method in ("takt", "tcp"):
            console.say(f"pipeline, {method}")
            stream = [Stream(1, TENSOR, count, 200_000)]
            transfer = statistics.median(_times(exchange(names, method, stream, MEGABYTE)))
            what = f"pipeline of two nodes, {method}"
            rows.append(Row(what, published[method], COMPUTING_MS + transfer, "ms"))
    return rows


def _times(arrivals: list[Arrival]) -> list[float]:
    """How long the messages of the first stream took, in milliseconds."""
    return [arrival.milliseconds for arrival in arrivals if arrival.stream == 0]


def _wire_ms(size: int, rate: int) -> float:
    packets = -(-size // PACKET)
    return (size + packets * HEADERS) * 8 / (rate * 1000)


def _chunk_ms(rate: int) -> float:
    return _wire_ms(CHUNK, rate) + PER_CHUNK_MS
