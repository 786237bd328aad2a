"""Judges INI files by Python's `configparser`, strict: no section and no option twice, and all values can be had, with
the references in them.

With `--syntax` the parser is told to take sections and options twice, options without a value and before the first section,
and to leave references alone.
"""

import configparser
import sys

from judging import judge_each

SYNTAX = "--syntax" in sys.argv


def rejection(document):
    try:
        text = document.decode("utf-8-sig" if SYNTAX else "utf-8")
        if SYNTAX:
            parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
            text = "[first]\n" + text
        else:
            parser = configparser.ConfigParser(strict=True)
        parser.read_string(text)
        for section in parser.sections():
            dict(parser.items(section))
    except (configparser.Error, UnicodeDecodeError) as error:
        return f"{type(error).__name__}: {error}"
    except AttributeError:
        return "a line that is indented after an option without a value"
    return None if parser.sections() else "no section"


judge_each(rejection)
