"""Judges .gitignore files by pathspec: each line but the blank ones and comments is a pattern."""

from judging import judge_each, need

pathspec = need("pathspec")


def rejection(document):
    try:
        lines = document.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        return str(error)
    for line in lines:
        try:
            patterns = list(pathspec.GitIgnoreSpec.from_lines([line]).patterns)
        except ValueError as error:
            return f"{line!r}: {error}"
        is_pattern = any(pattern.include is not None for pattern in patterns)
        if is_pattern != bool(line.strip() and not line.startswith("#")):
            return f"{line!r} is no pattern"
    return None


judge_each(rejection)
