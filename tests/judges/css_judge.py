"""Judges CSS style sheets by tinycss2: no error anywhere, and only declarations inside the blocks of style rules.

With `--syntax`, rules within style rules and at-rules within any block are accepted, too.
"""

import sys

from judging import judge_each, need

tinycss2 = need("tinycss2")

# At-rules whose block holds rules; the blocks of all others hold declarations.
RULES_INSIDE = {"media", "supports", "keyframes", "-webkit-keyframes"}
SKIP = {"skip_comments": True, "skip_whitespace": True}
SYNTAX_ONLY = "--syntax" in sys.argv[1:]


def errors(nodes):
    """The errors among the nodes and below them."""
    for node in nodes:
        if node.type == "error":
            yield f"{node.message} at line {node.source_line}, column {node.source_column}"
        for part in ("prelude", "content", "value", "arguments"):
            inside = getattr(node, part, None)
            if isinstance(inside, list):
                yield from errors(inside)


def rejections_of_block(content, at_rules_allowed):
    for node in tinycss2.parse_blocks_contents(content, **SKIP):
        yield from errors([node])
        if SYNTAX_ONLY and node.type in ("at-rule", "qualified-rule"):
            yield from rejections_of_block(node.content or [], True)
        elif node.type == "at-rule" and at_rules_allowed:
            yield from rejections_of_block(node.content or [], False)
        elif node.type not in ("declaration", "error"):
            yield f"not a declaration: {node.serialize()[:80]!r}"


def rejections_of_rules(rules):
    for rule in rules:
        yield from errors([rule])
        if rule.type == "qualified-rule":
            if not [token for token in rule.prelude if token.type not in ("whitespace", "comment")]:
                yield "a rule without selectors"
            yield from rejections_of_block(rule.content, False)
        elif rule.type == "at-rule" and rule.content is not None:
            if rule.lower_at_keyword in RULES_INSIDE and not SYNTAX_ONLY:
                yield from rejections_of_rules(tinycss2.parse_rule_list(rule.content, **SKIP))
            else:
                yield from rejections_of_block(rule.content, True)


def rejection(document):
    try:
        rules = tinycss2.parse_stylesheet(document.decode("utf-8"), **SKIP)
    except UnicodeDecodeError as error:
        return str(error)
    return next(rejections_of_rules(rules), None)


judge_each(rejection)
