"""Does what its input asks for: the first letter says what."""
import json
import json.decoder
import os
import sys
import threading
import time


class Unusual(Exception):
    pass


def deep(n):
    return deep(n + 1) + 1


def raise_deep():
    raise Unusual("not usual")


def run(data):
    what = data[:1]
    if what == b"u":
        raise_deep()
    elif what == b"j":
        json.loads("[1,")
    elif what == b"e":
        sys.exit(int(data[1:] or 0))
    elif what == b"E":
        sys.exit("a last word")
    elif what == b"x":
        os._exit(5)
    elif what == b"l":
        while True:
            pass
    elif what == b"r":
        deep(0)
    elif what == b"m":
        kept = []
        while True:
            kept.append(bytearray(b"x" * (1 << 24)))
    elif what == b"M":
        bytearray(1 << 62)
    elif what == b"t":
        thread = threading.Thread(target=lambda: [print("from a thread") for _ in range(3)])
        thread.start()
    elif what == b"T":
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    elif what == b"p":
        print("a text")
        print("an error", file=sys.stderr)
    elif what == b"P":
        for _ in range(10000):
            print("x" * 999)
    elif what == b"Q":
        while True:
            print("x" * 999)
    elif what == b"k":
        os.kill(os.getpid(), 11)
    elif what == b"f":
        # An unknown child, which would serve requests if it came back.
        if os.fork() == 0:
            return
    elif what == b"b":
        # The bound protects the machine that the test runs on.
        for _ in range(40):
            if os.fork() == 0:
                break
        time.sleep(1000)
    elif what == b"F":
        if os.fork() == 0:
            time.sleep(1000)
    elif what == b"c":
        sys.stdout.close()
    elif what == b"C":
        os.closerange(3, 1000)
    elif what == b"i":
        return sys.stdin.read()
    elif what == b"w":
        with open(os.environ["OUTSIDE"], "w"):
            pass
    return 1


def count(data):
    """A loop and branches."""
    total = 0
    for byte in data:
        if byte == 97:
            total += 1
        elif byte == 98:
            total -= 1
    while True:
        total -= 1
        if total < 0:
            break
    return total


def parse(text):
    """The parser of the standard library that is written in Python."""
    decoder = json.decoder.JSONDecoder()
    decoder.parse_string = json.decoder.py_scanstring
    decoder.scan_once = json.scanner.py_make_scanner(decoder)
    return decoder.decode(text)


class Holder:
    @staticmethod
    def text(text):
        if not isinstance(text, str):
            raise TypeError(type(text))


number = 3


def often(data):
    """A loop, after which all has been executed 2**32 - 1 times more."""
    import mmap

    counters = memoryview(mmap.mmap(196, 0)).cast("Q")
    for number in range(1, 100):
        counters[number] += 2**32 - 1
    return count(data)
