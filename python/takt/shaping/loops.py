"""External loops: how they tell when their cycles begin, and what a recording shows of that."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from takt.documents import GatePhase, Model, ObservedPhase
from takt.errors import UserError
from takt.shaping import gates
from takt.text.formatting import count, duration

Json = dict[str, Any]

EXTERNAL = ("udp", "pipe", "shm", "clock")
"""How a loop outside of ROS 2 tells when its cycles begin (ros/gate/external_phase.hpp)."""
FEWEST = 32
"""Messages; fewer tell no drift. A gate wants as many."""
MOST_APART = 0.01
"""Share of the period by which the loop's period may differ: clocks differ by far less."""
LOOSE = 0.1
"""Share of the period within which a chain that is locked to a loop begins."""


def parse(text: str | None, delay: int | None) -> GatePhase:
    """Reads `--phase-of`: a topic, or KIND:… for a loop outside of ROS 2. UserError."""
    if text is None:
        if delay is not None:
            raise UserError("--phase-delay says when a message comes; name it with --phase-of")
        return GatePhase()
    kind, colon, rest = text.partition(":")
    if not colon:
        return GatePhase(topic=text if text.startswith("/") else f"/{text}", delay=delay or 0)
    if kind not in EXTERNAL or not rest:
        kinds = ", ".join(f"{one}:" for one in EXTERNAL)
        raise UserError(f"--phase-of {text}: must be a topic, or begin with one of {kinds}")
    return GatePhase(external=text, delay=delay or 0)


def observed(traces: Sequence[str], phase: GatePhase, model: Model, chain: str) -> ObservedPhase:
    """How the loop of the phase's topic and the chain ran beside each other. UserError if their
    periods differ.
    """
    import takt

    recording = takt.load(*traces)
    topic = phase.topic
    sent = recording.publications.filter(recording.publications["topic"] == topic)
    told = sorted(sent["sent"].to_list())
    if len(told) < FEWEST:
        raise UserError(
            f"--phase-of {topic}: the recording has {count(len(told), 'message')} of it; "
            f"{FEWEST} are needed to tell its phase"
        )
    first = gates.chain_of(model, chain).callbacks[0]
    runs = recording.runs.join(recording.callbacks.select("callback", "id"), on="callback")
    begins = sorted(runs.filter(runs["id"] == first)["start"].to_list())
    return observe(told, begins, gates.period_of(model, chain), str(topic))


def observe(told: Sequence[int], begins: Sequence[int], period: int, topic: str) -> ObservedPhase:
    """The phase between the times at which messages were sent and a chain of that period began,
    both in order.
    """
    import takt_design

    cycles = [round((when - told[0]) / period) for when in told]
    late = [when - told[0] - cycle * period for when, cycle in zip(told, cycles, strict=True)]
    # As the gate knows it: messages come late, never early.
    line = takt_design.lower_line(list(zip(cycles, late, strict=True)))
    assert line is not None, "there are messages"
    at_cycle, at_lateness, slope = line
    usual = (told[-1] - told[0]) / max(len(told) - 1, 1)
    if abs(usual / period - 1) > LOOSE or abs(slope) > MOST_APART * period:
        raise UserError(
            f"--phase-of {topic}: its messages come every {duration(round(usual))}, the chain is "
            f"activated every {duration(period)}; name what comes once in each of its cycles"
        )
    above = [
        one - at_lateness - slope * (cycle - at_cycle)
        for cycle, one in zip(cycles, late, strict=True)
    ]
    offsets = sorted(_offsets(told, begins))
    return ObservedPhase(
        count=len(told),
        drift=slope / period,
        spread=round(max(above)),
        offset=offsets[0] if offsets else None,
        offset_spread=offsets[-1] - offsets[0] if offsets else None,
    )


def locked(phase: GatePhase, seen: ObservedPhase, period: int, delay: int | None) -> GatePhase:
    """The phase with what was seen. Unless a delay was given, cycles begin when the chain does, as
    far after the messages as in the recording. UserError if the chain does not follow the messages.
    """
    found = phase.replace(observed=seen)
    if delay is not None or seen.offset is None or seen.offset_spread is None:
        return found
    if seen.offset_spread > LOOSE * period:
        raise UserError(
            f"--phase-of {phase.topic}: the chain begins {duration(seen.offset)} to "
            f"{duration(seen.offset + seen.offset_spread)} after its messages: it is not locked to "
            "them. Have it triggered by the loop, or say with --phase-delay how long after the "
            "beginning of a cycle the message comes"
        )
    return found.replace(delay=(period - seen.offset) % period)


def text(phase: GatePhase) -> str | None:
    """A sentence on what was seen."""
    seen = phase.observed
    if seen is None:
        return None
    said = (
        f"{phase.topic}: {count(seen.count, 'message')}, drift {1e6 * seen.drift:+.1f} ppm, up to "
        f"{duration(seen.spread)} late"
    )
    if seen.offset is None or seen.offset_spread is None:
        return said
    return (
        f"{said}; the chain begins {duration(seen.offset)} to "
        f"{duration(seen.offset + seen.offset_spread)} after it"
    )


def _offsets(told: Sequence[int], begins: Sequence[int]) -> list[int]:
    """The time from the last message to each beginning of the chain, while messages come."""
    found = []
    for begin in begins:
        at = bisect_right(told, begin) - 1
        if 0 <= at < len(told) - 1:
            found.append(begin - told[at])
    return found


def as_settings(phase: GatePhase) -> Json:
    """The settings of a gate for the phase (ros/gate/settings.hpp)."""
    wanted = {"phase_topic": phase.topic, "phase_external": phase.external}
    found: Json = {key: value for key, value in wanted.items() if value is not None}
    return found | {"phase_delay": phase.delay} if found else {}
