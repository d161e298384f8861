"""The documents that commands, reports and notebooks read, as typed values.

Generated from the schemas by `make generate`; tests/python/test_generated.py fails if it is stale.
Fields whose absence means what their default says may be left out of documents.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from takt.documents.typed import EMPTY, Between, Document, Key

__all__ = [
    "Activation",
    "Axis",
    "Bounds",
    "Callback",
    "CallbackBound",
    "Chain",
    "ChainBound",
    "Confidence",
    "Edge",
    "ErrorBound",
    "ExecutionTime",
    "Executor",
    "ExplainedSegment",
    "Explanation",
    "GatePhase",
    "Handoff",
    "HandoverTiming",
    "InputBox",
    "Instance",
    "Join",
    "Labels",
    "LatencyStatistics",
    "LinearEstimator",
    "Link",
    "LinkBound",
    "MeasuredCallback",
    "MeasuredChain",
    "MeasuredEdge",
    "MeasuredSuspension",
    "Measurement",
    "Model",
    "NonlinearEstimator",
    "ObservedPhase",
    "ObservedThread",
    "ObservedWindows",
    "OvershootOutcome",
    "Plant",
    "PlantJacobians",
    "ProcessorWait",
    "Region",
    "Regions",
    "Segment",
    "ServerSlot",
    "ShapedChain",
    "ShapedGate",
    "Shaping",
    "ShapingBand",
    "ShapingBaseline",
    "ShapingMethod",
    "ShapingServer",
    "SimulatedCallback",
    "SimulatedChain",
    "SimulatedHop",
    "Simulation",
    "Slot",
    "Start",
    "StartUpInstances",
    "Statistics",
    "Summary",
    "SummaryBound",
    "SummaryBounds",
    "SummaryCallback",
    "SummaryChain",
    "SummaryDurations",
    "SummaryExecutor",
    "SummaryInput",
    "SummaryLink",
    "SummaryPart",
    "SummaryProvenance",
    "Supply",
    "Suspension",
    "Table",
    "TableSlot",
    "Term",
    "Unexplored",
    "ValueFile",
    "Way",
    "WorstInstance",
]


class Slot(Document):
    """[start, end) within the cycle."""

    start: Annotated[int, Between(0, 1000000000000000)]
    """Beginning of the slot within the cycle."""
    end: Annotated[int, Between(1, 1000000000000000)]
    """End of the slot within the cycle; not part of the slot."""


class Supply(Document):
    """The processor time of each of an executor's threads."""

    kind: Literal["dedicated", "reservation", "slots", "fixed_priority"] = "dedicated"
    budget: Annotated[int, Between(1, 1000000000000000)] | None = None
    """Time supplied in every period."""
    period: Annotated[int, Between(1, 1000000000000000)] | None = None
    """How often the budget is supplied."""
    deadline: Annotated[int, Between(1, 1000000000000000)] | None = None
    """Time from the start of a period within which its budget is supplied; null: the period."""
    cycle: Annotated[int, Between(1, 1000000000000000)] | None = None
    """How often the slots repeat."""
    slots: tuple[Slot, ...] = ()
    """The slots."""
    priority: Annotated[int, Between(1, 99)] | None = None
    """Of SCHED_FIFO; larger is more urgent."""
    withheld: Annotated[int, Between(0, 1000000000000000)] = 0
    """The kernel gives at most so much of every withheld_period to others, as
    sched_rt_runtime_us and fair_server say; the same for all such threads of a cpu.
    """
    withheld_period: Annotated[int, Between(1, 1000000000000000)] = 1000000000
    """How often the kernel may withhold that."""


class TableSlot(Document):
    """[start, end) within the cycle, for one callback."""

    start: Annotated[int, Between(0, 1000000000000000)]
    """Beginning of the slot within the cycle."""
    end: Annotated[int, Between(1, 1000000000000000)]
    """End of the slot within the cycle; not part of the slot."""
    callback: str
    """The callback whose instances start in the slot."""


class Table(Document):
    """When instances of which callback may start."""

    cycle: Annotated[int, Between(1, 1000000000000000)]
    """How often the slots repeat."""
    slots: tuple[TableSlot, ...] = ()
    """The slots."""


class Executor(Document):
    """A thread, or several, that runs callbacks."""

    id: str
    """A unique name."""
    name: str | None = None
    """What people call it."""
    kind: Literal[
        "single_threaded",
        "multi_threaded",
        "events",
        "fixed_priority",
        "edf",
        "chain_priority",
        "graph_aware",
        "table_driven",
        "event_source",
    ] = "single_threaded"
    """How it chooses what runs next."""
    timers: Literal["polled", "privileged"] = "polled"
    """privileged: timers bypass the ready set, as in ROS 2 before Eloquent."""
    order: Literal["unknown", "registered", "any_in_category", "by_node"] = "unknown"
    """The order in which callbacks run that a default executor found ready together. registered:
    by category, then by registration, as Takt's own executors; any_in_category: by category,
    then in any order, as rclcpp; by_node: node by node, as rclpy; unknown: any order.
    """
    threads: Annotated[int, Between(1, 1024)] = 1
    """Threads of a multi_threaded executor."""
    cpu: Annotated[int, Between(0, 2147483647)] | None = None
    """The processor that its threads are bound to; null: one of its own."""
    supply: Supply = Supply()
    """Processor time of each of its threads."""
    overhead: tuple[Annotated[int, Between(0, 1000000000000000)], ...] = ()
    """OT(1), OT(2), …: overhead of that many consecutive instances."""
    release_overhead: Annotated[int, Between(0, 1000000000000000)] = 0
    """Longest time that the release of a timer or a message takes from the executor's thread, if
    it has a thread that releases.
    """
    table: Table | None = None
    """When instances of which callback may start, on table_driven executors."""
    process: str | None = None
    """Executors of the same process run as threads of one process; null: a process of its own."""
    unclassifiable: str | None = None
    """Why nothing that depends on it has a bound: nobody knows when its threads do what; null:
    it behaves as executors of its kind do.
    """


class ExecutionTime(Document):
    """How long instances of a callback run."""

    curve: tuple[Annotated[int, Between(0, 1000000000000000)], ...] = ()
    """ET(1), ET(2), …: longest execution time of that many consecutive instances. Cumulative:
    monotone and sub-additive; longer stretches follow by sub-additivity.
    """


