"""Recordings of messages alone: bags of rosbag2, in MCAP or SQLite.

| module | has |
|---|---|
| `files` | the files of a bag, in their order |
| `metadata` | what a recorder writes at its end |
| `messages` | what is read of a message |
| `compression` | chunks, files and messages that are compressed |
| `mcap_file`, `sqlite_file` | the messages of a file, in the order in which it has them |
| `stamps` | the header's stamp in the bytes of a message |
| `distribution`, `measure` | what is counted, in bounded memory |
| `judge` | goals |
| `document`, `table` | the results, for scripts and for people |
| `report` | all of this, for `takt latency` |

The libraries of bags read whole messages, want an index, and order by time. All that is needed here
is the first bytes of each message, in any order. So the records of MCAP are read one by one by the
library `mcap`, SQLite by Python's own module, and neither needs the end of the file.
"""

from __future__ import annotations

from pathlib import Path

SUFFIXES = (".mcap", ".db3", ".mcap.zstd", ".db3.zstd")
METADATA = "metadata.yaml"


def is_bag(path: str) -> bool:
    """Whether it is a bag by its name: a file `.mcap` or `.db3`, or a folder with `metadata.yaml`
    or with such files alone. Never raises.
    """
    if path.endswith(SUFFIXES):
        return not Path(path).is_dir()
    try:
        entries = list(Path(path).iterdir()) if Path(path).is_dir() else []
        if any(entry.name == METADATA for entry in entries):
            return True
        # A recorder that was killed wrote no metadata.yaml. A trace may have an MCAP file beside
        # its folders.
        has_files = any(entry.name.endswith(SUFFIXES) for entry in entries)
        return has_files and not any(
            entry.name == "metadata" or entry.is_dir() for entry in entries
        )
    except OSError:
        return False  # what reads it as a trace says why
