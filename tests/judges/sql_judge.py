"""Judges SQL scripts by SQLite: its library prepares every statement, and executes those that create or change tables.

Each script has a database of its own, in memory. The library is called directly, since only it says where a statement ends.
"""

import ctypes
import ctypes.util

from judging import judge_each, not_installed

OK = 0
ROW = 100
DONE = 101
VERSION = 3_039_000
SCHEMA = (b"create", b"alter", b"drop")

name = ctypes.util.find_library("sqlite3")
if name is None:
    not_installed("SQLite's library (Debian: libsqlite3-0)")
sqlite = ctypes.CDLL(name)
if sqlite.sqlite3_libversion_number() < VERSION:
    not_installed("SQLite 3.39 or later")
sqlite.sqlite3_errmsg.restype = ctypes.c_char_p
for function in ("sqlite3_errmsg", "sqlite3_close", "sqlite3_step", "sqlite3_finalize"):
    getattr(sqlite, function).argtypes = [ctypes.c_void_p]
sqlite.sqlite3_prepare_v2.argtypes = [
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_int,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_void_p),
]


def changes_schema(statement):
    """Whether the statement's first word, behind comments, is one of SCHEMA."""
    text = statement.lstrip()
    while text.startswith((b"--", b"/*")):
        text = text.partition(b"\n" if text.startswith(b"--") else b"*/")[2].lstrip()
    return text[:6].lower().startswith(SCHEMA)


def rejection_in(database, text):
    buffer = ctypes.create_string_buffer(text)
    at = ctypes.addressof(buffer)
    end = at + len(text)
    while at < end:
        statement, tail = ctypes.c_void_p(), ctypes.c_void_p()
        if sqlite.sqlite3_prepare_v2(database, at, -1, ctypes.byref(statement), ctypes.byref(tail)) != OK:
            return sqlite.sqlite3_errmsg(database).decode("utf-8", "replace")
        result = DONE
        if statement.value is not None:
            if changes_schema(ctypes.string_at(at, tail.value - at)):
                result = ROW
                while result == ROW:
                    result = sqlite.sqlite3_step(statement)
            sqlite.sqlite3_finalize(statement)
        if result != DONE:
            return "executed: " + sqlite.sqlite3_errmsg(database).decode("utf-8", "replace")
        at = tail.value
    return None


def rejection(document):
    database = ctypes.c_void_p()
    if sqlite.sqlite3_open(b":memory:", ctypes.byref(database)) != OK:
        raise SystemExit("sqlite3_open failed")
    try:
        return rejection_in(database, document)
    finally:
        sqlite.sqlite3_close(database)


judge_each(rejection)
