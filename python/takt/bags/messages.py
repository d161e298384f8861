"""What is read of a message."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

PREFIX = 1024
"""Bytes of a message that are read: enough for a header with any sensible frame."""
MOST_TOPICS = 1 << 16
"""As many channels as MCAP can have."""


class Topic(NamedTuple):
    """A topic with one type; another one of the same name may have another type."""

    name: str
    type: str
    """Such as "sensor_msgs/msg/Image"."""
    encoding: str
    """Of the messages; ROS 2 has "cdr"."""
    definition: str | None
    """The text of the message definition with those that it uses; None: the bag has none."""


class Message(NamedTuple):
    topic: Topic
    logged: int
    """When the recorder took it, in ns since the epoch."""
    data: bytes
    """Its first bytes, PREFIX at least, if it has as many."""
    sent: int | None = None
    """When it was published, by the publisher's clock, if the bag has that."""


@dataclass
class Losses:
    """What could not be read of a bag."""

    messages: int = 0
    """Messages that are there, but without a topic or a time."""
    faults: list[str] = field(default_factory=list)
    """A line for each file, or part of one, that could not be read."""

    MOST_FAULTS = 20

    def add(self, line: str) -> None:
        if len(self.faults) < self.MOST_FAULTS:
            self.faults.append(line)
        elif len(self.faults) == self.MOST_FAULTS:
            self.faults.append("… and more")
