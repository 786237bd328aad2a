"""Judges Go source files by gofmt: they parse. A file is judged as it stands, not as a part of a package."""

import pathlib
import re
import shutil
import subprocess
import tempfile

from judging import not_installed, read_documents, report

# Where Debian puts the newest one, if it is not in the path.
GOFMT = shutil.which("gofmt") or next(iter(sorted(map(str, pathlib.Path("/usr/lib").glob("go-*/bin/gofmt")), reverse=True)), None)
AT_A_TIME = 500
ERROR = re.compile(r"(?m)^(?:.*/)?(\d+)\.go:(\d+:\d+: .*)$")

if GOFMT is None:
    not_installed("gofmt (Debian: golang-go)")
documents = read_documents()
reasons = {}
with tempfile.TemporaryDirectory() as folder:
    paths = [pathlib.Path(folder, f"{index}.go") for index in range(len(documents))]
    for path, document in zip(paths, documents):
        path.write_bytes(document)
    for first in range(0, len(paths), AT_A_TIME):
        run = subprocess.run([GOFMT, "-e", "-l", *paths[first : first + AT_A_TIME]], capture_output=True, text=True, errors="replace")
        errors = ERROR.findall(run.stderr)
        for index, reason in errors:
            reasons.setdefault(int(index), reason)
        if run.returncode != 0 and not errors:
            raise SystemExit(f"gofmt failed with status {run.returncode}: {run.stderr}")
report(documents, reasons)
