"""What a bound rests on, and what a recording says about it.

A bound holds as long as the supply of every executor is delivered, no callback runs longer,
suspends itself longer or is activated more densely than its curves say, no executor runs ready
callbacks in another order than the model gives it, no message travels longer than its edge says,
timers read the newest message, and the recording itself is complete. Each function here holds one
of these against a measurement.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import takt_native
from takt.documents import (
    Activation,
    Bounds,
    Chain,
    Executor,
    Measurement,
    Model,
    ObservedThread,
    ProcessorWait,
    losses,
)
from takt.documents.names import executor_labels, label, labels
from takt.text.formatting import count, duration

LONGEST_USUAL_QUEUE = 10
"""Messages that wait where a model does not say how many may: the depth that rclcpp proposes."""


class Standing(Enum):
    UNSECURED = "unsecured"
    """Nothing guarantees it and nothing shows that it failed: the bound is conditional."""
    VIOLATED = "violated"
    """The recording shows that it did not hold."""


class Subject(Enum):
    """What an assumption is about."""

    SUPPLY = "supply"
    EXECUTION_TIME = "execution time"
    SUSPENSION = "suspension"
    ACTIVATION = "activation"
    ORDER = "order"
    DELAY = "delay"
    RECORDING = "recording"


@dataclass(frozen=True)
class Finding:
    """One assumption that is not known to hold."""

    subject: Subject
    standing: Standing
    text: str
    executor: str | None
    """The executor whose bounds rest on it; None: all."""
    edge: tuple[str, str] | None = None
    """The edge that it is about, if it matters to chains along that alone: what its target samples
    activates nothing.
    """
    excess: int = 0
    """Nanoseconds beyond what was assumed, where that is a time."""
    said_of: tuple[str, str] | None = None
    """An executor's name, and what is said of it, if the same may be said of others."""


def examine(
    model: Model, bounds: Bounds, measurement: Measurement | None, cores: int | None = None
) -> list[Finding]:
    """All assumptions of the model's bounds that the measurement does not support; without one,
    those that the model itself refutes.

    `cores`: the processors of the recorded machine; by default those in the measurement's
    provenance.
    """
    of_model = [*of_filters(model), *of_full_queues(model, bounds)]
    if measurement is None:
        return of_model
    if cores is None:
        recorded = measurement.provenance.get("cores")
        cores = recorded if isinstance(recorded, int) and recorded > 0 else None
    others = [
        *_execution_times(model, measurement),
        *_suspensions(model, measurement),
        *_activations(model, measurement),
        *_sources(model, measurement),
        *_senders(model, measurement),
        *_bursts(model, measurement),
        *_orders(model, measurement),
        *_phases(bounds),
        *_queueing_joins(model, bounds),
        *_delays(model, bounds, measurement),
        *_newest(model, measurement),
        *_links(model),
        *_losses(measurement),
        *_unnamed_work(model),
        *of_model,
    ]
    return [*_supplies(model, bounds, measurement, cores, others), *others]


def checked(measurement: Measurement) -> set[Subject]:
    """The subjects about which the measurement says anything."""
    subjects = {Subject.SUPPLY, Subject.RECORDING}
    if measurement.callbacks:
        subjects.add(Subject.EXECUTION_TIME)
    if any(callback.suspension for callback in measurement.callbacks):
        subjects.add(Subject.SUSPENSION)
    if any(callback.min_distance for callback in measurement.callbacks):
        subjects.add(Subject.ACTIVATION)
    if measurement.windows:
        subjects.add(Subject.ORDER)
    if measurement.edges:
        subjects.add(Subject.DELAY)
    return subjects


def by_chain(model: Model, findings: Sequence[Finding]) -> list[tuple[Finding, ...]]:
    """The findings about what the bound of each chain of the model rests on: first those of the
    executors that run its callbacks, and of these what exceeds its assumption most.
    """
    if not findings:
        return [()] * len(model.chains)
    executors = takt_native.influencing(json.dumps(model.json()), "the model")
    executor_of = {callback.id: callback.executor for callback in model.callbacks}
    found = []
    for chain, influencing in zip(model.chains, executors, strict=True):
        own = {executor_of[callback] for callback in chain.callbacks}
        relevant = _of_chain(chain, influencing, findings)
        found.append(tuple(sorted(relevant, key=lambda each: _rank(each, own))))
    return found


