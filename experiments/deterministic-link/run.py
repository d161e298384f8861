"""Performance Engineering for Real-Time Autonomous Applications, section 5.5: a link that decides
what is sent next, beside plain TCP and UDP and Fast DDS. See README.md."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from takt.text import console
from takt.trials.experiments import Row, Rows

from . import fast_dds, namespaces
from .namespaces import Arrival, Stream, link, program, watched

METHODS = ("takt", "tcp", "udp", "dds")
MEGABYTE = 1_000_000
CHUNK = 64 << 10
LARGE = 32 * MEGABYTE
# Headers of Ethernet, IP, UDP and ours for each packet of 1400 bytes.
PACKET = 1400
HEADERS = 14 + 20 + 8 + 68
# What a chunk costs beyond its bits: dispatch, two ways through the machine, acknowledgement.
PER_CHUNK_MS = 0.25
# The bytes of the publication's intermediate network result, and the computing time around it.
TENSOR = 5_640_000
COMPUTING_MS = 100.0
URGENT = "section 5.5, with Figure 5.14"
NO_RDMA = "cannot be here"
REASON = "it needs a network adapter with RDMA, or a kernel with rdma_rxe"


def run(full: bool = False) -> Rows:
    program()
    rows: Rows = []
    if not fast_dds.is_there():
        console.say("no ROS 2 is found, so Fast DDS is not compared")
    rows += _order()
    rates = (1000, 100) if full else (1000,)
    for rate in rates:
        rows += _priorities(rate, 100 if full else 20)
    for rate in rates:
        rows += _blocking(rate, 100_000 if full else 5_000)
    rows += _overhead(500 if full else 100)
    rows += _pipeline(50 if full else 10)
    return rows


def _methods() -> tuple[str, ...]:
    return METHODS if fast_dds.is_there() else METHODS[:-1]


def _exchange(
    names: tuple[str, str],
    method: str,
    streams: Sequence[Stream],
    chunk: int = CHUNK,
    burst: int = 0,
) -> list[Arrival]:
    if method == "dds":
        return fast_dds.exchange(names, streams)
    return namespaces.exchange(names, method, streams, chunk, burst)


def _order() -> Rows:
    """Three senders of equal priority, each four packets at its turn, 100 times."""
    rows: Rows = []
    streams = [Stream(5, 1000, 400)] * 3
    with link(1000) as names:
        for method in _methods():
            console.say(f"order, {method}")
            arrivals = _exchange(names, method, streams, burst=4)
            places = [place for place, arrival in enumerate(arrivals) if arrival.stream == 0][:100]
            right = sum(place == 12 * (n // 4) + n % 4 for n, place in enumerate(places))
            what = f"order, {method}: packets of one sender in their places"
            expected = 100.0 if method == "takt" else None
            rows.append(Row(what, None, float(right), "%", expected=expected))
    figure = "section 5.5, with Figure 5.13"
    for what, published in (("Standard", 30.0), ("Deterministic", 100.0)):
        rows.append(Row(f"order, {what} Soft-RoCE", published, NO_RDMA, "%", figure, cannot=REASON))
    return rows


def _priorities(rate: int, count: int) -> Rows:
    """A message of 1 MB, alone and beside transfers of 32 MB of two less urgent senders."""
    rows: Rows = []
    interval = 50_000_000 // rate
    urgent = Stream(2, MEGABYTE, count, interval)
    others = [Stream(1, LARGE), Stream(0, LARGE)]
    if rate == 1000:
        for what, published in (("least", 8.9), ("most", 20.6)):
            what = f"1 MB, Standard Soft-RoCE: {what}, with data of lower priorities"
            rows.append(Row(what, published, NO_RDMA, "ms", URGENT, cannot=REASON))
    with link(rate) as names:
        for method in _methods():
            console.say(f"priorities at {rate} Mbit/s, {method}")
            alone = _times(_exchange(names, method, [urgent]))
            with watched() as stalls:
                arrivals = _exchange(names, method, [urgent, *others])
            beside = _times(arrivals)
            what = f"{rate} Mbit/s, 1 MB, {method}"
            rows.append(Row(f"{what}: alone, least", None, min(alone), "ms"))
            rows.append(Row(f"{what}: alone, median", None, statistics.median(alone), "ms"))
            if not beside:
                rows.append(Row(f"{what}: beside 32 MB", None, "nothing arrived whole"))
                continue
            rows += [
                Row(f"{what}: beside 32 MB, median", None, statistics.median(beside), "ms"),
                Row(f"{what}: beside 32 MB, most", None, max(beside), "ms"),
            ]
            if method == "takt":
                limit = 1.05 * min(alone) + _chunk_ms(rate)
                rows += _against(f"{what}: 5 % over the least and a chunk", limit, arrivals, stalls)
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
        with watched() as stalls:
            arrivals = _exchange(names, "takt", [urgent, *others])
    times = sorted(_times(arrivals))
    bound = _chunk_ms(rate) + _wire_ms(1000, rate) + PER_CHUNK_MS
    what = f"{rate} Mbit/s, blocking"
    return [
        Row(f"{what}: median", None, statistics.median(times), "ms"),
        Row(f"{what}: 99 %", None, times[round(0.99 * len(times)) - 1], "ms"),
        Row(f"{what}: most", None, times[-1], "ms"),
        *_against(f"{what}: bound of a short message", bound, arrivals, stalls),
    ]


def _against(what: str, bound: float, arrivals: list[Arrival], stalls: list[Arrival]) -> Rows:
    """How many messages of the first stream are within a bound, and why others are not."""
    urgent = [arrival for arrival in arrivals if arrival.stream == 0]
    late = [arrival for arrival in urgent if arrival.milliseconds > bound]
    stalled = sum(_stalled_ms(arrival, stalls) >= arrival.milliseconds - bound for arrival in late)
    within = 100 * (len(urgent) - len(late)) / len(urgent)
    return [
        Row(what, None, bound, "ms"),
        Row(f"{what}: of {len(urgent)} messages within it", None, within, "%", expected=100.0),
        Row(f"{what}: beyond it by less than the machine stood still", None, stalled),
        Row(f"{what}: beyond it for another reason", None, len(late) - stalled, expected=0.0),
    ]


def _stalled_ms(arrival: Arrival, stalls: list[Arrival]) -> float:
    """How long the stalls lasted that overlap with the message's way."""
    return sum(
        stall.milliseconds
        for stall in stalls
        if stall.sent < arrival.arrived and stall.arrived > arrival.sent
    )


