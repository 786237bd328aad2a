"""Judges HTTP/1.1 requests by h11 and by llhttp (as httptools): one complete request each, and nothing after it.

With `--llhttp`, by llhttp alone, which asks for no Host: requests without an error, at least one of them complete.
"""

import sys

from judging import judge_each, need

h11 = need("h11")
httptools = need("httptools")


class Messages:
    """Counts complete requests, as llhttp reports them."""

    def __init__(self):
        self.complete = 0

    def on_message_complete(self):
        self.complete += 1


def rejection_by_h11(document):
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(document)
    try:
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                return "h11: not complete"
            if event is h11.PAUSED or isinstance(event, h11.ConnectionClosed):
                return f"h11: {event!r}"
            if isinstance(event, h11.EndOfMessage):
                rest, _ = connection.trailing_data
                return f"h11: {rest!r} is left" if rest else None
    except h11.RemoteProtocolError as error:
        return f"h11: {error}"


def rejection_by_llhttp(document):
    messages = Messages()
    parser = httptools.HttpRequestParser(messages)
    try:
        parser.feed_data(document)
    except httptools.HttpParserUpgrade as upgrade:
        (end,) = upgrade.args
        return None if end == len(document) else f"llhttp: {document[end:]!r} is left"
    except httptools.HttpParserError as error:
        return f"llhttp: {error}"
    return None if messages.complete == 1 else f"llhttp: {messages.complete} complete requests"


def rejection_of_requests(document):
    messages = Messages()
    try:
        httptools.HttpRequestParser(messages).feed_data(document)
    except httptools.HttpParserUpgrade:
        return None
    except httptools.HttpParserError as error:
        return f"llhttp: {error}"
    return None if messages.complete else "llhttp: not complete"


def rejection(document):
    return rejection_by_h11(document) or rejection_by_llhttp(document)


judge_each(rejection_of_requests if "--llhttp" in sys.argv[1:] else rejection)
