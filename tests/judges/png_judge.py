"""Judges PNG files: Pillow loads each, and a decoder of a few lines finds its chunks, checksums and rows right.

The documents have their length before them, as 32 bits: they may have any byte.
"""

import io
import struct
import zlib

from judging import need, read_documents_with_lengths

need("PIL")
from PIL import Image  # noqa: E402

CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def check(data):
    """Raises an error if the chunks are not those of an image whose rows are as long as its header says."""
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("no signature")
    place, rows, header, kinds = 8, b"", None, []
    while place < len(data):
        (length,) = struct.unpack_from(">I", data, place)
        chunk = data[place + 4 : place + 8 + length]
        (checksum,) = struct.unpack_from(">I", data, place + 8 + length)
        if checksum != zlib.crc32(chunk):
            raise ValueError(f"the checksum of {chunk[:4]}")
        kinds.append(chunk[:4])
        if chunk[:4] == b"IHDR":
            header = struct.unpack(">IIBBBBB", chunk[4:])
        elif chunk[:4] == b"IDAT":
            rows += chunk[4:]
        place += length + 12
    width, height, depth, colour, *_ = header
    row = 1 + (width * depth * CHANNELS[colour] + 7) // 8
    if kinds[0] != b"IHDR" or kinds[-1] != b"IEND" or len(zlib.decompress(rows)) != row * height:
        raise ValueError("the rows")
    if (colour == 3) != (b"PLTE" in kinds):
        raise ValueError("the palette")


def reason(document):
    try:
        check(document)
        Image.open(io.BytesIO(document)).verify()
        Image.open(io.BytesIO(document)).load()
    except Exception as error:  # Pillow raises many kinds.
        return repr(error)
    return None


documents = read_documents_with_lengths()
reasons = [found for found in map(reason, documents) if found]
print(f"accepted {len(documents) - len(reasons)} of {len(documents)}")
for found in reasons[:5]:
    print(found)