class Suspension(Document):
    """How instances of a callback suspend themselves: they sleep, or wait for an answer, a lock
    or a device. They occupy the executor meanwhile and use no processor time.
    """

    curve: tuple[Annotated[int, Between(0, 1000000000000000)], ...] = ()
    """SU(1), SU(2), …: longest total time for which that many consecutive instances are
    suspended. Monotone and sub-additive.
    """
    times: Annotated[int, Between(1, 1000000)] = 1
    """How often one instance suspends itself at most."""
    times_in_a_row: tuple[Annotated[int, Between(1, 1000000)], ...] = ()
    """ST(1), ST(2), …: how often that many consecutive instances suspend themselves at most.
    Monotone and sub-additive; none: n times as often as one.
    """


class Activation(Document):
    """How often a callback is activated."""

    kind: Literal["periodic", "sporadic", "min_distance"]
    period: Annotated[int, Between(1, 1000000000000000)] | None = None
    """Time from one activation to the next."""
    jitter: Annotated[int, Between(0, 1000000000000000)] = 0
    """Longest delay of an activation."""
    phase: Annotated[int, Between(0, 1000000000000000)] | None = None
    """When the first activation is due, on a clock that all phases count from, less than the
    period; null: not known. Only the analysis "exact", whose bounds then hold for these
    phases alone, and takt simulate go by it.
    """
    min_separation: Annotated[int, Between(1, 1000000000000000)] | None = None
    """Least time from one activation to the next."""
    values: tuple[Annotated[int, Between(0, 1000000000000000)], ...] = ()
    """Element n - 1: the shortest span of n consecutive activations. The first is 0, the last
    above 0; monotone and super-additive.
    """


class Callback(Document):
    """A callback of a node."""

    id: str
    """A unique name."""
    name: str | None = None
    """What people call it."""
    node: str = ""
    """The name of its node."""
    executor: str
    """The executor that runs it."""
    kind: Literal["timer", "subscription", "service", "client", "waitable", "event_source"]
    """What activates it."""
    topic: str | None = None
    """Topic of a subscription, name of a service or client."""
    registration: Annotated[int, Between(-9223372036854775808, 9223372036854775807)] = 0
    """Order of registration within the executor, if the executor's order is registered; equal
    ones count in the order of the document.
    """
    execution_time: ExecutionTime = ExecutionTime()
    """How long its instances run."""
    suspension: Suspension | None = None
    """How its instances suspend themselves; null: they do not."""
    activation: Activation | None = None
    """Activations of its own, in addition to those that its edges cause. Timers and event
    sources need one; null: messages alone activate it.
    """
    priority: Annotated[int, Between(-9223372036854775808, 9223372036854775807)] | None = None
    """Larger is more urgent, on fixed_priority executors."""
    deadline: Annotated[int, Between(1, 1000000000000000)] | None = None
    """Relative to its activation, on edf executors."""
    queue_depth: Annotated[int, Between(1, 9223372036854775807)] | None = None
    """Messages that wait at most (QoS keep-last depth); null: unbounded."""
    callback_group: str | None = None
    """Callbacks of one group exclude each other on several threads; "reentrant" ones exclude
    nothing; null: the group of the node.
    """


class Link(Document):
    """What one host sends to others over one network interface, the most urgent message first,
    chunk by chunk.
    """

    id: str
    """A unique name."""
    bandwidth: Annotated[int, Between(1, 9223372036854775807)]
    """Bits per second."""
    chunk_bytes: Annotated[int, Between(1, 8388608)] = 65536
    """After so many bytes of a message a more urgent one may go first."""
    overhead: Annotated[int, Between(0, 1000000000000000)] = 0
    """Longest time that each chunk takes beyond its bits."""


class Edge(Document):
    """Messages from one callback to another."""

    source: Annotated[str, Key("from")]
    """The callback that publishes."""
    target: Annotated[str, Key("to")]
    """The callback that receives."""
    topic: str | None = None
    """The topic of the messages; null: the receiver's."""
    delay: Annotated[int, Between(0, 1000000000000000)] = 0
    """Longest time until the receiver is activated after the sender's instance has ended, or
    after the publication if that is later; beside the link if there is one.
    """
    travel: Annotated[int, Between(0, 1000000000000000)] | None = None
    """Longest time from publication to activation, where it is longer than `delay` because the
    sender goes on after it has published. Measured response times begin so long after the
    publication; no bound depends on it. null: `delay`.
    """
    transport: Literal["shared_memory"] | None = None
    """How its messages go: shared_memory, as takt share has it; null: by the middleware, or over
    the link. No bound depends on it: it says whose delay `delay` is.
    """
    link: str | None = None
    """The link that its messages take to another host; null: none. Edges of one topic from one
    callback over one link are one message there.
    """
    priority: Annotated[int, Between(-9223372036854775808, 9223372036854775807)] = 0
    """Of its messages on the link: larger is more urgent."""
    triggered_by: tuple[str, ...] | None = None
    """Predecessors of `from` whose messages make it publish here; null: whatever activates it."""
    message_size: Annotated[int, Between(0, 9223372036854775807)] = 0
    """Payload of a message in bytes: in takt run, and at most on a link."""
    confidence: Annotated[int, Between(1, 100)] | None = None
    """Percent; of an inferred edge, along which the receiver takes what the sender keeps or
    hands over, and which activates nothing; null: declared or observed.
    """
    messages: Annotated[int, Between(1, 2147483648)] | None = None
    """So many of `instances` consecutive instances of `from` send a message in takt simulate and
    takt run; bounds count one for each. null: all send.
    """
    instances: Annotated[int, Between(1, 2147483648)] | None = None
    """See `messages`."""


class Join(Document):
    """A callback that its inputs activate together instead of any one of them."""

    callback: str
    """The callback that joins."""
    kind: Literal["and", "newest"] = "and"
    """and: activated when every input has a message waiting, takes the oldest of each. newest:
    keeps the newest message of each input, activated when all are new.
    """
    inputs: tuple[str, ...] = ()
    """Predecessors of the callback."""
    confidence: Annotated[int, Between(1, 100)] | None = None
    """Percent; of a join inferred from which runs published. Bounds hold whether it is one or
    not; null: declared.
    """
    completed_by: tuple[str, ...] = ()
    """The inputs of an inferred join whose messages were seen to complete a set; empty: any may."""
    keeping_time: Annotated[int, Between(0, 1000000000000000)] = 0
    """The longest run by a message of another input of an inferred join."""


