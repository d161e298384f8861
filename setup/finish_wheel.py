"""Makes a built wheel one for other machines: bundles the system's libraries that are not on every
Linux (auditwheel), adds the licences of what it has of others, and lays the archive out alike each
time.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import licences

TOOLS = Path(sys.executable).parent


def repair(wheel: Path, folder: Path, ros: list[Path]) -> Path:
    """Bundles the libraries that are not on every Linux. Excluded are ROS 2's own libraries, the
    messages that lie beside the workload, and LTTng's, which must have the version of the system's
    daemon.
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


def rewrite(wheel: Path, target: Path, builds: list[Path]) -> None:
    """The same wheel with licences, entries in order and one date."""
    date = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    with zipfile.ZipFile(wheel) as archive:
        entries = {info.filename: (archive.read(info), info) for info in archive.infolist()}
    (record,) = (name for name in entries if name.endswith(".dist-info/RECORD"))
    folder = record.removesuffix("RECORD")
    contents = {name: data for name, (data, _) in entries.items() if not name.endswith("/")}
    del contents[record]
    for name, text in licences.of_libraries(contents).items():
        contents[f"{folder}licenses/bundled/{name}"] = text
    for name, text in licences.of_headers(builds).items():
        contents[f"{folder}licenses/compiled/{name}"] = text
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
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", 1)[0])
    parser.add_argument("wheel", type=Path, metavar="WHEEL")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the finished one goes")
    for option, meaning in (
        ("--ros", "folder of libraries of a ROS 2, which are not bundled"),
        ("--build", "folder in which CMake built something of the wheel"),
    ):
        parser.add_argument(
            option, type=Path, action="append", default=[], metavar="FOLDER", help=meaning
        )
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        repaired = repair(arguments.wheel, Path(temporary), arguments.ros)
        target = arguments.folder / repaired.name
        new = target.with_suffix(".new")
        rewrite(repaired, new, arguments.build)
        new.replace(target)
    print(target)


if __name__ == "__main__":
    main()
