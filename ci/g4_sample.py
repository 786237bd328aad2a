"""A folder of public ANTLR 4 grammars: a table, tab-separated with a header, says the folder of each grammar beside it, its start
rule, and in three columns whether it has actions, predicates or a superclass (0 or 1)."""

import re


def grammars(index):
    """The name, the start rule and the flags of each grammar of the table."""
    for row in index.read_text().splitlines()[1:]:
        name, start, *flags = row.split("\t")
        yield name, start, flags[:3]


def grammar_files(folder, start=None):
    """The files to process, the parser last: a lexer and a parser, or the one that is imported by no other. Of several the one that
    has the start rule is taken."""
    files = sorted(folder.glob("*.g4"))
    texts = {file: file.read_text(encoding="utf-8", errors="replace") for file in files}
    has_start = lambda file: bool(start and re.search(rf"^{re.escape(start)}\b\s*[:@\[]", texts[file], re.MULTILINE))
    lexers = [file for file in files if file.stem.endswith("Lexer")]
    parsers = sorted((file for file in files if file.stem.endswith("Parser")), key=has_start)
    if parsers:
        return lexers + parsers
    is_imported = lambda file: any(re.search(rf"\bimport\b[^;]*\b{re.escape(file.stem)}\b", text) for text in texts.values())
    return sorted((file for file in files if not is_imported(file)), key=has_start)[-1:]


def base_classes(folder):
    """The folder of a grammar's own base classes in Java, as the collection has it."""
    return folder / "Java"


def write_table(page, lines, name="table"):
    """Writes a table into a page, between its lines `<!-- NAME -->` and `<!-- end of NAME -->`."""
    text = page.read_text()
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    page.write_text(text.split(begin)[0] + begin + "\n".join(lines) + "\n" + end + text.split(end)[1])
