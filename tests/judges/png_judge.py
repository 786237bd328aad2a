"""Judges PNG files: Pillow loads each, and a decoder of a few lines finds its chunks, checksums and rows right. With
`--pngcheck`, by pngcheck, which knows the order of chunks and what they may hold.

The documents have their length before them, as 32 bits: they may have any byte.
"""

import io
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

from judging import need, not_installed, read_documents_with_lengths, report

CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
# The first column and row of each pass of an interlaced image, and the distance to the next ones.
PASSES = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
AT_A_TIME = 500


def size_of_rows(width, height, bits, is_laced):
    """Returns the number of bytes of all rows, each with the byte of its filter."""
    passes = PASSES if is_laced else [(0, 0, 1, 1)]
    sizes = [(-(-(width - x) // dx), -(-(height - y) // dy)) for x, y, dx, dy in passes]
    return sum((1 + (columns * bits + 7) // 8) * rows for columns, rows in sizes if columns > 0 and rows > 0)


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
    width, height, depth, colour, _, _, laced = header
    size = size_of_rows(width, height, depth * CHANNELS[colour], laced)
    if kinds[0] != b"IHDR" or kinds[-1] != b"IEND" or len(zlib.decompress(rows)) != size:
        raise ValueError("the rows")
    if (colour == 3) != (b"PLTE" in kinds):
        raise ValueError("the palette")


def reason(document):
    """Returns why a document is refused, or None."""
    try:
        check(document)
        Image.open(io.BytesIO(document)).verify()
        Image.open(io.BytesIO(document)).load()
    except Exception as error:  # Pillow raises many kinds.
        return repr(error)
    return None


def reasons_of_pngcheck(documents):
    """Returns what pngcheck says of the documents that it refuses, by their numbers."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, len(documents), AT_A_TIME):
            names = []
            for number, document in enumerate(documents[first : first + AT_A_TIME], first):
                names.append(f"{folder}/{number}.png")
                with open(names[-1], "wb") as file:
                    file.write(document)
            run = subprocess.run(["pngcheck", *names], capture_output=True, text=True, errors="replace")
            for number, name in enumerate(names, first):
                if not any(line.startswith(f"OK: {name} ") for line in run.stdout.splitlines()):
                    found[number] = next((line for line in run.stdout.splitlines() if name in line), run.stderr)
    return found


if "--pngcheck" in sys.argv:
    if not shutil.which("pngcheck"):
        not_installed("the program pngcheck")
    documents = read_documents_with_lengths()
    report(documents, reasons_of_pngcheck(documents))
else:
    need("PIL")
    from PIL import Image  # noqa: E402

    documents = read_documents_with_lengths()
    reasons = map(reason, documents)
    report(documents, {number: found for number, found in enumerate(reasons) if found})
