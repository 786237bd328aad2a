"""Judges TOML documents by Python's `tomllib`, which implements TOML 1.0.0."""

from judging import judge_each, need

tomllib = need("tomllib")


def rejection(document):
    try:
        tomllib.loads(document.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
    return None


judge_each(rejection)
