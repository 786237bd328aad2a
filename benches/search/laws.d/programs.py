"""Small functions whose cost is linear in the end: some with caches, some with work that is quadratic up to a cap."""

import functools


# Linear.
def counts(text):
    found = {}
    for letter in text:
        found[letter] = found.get(letter, 0) + 1


def joined(text):
    parts = []
    for part in text.split(","):
        parts.append(part.strip())
    ",".join(parts)


def nested(text):
    depth = 0
    for letter in text:
        if letter in "([":
            depth += 1
        elif letter in ")]":
            depth -= 1


def sums(text):
    total = 0
    for part in text.replace(" ", ",").split(","):
        if part.isdigit() and len(part) < 20:
            total += int(part)


def lines(text):
    for word in text.split():
        for letter in word:
            letter.upper()


def seen(text):
    known = set()
    for word in text.split(","):
        if word not in known:
            known.add(word)


def states(text):
    state = 0
    for letter in text:
        state = (state * 3 + ord(letter)) % 7
        if state == 3:
            for _ in range(4):
                state += 1


def doubled(text):
    room, count = 1, 0
    for _ in text:
        if count == room:
            for _ in range(count):
                pass
            room *= 2
        count += 1


# With caches.
_loaded = []


def lazy(text):
    if "(" in text and not _loaded:
        _loaded.extend(number * number for number in range(20000))
    for _ in text:
        pass


@functools.lru_cache(maxsize=None)
def _whole(text):
    for letter in text:
        letter.lower()


def whole(text):
    _whole(text)


@functools.lru_cache(maxsize=100)
def _word(word):
    for _ in range(50):
        pass


def recent(text):
    for word in text.split(","):
        _word(word)


@functools.lru_cache(maxsize=None)
def _part(part):
    for _ in range(30):
        pass


def parts(text):
    for part in text.split(","):
        _part(part[:2])


_compiled = {}


def compiled(text):
    for word in text.split(","):
        if word not in _compiled:
            if len(_compiled) > 300:
                _compiled.clear()
            for _ in range(40):
                pass
            _compiled[word] = True


_calls = [0]


def warm(text):
    _calls[0] += 1
    for _ in text:
        if _calls[0] < 50:
            for _ in range(20):
                pass


# Quadratic up to a cap.
def window(text):
    known = []
    for word in text.split(","):
        for other in known:
            if other == word:
                break
        known.append(word)
        known = known[-40:]


def pairs(text):
    words = text.split(",")[:250]
    for number, _ in enumerate(words):
        for _ in range(number):
            pass
    for _ in text:
        pass


def deep(text):
    depth = 0
    for letter in text:
        if letter in "([":
            depth = min(depth + 1, 90)
            for _ in range(depth):
                pass


def looks(text):
    for place, letter in enumerate(text):
        if letter == ",":
            for back in range(place, max(place - 700, 0), -1):
                if text[back] == ";":
                    break
