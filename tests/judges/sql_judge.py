"""Judges SQL scripts by SQLite: its library prepares every statement, and executes those that create or change tables.

Each script has a database of its own, in memory. The library is called directly, since only it says where a statement ends.

With `--syntax`, nothing is executed, and only errors of syntax count: tables need not exist.
"""

import ctypes
import ctypes.util
import sys

from judging import judge_each, not_installed

OK = 0
ROW = 100
DONE = 101
VERSION = 3_039_000
SCHEMA = (b"create", b"alter", b"drop")
SYNTAX_ONLY = "--syntax" in sys.argv[1:]
SYNTAX_ERRORS = ("syntax error", "unrecognized token", "incomplete input")

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
    """Whether the statement's first word, after comments, is one of SCHEMA."""
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


def statements(text):
    """The statements of a script, as SQLite's shell finds their ends."""
    begin = end = 0
    while end < len(text):
        end = text.find(b";", end) + 1 or len(text)
        if end == len(text) or sqlite.sqlite3_complete(text[begin:end]):
            yield text[begin:end]
            begin = end


def syntax_error_in(database, text):
    for text_of_one in statements(text):
        statement = ctypes.c_void_p()
        if sqlite.sqlite3_prepare_v2(database, text_of_one, -1, ctypes.byref(statement), None) != OK:
            said = sqlite.sqlite3_errmsg(database).decode("utf-8", "replace")
            if any(error in said for error in SYNTAX_ERRORS):
                return said
        sqlite.sqlite3_finalize(statement)
    return None


def rejection(document):
    database = ctypes.c_void_p()
    if sqlite.sqlite3_open(b":memory:", ctypes.byref(database)) != OK:
        raise SystemExit("sqlite3_open failed")
    try:
        return syntax_error_in(database, document) if SYNTAX_ONLY else rejection_in(database, document)
    finally:
        sqlite.sqlite3_close(database)


judge_each(rejection)
