"""Judges JSON documents by a JSON Schema, as the package `jsonschema` understands it.

Usage: schema_judge.py SCHEMA

References to other files hold for any value. Numbers are decimal, so that `multipleOf` is not rounded. Formats are checked. Documents that have the same key twice
are refused.
"""

import decimal
import json
import sys

from judging import judge_each, need

need("jsonschema")

from jsonschema import exceptions, validators  # noqa: E402
from referencing import Registry, Resource  # noqa: E402
from referencing.exceptions import Unresolvable  # noqa: E402
from referencing.jsonschema import DRAFT202012  # noqa: E402

sys.setrecursionlimit(20000)


def once(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        raise ValueError("a key is there twice")
    return dict(pairs)


def number(text):
    """Whole numbers are `int`, however they are written: a schema takes 1.0 for an integer."""
    value = decimal.Decimal(text)
    return int(value) if value.adjusted() < 400 and value == value.to_integral_value() else value


def load(text):
    return json.loads(text, object_pairs_hook=once, parse_float=number)


decimal.getcontext().prec = 1000
with open(sys.argv[1], encoding="utf-8-sig") as file:
    schema = json.loads(file.read(), parse_float=decimal.Decimal)
kind = validators.validator_for(schema, default=validators.Draft202012Validator)
elsewhere = Registry(retrieve=lambda _: Resource.from_contents({}, default_specification=DRAFT202012))
validator = kind(schema, registry=elsewhere, format_checker=kind.FORMAT_CHECKER)


def rejection(document):
    try:
        error = exceptions.best_match(validator.iter_errors(load(document.decode("utf-8"))))
    except (ValueError, RecursionError, Unresolvable) as error:
        return f"{type(error).__name__}: {error}"
    if error is None:
        return None
    return f"{error.json_path}: {error.message[:300]} ({'/'.join(str(part) for part in error.schema_path)})"


judge_each(rejection)
