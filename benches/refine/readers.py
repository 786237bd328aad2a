"""Readers of other projects, as functions that raise an exception for what they refuse."""

import json
import re
import sqlite3
import tomllib
from xml.parsers import expat

SYNTAX_ERRORS = ("syntax error", "unrecognized token", "incomplete input")
BLANKS = re.compile(r"--[^\n]*|/\*.*?\*/|\s", re.S)
EXPLAIN = re.compile(r"(--[^\n]*|/\*.*?\*/|\s)*explain\b", re.S | re.I)


def reads_json(text):
    json.loads(text)


def reads_toml(text):
    tomllib.loads(bytes(text).decode())


def reads_sql(text):
    """A script by SQLite; only what its parser refuses is refused."""
    with sqlite3.connect(":memory:") as database:
        # Nothing is executed, but all statements are parsed.
        for statement in statements(bytes(text).decode()):
            try:
                database.execute(statement if EXPLAIN.match(statement) else "explain " + statement)
            except (sqlite3.Error, sqlite3.Warning) as error:
                if any(word in str(error) for word in SYNTAX_ERRORS):
                    raise


def statements(script):
    """The statements of a script that are not empty."""
    part = ""
    for piece in [*(piece + ";" for piece in script.split(";")[:-1]), script.split(";")[-1]]:
        part += piece
        if sqlite3.complete_statement(part):
            if BLANKS.sub("", part).strip(";"):
                yield part
            part = ""
    if BLANKS.sub("", part).strip(";"):
        yield part


def reads_graphql(text):
    import graphql

    graphql.parse(bytes(text).decode())


def reads_wkt(text):
    import shapely

    try:
        shapely.from_wkt(bytes(text).decode("ascii"))
    except (shapely.GEOSException, NotImplementedError) as error:
        if str(error).startswith("ParseException"):
            raise


def reads_ini(text):
    import configparser

    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(bytes(text).decode())
    for section in parser.sections():
        dict(parser.items(section))
    if not parser.sections():
        raise ValueError("no section")


def reads_xml(text):
    expat.ParserCreate().Parse(bytes(text), True)


def reads_cron(text):
    import croniter

    words = bytes(text).decode("ascii")
    croniter.croniter.expand(words)
    if len(words.split()) not in (1, 5):
        raise ValueError("not five fields")


def reads_uri(text):
    from rfc3986_validator import validate_rfc3986

    if not validate_rfc3986(bytes(text).decode("ascii"), rule="URI_reference"):
        raise ValueError("no reference")


def reads_http(text):
    import h11

    connection = h11.Connection(h11.SERVER)
    connection.receive_data(bytes(text))
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA or event is h11.PAUSED or isinstance(event, h11.ConnectionClosed):
            raise ValueError("not complete")
        if isinstance(event, h11.EndOfMessage):
            if connection.trailing_data[0]:
                raise ValueError("something is left")
            return


def reads_yaml(text):
    import yaml

    for _ in yaml.parse(bytes(text)):
        pass


def reads_diff(text):
    import unidiff

    if not unidiff.PatchSet(bytes(text).decode()):
        raise ValueError("no file")