def _rank(finding: Finding, own: set[str]) -> tuple[bool, int]:
    return finding.executor is not None and finding.executor not in own, -finding.excess


def _of_chain(
    chain: Chain, executors: Sequence[str], findings: Iterable[Finding]
) -> Iterator[Finding]:
    along = set(itertools.pairwise(chain.callbacks))
    return (
        finding
        for finding in findings
        if (finding.executor is None or finding.executor in executors)
        and (finding.edge is None or finding.edge in along)
    )


def _sampling(model: Model) -> set[str]:
    """Callbacks that read what edges bring when they run, rather than run for it."""
    return {c.id for c in model.callbacks if c.kind in takt_native.SAMPLING_KINDS}


def of_filters(model: Model) -> Iterator[Finding]:
    """Inputs of message_filters, as the model's provenance names them. A bound begins with the
    message that completes a set, so it leaves out what others wait there.
    """
    callbacks = {callback.id: callback for callback in model.callbacks}
    completed_by = {join.callback: join.completed_by for join in model.joins if join.completed_by}
    listed = model.provenance.get("filters")
    for entry in listed if isinstance(listed, list) else []:
        target = callbacks.get(entry.get("callback", "")) if isinstance(entry, dict) else None
        for source in {
            edge.source: None for edge in model.edges if target and edge.target == target.id
        }:
            if target is None or source not in callbacks:
                continue
            name = label(target)
            if source not in completed_by.get(target.id, (source,)):
                standing = Standing.VIOLATED
                text = (
                    f"messages wait for no others at {name}: those of {label(callbacks[source])} "
                    "always waited for those of another input, which the bound leaves out"
                )
            elif not entry.get("last_is_of_set"):
                standing = Standing.UNSECURED
                text = (
                    f"{name} is assumed to use the message that completes a set; "
                    "message_filters' ApproximateTime in C++ may use an older one, which waited"
                )
            else:
                continue
            yield Finding(Subject.DELAY, standing, text, target.executor, (source, target.id))


def _unnamed_work(model: Model) -> Iterator[Finding]:
    """Executors that did work which no event names, as the model's provenance says: parts of
    actions, responses of services, waitables of libraries. No callback of the model stands for it.
    """
    names = executor_labels(model)
    listed = model.provenance.get("unnamed_work")
    for work in listed if isinstance(listed, list) else []:
        executor = work.get("executor") if isinstance(work, dict) else None
        if executor in names:
            longest, number = work.get("longest", 0), work.get("count", 0)
            text = (
                f"executor {names[executor]} was busy {count(number, 'time')} for up to "
                f"{duration(longest)} with work that no event names (responses of services, "
                "actions, waitables, rclpy's looks for work that find none) and that no callback "
                "of the model stands for"
            )
            yield Finding(Subject.RECORDING, Standing.UNSECURED, text, executor)


def _supplies(
    model: Model,
    bounds: Bounds,
    measurement: Measurement,
    cores: int | None,
    others: Iterable[Finding],
) -> Iterator[Finding]:
    """`others`: what else is not known to hold."""
    late = {} if measurement.processor_waits else _late_callbacks(model, bounds, measurement)
    observed = {thread.id: thread for thread in measurement.executors}
    waits = {wait.executor: wait for wait in measurement.processor_waits}
    names = executor_labels(model)
    served = _globally_served(measurement.executors, cores)
    for executor in model.executors:
        if executor.kind == "event_source":
            continue
        lacking = _unsecured_supply(executor, observed.get(executor.id), waits.get(executor.id))
        if lacking is None and executor.supply.kind == "reservation" and not served:
            lacking = (
                "was granted its reservation, but the reservations together are more than global "
                "SCHED_DEADLINE is sure to serve by their deadlines (GFB test)"
            )
        if lacking:
            wait = waits.get(executor.id)
            excess = wait.longest if wait else 0
            slowest = late.get(executor.id)
            if slowest and not _explains(others, executor.id, slowest.excess):
                lacking, excess = f"{lacking}: {slowest.text}", slowest.excess
            name = names[executor.id]
            yield Finding(
                Subject.SUPPLY,
                Standing.UNSECURED,
                f"executor {name} {lacking}",
                executor.id,
                excess=excess,
                said_of=(name, lacking),
            )


