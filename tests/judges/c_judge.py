"""Judges C translation units by GCC (`-fsyntax-only`: syntax, names and types); with `--clang` by libclang.

With `--syntax` by GCC's messages about syntax alone. An unknown name of a type makes GCC misread what comes after it. So a message about syntax does
not count where another error is reported earlier in the same line, nor where GCC finds a name that it does not want.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from judging import judge_each, need, not_installed, read_documents, report

FILES_AT_ONCE = 50
COMMAND = ["gcc", "-std=c17", "-fsyntax-only", "-w", "-fmax-errors=1", "-x", "c"]
# Messages that GCC's parser and preprocessor give.
SYNTAX = re.compile(
    r"error: expected |stray |missing terminating|invalid suffix|too many decimal|exponent has no|invalid digit|without a previous"
    r"|unterminated|empty character|no following hex|incomplete universal|extra ';'|garbage|invalid preprocessing"
)
# A name, but no keyword, at the place of something else.
UNKNOWN_TYPE = re.compile(
    r"expected .* before '(?!_*(asm|attribute|const|extension|inline|restrict|signed|thread|typeof|volatile)_*'|_[A-Z][a-z]|(auto|break|case|char"
    r"|continue|default|do|double|else|enum|extern|float|for|goto|if|int|long|register|return|short|sizeof|static|struct|switch|typedef|union"
    r"|unsigned|void|while)')[A-Za-z_$]"
)
# What GCC writes into preprocessed files. Its messages would name the files that these lines name.
LINE_MARKER = re.compile(rb"^# [0-9]+ \".*$", re.MULTILINE)
ERROR = 3  # The severity of errors in libclang.


def first_of_syntax(found):
    """The messages about syntax in lines where no other kind of error is reported before them."""
    others = set()
    for index, message in found:
        line = (index, message.split(":", 1)[0])
        if UNKNOWN_TYPE.search(message) or not SYNTAX.search(message):
            others.add(line)
        elif line not in others:
            yield index, message


def judge_by_gcc(syntax_only):
    if not shutil.which("gcc"):
        not_installed("gcc (Debian: gcc)")
    command = [*COMMAND, "-std=gnu17", "-fmax-errors=0"] if syntax_only else COMMAND
    documents = read_documents()
    reasons = {}
    with tempfile.TemporaryDirectory() as folder:
        names = [f"{index}.c" for index in range(len(documents))]
        for name, document in zip(names, documents):
            (pathlib.Path(folder) / name).write_bytes(LINE_MARKER.sub(b"", document))

        def messages_of(first):
            some = names[first : first + FILES_AT_ONCE]
            result = subprocess.run([*command, *some], cwd=folder, capture_output=True, env={**os.environ, "LC_ALL": "C"})
            messages = result.stderr.decode("utf-8", "replace")
            found = re.findall(r"^([0-9]+)\.c:([0-9]+:[0-9]+: (?:fatal )?error: .*)$", messages, re.MULTILINE)
            if result.returncode != 0 and not found:
                raise SystemExit(f"gcc failed: {messages[:600]}")
            return found

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for found in pool.map(messages_of, range(0, len(names), FILES_AT_ONCE)):
                for index, message in first_of_syntax(found) if syntax_only else found:
                    reasons.setdefault(int(index), f"line {message}")
    report(documents, reasons)


def judge_by_clang():
    cindex = need("clang.cindex")
    index = cindex.Index.create()

    def rejection(document):
        try:
            text = document.decode("utf-8")
        except UnicodeDecodeError as error:
            return str(error)
        unit = index.parse("document.c", ["-std=c17", "-w"], unsaved_files=[("document.c", text)])
        for diagnostic in unit.diagnostics:
            if diagnostic.severity >= ERROR:
                return f"line {diagnostic.location.line}: {diagnostic.spelling}"
        return None

    judge_each(rejection)


if "--clang" in sys.argv[1:]:
    judge_by_clang()
else:
    judge_by_gcc("--syntax" in sys.argv[1:])
