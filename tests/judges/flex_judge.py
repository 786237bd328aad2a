"""Judges flex specifications by flex, which makes a scanner of each; nothing is compiled."""

import concurrent.futures
import os
import shutil
import subprocess

from judging import not_installed, read_documents, report

SECONDS = 20


def rejection(document):
    try:
        result = subprocess.run(["flex", "-w", "-o", os.devnull], input=document, capture_output=True, timeout=SECONDS)
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