class _Late(NamedTuple):
    """A callback that took longer from its activation to its end than its own bound."""

    excess: int
    text: str


def _late_callbacks(model: Model, bounds: Bounds, measurement: Measurement) -> dict[str, _Late]:
    """By executor, the callback that exceeded its own bound by most."""
    bound_of = {each.id: each.bound for each in bounds.callbacks}
    taken = {each.id: each.response_time.max for each in measurement.callbacks}
    names = labels(model.callbacks)
    found: dict[str, _Late] = {}
    for callback in model.callbacks:
        longest, bound = taken.get(callback.id), bound_of.get(callback.id)
        if longest is None or bound is None or longest <= bound:
            continue
        text = (
            f"{names[callback.id]} took {duration(longest)} from its activation to its end, "
            f"{duration(longest - bound)} more than its bound"
        )
        late = _Late(longest - bound, text)
        found[callback.executor] = max(found.get(callback.executor, late), late)
    return found


EXPLAINING = 4
"""What exceeds its assumption by a quarter of a delay may have caused it, as it may count several
times."""


def _explains(findings: Iterable[Finding], executor: str, excess: int) -> bool:
    """Whether what the recording refutes of an executor may have made a callback of it late by so
    much, rather than a processor that was missing.
    """
    refuted = [
        finding
        for finding in findings
        if finding.executor == executor and finding.standing is Standing.VIOLATED
    ]
    in_all = sum(finding.excess for finding in refuted)
    return EXPLAINING * in_all >= excess or any(not finding.excess for finding in refuted)


def _unsecured_supply(
    executor: Executor, thread: ObservedThread | None, wait: ProcessorWait | None
) -> str | None:
    """Why the executor's supply is not known to be delivered; None if it is reserved for it."""
    supply = executor.supply
    if supply.kind in ("dedicated", "slots"):
        where = " in its slots" if supply.kind == "slots" else ""
        seen = f": it was ready and had none for {_without_processor(wait)}" if wait else ""
        return f"is assumed to have a processor to itself{where}, which nothing guaranteed{seen}"
    if supply.kind == "fixed_priority":
        return _unsecured_priority(supply.priority or 0, thread)
    budget, period = supply.budget or 0, supply.period or 0
    deadline = supply.deadline or period
    assumed = f"is assumed to get {duration(budget)} every {duration(period)}"
    if thread is None:
        return f"{assumed}; the recording does not say whether it had that reservation"
    if thread.policy != "deadline":
        return f"{assumed}, but ran without a reservation (policy {thread.policy})"
    if thread.runtime < budget or thread.period > period or thread.deadline > deadline:
        return (
            f"{assumed}, but its reservation was {duration(thread.runtime)} every "
            f"{duration(thread.period)} within {duration(thread.deadline)}"
        )
    return None


def _without_processor(wait: ProcessorWait) -> str:
    """How long an executor waited for a processor, and for whom."""
    if wait.while_ran.startswith("swapper"):  # the kernel's idle threads
        ran = ", while nobody ran there: the host of a virtual machine, or a processor that slept"
    else:
        ran = f", while {wait.while_ran} ran there" if wait.while_ran else ""
    return f"up to {duration(wait.longest)}{ran}"


def _unsecured_priority(priority: int, thread: ObservedThread | None) -> str | None:
    """Why a thread may not have had its fixed priority; None if it was recorded with it."""
    assumed = f"is assumed to run at the fixed priority {priority}"
    if thread is None:
        return f"{assumed}; the recording does not say at which it ran"
    if thread.policy != "fifo":
        return f"{assumed}, but did not (policy {thread.policy})"
    if thread.priority != priority:
        return f"{assumed}, but ran at {thread.priority}"
    return None


def _globally_served(threads: Iterable[ObservedThread], cores: int | None) -> bool:
    """Whether global EDF serves the reservations by their deadlines, which the kernel's admission
    control does not check. An unknown number of cores is taken as one.
    """
    reservations = [
        (thread.runtime, min(thread.deadline or thread.period, thread.period))
        for thread in threads
        if thread.policy == "deadline" and thread.period
    ]
    return takt_native.served_globally(reservations, cores or 1)


