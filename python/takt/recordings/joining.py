"""Recordings of several hosts put together in one, which is read as they are together."""

from __future__ import annotations

import itertools
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import takt_native
from takt import files, pipeline
from takt.errors import UserError

Json = dict[str, Any]

ARCHIVES = {".tar.gz": "gz", ".tgz": "gz", ".tar.xz": "xz", ".tar": ""}
"""How the kinds of archives that are written are compressed, by the ends of their names."""
_OTHER_ARCHIVE = re.compile(r"\.(tar\.\w+|t[bxz]\w+|zip|7z|rar|gz|xz|bz2|zst|lz4)$")


def join(traces: Sequence[str], output: Path) -> Json:
    """Makes a folder, or an archive if `output` ends like one, with the recordings in folders of
    their own. Nothing in them changes, so that clocks are aligned by whoever reads it. Returns the
    takt/joined document. UserError if their events could not be told apart, or `output` exists;
    takt_native.InputError if one is no recording.
    """
    if len(traces) < 2:
        raise UserError("--join: name at least two recordings")
    if output.exists():
        raise UserError(f"{output}: exists; remove it, or name another with -o")
    suffix = next((end for end in ARCHIVES if output.name.endswith(end)), None)
    if suffix is None and _OTHER_ARCHIVE.search(output.name):
        known = ", ".join(ARCHIVES)
        raise UserError(f"{output}: no such archives are written; name a folder, or one of {known}")
    infos = [(trace, pipeline.info([trace])) for trace in traces]
    for (one, its), (other, others) in itertools.combinations(infos, 2):
        if _fingerprints(its) & _fingerprints(others):
            raise UserError(f"{one} and {other}: the same recording; name it once")
        _check(one, its["hosts"], other, others["hosts"])
    hosts = {trace: info["hosts"] for trace, info in infos}
    folders = dict(zip(hosts, _names(hosts), strict=True))
    if suffix is None:
        with files.replacement_folder(output) as folder:
            _copy(folders, folder)
    else:
        _pack(folders, output, ARCHIVES[suffix])
    info = pipeline.info([str(output)])
    return {
        "format": "takt/joined",
        "version": 1,
        "trace": str(output),
        "events": info["events"],
        "hosts": sorted({host["name"] for host in info["hosts"]}),
        "recordings": {folder: str(trace) for trace, folder in folders.items()},
    }


def _fingerprints(info: Json) -> set[str]:
    """Recordings with equal ones are the same, wherever they are and however they are packed."""
    return {each["fingerprint"] for each in info["inputs"]}


def _check(one: str, its: list[Json], other: str, others: list[Json]) -> None:
    """UserError if nobody could say which of two machines, or boots of one, an event is of."""
    for host, its_namesake in itertools.product(its, others):
        if host["name"] != its_namesake["name"]:
            continue
        name = host["name"] or "without a name"
        if not (host["clock"] and its_namesake["clock"]):
            raise UserError(
                f"{one} and {other}: both are of a host {name}, and one does not say which boot it "
                "is of (the uuid of its clock), so nobody knows whether it is the same machine"
            )
        if host["clock"] != its_namesake["clock"]:
            raise UserError(
                f"{one} and {other}: both are of a host {name}, but of two machines, or of one "
                "before and after a restart; give the machines different names (hostnamectl), or "
                "compare the recordings with 'takt compare'"
            )


def _names(hosts: dict[str, list[Json]]) -> list[str]:
    """A folder's name for each recording: that of its host."""
    names: list[str] = []
    for trace, its in hosts.items():
        stem = re.sub(r"[^A-Za-z0-9._-]", "_", its[0]["name"] if its else "").strip(".") or "host"
        # By this name takt info knows that the end of a recording is missing.
        end = ".partial" if trace.rstrip("/").endswith(".partial") else ""
        numbers = itertools.count(2)
        name = stem
        while name + end in names:
            name = f"{stem}-{next(numbers)}"
        names.append(name + end)
    return names


def _copy(folders: dict[str, str], target: Path) -> None:
    for trace, name in folders.items():
        if Path(trace).is_dir():
            try:
                shutil.copytree(trace, target / name, symlinks=True)
            except shutil.Error as error:  # that of several files
                raise UserError(f"{trace}: cannot be copied: {error.args[0][0][2]}") from error
        else:
            _unpack(trace, target / name)


def _unpack(archive: str, target: Path) -> None:
    """Into a new folder; what the archive has in one folder has this one's place."""
    target.mkdir()
    takt_native.unpack(archive, str(target))
    content = list(target.iterdir())
    if len(content) == 1 and content[0].is_dir() and not (content[0] / "metadata").exists():
        moved = content[0].rename(target.with_name(f".{target.name}"))
        target.rmdir()
        moved.rename(target)


def _pack(folders: dict[str, str], output: Path, compression: str) -> None:
    import tarfile
    import tempfile

    with (
        files.replacement(output) as temporary,
        tempfile.TemporaryDirectory(prefix=f".{output.name}.", dir=output.parent) as name,
    ):
        _copy(folders, Path(name))
        with tarfile.open(temporary, f"w:{compression}") as archive:  # type: ignore[call-overload]
            archive.add(name, output.name.partition(".tar")[0].removesuffix(".tgz"))
