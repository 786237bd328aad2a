"""Judges shell scripts by dash (`dash -n`: reads all commands, runs none); with `--bash` by bash in its POSIX mode."""

import concurrent.futures
import os
import shutil
import subprocess
import sys

from judging import not_installed, read_documents, report

SECONDS = 20
SHELL = "bash" if "--bash" in sys.argv[1:] else "dash"
COMMAND = ["bash", "--posix", "-n"] if SHELL == "bash" else ["dash", "-n"]


def rejection(document):
    try:
        result = subprocess.run(COMMAND, input=document, capture_output=True, timeout=SECONDS, env={**os.environ, "LC_ALL": "C.UTF-8"})
    except subprocess.TimeoutExpired:
        return f"no verdict within {SECONDS} seconds"
    messages = result.stderr.decode("utf-8", "replace").strip()
    # bash only warns of a here-document that the end of the text ends.
    if result.returncode != 0 or messages:
        return messages or f"exit status {result.returncode}"
    return None


if not shutil.which(SHELL):
    not_installed(f"{SHELL} (Debian: {SHELL})")
documents = read_documents()
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    reasons = {index: reason for index, reason in enumerate(pool.map(rejection, documents)) if reason is not None}
report(documents, reasons)
