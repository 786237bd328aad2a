"""Judges INI files by Python's `configparser`, strict: no section and no option twice, and all values can be had, with
the references in them."""

import configparser

from judging import judge_each


def rejection(document):
    parser = configparser.ConfigParser(strict=True)
    try:
        parser.read_string(document.decode("utf-8"))
        for section in parser.sections():
            dict(parser.items(section))
    except (configparser.Error, UnicodeDecodeError) as error:
        return f"{type(error).__name__}: {error}"
    return None if parser.sections() else "no section"


judge_each(rejection)
