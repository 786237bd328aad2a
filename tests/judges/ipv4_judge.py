"""Judges headers of the Internet protocol: the version, both lengths, the options and the checksum.

The documents have their length before them, as 32 bits: they may have any byte.
"""

import struct

from judging import read_documents_with_lengths


def is_datagram(document):
    version, words = document[0] >> 4, document[0] & 15
    header = document[: 4 * words]
    (length,) = struct.unpack_from(">H", document, 2)
    if version != 4 or words < 5 or length != len(document) or len(header) < 4 * words:
        return False
    total = sum(struct.unpack(f">{2 * words}H", header))
    # Ones' complement: carries are added, and the sum with its complement has all bits.
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    place = 20
    while place < len(header) and header[place] != 0:
        place += 1 if header[place] == 1 else max(header[place + 1], 2)
    return total == 0xFFFF and place <= len(header) and not any(header[place:])


documents = read_documents_with_lengths()
print(f"accepted {sum(map(is_datagram, documents))} of {len(documents)}")
