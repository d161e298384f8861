"""The verdict on a chain: its measured latencies, its bound and its goal held together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from enum import Enum
from typing import Any

from takt.documents import Bounds, Chain, ChainBound, MeasuredChain, Measurement, Model
from takt.documents.names import labels
from takt.text.formatting import count, duration
from takt.verdicts import assumptions
from takt.verdicts.assumptions import Finding, Standing

MOST_BLAMED = 3
"""Assumptions that a verdict names; the report lists all."""


class Status(Enum):
    MET = "met"
    """The bound is within the goal, and nothing measured contradicts the bound."""
    BOUNDED = "bounded"
    """There is a bound but no goal."""
    NOT_GUARANTEED = "not guaranteed"
    """The goal was kept, as far as measured, but the bound does not promise it."""
    MISSED = "missed"
    """A measured latency is above the goal."""
    VIOLATED = "violated assumption"
    """A measured latency is above the bound: something the bound rests on did not hold."""
    UNFOUNDED = "unfounded bound"
    """No measured latency is above the bound, but the recording refutes something that the bound
    rests on. The bound promises nothing.
    """
    UNBOUNDED = "no bound"
    """No goal, and the analysis diverges."""
    UNSEEN = "never completed"
    """The bound is within the goal, if there is one, but no instance of the chain was seen from end
    to end: what was measured says nothing.
    """


class Guaranteed(Enum):
    """What the bound is worth: for the goal, or as a bound where there is no goal."""

    YES = "yes"
    CONDITIONAL = "conditional"
    """If what the bound rests on holds, which nothing guarantees in full."""
    NO = "no"
    """The bound is above the goal, or there is none."""
    REFUTED = "refuted"
    """A measured latency is above the bound, or the recording refutes what it rests on."""


@dataclass(frozen=True)
class Outlier:
    """A single observation that makes a bound. Times in nanoseconds."""

    text: str
    """What it is and does, for people."""
    change: str
    """What `takt analyze --what-if` takes to bound the model without it."""
    value: int
    at: int | None
    """Since the beginning of the recording, if it is known."""
    bound: int
    """The chain's bound without it."""