def _execution_times(model: Model, measurement: Measurement) -> Iterator[Finding]:
    measured = {callback.id: callback for callback in measurement.callbacks}
    # Times with preemption are longer than execution times, unless the processor is not shared.
    wall_time = measurement.provenance.get("execution_time") in ("wall_time", "mixed")
    dedicated = {executor.id for executor in model.executors if executor.supply.kind == "dedicated"}
    for callback in model.callbacks:
        if callback.id not in measured or not callback.execution_time.curve:
            continue
        longest = measured[callback.id].execution_time.max
        assumed = callback.execution_time.curve[0]
        if longest is None or longest <= assumed:
            continue
        longer = (
            f"{duration(longest)}, longer than the {duration(assumed)} of its execution-time curve"
        )
        if wall_time and callback.executor not in dedicated:
            standing = Standing.UNSECURED
            text = (
                f"callback {label(callback)} took, from start to end, {longer}, and the recording "
                "does not say for how much of that it ran"
            )
        else:
            standing, text = Standing.VIOLATED, f"callback {label(callback)} ran for {longer}"
        excess = longest - assumed
        yield Finding(Subject.EXECUTION_TIME, standing, text, callback.executor, excess=excess)


def _suspensions(model: Model, measurement: Measurement) -> Iterator[Finding]:
    """Callbacks that slept, or waited for something, longer or more often than the model says."""
    measured = {callback.id: callback for callback in measurement.callbacks}
    for callback in model.callbacks:
        seen = measured[callback.id].suspension if callback.id in measured else None
        if seen is None or seen.max is None:
            continue
        known = callback.suspension
        longest = known.curve[0] if known and known.curve else 0
        times = known.times if known else 0
        if seen.max <= longest and seen.times <= times:
            continue
        assumed = (
            f"at most {count(times, 'time')} for {duration(longest)}" if known else "not at all"
        )
        yield Finding(
            Subject.SUSPENSION,
            Standing.VIOLATED,
            f"callbacks do not suspend themselves longer than seen: {label(callback)} was "
            f"suspended for up to {duration(seen.max)} (up to {count(seen.times, 'time')} in one "
            f"run), {assumed} by the model",
            callback.executor,
            excess=seen.max - longest,
        )
    if measurement.provenance.get("suspension") in ("unknown", "mixed"):
        yield Finding(
            Subject.SUSPENSION,
            Standing.UNSECURED,
            "callbacks are assumed not to suspend themselves beyond what the model says; the "
            "recording does not tell suspension from preemption",
            None,
        )


def _activations(model: Model, measurement: Measurement) -> Iterator[Finding]:
    """Activations of callbacks' own. Those by messages of the model's senders are not among the
    measured ones: their curves follow from those of the senders.
    """
    measured = {callback.id: callback for callback in measurement.callbacks}
    for callback in model.callbacks:
        if callback.id not in measured or callback.activation is None:
            continue
        seen = measured[callback.id].min_distance
        spans = shortest_spans(callback.activation, len(seen))
        for n, (span, assumed) in enumerate(zip(seen, spans, strict=True), start=1):
            if span < assumed:
                yield Finding(
                    Subject.ACTIVATION,
                    Standing.VIOLATED,
                    f"callback {label(callback)} was activated {n} times within {duration(span)}, "
                    f"denser than its activation curve ({duration(assumed)})",
                    callback.executor,
                )
                break


def _sources(model: Model, measurement: Measurement) -> Iterator[Finding]:
    """Threads that no timer or rate paces, as drivers: nothing but a recording says how often they
    send.
    """
    measured = {callback.id for callback in measurement.callbacks if callback.count}
    for callback in model.callbacks:
        activation = callback.activation
        is_seen = activation is not None and activation.kind == "min_distance"
        if callback.kind == "event_source" and is_seen and callback.id in measured:
            yield Finding(
                Subject.ACTIVATION,
                Standing.UNSECURED,
                f"source {label(callback)} is assumed to send no more densely than was recorded, "
                "which nothing guaranteed",
                callback.executor,
            )


