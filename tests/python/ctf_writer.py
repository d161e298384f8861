"""Writes traces as LTTng's user-space tracer does, with the tracepoints of a version of ROS 2."""

from __future__ import annotations

import struct
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from tracepoint_lists import Version, of_version

EPOCH = 1_700_000_000_000_000_000
"""What the clock of the traces lacks to the time since the epoch."""

HEAD = """/* CTF 1.8 */
typealias integer {{ size = 8; align = 8; signed = false; }} := uint8_t;
typealias integer {{ size = 16; align = 8; signed = false; }} := uint16_t;
typealias integer {{ size = 32; align = 8; signed = false; }} := uint32_t;
typealias integer {{ size = 64; align = 8; signed = false; }} := uint64_t;
trace {{ major = 1; minor = 8; uuid = "{uuid}"; byte_order = le;
  packet.header := struct {{ uint32_t magic; uint8_t uuid[16]; uint32_t stream_id;
                            uint64_t stream_instance_id; }}; }};
env {{ domain = "ust"; tracer_name = "lttng-ust"; hostname = "robot"; }};
clock {{ name = "monotonic"; uuid = "{boot}"; freq = 1000000000; offset = {epoch}; }};
typealias integer {{ size = 32; align = 8; signed = false;
  map = clock.monotonic.value; }} := clock32_t;
typealias integer {{ size = 64; align = 8; signed = false;
  map = clock.monotonic.value; }} := clock64_t;
struct packet_context {{ clock64_t timestamp_begin; clock64_t timestamp_end; uint64_t content_size;
  uint64_t packet_size; uint64_t packet_seq_num; uint64_t events_discarded; uint32_t cpu_id; }};
struct event_header {{ enum : uint16_t {{ compact = 0 ... 65534, extended = 65535 }} id;
  variant <id> {{ struct {{ clock32_t timestamp; }} compact;
                  struct {{ uint32_t id; clock64_t timestamp; }} extended; }} v; }} align(8);
stream {{ id = 0; event.header := struct event_header; packet.context := struct packet_context;
  event.context := struct {{ integer {{ size = 32; align = 8; signed = 1; }} _vpid;
    integer {{ size = 32; align = 8; signed = 1; }} _vtid;
    integer {{ size = 8; align = 8; signed = 1; encoding = UTF8; }} _procname[17]; }}; }};
"""
DECLARED = {
    "pointer": "integer {{ size = 64; align = 8; signed = 0; base = 16; }} _{0}",
    "string": "string _{0}",
    "version": "string _{0}",
    "signed64": "integer {{ size = 64; align = 8; signed = 1; }} _{0}",
    "unsigned64": "integer {{ size = 64; align = 8; signed = 0; }} _{0}",
    "flag": "integer {{ size = 32; align = 8; signed = 1; }} _{0}",
    "gid": "integer {{ size = 8; align = 8; signed = 0; }} _{0}[24]",
}
Value = int | str | bytes


@dataclass
class Writer:
    """The events of one recording, in any order."""

    version: Version
    _events: list[tuple[int, str, int, str, bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._known = of_version(self.version)
        self._ids = {name: number for number, name in enumerate(self._known)}

    def has(self, name: str, field_name: str = "") -> bool:
        return name in self._known and (not field_name or field_name in self._known[name])

    def add(self, time: int, process: int, program: str, name: str, **values: Value) -> None:
        """An event of the process's only thread; what this version does not have is left out."""
        if name not in self._known:
            return
        content = b""
        for field_name, kind in self._known[name].items():
            content += _bytes(kind, values.get(field_name, b"" if kind == "gid" else 0))
        self._events.append((time, name, process, program, content))

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        text = HEAD.format(uuid=uuid.uuid4(), boot=uuid.UUID(int=1), epoch=EPOCH)
        for name, number in self._ids.items():
            declared = (DECLARED[kind].format(f) for f, kind in self._known[name].items())
            fields = "".join(f"{one}; " for one in declared)
            text += f'event {{ name = "ros2:{name}"; id = {number}; stream_id = 0;'
            text += f" fields := struct {{ {fields}}}; }};\n"
        (folder / "metadata").write_text(text)
        content = b""
        for time, name, process, program, fields_of in sorted(self._events, key=lambda e: e[0]):
            content += struct.pack("<HIQii", 65535, self._ids[name], time, process, process)
            content += program.encode().ljust(17, b"\0") + fields_of
        times = [event[0] for event in self._events]
        bits = 8 * (32 + 52 + len(content))
        head = struct.pack("<I16sIQ", 0xC1FC1FC1, bytes(16), 0, 0)
        head += struct.pack("<QQQQQQI", min(times), max(times), bits, bits, 0, 0, 0)
        (folder / "ros2_0").write_bytes(head + content)


def _bytes(kind: str, value: Value) -> bytes:
    if kind in ("string", "version"):
        return (value if isinstance(value, str) else "").encode() + b"\0"
    if kind == "gid":
        return (value if isinstance(value, bytes) else b"").ljust(24, b"\0")
    assert isinstance(value, int)
    return struct.pack({"signed64": "<q", "flag": "<i"}.get(kind, "<Q"), value)
