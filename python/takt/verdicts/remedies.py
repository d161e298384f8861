"""Remedies for goals that are not guaranteed, in words and as commands to type.

libtakt finds it (takt/budget/advice.hpp): one proposal for all chains of a model, that holds
together and that the processors admit.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import takt_native
from takt import inputs, pipeline, processors
from takt.documents import Model
from takt.documents.names import executor_labels, labels
from takt.inputs import Evaluation, ModelText
from takt.processors import Processors
from takt.text.formatting import duration, since_start
from takt.verdicts.assumptions import Finding, Standing, Subject
from takt.verdicts.verdict import Outlier, Status, Verdict

EFFORT = 40_000_000
"""Steps of analysis that a proposal may take, about a second at most."""

WITHOUT_RESERVATIONS = (
    "that counts on a processor for each executor: no reservations were found that guarantee it"
)

SOUGHT = (Status.NOT_GUARANTEED, Status.MISSED)
"""Verdicts that ask for a remedy."""


def _is_sought(verdict: Verdict) -> bool:
    """Whether a remedy is looked for: the goal is missed or not guaranteed. Where a bound above the
    goal was exceeded because nothing guarantees what it rests on, the model may still be believed.
    """
    if verdict.status is not Status.VIOLATED:
        return verdict.status in SOUGHT
    bound, goal = _bound_of(verdict), verdict.chain.goal
    misses = goal is not None and (bound is None or bound > goal)
    return misses and verdict.conditional and not verdict.refuted


@dataclass(frozen=True)
class Advice:
    """The proposal for a model."""

    verdicts: list[Verdict]
    """All verdicts; those on goals that are missed or not guaranteed have their remedy."""
    processors: Processors
    """The processors for which the proposal was checked."""
    changes: tuple[str, ...] = ()
    """As `takt analyze --what-if` takes them."""
    reservations: bool = False
    """Whether the proposal is what `takt budget` finds."""

    def commands(
        self, paths: Sequence[str], goals: str | None, analysis: str, what_if: str | None = None
    ) -> list[list[str]]:
        """The commands that carry the proposal out for a model, or traces, and goals. `what_if`:
        what was changed already. Empty: there is no proposal, or the inputs cannot be read again.
        """
        given = [*paths, *(["--goals", goals] if goals else [])]
        if not all(map(inputs.is_lasting, given)):
            return []
        if analysis != pipeline.DEFAULT_ANALYSIS:
            given += ["--analysis", analysis]
        if not self.processors.of:
            given += ["--cores", str(self.processors.cores)]
        before = [what_if] if what_if else []
        changes = [*before, *self.changes]
        changed = ["--what-if", ", ".join(changes)] if changes else []
        if self.reservations:
            return [["takt", "budget", *given, *changed, "-o", "better.json"]]
        return [["takt", "analyze", *given, *changed]] if self.changes else []

    def lines(
        self, paths: Sequence[str], goals: str | None, analysis: str, what_if: str | None = None
    ) -> list[str]:
        """The same as lines for people."""
        about = "these reservations" if self.reservations else "these changes"
        if self.reservations and self.changes:
            about = "these changes and reservations"
        return [
            f"takt: {about}, checked for {self.processors.text}: {shlex.join(command)}"
            for command in self.commands(paths, goals, analysis, what_if)
        ]


def with_remedies(
    evaluation: Evaluation, verdicts: Iterable[Verdict], analysis: str = pipeline.DEFAULT_ANALYSIS
) -> list[Verdict]:
    """The verdicts, each on a goal that is missed or not guaranteed with its remedy."""
    return find(evaluation.text, evaluation.model, verdicts, analysis).verdicts


def find(
    text: ModelText,
    model: Model,
    verdicts: Iterable[Verdict],
    analysis: str = pipeline.DEFAULT_ANALYSIS,
    cores: int | None = None,
) -> Advice:
    """The proposal for the goals that are missed or not guaranteed, on so many cores, else on those
    that processors.find() names.
    """
    available = processors.find(model.provenance, cores)
    verdicts = _conditional(text, model, verdicts, available)
    if not any(map(_is_sought, verdicts)):
        return Advice(verdicts, available)
    found = pipeline.advise(text.text, text.source, analysis, available, EFFORT)
    changes, reservations = tuple(found["changes"]), found["reservations"]
    remedy_of = {remedy["chain"]: remedy for remedy in found["remedies"]}

    def words(chain: str) -> str:
        remedy = remedy_of.get(chain, {"by": "nothing"})
        if remedy["by"] == "nothing":
            beside = " beside more important chains" if reservations else ""
            explain = shlex.join(["takt", "analyze", "--explain", chain])
            return (
                f"nothing that was tried guarantees it{beside} on {available.text}; takt budget "
                f"says what it needs, {explain} what the bound is made of"
            )
        certain, bound = remedy["reservable"], f"with a bound of {duration(remedy['bound'])},"
        guaranteed = f"{'guaranteed' if certain else 'kept'}, {bound}"
        if remedy["by"] == "reservations":
            wishes, made = changes[: found["wishes"]], changes[found["wishes"] :]
            wish = f" if this held: {shlex.quote(', '.join(wishes))}," if wishes else ""
            own = f" by {shlex.quote(', '.join(made))} and" if made else " by"
            return f"{guaranteed}{wish}{own} the reservations of takt budget for {available.text}"
        made = changes[: remedy["changes"]]
        quoted = shlex.quote(", ".join(made))
        change = "change" if len(made) == 1 else "changes"
        means = (
            f"if this held: {quoted}" if remedy["by"] == "wishes" else f"by the {change} {quoted}"
        )
        shown = f"{guaranteed} {means}, which takt analyze --what-if shows"
        return shown if certain else f"{shown}; {WITHOUT_RESERVATIONS}"

    outlier_of = {entry["chain"]: entry for entry in found["outliers"]}

    def advised(verdict: Verdict) -> Verdict:
        if not _is_sought(verdict):
            return verdict
        outlier = outlier_of.get(verdict.chain.id)
        return replace(
            verdict,
            remedy=words(verdict.chain.id),
            outlier=_outlier(outlier, _bound_of(verdict), model) if outlier else None,
        )

    return Advice([*map(advised, verdicts)], available, changes, reservations)


def _conditional(
    text: ModelText, model: Model, verdicts: Iterable[Verdict], available: Processors
) -> list[Verdict]:
    """The verdicts. Those on chains that depend on reservations are conditional if the processors
    do not serve all reservations of the model.
    """
    reserved = {e.id for e in model.executors if e.supply.kind == "reservation"}
    numbers, capacity = list(range(available.cores)), available.capacity / 100
    if not reserved or takt_native.serves(text.text, text.source, numbers, capacity):
        return list(verdicts)
    condition = Finding(
        Subject.SUPPLY,
        Standing.UNSECURED,
        f"the reservations of the model together are more than {available.text} serve for certain",
        None,
    )
    executors = takt_native.influencing(text.text, text.source)
    resting = {
        chain.id for chain, of in zip(model.chains, executors, strict=True) if reserved & set(of)
    }
    return [
        replace(verdict, findings=(*verdict.findings, condition))
        if verdict.chain.id in resting
        else verdict
        for verdict in verdicts
    ]


NOUNS = {
    "execution_time": "run of {}",
    "suspension": "sleep or wait of {}",
    "overhead": "pause before a run of executor {}",
    "activation": "time between two activations of {}",
    "delay": "message from {}",
}


def outliers(text: ModelText, analysis: str, available: Processors) -> Iterator[str]:
    """A line for each chain that misses its goal without reservations because of a single
    observation of the recording.
    """
    model = text.parsed()
    if not model.provenance.get("outliers"):
        return
    found = pipeline.advise(text.text, text.source, analysis, available, EFFORT)["outliers"]
    bounds = pipeline.analyze(text.text, text.source, analysis) if found else None
    bound_of = {chain.id: chain.bound for chain in bounds.chains} if bounds else {}
    for outlier in found:
        chain = outlier["chain"]
        yield f"takt: {chain}: {_outlier(outlier, bound_of[chain], model).text}"


def _bound_of(verdict: Verdict) -> int | None:
    return verdict.bound.bound if verdict.bound else None


def _outlier(found: dict[str, Any], bound: int | None, model: Model) -> Outlier:
    """Describes the observation and its effect on a bound."""
    kind, _, whose = found["change"].removeprefix("without(").removesuffix(")").partition(" of ")
    names = executor_labels(model) if kind == "overhead" else labels(model.callbacks)
    called = names.get(whose, whose)
    if kind == "delay":
        sender = max((name for name in names if whose.startswith(f"{name} to ")), key=len)
        receiver = whose.removeprefix(f"{sender} to ")
        called = f"{names[sender]} to {names[receiver]}"
    at = f", {since_start(found['at'])}," if found["at"] is not None else ""
    without = f"without it the bound is {duration(found['bound'])}"
    makes = (
        "is why there is no bound"
        if bound is None
        else f"makes {duration(bound - found['bound'])} of the {duration(bound)}"
    )
    what = f"one {NOUNS[kind].format(called)} of {duration(found['value'])}"
    return Outlier(
        text=f"{what}{at} {makes}: {without}",
        change=found["change"],
        value=found["value"],
        at=found["at"],
        bound=found["bound"],
    )
