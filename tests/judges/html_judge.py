"""Judges HTML documents by html5lib in strict mode: one parse error rejects the document."""

from judging import judge_each, need

html5lib = need("html5lib")


def rejection(document):
    try:
        text = document.decode("utf-8")
        html5lib.HTMLParser(strict=True).parse(text)
    except UnicodeDecodeError as error:
        return str(error)
    except html5lib.html5parser.ParseError:
        # The strict parser does not say where; one that goes on does.
        parser = html5lib.HTMLParser()
        parser.parse(text)
        (line, column), code, details = parser.errors[0]
        return f"{code} {details} at line {line}, column {column}"
    return None


judge_each(rejection)
