"""Makes a built wheel one for other machines: bundles the system's libraries that are not on every
Linux (auditwheel), lists their licences, and lays the archive out alike each time.

    finish_wheel.py WHEEL FOLDER ROS-LIBRARIES…
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

TOOLS = Path(sys.executable).parent
BUNDLED = re.compile(r"^takt_ros\.libs/(?P<name>.+?)-[0-9a-f]{8}(?P<suffix>\..*)$")


def repair(wheel: Path, folder: Path, ros: list[Path]) -> Path:
    """ROS 2's own libraries come from ROS 2, the workload's messages lie beside it, and what speaks
    to LTTng's daemon must be of its version, so it comes from the system.
    """
    names = {library.name for path in ros for library in path.glob("lib*.so*")}
    excluded = [word for name in sorted(names) for word in ("--exclude", name)]
    command = [str(TOOLS / "auditwheel"), "repair", "--wheel-dir", str(folder), *excluded]
    command += ["--exclude", "libtakt_msgs*", "--exclude", "liblttng-*", str(wheel)]
    environment = {**os.environ, "PATH": f"{TOOLS}:{os.environ['PATH']}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"auditwheel: {done.stdout}{done.stderr}")
    (repaired,) = folder.glob("*.whl")
    return repaired


def licences(names: list[str]) -> dict[str, bytes]:
    """For each bundled library the copyright file of the package that it was taken from."""
    found = {}
    for name in names:
        if not name.startswith("takt_ros.libs/"):
            continue
        match = BUNDLED.match(name)
        if match is None:
            raise SystemExit(f"{name}: not named as auditwheel does: its licence is unknown")
        pattern = f"*/{match['name']}{match['suffix']}"
        owner = subprocess.run(
            ["dpkg", "--search", pattern], capture_output=True, text=True, check=False
        ).stdout
        if not owner:
            raise SystemExit(f"{name}: no installed package has {pattern}: its licence is unknown")
        package = owner.split(":", 1)[0]
        found[f"{package}.txt"] = Path(f"/usr/share/doc/{package}/copyright").read_bytes()
    return found


def rewrite(wheel: Path, target: Path) -> None:
    """The same wheel with licences, entries in order and one date."""
    date = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    with zipfile.ZipFile(wheel) as archive:
        entries = {info.filename: (archive.read(info), info) for info in archive.infolist()}
    (record,) = (name for name in entries if name.endswith(".dist-info/RECORD"))
    folder = record.removesuffix("RECORD")
    contents = {name: data for name, (data, _) in entries.items() if not name.endswith("/")}
    del contents[record]
    for name, text in licences(list(contents)).items():
        contents[f"{folder}licenses/bundled/{name}"] = text
    lines = []
    for name in sorted(contents):
        digest = hashlib.sha256(contents[name]).digest()
        hashed = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        lines.append(f"{name},sha256={hashed},{len(contents[name])}")
    contents[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in [*sorted(set(contents) - {record}), record]:
            info = zipfile.ZipInfo(name, date)
            info.compress_type = zipfile.ZIP_DEFLATED
            runs = "/bin/" in name and contents[name].startswith(b"\x7fELF")
            info.external_attr = (0o755 if runs or ".so" in Path(name).name else 0o644) << 16
            archive.writestr(info, contents[name])


def main() -> None:
    wheel, folder, *ros = map(Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        repaired = repair(wheel, Path(temporary), ros)
        target = folder / repaired.name
        new = target.with_suffix(".new")
        rewrite(repaired, new)
        new.replace(target)
    print(target)


if __name__ == "__main__":
    main()
