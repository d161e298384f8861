"""The viewer's server: one page and the answers to its questions, on this machine alone.

Only those who have the address can look: it holds a token that cannot be guessed. The server
listens on 127.0.0.1, answers requests for that name only (a page elsewhere may have its own name
point here), and changes nothing.
"""

from __future__ import annotations

import contextlib
import hmac
import secrets
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import takt_native

HOST = "127.0.0.1"

MOST_ROWS = 100_000
"""The most rows of an answer."""

Values = Mapping[str, str]
Answer = tuple[str, bytes]  # content type, content


class Server(ThreadingHTTPServer):
    """Serves a page and the document that its questions are about. Port 0: any that is free."""

    daemon_threads = True

    def __init__(self, page: str, document: takt_native.StoredView, port: int = 0) -> None:
        self.page = page.encode()
        self.document = document
        self.token = secrets.token_urlsafe(24)
        super().__init__((HOST, port), _Handler)

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"http://{HOST}:{self.server_port}/{self.token}/"

    def answer(self, question: str, values: Values) -> Answer | None:
        """The answer to a request; None: no such question. ValueError, KeyError or TypeError: it
        lacks a value, or has an impossible one.
        """
        if not question:
            return "text/html; charset=utf-8", self.page
        if question == "tile":
            tile = self.document.tile(_number(values, "level"), _number(values, "number"))
            return "application/octet-stream", tile
        ask = QUESTIONS.get(question)
        return ask and ("application/json", ask(self.document, values).encode())


def _number(values: Values, name: str) -> int:
    number = int(values[name])
    if not -(2**62) < number < 2**62:
        raise ValueError(name)
    return number


def _rows(values: Values) -> int:
    return min(max(_number(values, "limit"), 0), MOST_ROWS)


def _messages(document: takt_native.StoredView, values: Values) -> str:
    return document.messages(_number(values, "from"), _number(values, "to"), _rows(values))


def _instances(document: takt_native.StoredView, values: Values) -> str:
    chain, incomplete = _number(values, "chain"), bool(_number(values, "incomplete"))
    latency = _number(values, "from"), _number(values, "to")
    return document.instances(chain, *latency, incomplete, _rows(values))


def _area(document: takt_native.StoredView, values: Values) -> str:
    tracks = [int(track) for track in values.get("tracks", "").split(",") if track][:MOST_ROWS]
    return document.area(_number(values, "from"), _number(values, "to"), tracks)


def _neighbour(document: takt_native.StoredView, values: Values) -> str:
    callback, time = _number(values, "callback"), _number(values, "time")
    return document.neighbour(callback, time, 1 if _number(values, "direction") > 0 else -1)


QUESTIONS: dict[str, Callable[[takt_native.StoredView, Values], str]] = {
    "messages": _messages,
    "span": lambda document, values: document.span(_number(values, "id")),
    "flow": lambda document, values: document.flow(_number(values, "span")),
    "histogram": lambda document, values: document.histogram(
        _number(values, "chain"), _number(values, "bins")
    ),
    "instances": _instances,
    "instance": lambda document, values: document.instance(_number(values, "id")),
    "area": _area,
    "neighbour": _neighbour,
    "series": lambda document, values: document.series(
        _number(values, "callback"), _number(values, "bins")
    ),
}
"""`DataSource` in web/src/data/source.ts says what they mean."""


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    server_version = "takt"
    sys_version = ""
    timeout = 60

    def handle(self) -> None:
        # Browsers keep connections open, and may reset them at any time.
        with contextlib.suppress(ConnectionError):
            super().handle()

    def do_GET(self) -> None:
        # Not urlsplit(), which raises for some addresses.
        path, _, query = self.path.partition("?")
        token, _, question = path.removeprefix("/").partition("/")
        known = hmac.compare_digest(token.encode(), self.server.token.encode())
        if not known or self.headers.get("Host") != f"{HOST}:{self.server.server_port}":
            self._refuse(HTTPStatus.NOT_FOUND)
            return
        values = {name: found[-1] for name, found in parse_qs(query).items()}
        try:
            answer = self.server.answer(question, values)
        except (KeyError, ValueError, OverflowError, TypeError):
            # TypeError: a number that is too large for the type that libtakt has for it.
            self._refuse(HTTPStatus.BAD_REQUEST)
            return
        if answer is None:
            self._refuse(HTTPStatus.NOT_FOUND)
        else:
            self._send(HTTPStatus.OK, *answer)

    def _refuse(self, status: HTTPStatus) -> None:
        self._send(status, "text/plain; charset=utf-8", status.phrase.encode())

    def _send(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("X-Content-Type-Options", "nosniff")
            self.send_header("Referrer-Policy", "no-referrer")
            self.send_header("Cross-Origin-Resource-Policy", "same-origin")
            self.end_headers()
            self.wfile.write(content)
        except ConnectionError:
            self.close_connection = True  # The page was closed before it had its answer.

    def log_message(self, *_: Any) -> None:
        """The terminal is for the address."""
