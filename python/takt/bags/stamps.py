"""The header's stamp in the bytes of a message.

Messages are CDR: four bytes that say how, then the fields, one after the other. So a stamp is at a
known place where nothing of variable length is before it: in a type that begins with a header, or
with a structure, or a list, whose first field is one.

A bag of ROS 2 Humble in SQLite has no definitions of types. There a type is taken to begin with a
header if the bytes of all its messages look like one, and its stamps go on as fast as the clock of
the recorder (`Guess`).
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from functools import lru_cache

from takt.bags.messages import Topic

SECOND = 1_000_000_000

_ENCAPSULATION = 4
_TIME = "builtin_interfaces/Time"
_HEADER = "std_msgs/Header"
_DEEPEST = 16
_FIELD = re.compile(r"([A-Za-z][\w/]*)(?:<=\d+)?(\[[^\]]*\])?\s+([A-Za-z]\w*)\s*(=?)")
_BREAK = re.compile(r"^=+\s*\nMSG:\s*(\S+)[^\n]*\n", re.MULTILINE)
_LONGEST_FRAME = 512

CLOCK = "rosgraph_msgs/msg/Clock"
"""Its time is not a stamp, but the simulated time itself."""
_KNOWN: dict[str, int | None] = {"tf2_msgs/msg/TFMessage": 1, CLOCK: None}
"""Types of ROS 2 that do not begin with a header, as lists()."""


@dataclass(frozen=True)
class Layout:
    """Where a type has its stamp."""

    lists: int | None
    """How many lists begin before it, whose first element has it; None: none that is read."""
    guessed: bool = False
    """Whether the bag has no definition of the type, and it shall look like a header."""

    def stamp(self, data: bytes) -> int | None:
        """The stamp in ns; 0 if it was not set, None if the bytes cannot be one."""
        if len(data) < _ENCAPSULATION or data[0] != 0 or data[1] > 1 or self.lists is None:
            return None
        order = "<" if data[1] else ">"
        at = _ENCAPSULATION + 4 * self.lists
        if len(data) < at + 8:
            return None
        for number in range(self.lists):
            (length,) = struct.unpack_from(order + "I", data, _ENCAPSULATION + 4 * number)
            if length == 0:
                return None
        seconds, rest = struct.unpack_from(order + "iI", data, at)
        if seconds < 0 or rest >= SECOND:
            return None
        if self.guessed and not _is_frame(data, order, at + 8):
            return None
        return int(seconds * SECOND + rest)


def _is_frame(data: bytes, order: str, at: int) -> bool:
    """Whether a text that ends with 0, as CDR has it, is at this place."""
    if len(data) < at + 4:
        return False
    (length,) = struct.unpack_from(order + "I", data, at)
    text = data[at + 4 : at + 4 + length]
    if not 1 <= length <= _LONGEST_FRAME or len(text) < length or text[-1] != 0:
        return False
    try:
        return text[:-1].decode("utf-8").isprintable()
    except UnicodeDecodeError:
        return False


@lru_cache(maxsize=4096)
def layout(topic: Topic) -> Layout:
    """Where messages of the topic have their stamp."""
    if topic.encoding != "cdr":
        return Layout(None)
    if topic.type in _KNOWN:
        return Layout(_KNOWN[topic.type])
    if topic.definition is None:
        return Layout(0, guessed=True)
    return Layout(_lists_before_stamp(topic.type, topic.definition))


def _lists_before_stamp(name: str, text: str) -> int | None:
    """Follows first fields from a type to a header, or to a time that is called stamp."""
    own, *others = _BREAK.split(text)
    definitions = {
        _short(other): body for other, body in zip(others[::2], others[1::2], strict=True)
    }
    package, lists, body = _short(name).rpartition("/")[0], 0, own
    for _ in range(_DEEPEST):
        first = _first_field(body)
        if first is None:
            return None
        kind, suffix, field = first
        kind = _HEADER if kind == "Header" else _short(kind)
        if "/" not in kind and f"{package}/{kind}" in definitions:
            kind = f"{package}/{kind}"
        if suffix in ("[0]", "[<=0]"):
            return None
        if suffix is not None and not re.fullmatch(r"\[\d+\]", suffix):
            lists += 1
        if kind == _HEADER or (kind == _TIME and field == "stamp"):
            return lists
        if kind not in definitions:
            return None
        package, body = kind.rpartition("/")[0], definitions[kind]
    return None


def _first_field(body: str) -> tuple[str, str | None, str] | None:
    """Type, brackets and name of the first field that is no constant."""
    for line in body.splitlines():
        found = _FIELD.match(line.strip())
        if found is not None and not found[4]:
            return found[1], found[2], found[3]
    return None


def _short(name: str) -> str:
    """ "std_msgs/msg/Header" → "std_msgs/Header"."""
    return name.replace("/msg/", "/")


@dataclass
class Guess:
    """Whether stamps that were read by a guessed layout are stamps."""

    read: int = 0
    failed: int = 0
    first: tuple[int, int] | None = None
    """(stamp, logged) of the first message whose stamp was set."""
    last: tuple[int, int] = (0, 0)

    def add(self, stamp: int | None, logged: int) -> None:
        if stamp is None:
            self.failed += 1
        elif stamp > 0:
            self.read += 1
            self.last = (stamp, logged)
            if self.first is None:
                self.first = self.last

    @property
    def holds(self) -> bool:
        """Whether all messages have one, and time went on in them as it did for the recorder,
        within a factor of two (simulations are slower or faster).
        """
        if self.failed or self.read < 2 or self.first is None:
            return False
        stamps, logged = self.last[0] - self.first[0], self.last[1] - self.first[1]
        return 0 < logged <= 2 * stamps <= 4 * logged
