"""What a recorder writes at its end, `metadata.yaml`: the order of its files, and how much is in
them.

The file may be anybody's. A loader of YAML follows aliases, with which a small file can grow
without end, and nests calls as deep as the text does. So this reads the parser's events one by one,
leaves aliases out, and stops where the text is deeper than any recorder writes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from takt.errors import UserError

LARGEST = 4 << 20
"""Bytes. That of a large robot has 0.2 MB."""
DEEPEST = 32


class Metadata(NamedTuple):
    files: list[str]
    """The names of the files, without folders, in their order."""
    messages: int | None
    """How many there are; None: it does not say."""


def read(path: Path) -> Metadata | None:
    """None if it is no metadata of a bag. UserError without the library, OSError."""
    with path.open("rb") as file:
        text = file.read(LARGEST + 1)
    if len(text) > LARGEST:
        return None
    try:
        found = _plain(text)
    except ValueError:
        return None
    told = found.get("rosbag2_bagfile_information") if isinstance(found, dict) else None
    if not isinstance(told, dict):
        return None
    names, count = told.get("relative_file_paths"), told.get("message_count")
    # Some releases of ROS 2 put the folder's name before those of the files.
    listed = names if isinstance(names, list) else []
    files = [Path(name).name for name in listed if isinstance(name, str)]
    is_count = isinstance(count, str) and count.isascii() and count.isdigit() and len(count) < 20
    return Metadata(list(dict.fromkeys(files)), int(str(count)) if is_count else None)


def _plain(text: bytes) -> Any:
    """Dictionaries, lists and texts; None for an alias and for a list or dictionary as a key.
    ValueError if it is no YAML, or too deep.
    """
    try:
        import yaml
    except ModuleNotFoundError as error:
        raise UserError("pyyaml is not installed; pip install 'takt-ros[bags]'") from error
    root: Any = None
    open_: list[Any] = []
    keys: list[Any] = []
    """For each of them the key that waits for its value."""

    def put(value: Any) -> None:
        nonlocal root
        if not open_:
            root = value
        elif isinstance(open_[-1], list):
            open_[-1].append(value)
        elif keys[-1] is None:
            keys[-1] = value if isinstance(value, str) else ""
        else:
            open_[-1][keys[-1]] = value
            keys[-1] = None

    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if isinstance(event, yaml.ScalarEvent):
                put(event.value)
            elif isinstance(event, yaml.AliasEvent):
                put(None)
            elif isinstance(event, yaml.CollectionStartEvent):
                if len(open_) == DEEPEST:
                    raise ValueError("too deep")
                made: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
                put(made)
                open_.append(made)
                keys.append(None)
            elif isinstance(event, yaml.CollectionEndEvent):
                open_.pop()
                keys.pop()
            elif isinstance(event, yaml.DocumentEndEvent):
                break
    except yaml.YAMLError as error:
        raise ValueError("no YAML") from error
    return root
