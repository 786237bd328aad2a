"""Judges DOT files by Graphviz's own parser, the library libcgraph: one graph each, without an error or a warning."""

import ctypes
import ctypes.util

from judging import judge_each, not_installed

library = ctypes.util.find_library("cgraph")
if library is None:
    not_installed("Graphviz's libcgraph")
cgraph = ctypes.CDLL(library)
cgraph.agmemread.restype = ctypes.c_void_p
cgraph.agmemread.argtypes = [ctypes.c_char_p]
cgraph.agclose.argtypes = [ctypes.c_void_p]

said = []
Listener = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)


@Listener
def listen(text):
    said.append(text.decode("utf-8", "backslashreplace"))
    return 0


cgraph.agseterrf(listen)


def rejection(document):
    said.clear()
    graph = cgraph.agmemread(document)
    if graph is not None:
        cgraph.agclose(graph)
    if said:
        return "".join(said).strip()
    return None if graph is not None else "no graph"


judge_each(rejection)
