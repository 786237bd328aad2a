"""What the judges share: read NUL-separated documents from standard input, count, report, exit.

Exit status: 0 all accepted; 1 some rejected, or there were no documents; 77 the parser is not installed.
"""

import importlib
import os
import pathlib
import struct
import sys

NOT_INSTALLED = 77
SHOWN_REJECTIONS = 5
SHOWN_CHARACTERS = 600

ROOT = pathlib.Path(__file__).resolve().parents[2]
VENV_PYTHON = ROOT / "target" / "judges-venv" / "bin" / "python"
NODE_MODULES = ROOT / "target" / "judges-node" / "node_modules"


def not_installed(what):
    """Ends the judge: `what` is missing."""
    print(f"{pathlib.Path(sys.argv[0]).name}: {what} is not installed; run ci/judges-setup")
    sys.exit(NOT_INSTALLED)


def need(module):
    """Imports a package, from the judges' own environment if this one lacks it.

    Call this before anything reads standard input: the script may start again under another Python.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        if VENV_PYTHON.exists() and pathlib.Path(sys.prefix) != VENV_PYTHON.parents[1]:
            os.execv(VENV_PYTHON, [str(VENV_PYTHON), *sys.argv])
        not_installed(f"the Python package {module}")


def read_documents():
    """The documents as bytes. A NUL ends each; the last may lack it."""
    documents = sys.stdin.buffer.read().split(b"\0")
    if documents[-1] == b"":
        documents.pop()
    return documents


def read_documents_with_lengths():
    """The documents as bytes. Each has its length before it, as 32 bits, so it may have any byte."""
    text, documents, place = sys.stdin.buffer.read(), [], 0
    while place < len(text):
        (length,) = struct.unpack_from("<I", text, place)
        documents.append(text[place + 4 : place + 4 + length])
        place += 4 + length
    return documents


def report(documents, reasons):
    """Prints the verdict and ends the script. `reasons` maps the index of a rejected document to the reason."""
    print(f"accepted {len(documents) - len(reasons)} of {len(documents)}")
    for index in sorted(reasons)[:SHOWN_REJECTIONS]:
        text = documents[index].decode("utf-8", "backslashreplace")
        print(f"--- document {index}, {len(documents[index])} bytes: {reasons[index]}")
        print(text[:SHOWN_CHARACTERS] + ("..." if len(text) > SHOWN_CHARACTERS else ""))
    sys.exit(0 if documents and not reasons else 1)


def judge_each(rejection):
    """Judges the documents one by one: `rejection(bytes)` says why one is rejected, or None."""
    documents = read_documents()
    reasons = {}
    for index, document in enumerate(documents):
        reason = rejection(document)
        if reason is not None:
            reasons[index] = reason
    report(documents, reasons)
