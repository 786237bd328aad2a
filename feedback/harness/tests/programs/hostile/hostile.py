"""Does harm: the first word of the input says how. What this language can do itself is here, the rest is in hostile.c."""
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time

library = ctypes.CDLL(os.environ["HOSTILE_LIBRARY"])


class Finding(Exception):
    pass


def benign(much):
    total = 0
    for number in range(much):
        total += number if number % 3 else 2
    os.write(1, b"benign %d\n" % much)


def finding(much):
    raise Finding


def language_process(much):
    subprocess.Popen(["sleep", "1000"], start_new_session=True)


def language_fork(much):
    # It would serve requests if it came back.
    if os.fork() == 0:
        return


def language_threads(much):
    for _ in range(10):
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()


def language_signals(much):
    for number in range(1, 32):
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_IGN)


def language_files(much):
    with open(os.environ["HOSTILE_OUTSIDE"] + "/new", "w"):
        os._exit(77)


def language_descriptors(much):
    os.closerange(3, 1000)


def language_streams(much):
    sys.stdout.close()
    sys.stderr.close()


def language_exit(much):
    threading.Thread(target=lambda: os._exit(5)).start()
    time.sleep(10)


OWN = {function.__name__: function for function in (
    benign, finding, language_process, language_fork, language_threads, language_signals, language_files,
    language_descriptors, language_streams, language_exit)}


def run(data):
    name, _, much = data.decode().partition(" ")
    if name in OWN:
        OWN[name](int(much or 0))
    else:
        library.hostile(data)