class Chain(Document):
    """A path of callbacks along edges whose latency matters."""

    id: str
    """A unique name."""
    callbacks: tuple[str, ...] = ()
    """Its callbacks in order."""
    goal: Annotated[int, Between(1, 1000000000000000)] | None = None
    """Latency that it should have at most."""
    kind: Literal["latency", "reaction", "age"] = "latency"
    """Which time the goal is about. latency: from the activation of the first callback to the
    end that it leads to; reaction: from any input to the first end that is based on it or on
    a newer one; age: at each end, the age of the input on which it is based.
    """
    rank: Annotated[int, Between(-9223372036854775808, 9223372036854775807)] | None = None
    """1 is degraded last."""
    end_topic: str | None = None
    """The topic with whose publication by the last callback measured latencies end; null: with
    the completion of the last callback, as bounds always do.
    """


class Model(Document):
    """The timing model: callbacks, executors, the edges between callbacks, how often each is
    activated, how long each runs, and which chains matter. Times are integers in nanoseconds.
    Unknown fields are kept and warned about.
    """

    format: Literal["takt/model"]
    version: Literal[1]
    name: str = ""
    """What people call it."""
    provenance: dict[str, Any] = EMPTY
    """Where the model came from."""
    executors: tuple[Executor, ...] = ()
    """Its executors."""
    callbacks: tuple[Callback, ...] = ()
    """Its callbacks."""
    links: tuple[Link, ...] = ()
    """Its links between hosts."""
    edges: tuple[Edge, ...] = ()
    """Its edges."""
    joins: tuple[Join, ...] = ()
    """Its joins."""
    chains: tuple[Chain, ...] = ()
    """Its chains."""


class LinkBound(Document):
    """Messages of a topic that a callback sends over a link."""

    link: str
    source: Annotated[str, Key("from")]
    """The callback that publishes."""
    topic: str
    target: Annotated[tuple[str, ...], Key("to")] = ()
    """The callbacks that receive."""
    bound: Annotated[int, Between(0, 9223372036854775807)] | None = None
    """The longest time from publication to the arrival of the last chunk."""
    by: str | None = None
    """The analysis that gave the bound."""
    reason: str | None = None
    """Why there is no bound."""


class Unexplored(Document):
    """An executor whose schedules were not explored."""

    executor: str
    reason: str
    """Why its schedules were not explored."""


class CallbackBound(Document):
    """The bound of a callback's response time."""

    id: str
    bound: Annotated[int, Between(0, 9223372036854775807)] | None = None
    """The longest response time: from activation to completion of any instance."""
    by: str | None = None
    """The analysis that gave the bound."""
    reason: str | None = None
    """Why there is no bound."""


class Segment(Document):
    """Consecutive callbacks of a chain on one executor."""

    executor: str
    callbacks: tuple[str, ...] = ()
    bound: Annotated[int, Between(0, 9223372036854775807)] | None = None
    by: str | None = None
    delay: Annotated[int, Between(0, 9223372036854775807)] | None = None
    """Longest time of the message from the previous segment."""
    sampling: Annotated[int, Between(0, 9223372036854775807)] | None = None
    """Longest time that a message waits for the timer that samples it."""


class ChainBound(Document):
    """The bounds of a chain."""

    id: str
    bound: Annotated[int, Between(0, 9223372036854775807)] | None = None
    """Activation of the first callback to completion of the last."""
    goal: Annotated[int, Between(0, 9223372036854775807)] | None = None
    kind: Literal["latency", "reaction", "age"] = "latency"
    """Which time bound and goal are about."""
    met: bool | None = None
    """null: there is no goal."""
    reaction_time: Annotated[int, Between(0, 9223372036854775807)] | None = None
    """From an input at any instant to the first output that is based on it or on a newer one."""
    reaction_time_reason: str | None = None
    """Why there is none."""
    data_age: Annotated[int, Between(0, 9223372036854775807)] | None = None
    """At any output: since the first callback was activated that read the input it is based on."""
    data_age_reason: str | None = None
    """Why there is none."""
    segments: tuple[Segment, ...] = ()
    reason: str | None = None
    """Why there is no bound."""


class Term(Document):
    """A part of a bound."""

    kind: Literal[
        "execution",
        "earlier",
        "interference",
        "blocking",
        "overhead",
        "releases",
        "supply",
        "parallel",
        "elapsed",
        "rounding",
        "limit",
        "delay",
        "sampling",
    ]
    callback: str | None = None
    """Whose instances."""
    instances: Annotated[int, Between(1, 9223372036854775807)] | None = None
    time: Annotated[int, Between(-9223372036854775807, 9223372036854775807)]
    """Negative: what takes time off."""


class ExplainedSegment(Document):
    """A segment's part of a chain's bound."""

    executor: str
    callbacks: tuple[str, ...] = ()
    by: str
    """The analysis that gave the bound."""
    bound: Annotated[int, Between(0, 9223372036854775807)]
    """The sum of the terms' times, delay and sampling included."""
    terms: tuple[Term, ...] = ()


class Explanation(Document):
    """What the bound of a chain is made of (--explain)."""

    chain: str
    bound: Annotated[int, Between(0, 9223372036854775807)]
    """The sum of the segments' bounds."""
    dominating: Term
    """The longest term, and the index of its segment."""
    segments: tuple[ExplainedSegment, ...] = ()


