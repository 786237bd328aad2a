"""Judges records in codings: each decodes to a text with the length and the checksum that the record says.

The documents have their length before them, as 32 bits: they may have any byte.
"""

import base64
import gzip
import html
import json
import quopri
import struct
import urllib.parse
import zlib

from judging import read_documents_with_lengths


def chunked(data):
    text, place = b"", 0
    while True:
        end = data.index(b"\r\n", place)
        size = int(data[place:end], 16)
        text += data[end + 2 : end + 2 + size]
        place = end + 2 + size
        if data[place : place + 2] != b"\r\n":
            raise ValueError("a chunk without its end")
        place += 2
        if size == 0:
            if place != len(data):
                raise ValueError("bytes after the last chunk")
            return text


def lines(data):
    if any(len(line) > 76 for line in data.split(b"\r\n")):
        raise ValueError("a long line")
    return quopri.decodestring(data)


def inflated(data):
    inflater = zlib.decompressobj(-15)
    text = inflater.decompress(data)
    if not inflater.eof or inflater.unused_data:
        raise ValueError("a stream that does not end")
    return text


def url(data):
    if b"=" in data:
        raise ValueError("padding")
    return base64.b64decode(data + b"=" * (-len(data) % 4), altchars=b"-_", validate=True)


DECODERS = {
    b"base16": lambda data: base64.b16decode(data),
    b"base16lower": lambda data: bytes.fromhex(data.decode()) if data == data.lower() else b"",
    b"base32": base64.b32decode,
    b"base64": lambda data: base64.b64decode(data, validate=True),
    b"base64url": url,
    b"percent": lambda data: urllib.parse.unquote_to_bytes(data),
    b"jsonstring": lambda data: json.loads(b'"' + data + b'"', strict=True).encode(),
    b"xmltext": lambda data: html.unescape(data.decode()).encode(),
    b"cstring": lambda data: eval(b'b"' + data + b'"'),
    b"quotedprintable": lines,
    b"chunked": chunked,
    b"deflate": inflated,
    b"zlib": zlib.decompress,
    b"gzip": gzip.decompress,
}


def read(data):
    place = 0
    while place < len(data):
        end = data.index(b":", place)
        (length,) = struct.unpack_from(">I", data, end + 1)
        coded = data[end + 5 : end + 5 + length]
        text = DECODERS[data[place:end]](coded)
        place = end + 5 + length
        if struct.unpack_from(">II", data, place) != (len(text), zlib.crc32(text)):
            raise ValueError(f"{data[:end]}: another text")
        place += 8
    return place == len(data) > 0


def reason(document):
    try:
        return None if read(document) else "it is empty"
    except (ValueError, KeyError, SyntaxError, zlib.error, struct.error, OSError) as error:
        return repr(error)


documents = read_documents_with_lengths()
reasons = [found for found in map(reason, documents) if found]
print(f"accepted {len(documents) - len(reasons)} of {len(documents)}")
for found in reasons[:5]:
    print(found)