def _senders(model: Model, measurement: Measurement) -> Iterator[Finding]:
    """Subscriptions that ran for messages which none of the model's senders has sent, as far as the
    recording shows: their curves follow from those of its senders. A gate, a bridge, or a sender
    that was started again may have sent them no more densely.
    """
    measured = {callback.id: callback for callback in measurement.callbacks}
    brought = Counter[str]()
    for edge in measurement.edges:
        brought[edge.target] += edge.count
    senders: dict[str, list[str]] = {}
    for along in model.edges:
        senders.setdefault(along.target, []).append(along.source)
    # What comes over a link is sent on by another program.
    passed_on = {edge.target for edge in model.edges if edge.link}
    joining = {join.callback for join in model.joins}
    for callback in model.callbacks:
        known = callback.activation is None and callback.id not in joining | passed_on
        if not known or callback.kind != "subscription" or callback.id not in measured:
            continue
        # A sender that did not run may be on a host that was not recorded.
        if not all(
            sender in measured and measured[sender].count for sender in senders.get(callback.id, [])
        ):
            continue
        others = measured[callback.id].count - brought[callback.id]
        # So many messages may have waited when the recording began.
        if others > (callback.queue_depth or LONGEST_USUAL_QUEUE):
            yield Finding(
                Subject.ACTIVATION,
                Standing.UNSECURED,
                f"callback {label(callback)} ran {count(others, 'time')} for messages that no "
                "sender of the model sent",
                callback.executor,
            )


def _bursts(model: Model, measurement: Measurement) -> Iterator[Finding]:
    """Runs that sent more messages than the model: one along each edge."""
    callbacks = {callback.id: callback for callback in model.callbacks}
    assumed = Counter((edge.source, edge.target) for edge in model.edges)
    for measured in measurement.edges:
        source, target = callbacks.get(measured.source), callbacks.get(measured.target)
        most = assumed[measured.source, measured.target]
        if source is None or target is None or measured.most_of_one_run <= most:
            continue
        more = measured.most_of_one_run - most
        yield Finding(
            Subject.ACTIVATION,
            Standing.VIOLATED,
            f"callback {label(source)} sent {count(measured.most_of_one_run, 'message')} to "
            f"{label(target)} in one run, {most} by the model",
            target.executor,
            # What the others cost that came in between.
            excess=more * (target.execution_time.curve[0] if target.execution_time.curve else 0),
        )


def _orders(model: Model, measurement: Measurement) -> Iterator[Finding]:
    names = executor_labels(model)
    orders = {executor.id: executor.order for executor in model.executors}
    for windows in measurement.windows:
        if windows.contradicting and windows.executor in orders:
            yield Finding(
                Subject.ORDER,
                Standing.VIOLATED,
                f"order: {orders[windows.executor]} is contradicted by {windows.contradicting} of "
                f"{count(windows.count, 'ready set')} of executor {names[windows.executor]}",
                windows.executor,
            )


def _phases(bounds: Bounds) -> Iterator[Finding]:
    if bounds.depends_on_phases:
        text = (
            "the timers are assumed to keep the phases of the model, which nothing guaranteed: "
            "they differ whenever programs are started"
        )
        yield Finding(Subject.ACTIVATION, Standing.UNSECURED, text, None)


def _queueing_joins(model: Model, bounds: Bounds) -> Iterator[Finding]:
    queueing = set(bounds.queueing_joins)
    for callback in model.callbacks:
        if callback.id in queueing:
            yield Finding(
                Subject.ACTIVATION,
                Standing.UNSECURED,
                f"messages may wait at callback {label(callback)}, which joins the newest of each "
                "input: the executor takes them one by one",
                callback.executor,
            )


def of_full_queues(model: Model, bounds: Bounds) -> Iterator[Finding]:
    """Callbacks that may lose messages: their bounds are of those that are not lost."""
    for callback in model.callbacks:
        if callback.id not in bounds.full_queues:
            continue
        text = (
            f"messages to {label(callback)} may be lost, as its queue of {callback.queue_depth} "
            "may be full: the bound is of those that are not"
        )
        edges: list[tuple[str, str] | None]
        edges = [(e.source, e.target) for e in model.edges if e.target == callback.id]
        for edge in edges or [None]:
            yield Finding(Subject.ACTIVATION, Standing.UNSECURED, text, callback.executor, edge)


