"""Judges XML documents by expat, with and without namespaces; with `--no-namespaces` only without, with `--xmllint` by libxml2's xmllint."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from xml.parsers import expat

from judging import judge_each, not_installed, read_documents, report

FILES_AT_ONCE = 500


NAMESPACE_SEPARATORS = (None,) if "--no-namespaces" in sys.argv[1:] else (None, " ")


def rejection_by_expat(document):
    for namespace_separator in NAMESPACE_SEPARATORS:
        parser = expat.ParserCreate(namespace_separator=namespace_separator)
        try:
            parser.Parse(document, True)
        except (expat.ExpatError, LookupError) as error:
            return str(error)
    return None


def judge_by_xmllint():
    if not shutil.which("xmllint"):
        not_installed("xmllint (Debian: libxml2-utils)")
    documents = read_documents()
    reasons = {}
    with tempfile.TemporaryDirectory() as folder:
        names = [f"{index}.xml" for index in range(len(documents))]
        for name, document in zip(names, documents):
            (pathlib.Path(folder) / name).write_bytes(document)
        for first in range(0, len(names), FILES_AT_ONCE):
            some = names[first : first + FILES_AT_ONCE]
            result = subprocess.run(["xmllint", "--noout", "--nonet", *some], cwd=folder, capture_output=True)
            # Namespace errors leave the exit status at zero, so the messages decide.
            messages = result.stderr.decode("utf-8", "replace")
            for index, message in re.findall(r"^([0-9]+)\.xml:([0-9]+: .*error.*)$", messages, re.MULTILINE):
                reasons.setdefault(int(index), f"line {message}")
            if result.returncode != 0 and not reasons:
                raise SystemExit(f"xmllint failed: {messages[:600]}")
    report(documents, reasons)


if "--xmllint" in sys.argv[1:]:
    judge_by_xmllint()
else:
    judge_each(rejection_by_expat)
