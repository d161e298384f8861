"""The control socket of a running `takt manage`, which only its user can reach."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from takt import files
from takt.errors import UserError

Json = dict[str, Any]

PATIENCE = 5.0
"""Seconds that a manager may take to answer; it looks ten times a second."""


def folder(environment: Mapping[str, str] = os.environ) -> Path:
    """The directory, writable by this user alone, that holds the socket of a manager with this
    environment; made if it is missing. UserError if another user could write there.
    """
    chosen = environment.get("XDG_RUNTIME_DIR")
    runtime = Path(chosen) if chosen and files.is_of_this_user_alone(Path(chosen)) else Path("/run")
    place = runtime / "takt"
    if not os.access(runtime, os.W_OK):
        place = Path(f"/tmp/takt-{os.geteuid()}")
    with suppress(FileExistsError):
        place.mkdir(mode=0o700)
    if not files.is_of_this_user_alone(place):
        raise UserError(f"{place}: not a directory of this user alone; remove it")
    return place


def path(environment: Mapping[str, str] = os.environ) -> Path:
    return folder(environment) / "manager.sock"


def request(line: str, environment: Mapping[str, str] = os.environ) -> Json:
    """Sends a line to the manager that runs with this environment and returns its answer. UserError
    if none runs or it refuses.
    """
    where = path(environment)
    answer = b""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(PATIENCE)
        try:
            connection.connect(str(where))
            connection.sendall(line.encode() + b"\n")
            while part := connection.recv(65536):
                answer += part
        except (FileNotFoundError, ConnectionRefusedError):
            raise UserError(f"{where}: no takt manage of this user runs") from None
        except OSError as error:
            raise UserError(f"{where}: takt manage does not answer: {error}") from error
    try:
        found: Json = json.loads(answer)
    except ValueError:
        raise UserError(f"{where}: takt manage gave no whole answer") from None
    if "error" in found:
        raise UserError(str(found["error"]))
    return found
