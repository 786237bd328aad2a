"""Judges regular expressions by PCRE2, the library: each compiles, in UTF-8."""

import ctypes
import ctypes.util

from judging import judge_each, not_installed

PCRE2_UTF = 0x00080000

library = ctypes.util.find_library("pcre2-8")
if library is None:
    not_installed("PCRE2's libpcre2-8")
pcre2 = ctypes.CDLL(library)
pcre2.pcre2_compile_8.restype = ctypes.c_void_p
pcre2.pcre2_compile_8.argtypes = [
    ctypes.c_char_p,
    ctypes.c_size_t,
    ctypes.c_uint32,
    ctypes.POINTER(ctypes.c_int),
    ctypes.POINTER(ctypes.c_size_t),
    ctypes.c_void_p,
]
pcre2.pcre2_code_free_8.argtypes = [ctypes.c_void_p]


def rejection(document):
    error, offset = ctypes.c_int(), ctypes.c_size_t()
    code = pcre2.pcre2_compile_8(document, len(document), PCRE2_UTF, error, offset, None)
    if code is not None:
        pcre2.pcre2_code_free_8(code)
        return None
    message = ctypes.create_string_buffer(256)
    pcre2.pcre2_get_error_message_8(error, message, len(message))
    return f"at byte {offset.value}: {message.value.decode()}"


judge_each(rejection)
