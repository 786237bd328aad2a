"""Judges HTML documents by the Nu Html Checker (vnu): parse errors and content model. Needs Java."""

import json
import pathlib
import shutil
import subprocess
import tempfile

from judging import NODE_MODULES, not_installed, read_documents, report

CHECKER = NODE_MODULES / "vnu-jar" / "build" / "dist" / "vnu.jar"

if not shutil.which("java"):
    not_installed("java")
if not CHECKER.exists():
    not_installed("the npm package vnu-jar")

documents = read_documents()
reasons = {}
with tempfile.TemporaryDirectory() as folder:
    for index, document in enumerate(documents):
        (pathlib.Path(folder) / f"{index}.html").write_bytes(document)
    options = ["--format", "json", "--errors-only", "--exit-zero-always"]
    checker = ["java", "-Xss16m", "-jar", str(CHECKER), *options, folder]
    result = subprocess.run(checker, capture_output=True, check=True)
    for message in json.loads(result.stderr)["messages"]:
        if "url" not in message:
            raise SystemExit(f"the checker failed: {message['message']}")
        index = int(pathlib.Path(message["url"]).stem)
        reasons.setdefault(index, f"{message['message']} Near {message.get('extract', '')!r}.")
report(documents, reasons)
