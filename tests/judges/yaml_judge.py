"""Judges YAML by PyYAML: the stream parses to nodes."""

from judging import judge_each, need

yaml = need("yaml")


def rejection(document):
    try:
        nodes = list(yaml.compose_all(document.decode("utf-8"), Loader=yaml.SafeLoader))
    except (UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        return f"{type(error).__name__}: {error}".replace("\n", " ")
    return None if nodes and nodes[0] is not None else "no document"


judge_each(rejection)
