"""What `takt share --status` says of programs that answer, and of those that answer nonsense."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from takt.errors import UserError
from takt.processes import sharing

PUBLISHER = {
    "topic": "/image",
    "end": "publisher",
    "shared": True,
    "latched": False,
    "matched": 2,
    "joined": 2,
    "bytes": 65536,
}
REFUSED = {"topic": "/map", "end": "subscription", "why_not": "it keeps all messages"}


@pytest.fixture
def environment() -> Iterator[dict[str, str]]:
    """With a folder of its own, whose name is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="takt-") as name:
        yield {"XDG_RUNTIME_DIR": name}


def memory(text: bytes, seals: int = sharing.SEALS) -> int:
    descriptor = os.memfd_create("text", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(descriptor, text)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor


def packet(text: bytes) -> bytes:
    return sharing.PACKET.pack(sharing.STATUS, 0, len(text))


@contextmanager
def answering(path: Path, said: bytes, *handed: int) -> Iterator[None]:
    """A process that answers the first who asks."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(str(path))
        listening.listen()

        def answer() -> None:
            with listening.accept()[0] as connection:
                if said:
                    socket.send_fds(connection, [said], handed)

        thread = threading.Thread(target=answer)
        thread.start()
        yield
        thread.join()


def told(environment: dict[str, str], said: bytes, *handed: int) -> list[Any]:
    with answering(sharing.folder(environment) / "status.5.6", said, *handed):
        topics: list[Any] = sharing.status(environment)["topics"]
    (sharing.folder(environment) / "status.5.6").unlink()
    for one in handed:
        os.close(one)
    return topics


def test_all_ends_are_listed(environment: dict[str, str]) -> None:
    many = [REFUSED | {"topic": f"/map{number}"} for number in range(5000)]
    text = json.dumps([PUBLISHER, REFUSED, *many]).encode()
    topics = told(environment, packet(text), memory(text))
    assert len(topics) == 5002
    image = topics[0]
    assert image["topic"] == "/image"
    (end,) = image["ends"]
    assert end.pop("program")
    assert end == {name: value for name, value in PUBLISHER.items() if name != "topic"} | {
        "process": os.getpid()
    }


def test_nonsense_is_passed_over(environment: dict[str, str]) -> None:
    good = json.dumps([REFUSED]).encode()
    assert len(told(environment, packet(good), memory(good))) == 1
    assert told(environment, b"") == []
    assert told(environment, packet(good)) == []
    assert told(environment, packet(good)[1:], memory(good)) == []
    assert told(environment, good, memory(good)) == []
    assert told(environment, packet(good), memory(good, 0)) == []
    assert told(environment, packet(good), os.open("/dev/zero", os.O_RDONLY)) == []
    reading, writing = os.pipe()
    assert told(environment, packet(good), reading, writing) == []
    assert told(environment, sharing.PACKET.pack(sharing.STATUS, 0, 1 << 62), memory(good)) == []
    for text in (b"[" * 100_000, b"\xff", b"{}", b"7", b"null", b'["", 5, null, [], {}]'):
        assert told(environment, packet(text), memory(text)) == []
    for name in PUBLISHER:
        others: list[Any] = [None, [], {}, 1.5, "\x1b[31m"]
        for other in others:
            text = json.dumps([PUBLISHER | {name: other}]).encode()
            is_text = name == "topic" and isinstance(other, str)
            assert len(told(environment, packet(text), memory(text))) == is_text
    text = json.dumps([REFUSED | {"why_not": 5}, REFUSED | {"process": [], "more": 1}]).encode()
    (topic,) = told(environment, packet(text), memory(text))
    assert set(topic["ends"][0]) == {"process", "program", "end", "why_not"}


def test_sockets_without_a_process_are_removed(environment: dict[str, str]) -> None:
    place = sharing.folder(environment)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as ended:
        ended.bind(str(place / "status.5.6"))
    for name in ("status", "status.x.6", "status.²", "status.5.6.new"):
        (place / name).touch()
    assert sharing.status(environment)["topics"] == []
    assert not (place / "status.5.6").exists()
    assert (place / "status.5.6.new").exists()


@pytest.mark.parametrize("pattern", ["", "camera", "camera/*", "--", " /camera"])
def test_patterns_that_fit_no_topic_are_refused(pattern: str) -> None:
    with pytest.raises(UserError, match="begin with a slash"):
        sharing.asked(pattern, share=True, command=["true"])
    with pytest.raises(UserError, match="begin with a slash"):
        sharing.run(["true"], pattern)


@pytest.mark.parametrize("pattern", ["/camera", "*", "*/image", "?camera", "[/]camera"])
def test_patterns_that_may_fit_are_taken(pattern: str) -> None:
    assert sharing.asked(pattern, share=True, command=["true"]) == pattern


def test_a_publisher_says_no_more_than_it_knows_of_its_subscriptions() -> None:
    # One that shares may be one that the middleware has not matched, for its quality of service.
    publisher = PUBLISHER | {"shared": False, "matched": 4, "joined": 2}
    assert sharing.state(publisher).endswith("at least 2 of 4 subscriptions do not share it")
    assert "until each" in sharing.state(publisher | {"joined": 4})
    assert sharing.state(publisher | {"matched": 0, "joined": 0}) == "no subscription shares it"


def test_with_security_a_line_says_that_nothing_is_shared(
    environment: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    for value, said in (("true", True), ("false", False)):
        sharing.shared(environment | {"ROS_SECURITY_ENABLE": value})
        assert ("nothing is shared" in capsys.readouterr().err) is said