def _overhead(count: int) -> Rows:
    """Transfers of one chunk on a link without a limit: beside the transport alone, which is what
    the publication's figure is over, and beside TCP."""
    place = "section 5.5, with Figure 5.12a"
    rows: Rows = [
        Row("overhead over Standard Soft-RoCE", "around 670", NO_RDMA, "µs", place, cannot=REASON)
    ]
    with link(None) as names:
        for size in (1000, 64_000):
            console.say(f"overhead of {size} bytes")
            stream = [Stream(1, size, count, 2000)]
            methods = ["takt", "direct", "shared", "tcp"]
            methods += ["dds"] if fast_dds.is_there() else []
            times = {
                method: 1000 * statistics.median(_times(_exchange(names, method, stream)))
                for method in methods
            }
            what = f"a transfer of {size // 1000} kB"
            overhead = times["takt"] - times["direct"]
            rows.append(Row(f"overhead of the layer, {what}", None, overhead, "µs"))
            rows += [Row(f"{what}, {method}", None, times[method], "µs") for method in methods]
    return rows


def _pipeline(count: int) -> Rows:
    """Two nodes that share a network: its computing and the transfer between."""
    rows: Rows = []
    published = {"tcp": 165.0}
    place = "section 5.5, with Figure 5.15"
    rows.append(
        Row("pipeline of two nodes, Standard Soft-RoCE", 150.0, NO_RDMA, "ms", place, cannot=REASON)
    )
    with link(1000) as names:
        for method in ("shared", *(name for name in _methods() if name != "udp")):
            console.say(f"pipeline, {method}")
            stream = [Stream(1, TENSOR, count, 200_000)]
            transfer = statistics.median(_times(_exchange(names, method, stream, MEGABYTE)))
            what = f"pipeline of two nodes, {method}"
            theirs = published.get(method)
            where = place if theirs is not None else ""
            rows.append(Row(what, theirs, COMPUTING_MS + transfer, "ms", where))
    return rows


def _times(arrivals: list[Arrival]) -> list[float]:
    """How long the messages of the first stream took, in milliseconds."""
    return [arrival.milliseconds for arrival in arrivals if arrival.stream == 0]


def _wire_ms(size: int, rate: int) -> float:
    packets = -(-size // PACKET)
    return (size + packets * HEADERS) * 8 / (rate * 1000)


def _chunk_ms(rate: int) -> float:
    return _wire_ms(CHUNK, rate) + PER_CHUNK_MS