@dataclass(frozen=True)
class Verdict:
    chain: Chain
    status: Status
    bound: ChainBound | None
    measured: MeasuredChain | None
    reasons: tuple[str, ...]
    """Why the status is what it is, where that needs words."""
    findings: tuple[Finding, ...]
    """Assumptions of the bound that are not known to hold."""
    remedy: str | None = None
    """What would guarantee the goal, if that was looked for."""
    outlier: Outlier | None = None
    """What makes the bound, if that was looked for and is a single observation."""

    @property
    def explanation(self) -> str | None:
        """The reasons as one text."""
        return "; ".join(self.reasons) or None

    @property
    def good(self) -> bool:
        """Whether the answer is yes: goal and bound are kept as far as is known."""
        return self.status in (Status.MET, Status.BOUNDED)

    @property
    def missed(self) -> bool:
        """Whether there is a goal and a measured latency is above it or, where nothing was
        measured, the bound.
        """
        if self.chain.goal is None:
            return False
        if self.measured is None or self.measured.max is None:
            return not self.good
        return self.measured.max > self.chain.goal

    @property
    def late(self) -> int | None:
        """How many measured instances are above the goal; None: there is no goal, or that many
        were not counted by it.
        """
        goal, measured = self.chain.goal, self.measured
        if goal is None or measured is None:
            return None
        if measured.goal == goal:
            return measured.late
        whole = measured.samples if measured.count == len(measured.samples or ()) else None
        return None if whole is None else sum(sample > goal for sample in whole)

    @property
    def idle(self) -> bool:
        """Whether the chain has neither an instance nor a goal to be judged by. Chains through
        inputs of a join that never complete a set are such.
        """
        return self.status is Status.UNSEEN and self.chain.goal is None

    @property
    def inexplicable(self) -> bool:
        """Whether a measured latency is above its bound though nothing that the bound rests on is
        known to have failed, or not to be guaranteed: a mistake of the analysis or the recording.
        """
        return self.status is Status.VIOLATED and not self.findings

    @property
    def unpromised(self) -> bool:
        """Whether there is a goal that the bound does not promise."""
        return self.chain.goal is not None and self.status is not Status.MET

    @property
    def conditions(self) -> tuple[Finding, ...]:
        """Assumptions of the bound that nothing guarantees and nothing refutes."""
        return self._findings(Standing.UNSECURED)

    @property
    def refuted(self) -> tuple[Finding, ...]:
        """Assumptions of the bound that the recording shows to have failed."""
        return self._findings(Standing.VIOLATED)

    def _findings(self, standing: Standing) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.standing is standing)

    @property
    def conditional(self) -> bool:
        """Whether the bound rests on something that nothing guarantees."""
        return bool(self.conditions)

    @property
    def answer(self) -> str | None:
        """What the measurement says of the goal: "met" or "missed". A chain that was never
        completed says so even without a goal. None where nothing was measured, or there is no
        goal to keep.
        """
        if self.measured is None:
            return None
        if self.measured.max is None:
            return Status.UNSEEN.value
        if self.chain.goal is None:
            return None
        return Status.MISSED.value if self.missed else Status.MET.value

    @property
    def guaranteed(self) -> Guaranteed:
        if self.status in (Status.VIOLATED, Status.UNFOUNDED) or (
            self.status is Status.UNSEEN and self.refuted
        ):
            return Guaranteed.REFUTED
        if self.status in (Status.MISSED, Status.NOT_GUARANTEED, Status.UNBOUNDED):
            return Guaranteed.NO
        return Guaranteed.CONDITIONAL if self.conditional else Guaranteed.YES

    @property
    def summary(self) -> str:
        """The verdict in a few words: first that on the goal, then that on the bound."""
        subject = "bounded" if self.chain.goal is None else "guaranteed"
        promise = {
            Guaranteed.YES: subject,
            Guaranteed.CONDITIONAL: f"{subject} (conditional)",
            Guaranteed.NO: "no bound" if self.chain.goal is None else "not guaranteed",
            Guaranteed.REFUTED: "bound refuted",
        }[self.guaranteed]
        return ", ".join(filter(None, (self.answer, promise)))

    @property
    def advice(self) -> tuple[str, ...]:
        """What makes the bound, and what would guarantee the goal, as far as that is known."""
        return (
            *((self.outlier.text,) if self.outlier else ()),
            *((self.remedy,) if self.remedy else ()),
        )


def document(
    title: str, analysis: str, verdicts: Iterable[Verdict], measurement: Measurement | None
) -> dict[str, Any]:
    """The `takt/latency` document: what was measured of each chain, its bound, goal and verdict."""
    chains = [_entry(verdict) for verdict in verdicts]
    return {
        "format": "takt/latency",
        "version": 1,
        "name": title,
        "analysis": analysis,
        "start_up": measurement.provenance.get("start_up") if measurement else None,
        "met": not any(chain["missed"] for chain in chains),
        "chains": chains,
    }


def _entry(verdict: Verdict) -> dict[str, Any]:
    measured = verdict.measured
    worst = measured.worst if measured else None
    numbers = ("min", "mean", "p50", "p99", "max")
    return {
        "id": verdict.chain.id,
        "callbacks": list(verdict.chain.callbacks),
        "rank": verdict.chain.rank,
        "count": measured.count if measured else 0,
        "incomplete": measured.incomplete if measured else 0,
        **{number: getattr(measured, number, None) for number in numbers},
        "late": verdict.late,
        "start_up": _start_up(measured),
        "worst": worst and {each: getattr(worst, each) for each in ("instance", "begin", "time")},
        "end": "publication" if verdict.chain.end_topic else "completion",
        "bound": verdict.bound.bound if verdict.bound else None,
        "goal": verdict.chain.goal,
        "kind": verdict.chain.kind,
        "missed": verdict.missed,
        "verdict": verdict.status.value,
        "guaranteed": verdict.guaranteed.value,
        "conditional": verdict.conditional,
        "explanation": verdict.explanation,
        "remedy": verdict.remedy,
        "outlier": asdict(verdict.outlier) if verdict.outlier else None,
        "conditions": [condition.text for condition in verdict.conditions],
        "refuted": [assumption.text for assumption in verdict.refuted],
    }