class Bounds(Document):
    """Response-time bounds of a timing model. Times are integers in nanoseconds. A bound is null
    where there is none, with the reason.
    """

    format: Literal["takt/bounds"]
    version: Literal[1]
    analysis: str = ""
    converged: bool = True
    """Every callback has a bound."""
    seconds: float = 0
    """Wall-clock time of the analysis."""
    provenance: dict[str, Any] = EMPTY
    steps: Annotated[int, Between(0, 9223372036854775807)] = 0
    """How many steps the searches took: a step looks at what one callback demands."""
    coarse: tuple[str, ...] = ()
    """Executors for whose own analysis the steps allowed did not suffice: their bounds are
    coarser, or missing.
    """
    unexplored: tuple[Unexplored, ...] = ()
    """By the analysis exact: executors whose schedules were not explored. They have the bounds
    of the analysis tight.
    """
    depends_on_phases: bool = False
    """Some bounds hold for the phases of timers that the model gives, and for no others."""
    queueing_joins: tuple[str, ...] = ()
    """Callbacks that join the newest messages, and at which messages may wait as no bound counts
    them: what depends on them has no guarantee.
    """
    full_queues: tuple[str, ...] = ()
    """Callbacks whose queues may be full when a message comes: some are lost, and bounds are of
    those that are not.
    """
    callbacks: tuple[CallbackBound, ...] = ()
    chains: tuple[ChainBound, ...] = ()
    links: tuple[LinkBound, ...] = ()
    explanation: Explanation | None = None


class Statistics(Document):
    """Statistics of durations; null where there are none."""

    min: Annotated[int, Between(-9223372036854775807, 9223372036854775807)] | None = None
    mean: float | None = None
    p50: Annotated[int, Between(-9223372036854775807, 9223372036854775807)] | None = None
    p99: Annotated[int, Between(-9223372036854775807, 9223372036854775807)] | None = None
    max: Annotated[int, Between(-9223372036854775807, 9223372036854775807)] | None = None
    samples: tuple[Annotated[int, Between(-9223372036854775807, 9223372036854775807)], ...] = ()
    """Some of the values."""


class ObservedThread(Document):
    """An executor's scheduling as it said itself when it began to spin."""

    id: str
    policy: Literal["other", "fifo", "rr", "deadline"]
    runtime: Annotated[int, Between(0, 9223372036854775807)] = 0
    deadline: Annotated[int, Between(0, 9223372036854775807)] = 0
    period: Annotated[int, Between(0, 9223372036854775807)] = 0
    priority: Annotated[int, Between(-9223372036854775807, 9223372036854775807)] = 0
    cpu: Annotated[int, Between(-9223372036854775807, 9223372036854775807)] = -1


class MeasuredSuspension(Statistics):
    """How long instances of a callback suspended themselves."""

    times: Annotated[int, Between(0, 9223372036854775807)]
    """The most suspensions of one instance."""


class MeasuredCallback(Document):
    """What is known of a callback's instances."""

    id: str
    count: Annotated[int, Between(0, 9223372036854775807)]
    bound_relevant: bool | None = None
    execution_time: Statistics = Statistics()
    suspension: MeasuredSuspension | None = None
    """How its instances suspended themselves; null: nothing recorded tells suspension from
    preemption.
    """
    response_time: Statistics = Statistics()
    min_distance: tuple[Annotated[int, Between(0, 9223372036854775807)], ...] = ()
    """Element n - 1: the shortest span of n consecutive activations of its own, which no edge of
    the model brings, or a longer one where it is not known better.
    """


class WorstInstance(Document):
    """The longest instance of a chain."""

    instance: Annotated[int, Between(0, 9223372036854775807)]
    """Its number, which takt flow --why takes."""
    begin: Annotated[int, Between(-9223372036854775807, 9223372036854775807)]
    """When it began, since the beginning of the recording."""
    time: str | None = None
    """The date and time of day of that, in UTC; null: the recording does not tell."""


class StartUpInstances(Document):
    """The instances of a chain during start-up, which count nowhere else."""

    count: Annotated[int, Between(1, 9223372036854775807)]
    max: Annotated[int, Between(-9223372036854775807, 9223372036854775807)]
    """The longest latency."""


class MeasuredChain(Statistics):
    """Latencies of a chain, from the activation of its first callback to the completion of its
    last.
    """

    id: str
    count: Annotated[int, Between(0, 9223372036854775807)]
    incomplete: Annotated[int, Between(0, 9223372036854775807)] = 0
    """Instances of the first callback that led to no completion of the chain."""
    goal: Annotated[int, Between(-9223372036854775807, 9223372036854775807)] | None = None
    """The goal of the model with which it was measured, if there is one."""
    late: Annotated[int, Between(0, 9223372036854775807)] | None = None
    """Instances above that goal. Of more than 16384 instances, those that are below it by up to
    0.4 % may count, too.
    """
    worst: WorstInstance | None = None
    start_up: StartUpInstances | None = None


class Way(Document):
    """The way of those messages whose moments in Fast DDS were recorded."""

    count: Annotated[int, Between(1, 9223372036854775807)]
    sending: Statistics = Statistics()
    """From rmw_publish until they were handed to the transports."""
    transport: Statistics = Statistics()
    """Until they could be taken in the receiving process."""
    waiting: Statistics = Statistics()
    """Until they were taken."""


class MeasuredEdge(Document):
    """Messages from one callback to another."""

    source: Annotated[str, Key("from")]
    target: Annotated[str, Key("to")]
    count: Annotated[int, Between(0, 9223372036854775807)]
    by_shared_memory: Annotated[int, Between(0, 9223372036854775807)] = 0
    """Messages that came through shared memory (takt share)."""
    most_of_one_run: Annotated[int, Between(0, 9223372036854775807)] = 0
    """The most messages that one run of the sender sent, of those that came one after another."""
    takes: Annotated[int, Between(0, 9223372036854775807)] = 0
    """Runs of a receiver that takes messages itself in which it took some."""
    left: Annotated[int, Between(0, 9223372036854775807)] = 0
    """Those of them that left a newer message in the queue, the model's delay of the edge or
    longer after it was sent.
    """
    delay: Statistics = Statistics()
    way: Way | None = None


class ProcessorWait(Document):
    """An executor with a thread that was ready to run and had no processor, by the scheduler's
    events.
    """

    executor: str
    longest: Annotated[int, Between(1, 9223372036854775807)]
    """The longest time without a processor, in nanoseconds."""
    while_ran: str
    """The thread that ran when it began, as the kernel names it; swapper is none. Empty if that
    is not known.
    """


class ObservedWindows(Document):
    """The ready sets of an executor in which several callbacks ran, one after the other."""

    executor: str
    count: Annotated[int, Between(1, 9223372036854775807)]
    contradicting: Annotated[int, Between(0, 9223372036854775807)]
    """Those that ran in an order that the model's executor cannot have."""


