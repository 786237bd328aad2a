"""Judges .proto files by protoc, as grpcio-tools has it in its library: each compiles by itself to a descriptor.

With `--syntax`, only what the parser says counts: imports, types, names and numbers may be wrong.
"""

import os
import pathlib
import sys
import tempfile

from judging import judge_each, need

grpc_tools = need("grpc_tools")
compiler = need("grpc_tools._protoc_compiler")

INCLUDES = pathlib.Path(grpc_tools.__file__).parent / "_proto"
FOLDER = tempfile.TemporaryDirectory()
PLACE = pathlib.Path(FOLDER.name)
ARGUMENTS = ["protoc", f"-I{PLACE}", f"-I{INCLUDES}", f"--descriptor_set_out={os.devnull}", "document.proto"]
SAID = open(PLACE / "said", "w+b")
SYNTAX_ONLY = "--syntax" in sys.argv[1:]
SYNTAX_ERRORS = ("Expected", "Missing", "Unexpected", "Reached end", "Need space", "Invalid", "Unterminated", "String literals")


def rejection(document):
    (PLACE / "document.proto").write_bytes(document)
    SAID.seek(0)
    SAID.truncate()
    sys.stderr.flush()
    before = os.dup(2)
    os.dup2(SAID.fileno(), 2)
    try:
        status = compiler.run_main([argument.encode() for argument in ARGUMENTS])
    finally:
        os.dup2(before, 2)
        os.close(before)
    if status == 0:
        return None
    SAID.seek(0)
    lines = SAID.read().decode("utf-8", "backslashreplace").splitlines() or ["no reason given"]
    if SYNTAX_ONLY:
        return next((line for line in lines if line.partition(": ")[2].startswith(SYNTAX_ERRORS)), None)
    return next((line for line in lines if "document.proto:" in line and "warning" not in line), lines[-1])


judge_each(rejection)
