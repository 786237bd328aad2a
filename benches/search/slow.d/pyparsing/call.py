"""Parses arithmetic."""
import pyparsing

OPERAND = pyparsing.Word(pyparsing.nums + ".") | pyparsing.Word(pyparsing.alphas)
EXPRESSION = pyparsing.infix_notation(
    OPERAND,
    [
        ("-", 1, pyparsing.opAssoc.RIGHT),
        ("^", 2, pyparsing.opAssoc.RIGHT),
        (pyparsing.one_of("* /"), 2, pyparsing.opAssoc.LEFT),
        (pyparsing.one_of("+ -"), 2, pyparsing.opAssoc.LEFT),
    ],
)


def run(text):
    try:
        EXPRESSION.parse_string(text, parse_all=True)
    except Exception:
        # Texts may be wrong.
        pass


# What is loaded and made by the first call is no cost of a text.
run("1 + x")