class Instance(Document):
    """A callback that ran, from start to end."""

    executor: str
    thread: Annotated[int, Between(0, 9223372036854775807)] = 0
    """Which thread of the executor, from 0."""
    callback: str
    activation: Annotated[int, Between(-9223372036854775807, 9223372036854775807)] | None = None
    start: Annotated[int, Between(-9223372036854775807, 9223372036854775807)]
    end: Annotated[int, Between(-9223372036854775807, 9223372036854775807)]


class Measurement(Document):
    """What a trace shows of a model's callbacks and chains. Times are integers in nanoseconds;
    statistics are null where nothing was measured.
    """

    format: Literal["takt/measurement"]
    version: Literal[1]
    provenance: dict[str, Any] = EMPTY
    losses: dict[str, Annotated[int, Between(0, 9223372036854775807)]] = EMPTY
    executors: tuple[ObservedThread, ...] = ()
    callbacks: tuple[MeasuredCallback, ...] = ()
    chains: tuple[MeasuredChain, ...] = ()
    edges: tuple[MeasuredEdge, ...] = ()
    windows: tuple[ObservedWindows, ...] = ()
    processor_waits: tuple[ProcessorWait, ...] = ()
    timeline: tuple[Instance, ...] = ()


class SimulatedCallback(Statistics):
    """Response times, from activation to completion."""

    id: str
    count: Annotated[int, Between(0, 9223372036854775807)]
    standard_deviation: float | None = None
    activations: Annotated[int, Between(0, 9223372036854775807)] = 0
    skipped: Annotated[int, Between(0, 9223372036854775807)] = 0
    """Expiries of a timer never served."""
    discarded: Annotated[int, Between(0, 9223372036854775807)] = 0
    """Messages that a full queue lost."""


class SimulatedChain(Statistics):
    """Latencies, from the activation of the first callback to the completion of the last."""

    id: str
    count: Annotated[int, Between(0, 9223372036854775807)]
    standard_deviation: float | None = None
    goal: Annotated[int, Between(0, 9223372036854775807)] | None = None
    kind: Literal["latency", "reaction", "age"] = "latency"
    """Which time these figures and the goal are about."""


class SimulatedHop(Statistics):
    """Messages of a topic that a callback sends over a link, from publication to the arrival of
    the last chunk.
    """

    link: str
    source: Annotated[str, Key("from")]
    topic: str
    count: Annotated[int, Between(0, 9223372036854775807)]


class Simulation(Document):
    """What a simulation of a timing model shows. Times are integers in nanoseconds, but for
    means and standard deviations. Statistics of nothing are null.
    """

    format: Literal["takt/simulation"]
    version: Literal[1]
    provenance: dict[str, Any] = EMPTY
    events: Annotated[int, Between(0, 9223372036854775807)] = 0
    """Activations, starts and completions."""
    unfinished: Annotated[int, Between(0, 9223372036854775807)] = 0
    """Instances and messages that waited at the end."""
    warnings: tuple[str, ...] = ()
    callbacks: tuple[SimulatedCallback, ...] = ()
    chains: tuple[SimulatedChain, ...] = ()
    links: tuple[SimulatedHop, ...] = ()
    timeline_is_partial: bool = False
    timeline: tuple[Instance, ...] = ()


class ServerSlot(Document):
    """[start, end) within the cycle."""

    start: Annotated[int, Between(0, 9223372036854775807)]
    """Beginning of the slot within the cycle."""
    end: Annotated[int, Between(0, 9223372036854775807)]
    """End of the slot within the cycle; not part of the slot."""


class ShapingBand(Document):
    """A slot of a gate, and what leaves in it."""

    start: Annotated[int, Between(0, 9223372036854775807)]
    """Beginning of the slot within the cycle."""
    end: Annotated[int, Between(0, 9223372036854775807)]
    """End of the slot within the cycle; not part of the slot."""
    latency: Annotated[int, Between(0, 9223372036854775807)]
    """The latency of the outputs that leave in it."""
    share: float
    """The share of the profile's outputs that leave in it."""


class LatencyStatistics(Document):
    """Latencies of a chain's outputs."""

    count: Annotated[int, Between(0, 9223372036854775807)]
    """Outputs."""
    min: Annotated[int, Between(0, 9223372036854775807)] | None = None
    """Shortest."""
    mean: float | None = None
    """Average."""
    p50: Annotated[int, Between(0, 9223372036854775807)] | None = None
    """Median."""
    p99: Annotated[int, Between(0, 9223372036854775807)] | None = None
    """99 % are not longer."""
    p999: Annotated[int, Between(0, 9223372036854775807)] | None = None
    """99.9 % are not longer."""
    max: Annotated[int, Between(0, 9223372036854775807)] | None = None
    """Longest."""
    jitter: Annotated[int, Between(0, 9223372036854775807)] | None = None
    """Half of what lies between the shortest and the longest."""


class ObservedPhase(Document):
    """How a loop that is not ours ran beside the chain."""

    count: Annotated[int, Between(0, 9223372036854775807)]
    """Its messages."""
    drift: float
    """By what share its period is longer than the chain's."""
    spread: Annotated[int, Between(0, 9223372036854775807)]
    """How late messages came at most, from the earliest ones."""
    offset: Annotated[int, Between(0, 9223372036854775807)] | None = None
    """The shortest time from a message until the chain began."""
    offset_spread: Annotated[int, Between(0, 9223372036854775807)] | None = None
    """How much longer it was at most."""


class GatePhase(Document):
    """What the beginning of a cycle is told by."""

    topic: str | None = None
    """Messages of this topic come once in a cycle."""
    external: str | None = None
    """What tells the cycles of a loop outside of ROS 2: udp:PORT, pipe:PATH, shm:NAME or
    clock:NAME. Neither this nor a topic: cycles begin at multiples of the period on
    CLOCK_MONOTONIC.
    """
    delay: Annotated[int, Between(0, 9223372036854775807)] = 0
    """The shortest time from the beginning of a cycle until it is told."""
    observed: ObservedPhase | None = None
    """What a recording shows of the loop."""