def shortest_spans(activation: Activation, count: int) -> list[int]:
    """δ(1) to δ(count): the shortest spans of so many consecutive activations, in nanoseconds."""
    separation = activation.period or activation.min_separation or 0
    values = list(activation.values)
    return takt_native.shortest_spans(values, separation, activation.jitter, count)


def _delays(model: Model, bounds: Bounds, measurement: Measurement) -> Iterator[Finding]:
    callbacks = {callback.id: callback for callback in model.callbacks}
    sampling = _sampling(model)
    # The time on a link comes on top of the delay.
    on_link: dict[tuple[str, str], int] = {}
    for hop in bounds.links:
        for receiver in hop.target if hop.bound is not None else ():
            key = (hop.source, receiver)
            on_link[key] = max(hop.bound or 0, on_link.get(key, 0))
    without_bound = {
        (edge.source, edge.target)
        for edge in model.edges
        if edge.link and (edge.source, edge.target) not in on_link
    }
    assumed: dict[tuple[str, str], int] = {}
    for edge in model.edges:
        key = (edge.source, edge.target)
        if key not in without_bound:
            most = edge.delay + (on_link[key] if edge.link else 0)
            assumed[key] = max(most, assumed.get(key, 0))
    for measured in measurement.edges:
        limit = assumed.get((measured.source, measured.target))
        longest = measured.delay.max
        if limit is None or longest is None or longest <= limit:
            continue
        source, target = callbacks.get(measured.source), callbacks.get(measured.target)
        if source and target:
            yield Finding(
                Subject.DELAY,
                Standing.VIOLATED,
                f"a message from {label(source)} to {label(target)} took {duration(longest)}, "
                f"longer than the {duration(limit)} of the model",
                target.executor,
                edge=(source.id, target.id) if target.id in sampling else None,
                excess=longest - limit,
            )


def _newest(model: Model, measurement: Measurement) -> Iterator[Finding]:
    """Timers that take messages themselves and did not take all that waited."""
    callbacks = {callback.id: callback for callback in model.callbacks}
    assumed = {(edge.source, edge.target): edge.delay for edge in reversed(model.edges)}
    for measured in measurement.edges:
        source, target = callbacks.get(measured.source), callbacks.get(measured.target)
        if not measured.left or source is None or target is None:
            continue
        delay = assumed.get((measured.source, measured.target), 0)
        after = f" {duration(delay)} or longer after it was sent" if delay else ""
        yield Finding(
            Subject.DELAY,
            Standing.VIOLATED,
            f"{label(target)} is assumed to read the newest message of {label(source)}, but "
            f"{measured.left} of {count(measured.takes, 'take')} left a newer one in the queue"
            f"{after}",
            target.executor,
            edge=(source.id, target.id),
        )


def _links(model: Model) -> Iterator[Finding]:
    sampling = _sampling(model)
    executor_of = {callback.id: callback.executor for callback in model.callbacks}
    found: dict[Finding, None] = {}
    for edge in model.edges:
        if edge.link and edge.target in executor_of:
            text = f"link {edge.link} is assumed to carry what the model says"
            finding = Finding(
                Subject.DELAY,
                Standing.UNSECURED,
                f"{text}, which nothing guaranteed",
                executor_of[edge.target],
                edge=(edge.source, edge.target) if edge.target in sampling else None,
            )
            found[finding] = None
    yield from found


def _losses(measurement: Measurement) -> Iterator[Finding]:
    if missing := measurement.losses.get("unrecorded_processes"):
        yield Finding(
            Subject.RECORDING,
            Standing.UNSECURED,
            f"{count(missing, 'process', 'processes')} with ROS 2 "
            f"{'was' if missing == 1 else 'were'} not recorded, so what they do is not in the "
            "model",
            None,
        )
    if left_out := measurement.losses.get("left_out_callbacks"):
        yield Finding(
            Subject.RECORDING,
            Standing.UNSECURED,
            f"{count(left_out, 'callback')} were left out of the recording by --include or "
            "--exclude, so the time that they take is not in the model",
            None,
        )
    if lost := losses.in_words(measurement.losses):
        yield Finding(
            Subject.RECORDING,
            Standing.UNSECURED,
            f"{lost} of the recording were lost, so the curves may have missed the worst case",
            None,
        )
