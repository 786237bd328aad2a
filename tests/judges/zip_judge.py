"""Judges ZIP archives by Python's `zipfile`: it reads all entries, and their headers are those of the directory. With
`--unzip`, by `unzip -t`.

The documents have their length before them, as 32 bits: they may have any byte.
"""

import io
import shutil
import struct
import subprocess
import sys
import tempfile
import warnings
import zipfile

from judging import not_installed, read_documents_with_lengths, report

# An archive may have two entries of one name.
warnings.simplefilter("ignore")

# The flag of a file whose checksum and sizes come after it, and their length there.
STREAMED = 8
SIZES = 16


def end_by_its_header(document, entry):
    """Returns the place after an entry, by its header; raises an error if this does not say what the directory says."""
    begin = entry.header_offset
    signature, _, flags, method, _, _, checksum, packed, size, name, more = struct.unpack(
        "<4s5H3L2H", document[begin : begin + 30]
    )
    end = begin + 30 + name + more + entry.compress_size
    if flags & STREAMED:
        if (checksum, packed, size) != (0, 0, 0):
            raise ValueError("sizes of a streamed entry")
        mark, checksum, packed, size = struct.unpack("<4s3L", document[end : end + SIZES])
        end += SIZES
        if mark != b"PK\7\x08":
            raise ValueError("the mark of the sizes")
    said = (method, checksum, packed, size)
    if signature != b"PK\3\4" or said != (entry.compress_type, entry.CRC, entry.compress_size, entry.file_size):
        raise ValueError("a header is not that of the directory")
    return end


def reason(document):
    """Returns why a document is refused, or None."""
    try:
        with zipfile.ZipFile(io.BytesIO(document)) as archive:
            entries = archive.infolist()
            for entry in entries:
                with archive.open(entry) as member:
                    if len(member.read()) != entry.file_size:
                        return "the size of an entry"
            # Nothing stands between the entries, or before the directory.
            ends = [end_by_its_header(document, entry) for entry in entries]
            begins = [entry.header_offset for entry in entries]
            return None if [*begins, archive.start_dir] == [0, *ends] else "bytes between entries"
    except (zipfile.BadZipFile, OSError, EOFError, struct.error, UnicodeDecodeError, ValueError) as error:
        return repr(error)


def reason_of_unzip(document):
    """Returns what `unzip -t` says of a document, or None."""
    with tempfile.NamedTemporaryFile(suffix=".zip") as file:
        file.write(document)
        file.flush()
        run = subprocess.run(["unzip", "-tq", file.name], capture_output=True)
        return None if run.returncode == 0 else (run.stdout + run.stderr).decode(errors="replace").strip()


if "--unzip" in sys.argv and not shutil.which("unzip"):
    not_installed("the program unzip")
documents = read_documents_with_lengths()
judge = reason_of_unzip if "--unzip" in sys.argv else reason
report(documents, {number: found for number, found in enumerate(map(judge, documents)) if found})
