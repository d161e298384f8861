"""The verdict on a chain: its measured latencies, its bound and its goal held together."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from takt import assumptions
from takt.assumptions import Finding, Standing
from takt.documents import Bounds, Chain, ChainBound, MeasuredChain, Measurement, Model
from takt.formatting import duration


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
    UNBOUNDED = "no bound"
    """No goal, and the analysis diverges."""


@dataclass(frozen=True)
class Verdict:
    chain: Chain
    status: Status
    bound: ChainBound | None
    measured: MeasuredChain | None
    explanation: str | None
    """Why the status is what it is, where that needs words."""
    conditions: tuple[Finding, ...]
    """What the bound rests on and is not known to hold."""

    @property
    def good(self) -> bool:
        """Whether the answer is yes: goal and bound are kept as far as is known."""
        return self.status in (Status.MET, Status.BOUNDED)

    @property
    def conditional(self) -> bool:
        """Whether the bound rests on something that is not known to hold."""
        return bool(self.conditions)

    @property
    def summary(self) -> str:
        """The verdict in two words at most: "met", "met (conditional)", "violated assumption"."""
        condition = " (conditional)" if self.good and self.conditional else ""
        return f"{self.status.value}{condition}"

    @property
    def text(self) -> str:
        """The verdict with the assumption that failed: "violated assumption: …"."""
        blame = f": {self.explanation}" if self.status is Status.VIOLATED else ""
        return self.summary + blame


def judge(model: Model, bounds: Bounds, measurement: Measurement | None) -> list[Verdict]:
    """A verdict on every chain of the model, in the model's order."""
    findings = assumptions.examine(model, measurement) if measurement else []
    bound_of = {bound.id: bound for bound in bounds.chains}
    measured_of = {chain.id: chain for chain in measurement.chains} if measurement else {}
    verdicts = []
    for chain in model.chains:
        executors = assumptions.influencing(model, chain.callbacks)
        relevant = tuple(f for f in findings if f.executor is None or f.executor in executors)
        verdicts.append(_judge(chain, bound_of.get(chain.id), measured_of.get(chain.id), relevant))
    return verdicts


def _judge(
    chain: Chain,
    bound: ChainBound | None,
    measured: MeasuredChain | None,
    findings: tuple[Finding, ...],
) -> Verdict:
    limit = bound.bound if bound else None
    longest = measured.max if measured else None
    if limit is not None and longest is not None and longest > limit:
        status, explanation = Status.VIOLATED, _blame(findings)
    elif chain.goal is not None and longest is not None and longest > chain.goal:
        status = Status.MISSED
        explanation = f"{duration(longest)} was measured, the goal is {duration(chain.goal)}"
    elif limit is None:
        status = Status.UNBOUNDED if chain.goal is None else Status.NOT_GUARANTEED
        explanation = (bound.reason if bound else None) or "the analysis gives no bound"
    elif chain.goal is None:
        status, explanation = Status.BOUNDED, None
    elif limit > chain.goal:
        status = Status.NOT_GUARANTEED
        explanation = f"the bound {duration(limit)} is above the goal {duration(chain.goal)}"
    else:
        status, explanation = Status.MET, None
    if measured and not measured.count and explanation is None:
        explanation = "none was seen from end to end in the recording"
    return Verdict(chain, status, bound, measured, explanation, findings)


def _blame(findings: tuple[Finding, ...]) -> str:
    """What most likely let a measured value exceed its bound: what the recording shows to have
    failed, else what was never guaranteed.
    """
    for standing in (Standing.VIOLATED, Standing.UNSECURED):
        texts = [finding.text for finding in findings if finding.standing is standing]
        if texts:
            return "; ".join(texts)
    return (
        "none of the checked ones, so the analysis or the recording is wrong; please report it "
        "with the trace"
    )
