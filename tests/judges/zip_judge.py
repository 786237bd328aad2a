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

from judging import not_installed, read_documents_with_lengths

# An archive may have two entries of one name.
warnings.simplefilter("ignore")


def has_its_header(document, entry):
    """Returns true if the header before an entry says what the directory says."""
    begin = entry.header_offset
    signature, _, _, method, _, _, checksum, packed, size, name, more = struct.unpack(
        "<4s5H3L2H", document[begin : begin + 30]
    )
    said = (method, checksum, packed, size)
    return (
        signature == b"PK\3\4"
        and said == (entry.compress_type, entry.CRC, entry.compress_size, entry.file_size)
        and document[begin + 30 : begin + 30 + name].decode() == entry.orig_filename
        and more == 0
    )


def is_archive(document):
    try:
        with zipfile.ZipFile(io.BytesIO(document)) as archive:
            entries = archive.infolist()
            for entry in entries:
                with archive.open(entry) as member:
                    if len(member.read()) != entry.file_size or not has_its_header(document, entry):
                        return False
            # Nothing stands between the entries, or before the directory.
            ends = [entry.header_offset + 30 + len(entry.orig_filename) + entry.compress_size for entry in entries]
            begins = [entry.header_offset for entry in entries]
            return [*begins, archive.start_dir] == [0, *ends]
    except (zipfile.BadZipFile, OSError, EOFError, struct.error, UnicodeDecodeError):
        return False


def is_tested(document):
    # An archive without entries is told with a warning.
    if document[:4] == b"PK\5\6":
        return True
    with tempfile.NamedTemporaryFile(suffix=".zip") as file:
        file.write(document)
        file.flush()
        return subprocess.run(["unzip", "-tq", file.name], capture_output=True).returncode == 0


if "--unzip" in sys.argv and not shutil.which("unzip"):
    not_installed("the program unzip")
documents = read_documents_with_lengths()
if "--unzip" in sys.argv:
    documents = documents[:200]
    print(f"accepted {sum(map(is_tested, documents))} of {len(documents)}")
else:
    print(f"accepted {sum(map(is_archive, documents))} of {len(documents)}")
