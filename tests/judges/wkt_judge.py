"""Judges well-known text by GEOS, as shapely; with `--syntax` lines and rings with wrong points, curves, and the SRID of PostGIS are accepted."""

import re
import sys

from judging import judge_each, need

shapely = need("shapely")

SYNTAX = "--syntax" in sys.argv[1:]
SRID = re.compile(r"\s*srid\s*=\s*[0-9]+\s*;", re.IGNORECASE)


def rejection(document):
    try:
        text = document.decode("ascii")
        if SYNTAX:
            text = SRID.sub("", text)
        shapely.from_wkt(text)
    except (UnicodeDecodeError, shapely.GEOSException, NotImplementedError) as error:
        # GEOS says what is wrong with a geometry that it could parse in another way than that it could not parse it.
        if SYNTAX and not str(error).startswith("ParseException"):
            return None
        return f"{type(error).__name__}: {error}"
    return None


judge_each(rejection)
