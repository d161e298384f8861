"""Calls tracing functions as told by JSON on standard input: a list of [function, arguments], where
an argument is an address, a string, a flag, a list of bytes or an integer, with the types beside.
Prints, as JSON, the ids of its process and thread and its name as the kernel knows it.
"""

import ctypes
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

TYPES = {
    "void *": ctypes.c_void_p,
    "char *": ctypes.c_char_p,
    "bool": ctypes.c_bool,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
    "size_t": ctypes.c_size_t,
}


def argument(kind: str, value: Any) -> Any:
    if kind == "uint8_t *":
        return (ctypes.c_uint8 * len(value))(*value)
    if kind == "void **":
        return (ctypes.c_void_p * len(value))(*value)
    if kind == "char *":
        value = value.encode()
    return TYPES[kind](value)


library = ctypes.CDLL("libtracetools.so")
for function, arguments in json.load(sys.stdin):
    getattr(library, function)(*(argument(kind, value) for kind, value in arguments))
name = Path("/proc/self/comm").read_text().rstrip("\n")
print(json.dumps({"process": os.getpid(), "thread": threading.get_native_id(), "name": name}))
