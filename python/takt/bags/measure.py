"""What is counted of a bag, message by message, in memory that depends on its topics alone."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

from takt.bags.distribution import Distribution
from takt.bags.messages import Message, Topic
from takt.bags.stamps import CLOCK, Guess, layout
from takt.errors import UserError

MOST_TOPICS = 4096
STAMPS_KEPT = 1 << 16
"""Of the newest stamps it is known which topics carried them: a minute of a robot with a thousand
stamps a second.
"""
MOST_PAIRS = 1 << 14


@dataclass
class OfTopic:
    """What was seen of a topic. Times in ns since the epoch."""

    name: str
    number: int
    types: dict[str, None] = field(default_factory=dict)
    """A set that keeps its order."""
    count: int = 0
    first: int = 0
    last: int = 0
    """The largest time so far."""
    backwards: int = 0
    """Messages that were logged before the one in front of them."""
    gaps: Distribution = field(default_factory=Distribution)
    longest_gap: tuple[int, int] = (-1, 0)
    """Its length, and when it began."""
    delays: Distribution = field(default_factory=Distribution)
    """From the publication of a message until it was logged, where the bag has both."""
    ages: Distribution = field(default_factory=Distribution)
    """From a message's stamp until it was logged."""
    unset: int = 0
    """Messages whose stamp is 0."""
    unreadable: int = 0
    """Messages that should have a stamp and have none that can be read, such as an empty list."""
    stamps: int = 0
    """Different ones, as far as they were kept."""
    stamped: bool = False
    """Whether its type has a stamp, known or guessed."""
    guess: Guess | None = None
    """If it is a guess that its type has one."""

    @property
    def has_stamps(self) -> bool:
        return self.stamps > 0 and (self.guess is None or self.guess.holds)

    def note(self, message: Message) -> int | None:
        """Counts a message. Returns its stamp if it has one."""
        self.types.setdefault(message.topic.type)
        logged = message.logged
        if self.count == 0:
            self.first = self.last = logged
        elif logged < self.last:
            self.backwards += 1
            self.first = min(self.first, logged)
        else:
            gap = logged - self.last
            self.gaps.add(gap)
            if gap > self.longest_gap[0]:
                self.longest_gap = (gap, self.last)
            self.last = logged
        self.count += 1
        if message.sent is not None:
            self.delays.add(logged - message.sent)
        place = layout(message.topic)
        if place.lists is None:
            return None
        stamp = place.stamp(message.data)
        if place.guessed:
            self.guess = self.guess or Guess()
            self.guess.add(stamp, logged)
        self.stamped = True
        if stamp is None:
            self.unreadable += 1
        elif stamp == 0:
            self.unset += 1
            stamp = None
        else:
            self.ages.add(logged - stamp)
        return stamp


@dataclass(frozen=True)
class Pair:
    """Two topics that carry the same stamps."""

    source: OfTopic
    target: OfTopic
    latency: Distribution
    """From the log time of the first message with a stamp in `source` to that in `target`."""


@dataclass
class Measured:
    """A bag as far as it was read."""

    topics: dict[str, OfTopic] = field(default_factory=dict)
    simulated: bool = False
    """Whether the bag has a clock of a simulation."""
    pairs_left_out: int = 0
    """Equal stamps of two topics that are not in the pairs, which are too many."""
    _by_number: list[OfTopic] = field(default_factory=list)
    _pairs: dict[tuple[int, int], Distribution] = field(default_factory=dict)
    _stamps: OrderedDict[int, dict[int, int]] = field(default_factory=OrderedDict)
    """For each stamp when each topic, by number, first carried it."""

    @property
    def count(self) -> int:
        return sum(topic.count for topic in self.topics.values())

    @property
    def begin(self) -> int:
        return min(topic.first for topic in self.topics.values())

    @property
    def end(self) -> int:
        return max(topic.last for topic in self.topics.values())

    def add(self, messages: Iterable[Message]) -> None:
        """Counts all messages, in any order. UserError if they have too many topics."""
        for message in messages:
            topic = self.topics.get(message.topic.name) or self._new(message.topic)
            stamp = topic.note(message)
            if stamp is not None:
                self._note_stamp(topic, stamp, message.logged)

    def pairs(self) -> list[Pair]:
        """Each two topics with equal stamps once, from the one that mostly had them first; those
        with most messages first.
        """
        found = []
        for (one, other), latency in self._pairs.items():
            source, target = self._by_number[one], self._by_number[other]
            if not (source.has_stamps and target.has_stamps):
                continue
            if 2 * latency.negative > latency.count:
                source, target, latency = target, source, latency.negated
            found.append(Pair(source, target, latency))
        return sorted(
            found, key=lambda pair: (-pair.latency.count, pair.source.name, pair.target.name)
        )

    def between(self, source: str, target: str) -> Distribution:
        """The latencies from one topic to another; negative where the other had the stamp first."""
        one, other = self.topics[source].number, self.topics[target].number
        if (one, other) in self._pairs:
            return self._pairs[one, other]
        reverse = self._pairs.get((other, one))
        return reverse.negated if reverse else Distribution()

    def _new(self, topic: Topic) -> OfTopic:
        if len(self._by_number) == MOST_TOPICS:
            raise UserError(f"more than {MOST_TOPICS} topics; is it a bag of a robot?")
        made = OfTopic(topic.name, len(self._by_number))
        self._by_number.append(made)
        self.topics[topic.name] = made
        self.simulated |= topic.type == CLOCK
        return made

    def _note_stamp(self, topic: OfTopic, stamp: int, logged: int) -> None:
        carriers = self._stamps.get(stamp)
        if carriers is None:
            carriers = self._stamps[stamp] = {}
            if len(self._stamps) > STAMPS_KEPT:
                self._stamps.popitem(last=False)
        if topic.number in carriers:
            return
        topic.stamps += 1
        for other, time in carriers.items():
            self._add(other, topic.number, logged - time)
        carriers[topic.number] = logged

    def _add(self, one: int, other: int, latency: int) -> None:
        if one > other:
            one, other, latency = other, one, -latency
        distribution = self._pairs.get((one, other))
        if distribution is None:
            if len(self._pairs) == MOST_PAIRS:
                self.pairs_left_out += 1
                return
            distribution = self._pairs[one, other] = Distribution()
        distribution.add(latency)