class ShapedGate(Document):
    """Lets the outputs of a chain out in slots only."""

    topic: str | None = None
    """Where consumers expect the output; null: the model names no topic, and the gate can be
    simulated only.
    """
    input: str | None = None
    """What the chain's last node publishes on instead."""
    node: str | None = None
    """The node that publishes."""
    callback: str | None = None
    """The callback that publishes; null: the chain's last."""
    phase: GatePhase = GatePhase()
    publish_time: Annotated[int, Between(0, 9223372036854775807)]
    """How long publishing takes."""
    shortest: Annotated[int, Between(0, 9223372036854775807)]
    """The shortest latency of the profile: an output earlier than half of it belongs to the
    cycle before.
    """
    overshoot: Literal["skip", "defer", "degrade"]
    """What becomes of an output that is ready after the last slot."""
    slots: tuple[ShapingBand, ...] = ()
    """In order, none overlapping."""


class OvershootOutcome(Document):
    """What a consumer sees under an overshoot policy, if some executions take longer than any
    observed.
    """

    policy: Literal["skip", "defer", "degrade"]
    """skip drops a late output, defer lets it out in the next slot, degrade at once."""
    count: Annotated[int, Between(0, 9223372036854775807)]
    """Executions."""
    dropped: Annotated[int, Between(0, 9223372036854775807)]
    """Outputs that never left."""
    late: Annotated[int, Between(0, 9223372036854775807)]
    """Outputs that left outside of the slots of their cycle."""
    max: Annotated[int, Between(0, 9223372036854775807)] | None = None
    """The longest latency."""
    longest_gap: Annotated[int, Between(0, 9223372036854775807)]
    """Between two outputs."""


class ShapingBaseline(Document):
    """The same chain under another way to let outputs out, simulated."""

    name: str
    """LET per chain or LET per callback."""
    latency: LatencyStatistics


class ShapedChain(Document):
    """A chain and the gate behind it."""

    id: str
    """The id of the chain in the model."""
    period: Annotated[int, Between(0, 9223372036854775807)]
    """How often the chain is activated."""
    executors: tuple[str, ...] = ()
    """The executors of its callbacks."""
    profile: LatencyStatistics
    unseen: float = 0
    """The share of executions that may be longer than the longest of the profile, with 95 %
    confidence.
    """
    bound: Annotated[int, Between(0, 9223372036854775807)] | None = None
    """The bound of the latency, if the last slot waits for it: no execution takes longer,
    wherever reservations place their budgets.
    """
    presumes: str | None = None
    """What the plan presumes of the supply of executors, in words; null: nothing beyond the
    model.
    """
    gate: ShapedGate
    after: LatencyStatistics
    overshoots: tuple[OvershootOutcome, ...] = ()
    """Simulated, one for each policy."""
    baselines: tuple[ShapingBaseline, ...] = ()
    """Logical execution time, simulated."""
    histogram: tuple[Annotated[int, Between(-9223372036854775807, 9223372036854775807)], ...] = ()
    """The profile's counts in bins of equal width from its shortest to its longest latency."""


class ShapingServer(Document):
    """When a chain's threads run."""

    chain: str
    """Its id."""
    cores: tuple[Annotated[int, Between(0, 9223372036854775807)], ...] = ()
    """The processors of the chain and of all that it waits for, each of which has these slots;
    empty: the model pins not all of them.
    """
    slots: tuple[ServerSlot, ...] = ()
    """In order, none overlapping."""


class ShapingMethod(Document):
    """How slots were chosen."""

    objective: Literal["mean", "cvar"] | None = None
    """What is least: the mean latency, or that of the share 1 - tail of the longest."""
    tail: float = 0
    """cvar is the mean of the share 1 - tail of the longest latencies."""
    confidence: float | None = None
    """The worst distribution within this confidence band was taken; null: the observed one."""
    bands: Annotated[int, Between(0, 9223372036854775807)] | None = None
    """Slots of each gate."""
    freshness: Annotated[int, Between(0, 9223372036854775807)] | None = None
    """The longest distance of successive slots."""
    grid: Annotated[int, Between(0, 9223372036854775807)] | None = None
    """Slots start at multiples of it."""
    slack: Annotated[int, Between(0, 9223372036854775807)] | None = None
    """Between the longest latency and the last slot."""
    source: Literal["simulation", "trace"] | None = None
    """Where the latencies are from."""


class Shaping(Document):
    """When within its period the output of a chain is let out, and what that does to its
    latency. Times are integers in nanoseconds, but for means.
    """

    format: Literal["takt/shaping"]
    version: Literal[1]
    name: str = ""
    """The name of the model."""
    provenance: dict[str, Any] = EMPTY
    method: ShapingMethod = ShapingMethod()
    cycle: Annotated[int, Between(0, 9223372036854775807)]
    """After which the tables of the servers repeat."""
    chains: tuple[ShapedChain, ...] = ()
    """The chains that are shaped."""
    servers: tuple[ShapingServer, ...] = ()
    """One table for the chains that share a core."""


class InputBox(Document):
    """A set of inputs: each between its two limits, which belong to the set."""

    lower: tuple[float, ...] = ()
    """The least value of each input."""
    upper: tuple[float, ...] = ()
    """The largest value of each input."""


class PlantJacobians(Document):
    """Derivatives, found when the document was made."""

    dynamics: tuple[tuple[str, ...], ...] = ()
    """Of each of the dynamics by each state, n by n."""
    outputs: tuple[tuple[str, ...], ...] = ()
    """Of each of the outputs by each state, p by n."""


class Plant(Document):
    """What is estimated. Expressions are written as SymPy prints them, in the states, inputs and
    parameters by name (docs/estimation.md has the grammar).
    """

    name: str = ""
    """What people call it."""
    states: tuple[str, ...] = ()
    """The names of the n states."""
    inputs: tuple[str, ...] = ()
    """The names of the m inputs, which are known as they are applied."""
    measurements: tuple[str, ...] = ()
    """The names of the p measurements."""
    parameters: dict[str, float] = EMPTY
    """Constants by name."""
    time: Literal["continuous", "discrete"] = "continuous"
    """continuous: the dynamics are the time derivative of the state; discrete: the state one
    period later.
    """
    integration_steps: Annotated[int, Between(1, 1000)] = 1
    """Steps of the classical Runge-Kutta method in each period, with the input held; of
    continuous dynamics.
    """
    dynamics: tuple[str, ...] = ()
    """One expression for each state."""
    outputs: tuple[str, ...] = ()
    """One expression for each measurement."""
    jacobians: PlantJacobians = PlantJacobians()
    physical_inputs: InputBox = InputBox()
    """All inputs that can ever occur. Outside it nothing is guaranteed."""
    process_noise: tuple[tuple[float, ...], ...] = ()
    """Q: covariance that one period adds to the state, n by n."""
    measurement_noise: tuple[tuple[float, ...], ...] = ()
    """R: covariance of a measurement, p by p."""


