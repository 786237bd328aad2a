"""Judges flex specifications by flex, which makes a scanner of each; nothing is compiled."""

import concurrent.futures
import os
import shutil
import subprocess
import tempfile

from judging import not_installed, read_documents, report

SECONDS = 20


# To standard output: flex removes the file that it writes, a device too, if it refuses a specification. In a folder of
# its own, as specifications can name files.
COMMAND = ["flex", "-w", "-t"]


def rejection(document):
    try:
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run(COMMAND, input=document, capture_output=True, timeout=SECONDS, cwd=folder)
    except subprocess.TimeoutExpired:
        return f"no scanner within {SECONDS} seconds"
    if result.returncode != 0:
        return result.stderr.decode("utf-8", "replace").strip() or f"exit status {result.returncode}"
    return None


if not shutil.which("flex"):
    not_installed("flex (Debian: flex)")
documents = read_documents()
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    reasons = {index: reason for index, reason in enumerate(pool.map(rejection, documents)) if reason is not None}
report(documents, reasons)
