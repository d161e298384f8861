"""takt fleet on object stores: S3 by moto's server, Azure's by azurite (setup/stores.sh)."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

import takt as package
import takt_native
from test_fleet import ROBOTS, write_runs

STORES = Path(__file__).parents[2] / "build" / "stores"
PYTHON = STORES / "bin" / "python"

pytestmark = pytest.mark.skipif(
    not (STORES / "state").exists(), reason="there is no build/stores: run setup/stores.sh"
)

COMMANDS = """
import json, sys
from takt.cli import main

for arguments in json.loads(sys.argv[1]):
    print(main(arguments), flush=True)
"""

MAKE_BUCKET = "import boto3; boto3.client('s3').create_bucket(Bucket='fleet')"
MAKE_CONTAINER = """
import os
from azure.storage.blob import BlobServiceClient

client = BlobServiceClient.from_connection_string(os.environ["AZURE_STORAGE_CONNECTION_STRING"])
client.create_container("fleet")
"""
AZURE_ACCOUNT = "devstoreaccount1"
# The key of that account in every Azurite, which its documentation prints.
AZURE_KEY = (
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)


class Remote(NamedTuple):
    """A running object store with an empty place for runs."""

    url: str
    known: dict[str, str]
    """The environment of somebody who may use it."""
    strangers: dict[str, tuple[dict[str, str], str]]
    """The environments of those who may not, and what they are told."""


def with_python(
    program: str, environment: dict[str, str], *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Runs a program with the Python of the stores, which finds this Takt."""
    folders = [Path(package.__file__).parents[1], Path(takt_native.__file__).parent]
    return subprocess.run(
        [PYTHON, "-c", program, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders)), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@contextmanager
def server(command: list[str | Path], environment: dict[str, str]) -> Iterator[str]:
    """Starts a server, which says where it listens; its address."""
    child = subprocess.Popen(
        command,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert child.stdout is not None
    try:
        told = ""
        for line in child.stdout:
            told += line
            if found := re.search(r"http://127\.0\.0\.1:[1-9]\d*", line):
                yield found.group()
                return
        pytest.fail(f"{command[0]} ended: {told}")
    finally:
        os.killpg(child.pid, signal.SIGKILL)  # with what the server has started itself
        child.communicate()


@contextmanager
def s3(folder: Path) -> Iterator[Remote]:
    # It does not ask for credentials for the first calls, and knows nobody afterwards.
    calls = 1 if folder.name == "strict" else 10_000
    options = {"INITIAL_NO_AUTH_ACTION_COUNT": str(calls), "PYTHONUNBUFFERED": "1"}
    with server([PYTHON, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"], options) as address:
        anonymous = {
            "AWS_ENDPOINT_URL": address,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": "/nowhere",
            "AWS_SHARED_CREDENTIALS_FILE": "/nowhere",
        }
        known = {**anonymous, "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
        assert with_python(MAKE_BUCKET, known).returncode == 0
        yield Remote(
            "s3://fleet/store",
            known,
            {
                "wrong credentials": (known, "Forbidden"),
                "no credentials": (anonymous, "Unable to locate credentials"),
            },
        )


@contextmanager
def azure(folder: Path) -> Iterator[Remote]:
    program = STORES / "node_modules" / ".bin" / "azurite-blob"
    options = ["--blobPort", "0", "--silent", "--disableTelemetry", "--skipApiVersionCheck"]
    with server([program, "--location", folder, *options], {}) as address:
        account = {"DefaultEndpointsProtocol": "http", "AccountName": AZURE_ACCOUNT}
        account["BlobEndpoint"] = f"{address}/{AZURE_ACCOUNT}"

        def environment(key: str) -> dict[str, str]:
            fields = {**account, "AccountKey": key}
            text = ";".join(f"{name}={value}" for name, value in fields.items())
            return {"AZURE_STORAGE_CONNECTION_STRING": text}

        known = environment(AZURE_KEY)
        made = with_python(MAKE_CONTAINER, known)
        assert made.returncode == 0, made.stderr
        yield Remote(
            "az://fleet/store",
            known,
            {
                "wrong credentials": (environment("d3Jvbmc="), "failed to authenticate"),
                "no credentials": ({}, "account"),
            },
        )


STORE = {"s3": s3, "azure": azure}


@pytest.mark.parametrize("kind", STORE)
def test_a_store_may_be_an_object_store(tmp_path: Path, kind: str) -> None:
    write_runs(tmp_path / "runs", ROBOTS[:1])
    runs = str(tmp_path / "runs")
    with STORE[kind](tmp_path / "open") as remote:
        store = remote.url
        calls = [
            ["fleet", "add", store, runs],
            ["fleet", "add", store, runs],
            ["fleet", "query", store, "select count(*), count(distinct run) from runs"],
            ["fleet", "remove", f"{store}?version=1.0"],
            ["fleet", "query", store, "select min(version) from runs"],
            ["fleet", "report", store, "-o", str(tmp_path / "page.html")],
            ["fleet", "status", store.replace("fleet", "other")],
        ]
        done = with_python(COMMANDS, remote.known, json.dumps(calls))
    assert done.returncode == 0, done.stderr
    told = done.stdout.split("\n")
    assert told[:4] == ["Added 4 runs", "0", "Added 0 runs; 4 runs already there", "0"], done.stderr
    assert told[5].split() == ["4", "4"], done.stderr
    assert told[7:9] == ["Removed 1 run", "0"]
    assert told[10].strip() == "1.1"
    assert told[-2] == "2"  # no such bucket
    assert "no store is here" in done.stderr


@pytest.mark.parametrize("action", ["add", "status"])
@pytest.mark.parametrize("kind", STORE)
def test_a_stranger_is_refused_in_one_line(tmp_path: Path, kind: str, action: str) -> None:
    write_runs(tmp_path / "runs", ROBOTS[:1])
    with STORE[kind](tmp_path / "strict") as remote:
        call = ["fleet", action, remote.url, *([str(tmp_path / "runs")] if action == "add" else [])]
        for who, (environment, refusal) in remote.strangers.items():
            done = with_python(COMMANDS, environment, json.dumps([call]))
            assert (done.returncode, done.stdout) == (0, "2\n"), f"{who}: {done.stderr}"
            # The server and its libraries say more.
            (line,) = [each for each in done.stderr.splitlines() if each.startswith("takt: ")]
            assert line.startswith(f"takt: {remote.url}: "), f"{who}: {line}"
            assert refusal in line, who