class LinearEstimator(Document):
    """The cheap estimator, a Kalman filter: with the deviations dx = x - state and du = u -
    input, dx becomes state_matrix dx + input_matrix du one period later, and a measurement is
    that of the operating point plus output_matrix dx + feedthrough_matrix du.
    """

    state: tuple[float, ...] = ()
    """The operating point."""
    input: tuple[float, ...] = ()
    """The input that keeps the operating point."""
    state_matrix: tuple[tuple[float, ...], ...] = ()
    """A over one period, n by n."""
    input_matrix: tuple[tuple[float, ...], ...] = ()
    """B over one period, n by m."""
    output_matrix: tuple[tuple[float, ...], ...] = ()
    """C, p by n."""
    feedthrough_matrix: tuple[tuple[float, ...], ...] | None = None
    """D, p by m; null: zero."""
    gain: tuple[tuple[float, ...], ...] | None = None
    """A constant gain, n by p, with which the regions were computed; all zero: measurements
    correct nothing, as in the published theory. null: the gain of the Kalman filter, from the
    covariances.
    """


class NonlinearEstimator(Document):
    """The estimator outside the linear region."""

    kind: Literal["ekf", "ukf", "particle"] = "ekf"
    alpha: float = 1.0
    """Spread of the sigma points."""
    beta: float = 2.0
    """What is known of the distribution; 2 for a Gaussian one."""
    kappa: float = 0.0
    """Second parameter of the spread."""
    particles: Annotated[int, Between(1, 1000000)] = 1000
    """How many particles."""
    seed: Annotated[int, Between(0, 9223372036854775807)] = 1
    """Of its random numbers: equal seeds and inputs give equal estimates."""
    resampling: Literal["systematic", "stratified", "residual"] = "systematic"
    """How particles are drawn anew."""


class Start(Document):
    """Where estimation begins. The linear mode is used from the start only if its confidence set
    lies in the region `back`.
    """

    state: tuple[float, ...] = ()
    """The first estimate."""
    covariance: tuple[tuple[float, ...], ...] = ()
    """Its covariance, n by n."""


class ErrorBound(Document):
    """What must never be exceeded: the norm of weights times (estimate - state), by state, is at
    most epsilon.
    """

    epsilon: float
    """The bound."""
    norm: Literal["euclidean", "maximum"] = "euclidean"
    """Which norm."""
    weights: tuple[float, ...] | None = None
    """One for each state, 0 where its error does not matter; null: all 1."""


class HandoverTiming(Document):
    """How long a hand-over takes and when one back is tried."""

    period: Annotated[int, Between(1, 1000000000000000)]
    """T_s: how often the estimator runs."""
    load_periods: Annotated[int, Between(1, 1000000)] = 1
    """k: whole periods from the last sample with an input in the decision bound to the first use
    of the nonlinear estimate.
    """
    actuation_delay: Annotated[int, Between(0, 1000000000000000)] = 0
    """R: from a sample to what is done with its estimate, so the response time of the estimator
    and of what follows.
    """
    window: Annotated[int, Between(1, 1000000000000000)]
    """Delta, for which the regions were computed: at least load_periods * period +
    actuation_delay, and at least the period.
    """
    return_window: Annotated[int, Between(1, 1000000000000000)] | None = None
    """The time for which the region `back` was computed, at least the window; null: the window."""
    return_after: Annotated[int, Between(1, 1000000)] = 1
    """So many samples in succession must allow the way back before it begins: hysteresis."""
    return_when: Literal["safe", "requested"] = "safe"
    """safe: back to the linear mode as soon as it is safe; requested: only after a request for
    the cheap mode, and then only if safe.
    """


class Confidence(Document):
    """What of an uncertain estimate must lie in the region `back`. For Kalman filters the box of
    deviations times the square root of the covariance's diagonal; for unscented ones, sigma
    points at the largest of the deviations as well; for particles the box of their
    percentiles. The true state may be anywhere in that set.
    """

    deviations: tuple[float, ...] | None = None
    """Standard deviations, one for each state; null: 3 each."""
    half_widths: tuple[float, ...] = ()
    """The widest set with which the linear mode may begin, one half-width for each state: the
    region `back` leaves room for such errors of the first estimate.
    """
    tail: float = 0.0027
    """alpha: particles' percentiles alpha/2 and 1 - alpha/2 of each state."""


class Axis(Document):
    """Equally spaced nodes from first to last, both included."""

    first: float
    """The first node."""
    last: float
    """The last node, above the first."""
    count: Annotated[int, Between(2, 65536)]
    """How many nodes."""


class ValueFile(Document):
    """Numbers in a file of their own beside the document, little endian."""

    name: str
    """The file's name, in the folder of the document."""
    sha256: str
    """Of its content."""
    type: Literal["float64", "float32"] = "float64"
    """Of each number."""


class Region(Document):
    """A set of points: where a value function is at most 0. Between nodes the function is
    interpolated linearly along each axis; a point outside the grid is outside the region.
    """

    space: Literal["state", "augmented"]
    """state: one axis for each state, and a point [x] stands for the duplicated point [x, x];
    the region back is such. augmented: [true state, estimate], 2n axes; the others are.
    """
    axes: tuple[Axis, ...] = ()
    """The grid, in the order of the states; in an augmented region the states, then their
    estimates.
    """
    values: tuple[float, ...] | None = None
    """At the nodes, the last axis fastest; null: in the file."""
    file: ValueFile | None = None
    """Where the values are, if not here."""
    error: float = 0.0
    """A bound on how far the interpolated function may be below the true one, of discretisation,
    interpolation and rounding: a point is in the region if the interpolated value plus this
    is at most 0.
    """


class Regions(Document):
    """Sets in absolute coordinates."""

    safe: Region | None = None
    """S: from where no physical input breaks the error bound within the window; augmented. Its
    value function is that of the backward problem.
    """
    linear: Region | None = None
    """R of the decision bound, the linear region; augmented."""
    back: Region
    """R' for the return window: a confidence set in it, with an input in the decision bound,
    allows the way back to the linear mode.
    """


