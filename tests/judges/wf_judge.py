"""Judges texts of words by `wc`: it counts the words, without an invalid character, and as many as Python's `str.split` finds.

One process counts for many documents.
"""

import os
import shutil
import subprocess
import tempfile

from judging import not_installed, read_documents, report

TOGETHER = 1000

if shutil.which("wc") is None:
    not_installed("wc")


def counted(documents, folder):
    """For each document: words, characters and bytes, by `wc`."""
    names = [f"{index}" for index in range(len(documents))]
    for name, document in zip(names, documents):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(document)
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    ran = subprocess.run(["wc", "-w", "-m", "-c", *names], cwd=folder, env=environment, capture_output=True, check=True)
    return [tuple(map(int, line.split()[:3])) for line in ran.stdout.splitlines()[: len(documents)]]


documents = read_documents()
reasons = {}
for begin in range(0, len(documents), TOGETHER):
    some = documents[begin : begin + TOGETHER]
    with tempfile.TemporaryDirectory() as folder:
        for index, (document, count) in enumerate(zip(some, counted(some, folder))):
            text = document.decode("utf-8", "replace")
            expected = (len(text.split()), len(text), len(document))
            if count != expected or "\ufffd" in text:
                reasons[begin + index] = f"words, characters, bytes: {count} by wc, {expected} by Python"
report(documents, reasons)
