"""A folder of public ANTLR 4 grammars: a table, tab-separated with a header, says the folder of each grammar beside it, its start
rule, and in three columns whether it has actions, predicates or a superclass (0 or 1)."""

import re


def grammars(index):
    """The name, the start rule and the flags of each grammar of the table."""
    for row in index.read_text().splitlines()[1:]:
        name, start, *flags = row.split("\t")
        yield name, start, flags[:3]


def grammar_files(folder):
    """The files to process, the parser last: a lexer and a parser, or the one that is imported by no other."""
    files = sorted(folder.glob("*.g4"))
    lexers = [file for file in files if file.stem.endswith("Lexer")]
    parsers = [file for file in files if file.stem.endswith("Parser")]
    if parsers:
        return lexers + parsers
    texts = {file: file.read_text(encoding="utf-8", errors="replace") for file in files}
    is_imported = lambda file: any(re.search(rf"\bimport\b[^;]*\b{re.escape(file.stem)}\b", text) for text in texts.values())
    return [file for file in files if not is_imported(file)][-1:]


def write_table(page, lines, name="table"):
    """Writes a table into a page, between its lines `<!-- NAME -->` and `<!-- end of NAME -->`."""
    text = page.read_text()
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    page.write_text(text.split(begin)[0] + begin + "\n".join(lines) + "\n" + end + text.split(end)[1])
