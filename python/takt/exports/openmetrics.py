"""Summaries as OpenMetrics text, which Prometheus scrapes from a file or a gateway.

Histograms have the same limits everywhere, so those of several robots can be added up. The limits
are some of the limits of a summary's buckets: the counts are those of the recording, exactly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from takt.documents.types import Summary
from takt.errors import UserError
from takt.histogram import GROWTH, Histogram

Labels = Mapping[str, str]

LIMITS = tuple(35 * k for k in range(10, 38))
"""Buckets of a summary whose upper ends are limits here: from 1.1 µs to 168 s, each about twice the
one before.
"""


def text(summary: Summary) -> str:
    """The exposition of a summary, with its labels at every sample. UserError if two things of the
    summary have one name.
    """
    written = _Writer(_own_labels(summary.labels))
    written.family("takt_recording", "info", "The recording that was summarised.")
    analysis = {"analysis": summary.bounds.analysis}
    written.sample("takt_recording_info", analysis, 1)
    written.family("takt_recording_duration_seconds", "gauge", "Its length.", "seconds")
    written.sample("takt_recording_duration_seconds", {}, summary.duration / 1e9)
    written.family("takt_recording_events", "gauge", "Events that were read.")
    written.sample("takt_recording_events", {}, summary.events)
    written.family("takt_recording_losses", "gauge", "What is missing in it, by kind.")
    for kind, number in summary.losses.items():
        written.sample("takt_recording_losses", {"kind": kind}, number)

    chains = [({"chain": chain.id}, chain) for chain in summary.chains]
    written.histograms(
        "takt_chain_latency",
        "How long instances of a chain took.",
        [(own, Histogram.read(chain.latency)) for own, chain in chains],
    )
    written.family("takt_chain_incomplete", "gauge", "Instances whose end was not seen.")
    for own, chain in chains:
        written.sample("takt_chain_incomplete", own, chain.incomplete)
    name = "takt_chain_bound_seconds"
    written.family(name, "gauge", "The longest possible latency, by the model.", "seconds")
    for bound in summary.bounds.chains:
        if bound.bound is not None:
            written.sample(name, {"chain": bound.id}, bound.bound / 1e9)

    written.histograms(
        "takt_callback_duration",
        "How long runs of a callback took.",
        [
            (
                {"callback": each.id, "name": each.name, "node": each.node or ""},
                Histogram.read(each.duration),
            )
            for each in summary.callbacks
        ],
    )
    name = "takt_executor_busy_seconds"
    written.family(name, "gauge", "How long the callbacks of an executor ran.", "seconds")
    for executor in summary.executors:
        written.sample(name, {"executor": executor.id}, executor.busy / 1e9)
    written.histograms(
        "takt_link_latency",
        "How long messages of a topic took to a callback.",
        [
            ({"topic": link.topic, "to": link.target}, Histogram.read(link.latency))
            for link in summary.links
        ],
    )
    lost = {link.topic: link.topic_lost for link in summary.links}
    written.family("takt_topic_lost", "gauge", "Messages of a topic that a subscription missed.")
    for topic, number in lost.items():
        written.sample("takt_topic_lost", {"topic": topic}, number)
    return written.finish()


def _own_labels(labels: Labels) -> dict[str, str]:
    """The recording's labels under names that OpenMetrics allows, apart from ours."""
    found: dict[str, str] = {}
    for key, value in labels.items():
        name = "label_" + re.sub(r"[^a-zA-Z0-9_]", "_", key)
        while name in found:
            name += "_"
        found[name] = value
    return found


class _Writer:
    """Families one after the other, as the format wants them."""

    def __init__(self, common: Labels) -> None:
        self._common = common
        self._lines: list[str] = []
        self._seen: set[str] = set()

    def family(self, name: str, kind: str, words: str, unit: str = "") -> None:
        self._lines.append(f"# TYPE {name} {kind}")
        if unit:
            self._lines.append(f"# UNIT {name} {unit}")
        self._lines.append(f"# HELP {name} {words}")

    def sample(self, name: str, labels: Labels, value: float) -> None:
        pairs = ",".join(f'{k}="{_escaped(v)}"' for k, v in {**labels, **self._common}.items())
        series = f"{name}{{{pairs}}}" if pairs else name
        if series in self._seen:
            raise UserError(f"two samples of the summary are {series}")
        self._seen.add(series)
        self._lines.append(f"{series} {value!r}")

    def histograms(
        self, name: str, words: str, found: Iterable[tuple[dict[str, str], Histogram]]
    ) -> None:
        """Distributions of durations and, as no histogram has it, the longest one of each."""
        found = list(found)
        self.family(f"{name}_seconds", "histogram", words, "seconds")
        for labels, histogram in found:
            for limit in LIMITS:
                end = repr(GROWTH**limit / 1e9)
                self._bucket(f"{name}_seconds", labels, end, histogram.up_to(limit))
            self._bucket(f"{name}_seconds", labels, "+Inf", histogram.count)
            self.sample(f"{name}_seconds_count", labels, histogram.count)
            self.sample(f"{name}_seconds_sum", labels, histogram.total / 1e9)
        self.family(f"{name}_max_seconds", "gauge", "The longest of them.", "seconds")
        for labels, histogram in found:
            if histogram.count:
                self.sample(f"{name}_max_seconds", labels, histogram.max / 1e9)

    def _bucket(self, name: str, labels: Labels, end: str, count: int) -> None:
        self.sample(f"{name}_bucket", {**labels, "le": end}, count)

    def finish(self) -> str:
        return "\n".join([*self._lines, "# EOF"]) + "\n"


def _escaped(value: str) -> str:
    """A label's value, as the format has it."""
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
