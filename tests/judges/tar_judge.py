"""Judges tape archives by Python's `tarfile`: it reads all members up to the zeros at the end. With `--tar`, also by
`tar -t`.

The documents have their length before them, as 32 bits: they may have any byte.
"""

import io
import subprocess
import sys
import tarfile

from judging import read_documents_with_lengths


def is_archive(document):
    try:
        with tarfile.open(fileobj=io.BytesIO(document), mode="r:") as archive:
            members = archive.getmembers()
            for member in members:
                if member.isfile() and len(archive.extractfile(member).read()) != member.size:
                    return False
    except (tarfile.TarError, OSError):
        # An archive without members has no header to read.
        return len(document) % 2048 == 0 and not any(document)
    end = max((member.offset_data + (member.size + 511) // 512 * 512 for member in members), default=0)
    # A wrong checksum ends the list without an error.
    return len(document) % 2048 == 0 and len(document) - end >= 1024 and not any(document[end:])


def is_listed(document):
    listed = subprocess.run(["tar", "-tf", "-"], input=document, capture_output=True)
    return listed.returncode == 0 and not listed.stderr


documents = read_documents_with_lengths()
if "--tar" in sys.argv:
    documents = documents[:200]
    print(f"accepted {sum(map(is_listed, documents))} of {len(documents)}")
else:
    print(f"accepted {sum(map(is_archive, documents))} of {len(documents)}")