def _start_up(measured: MeasuredChain | None) -> dict[str, int] | None:
    """How many messages of start-up are left out, and the longest of them."""
    left_out = measured.start_up if measured else None
    return {"count": left_out.count, "max": left_out.max} if left_out else None


def judge(model: Model, bounds: Bounds, measurement: Measurement | None) -> list[Verdict]:
    """A verdict on every chain of the model, in the model's order."""
    findings = assumptions.examine(model, bounds, measurement)
    bound_of = {bound.id: bound for bound in bounds.chains}
    measured_of = {chain.id: chain for chain in measurement.chains} if measurement else {}
    verdicts = []
    for chain, relevant in zip(model.chains, assumptions.by_chain(model, findings), strict=True):
        verdict = _judge(chain, bound_of.get(chain.id), measured_of.get(chain.id), relevant)
        has_begun = verdict.measured is not None and verdict.measured.incomplete > 0
        is_unseen = verdict.status is Status.UNSEEN and has_begun
        if is_unseen and (reason := _never_completing(model, chain)):
            verdict = replace(verdict, reasons=(*verdict.reasons, reason))
        verdicts.append(verdict)
    return verdicts


def _never_completing(model: Model, chain: Chain) -> str | None:
    """Which callback of the chain waits for others: its messages never completed a set there."""
    names = labels(model.callbacks)
    completed_by = {join.callback: join.completed_by for join in model.joins if join.completed_by}
    for sender, receiver in zip(chain.callbacks, chain.callbacks[1:], strict=False):
        if sender not in completed_by.get(receiver, [sender]):
            return (
                f"at {names[receiver]} the messages of {names[sender]} always waited for those of "
                "another input, whose chain goes on"
            )
    return None


def _judge(
    chain: Chain,
    bound: ChainBound | None,
    measured: MeasuredChain | None,
    findings: tuple[Finding, ...],
) -> Verdict:
    limit = bound.bound if bound else None
    longest = measured.max if measured else None
    reasons: tuple[str, ...] = ()
    if limit is not None and longest is not None and longest > limit:
        status, reasons = Status.VIOLATED, _blame(findings, is_exceeded=True)
    elif chain.goal is not None and longest is not None and longest > chain.goal:
        status = Status.MISSED
        reasons = (f"{duration(longest)} was measured, the goal is {duration(chain.goal)}",)
    elif limit is None:
        status = Status.UNBOUNDED if chain.goal is None else Status.NOT_GUARANTEED
        reasons = ((bound.reason if bound else None) or "the analysis gives no bound",)
    elif chain.goal is not None and limit > chain.goal:
        status = Status.NOT_GUARANTEED
        reasons = (f"the bound {duration(limit)} is above the goal {duration(chain.goal)}",)
    elif measured and not measured.count:
        status = Status.UNSEEN
        begun = count(measured.incomplete, "instance")
        reasons = (f"of {begun} that began, none was followed to its end in the recording",)
    elif any(finding.standing is Standing.VIOLATED for finding in findings):
        status, reasons = Status.UNFOUNDED, _blame(findings)
    else:
        status = Status.BOUNDED if chain.goal is None else Status.MET
    return Verdict(chain, status, bound, measured, reasons, findings)


def _blame(findings: tuple[Finding, ...], *, is_exceeded: bool = False) -> tuple[str, ...]:
    """What would let a measured value exceed its bound: what the recording shows to have failed,
    else what was never guaranteed. If one does exceed it (`is_exceeded`), what was never guaranteed
    counts like what failed where the recording shows for how long it did not hold.
    """
    shown = [f for f in findings if f.standing is Standing.VIOLATED or (is_exceeded and f.excess)]
    for blamed in (shown, findings):
        texts = [finding.text for finding in blamed]
        if texts:
            more = count(len(texts) - MOST_BLAMED, "other")
            rest = [f"and {more}"] if len(texts) > MOST_BLAMED else []
            return (*texts[:MOST_BLAMED], *rest)
    return (
        "none of the checked assumptions, so the analysis or the recording is wrong; please report "
        "it with the trace",
    )