class Handoff(Document):
    """A plant, its two estimators and when to hand over between them so that the error of the
    estimate stays bounded. Numbers are finite; times are integers in nanoseconds; matrices
    are lists of rows. Sets and coordinates are absolute, not deviations from the operating
    point.
    """

    format: Literal["takt/handoff"]
    version: Literal[2]
    name: str = ""
    """What people call it."""
    provenance: dict[str, Any] = EMPTY
    plant: Plant = Plant()
    linear: LinearEstimator = LinearEstimator()
    nonlinear: NonlinearEstimator = NonlinearEstimator()
    start: Start = Start()
    error_bound: ErrorBound
    decision: InputBox = InputBox()
    """K: while the input is in it the linear mode is safe. Part of the physical inputs, and it
    contains the input of the operating point.
    """
    timing: HandoverTiming
    confidence: Confidence = Confidence()
    regions: Regions
    assumptions: tuple[str, ...] = ()
    """What must hold for the guarantee, one sentence each."""
    design: dict[str, Any] = EMPTY
    """How the regions were found: methods, figures, what people want to see. Nothing at run time
    depends on it.
    """


class SummaryInput(Document):
    """A recording that the summary was made of."""

    path: str
    bytes: Annotated[int, Between(0, 9223372036854775807)] | None = None
    fingerprint: str
    """Recordings with equal ones are the same."""


class SummaryProvenance(Document):
    """Where the summary came from."""

    takt: str | None = None
    host: str | None = None
    created: str | None = None
    inputs: tuple[SummaryInput, ...] = ()


class SummaryDurations(Document):
    """A histogram. Bucket k has the values above g^(k-1) and up to g^k, g = 1.01/0.99; 2
    g^k/(g+1) stands for it.
    """

    zeros: Annotated[int, Between(0, 9223372036854775807)]
    """Values of 0 and below."""
    total: Annotated[int, Between(0, 9223372036854775807)]
    """The sum of all values, exact."""
    max: Annotated[int, Between(0, 9223372036854775807)]
    buckets: tuple[Annotated[int, Between(-9223372036854775807, 9223372036854775807)], ...] = ()
    counts: tuple[Annotated[int, Between(0, 9223372036854775807)], ...] = ()


class SummaryPart(Document):
    """A part of a chain's latency, summed over each instance that has it."""

    step: Annotated[int, Between(0, 9223372036854775807)]
    callback: str | None = None
    kind: str
    duration: SummaryDurations
    behind: dict[str, Annotated[int, Between(0, 9223372036854775807)]] = EMPTY
    """Of the waiting, the time behind each callback."""


class SummaryChain(Document):
    """A chain, with its complete instances."""

    id: str
    callbacks: tuple[str, ...] = ()
    """Its path, by which it is found in other recordings."""
    latency: SummaryDurations
    incomplete: Annotated[int, Between(0, 9223372036854775807)]
    parts: tuple[SummaryPart, ...] = ()


class SummaryCallback(Document):
    """A callback, with how long each run took."""

    id: str
    name: str
    node: str | None = None
    kind: str
    topic: str | None = None
    executor: str | None = None
    duration: SummaryDurations


class SummaryExecutor(Document):
    """An executor, and how busy it was."""

    id: str
    kind: str
    threads: Annotated[int, Between(0, 9223372036854775807)]
    nodes: tuple[str, ...] = ()
    """Those of its callbacks, by which it is found in other recordings."""
    callbacks: tuple[str, ...] = ()
    busy: Annotated[int, Between(0, 9223372036854775807)]
    """How long its callbacks ran, added up."""


class SummaryLink(Document):
    """Messages of a topic to a callback, from sending to taking."""

    topic: str
    target: Annotated[str, Key("to")]
    latency: SummaryDurations
    topic_deliveries: Annotated[int, Between(0, 9223372036854775807)]
    topic_lost: Annotated[int, Between(0, 9223372036854775807)]


class SummaryBound(Document):
    """A bound; null where there is none."""

    id: str
    bound: Annotated[int, Between(-9223372036854775807, 9223372036854775807)] | None = None


class SummaryBounds(Document):
    """The bounds of the recording's own model."""

    analysis: str
    callbacks: tuple[SummaryBound, ...] = ()
    chains: tuple[SummaryBound, ...] = ()


class Summary(Document):
    """What a recording comes down to, for comparisons with others. Times are integers in
    nanoseconds.
    """

    format: Literal["takt/summary"]
    version: Literal[1]
    relative_error: float
    """How far at most a value is from the one that stands for its bucket, as a share: 0.01."""
    provenance: SummaryProvenance = SummaryProvenance()
    labels: dict[str, str] = EMPTY
    """Those that no two recordings of it give different values."""
    machines: tuple[dict[str, Any], ...] = ()
    """The labels of each labelled recording (takt/labels), with its host, boot, kernel,
    distribution of ROS 2 and versions of packages.
    """
    begin: Annotated[int, Between(-9223372036854775807, 9223372036854775807)] | None = None
    """Time of the first event since the epoch."""
    duration: Annotated[int, Between(0, 9223372036854775807)]
    events: Annotated[int, Between(0, 9223372036854775807)]
    losses: dict[str, Annotated[int, Between(0, 9223372036854775807)]] = EMPTY
    """What the recording is known to lack: counts that are not 0."""
    warnings: tuple[str, ...] = ()
    chains: tuple[SummaryChain, ...] = ()
    callbacks: tuple[SummaryCallback, ...] = ()
    executors: tuple[SummaryExecutor, ...] = ()
    links: tuple[SummaryLink, ...] = ()
    bounds: SummaryBounds


class Labels(Document):
    """The labels of a recording, and the machine that it was made on."""

    format: Literal["takt/labels"]
    version: Literal[1]
    labels: dict[str, str] = EMPTY
    host: str | None = None
    boot: str | None = None
    """The boot that it was made in: the kernel's random number for it (boot_id)."""
    kernel: str | None = None
    ros: str | None = None
    """The distribution of ROS 2."""
    packages: dict[str, str] = EMPTY
    """The version of each ROS package."""
