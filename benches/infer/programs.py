"""Programs that nothing was prepared for. A function accepts a text by returning.

`TUNING` names those that the method was improved by, `HELD_OUT` those that were measured once, in the end. The small readers
were written from descriptions of their languages.
"""
import io
import re

TUNING = ["toml", "pep508", "xml", "sql", "turtle", "logic", "arithmetic", "whiles", "regex", "jsonpath"]
HELD_OUT = ["semver", "jmespath", "lark", "cssselect", "dot", "edn", "hcl", "boolean"]


def toml(data):
    import tomllib

    tomllib.loads(data.decode())


def pep508(data):
    from packaging.requirements import Requirement

    Requirement(data.decode())


def xml(data):
    import xml.parsers.expat

    xml.parsers.expat.ParserCreate().Parse(data, True)


def sql(data):
    import sqlite3

    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("EXPLAIN " + data.decode())
    except sqlite3.OperationalError as error:
        # Names that are not there are no fault of the syntax.
        if re.search("syntax error|unrecognized token|incomplete input", str(error)):
            raise
    finally:
        connection.close()


def turtle(data):
    import rdflib

    rdflib.Graph().parse(io.BytesIO(data), format="turtle")


def regex(data):
    re.compile(data.decode())


def jsonpath(data):
    import jsonpath_ng.ext

    jsonpath_ng.ext.parse(data.decode())


def semver(data):
    import semver as package

    package.Version.parse(data.decode())


def jmespath(data):
    import jmespath as package

    package.compile(data.decode())


def lark(data):
    import lark as package

    package.load_grammar.load_grammar(data.decode(), "<text>", [], False)


def cssselect(data):
    import cssselect as package

    package.parse(data.decode())


def dot(data):
    from pydot.dot_parser import GraphParser

    GraphParser.parser.parse_string(data.decode(), parse_all=True)


def edn(data):
    import edn_format

    edn_format.loads(data.decode())


def hcl(data):
    import hcl2

    hcl2.loads(data.decode() + "\n")


def boolean(data):
    import boolean as package

    package.BooleanAlgebra().parse(data.decode())


class Reader:
    """Tokens of a text, read from left to right."""

    def __init__(self, data, pattern):
        text = data.decode()
        self.tokens, at = [], 0
        while at < len(text):
            found = re.compile(r"\s*(?:(" + pattern + r")|$)").match(text, at)
            if not found or found.end() == at:
                raise ValueError(f"unexpected {text[at]!r} at {at}")
            at = found.end()
            if found[1]:
                self.tokens.append(found[1])
        self.tokens.append("")
        self.at = 0

    def peek(self):
        return self.tokens[self.at]

    def eat(self, *tokens):
        if self.peek() in tokens:
            self.at += 1
            return True
        return False

    def need(self, token):
        if not self.eat(token):
            raise ValueError(f"{token!r} is missing before {self.peek()!r}")

    def match(self, pattern):
        if not re.fullmatch(pattern, self.peek()):
            raise ValueError(f"unexpected {self.peek()!r}")
        self.at += 1

    def end(self):
        if self.peek():
            raise ValueError(f"{self.peek()!r} follows")


def logic(data):
    """First-order logic: atoms P(t, ...), equations, ~ & | -> <->, and forall x. or exists x. with variables in lower case."""
    reader = Reader(data, r"<->|->|[A-Za-z][A-Za-z0-9_]*|[()~&|.,=]")
    logic_formula(reader, 0)
    reader.end()


def logic_formula(reader, level):
    """A formula; operators bind from <-> to &."""
    levels = ["<->", "->", "|", "&"]
    if level < len(levels):
        logic_formula(reader, level + 1)
        while reader.eat(levels[level]):
            logic_formula(reader, level + 1)
        return
    if reader.eat("~"):
        logic_formula(reader, 4)
    elif reader.eat("forall", "exists"):
        reader.match("(?!forall$|exists$)[a-z][a-z0-9_]*")
        reader.need(".")
        logic_formula(reader, 0)
    elif reader.eat("("):
        logic_formula(reader, 0)
        reader.need(")")
    elif re.fullmatch("[A-Z].*", reader.peek()):
        reader.at += 1
        if reader.eat("("):
            logic_terms(reader)
    else:
        logic_term(reader)
        reader.need("=")
        logic_term(reader)


def logic_term(reader):
    reader.match("(?!forall$|exists$)[a-z][A-Za-z0-9_]*")
    if reader.eat("("):
        logic_terms(reader)


def logic_terms(reader):
    logic_term(reader)
    while reader.eat(","):
        logic_term(reader)
    reader.need(")")


def arithmetic(data):
    """Numbers, variables, + - * / ^, calls of known functions with as many arguments as they have."""
    reader = Reader(data, r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|[A-Za-z_][A-Za-z0-9_]*|[-+*/^(),]")
    arithmetic_sum(reader)
    reader.end()


FUNCTIONS = {"sin": 1, "cos": 1, "sqrt": 1, "abs": 1, "log": 1, "max": 2, "min": 2, "pow": 2}


def arithmetic_sum(reader):
    arithmetic_factor(reader)
    while reader.eat("+", "-", "*", "/", "^"):
        arithmetic_factor(reader)


def arithmetic_factor(reader):
    if reader.eat("-"):
        arithmetic_factor(reader)
    elif reader.eat("("):
        arithmetic_sum(reader)
        reader.need(")")
    elif reader.peek() in FUNCTIONS:
        count = FUNCTIONS[reader.peek()]
        reader.at += 1
        reader.need("(")
        for number in range(count):
            if number:
                reader.need(",")
            arithmetic_sum(reader)
        reader.need(")")
    else:
        reader.match(r"[0-9].*|[A-Za-z_]\w*")


KEYWORDS = ["while", "do", "od", "if", "then", "else", "fi", "skip", "true", "false", "not", "and", "or"]


def whiles(data):
    """The while-language of textbooks: assignments, skip, if and while, with ; between statements."""
    reader = Reader(data, r"[0-9]+|[A-Za-z][A-Za-z0-9]*|:=|<=|[-+*=<>();]")
    whiles_statements(reader)
    reader.end()


def whiles_statements(reader):
    whiles_statement(reader)
    while reader.eat(";"):
        whiles_statement(reader)


def whiles_statement(reader):
    if reader.eat("skip"):
        return
    if reader.eat("while"):
        whiles_condition(reader)
        reader.need("do")
        whiles_statements(reader)
        reader.need("od")
    elif reader.eat("if"):
        whiles_condition(reader)
        reader.need("then")
        whiles_statements(reader)
        if reader.eat("else"):
            whiles_statements(reader)
        reader.need("fi")
    else:
        whiles_name(reader)
        reader.need(":=")
        whiles_sum(reader)


def whiles_name(reader):
    if reader.peek() in KEYWORDS:
        raise ValueError(f"{reader.peek()} is a keyword")
    reader.match("[A-Za-z].*")


def whiles_condition(reader):
    while True:
        while reader.eat("not"):
            pass
        if not reader.eat("true", "false"):
            whiles_sum(reader)
            if not reader.eat("=", "<", "<=", ">"):
                raise ValueError("a comparison is missing")
            whiles_sum(reader)
        if not reader.eat("and", "or"):
            return


def whiles_sum(reader):
    while True:
        if reader.eat("("):
            whiles_sum(reader)
            reader.need(")")
        elif re.fullmatch("[0-9]+", reader.peek()):
            reader.at += 1
        else:
            whiles_name(reader)
        if not reader.eat("+", "-", "*"):
            return
