"""takt serve where things go wrong: a disk that takes no more, a browser that goes away."""

from __future__ import annotations

import resource
import signal
import socket
import struct
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from takt import inputs, pipeline
from takt.report import stored

RECORDING = Path(__file__).resolve().parents[1] / "recordings" / "autoware.tar.xz"


def unpacked(folder: Path) -> Path:
    """The recording as a folder."""
    with tarfile.open(RECORDING) as archive:
        archive.extractall(folder / "trace", filter="data")
    return folder / "trace"


@pytest.mark.parametrize("largest", [1 << 10, 100 << 10])
def test_a_full_disk_is_one_line_and_leaves_nothing_behind(tmp_path: Path, largest: int) -> None:
    """No file may get larger, as if the disk were full: before the tables are written, and then."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))

    trace = unpacked(tmp_path)
    cache = tmp_path / "cache"
    done = subprocess.run(
        [sys.executable, "-m", "takt", "serve", str(trace), "--cache", str(cache)],
        capture_output=True,
        text=True,
        preexec_fn=limit,
    )
    assert done.returncode == 2, done.stderr
    lines = [line for line in done.stderr.splitlines() if "warning" not in line]
    assert len(lines) == 1, done.stderr
    assert "File too large" in lines[0]
    assert list(cache.iterdir()) == []


def test_what_strangers_and_browsers_do_to_connections_is_no_error(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "takt", "serve", str(unpacked(tmp_path))]
    with subprocess.Popen(
        [*command, "--cache", str(tmp_path / "cache")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        port = urlsplit(server.stdout.readline()).port
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", port or 0)) as browser:
                browser.sendall(b"GET / HTTP/1.1\r\n\r\n")
                assert b"404" in browser.recv(1000)
                # Closed by a reset of the connection.
                linger = struct.pack("ii", 1, 0)
                browser.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        # Nor is an address that is none, which anyone on this machine may ask for.
        with socket.create_connection(("127.0.0.1", port or 0)) as stranger:
            stranger.sendall(b"GET http://[/ HTTP/1.0\r\n\r\n")
            assert b"404" in stranger.recv(100)
        # A request that comes now is served after them.
        with socket.create_connection(("127.0.0.1", port or 0)) as browser:
            browser.sendall(b"GET / HTTP/1.0\r\n\r\n")
            assert b"404" in browser.recv(100)
        server.send_signal(signal.SIGTERM)
        told = server.stderr.read()
    assert "Traceback" not in told, told


def test_what_is_ended_while_it_indexes_leaves_nothing_behind(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    command = [sys.executable, "-m", "takt", "serve", str(unpacked(tmp_path))]
    with subprocess.Popen([*command, "--cache", str(cache)], stderr=subprocess.PIPE) as server:
        while not any(cache.glob(".*/written/*")) and server.poll() is None:
            time.sleep(0.001)
        server.send_signal(signal.SIGTERM)
    assert not [path for path in cache.iterdir() if path.name.startswith(".")]


def test_two_at_once_share_the_index(tmp_path: Path) -> None:
    trace, cache = unpacked(tmp_path), tmp_path / "cache"
    # What a recording has left behind is no part of the trace.
    (trace / "dangling").symlink_to("nothing")
    command = [sys.executable, "-m", "takt", "serve", str(trace), "--cache", str(cache)]
    servers = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    addresses = []
    for server in servers:
        assert server.stdout is not None
        addresses.append(server.stdout.readline())
        server.send_signal(signal.SIGTERM)
    ended = [server.communicate() for server in servers]
    assert all(address.startswith("http://127.0.0.1:") for address in addresses), ended
    assert len(list(cache.iterdir())) == 1


def test_what_is_left_of_an_index_makes_room(tmp_path: Path) -> None:
    """Somebody ended the removal of an index that was not used any more."""
    trace, cache = unpacked(tmp_path), tmp_path / "cache"
    folder = stored.folder_of([str(trace)], pipeline.DEFAULT_ANALYSIS, None, cache)
    folder.mkdir(parents=True)
    (folder / "runs.column").write_bytes(b"")
    stored.make(folder, inputs.Given([str(trace)]), pipeline.DEFAULT_ANALYSIS, None)
    assert stored.is_complete(folder)


def test_a_cache_that_cannot_be_written_is_one_line_with_a_way_out(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "takt", "serve", str(RECORDING)]
    taken = tmp_path / "file"
    taken.touch()
    for cache in ("/proc/takt/serve", str(taken / "serve")):
        done = subprocess.run([*command, "--cache", cache], capture_output=True, text=True)
        assert done.returncode == 2, done.stderr
        (line,) = done.stderr.splitlines()
        assert "--cache" in line
        assert cache in line
