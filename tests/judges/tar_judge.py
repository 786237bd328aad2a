"""Judges tape archives by Python's `tarfile`: it reads all members up to the zeros at the end. With `--tar`, by GNU tar:
`tar -t` lists all members without a warning.

The documents have their length before them, as 32 bits: they may have any byte.
"""

import io
import subprocess
import sys
import tarfile

from judging import read_documents_with_lengths, report

BLOCK = 512


def reason(document):
    """Returns why a document is refused, or None."""
    if len(document) % BLOCK != 0:
        return "the last block is not whole"
    try:
        with tarfile.open(fileobj=io.BytesIO(document), mode="r:", ignore_zeros=False) as archive:
            members = archive.getmembers()
            for member in members:
                if member.isfile() and len(archive.extractfile(member).read()) != member.size:
                    return f"the contents of {member.name}"
    except (tarfile.TarError, OSError) as error:
        # An archive without members has no header to read.
        return None if not any(document) and len(document) >= 2 * BLOCK else repr(error)
    end = max((member.offset_data + -(-member.size // BLOCK) * BLOCK for member in members), default=0)
    # A wrong checksum ends the list without an error.
    return None if len(document) - end >= 2 * BLOCK and not any(document[end:]) else "no zeros after the last member"


def reason_of_tar(document):
    """Returns what GNU tar says of a document, or None."""
    listed = subprocess.run(["tar", "-tf", "-"], input=document, capture_output=True)
    return None if listed.returncode == 0 and not listed.stderr else listed.stderr.decode(errors="replace").strip()


documents = read_documents_with_lengths()
judge = reason_of_tar if "--tar" in sys.argv else reason
report(documents, {number: found for number, found in enumerate(map(judge, documents)) if found})
