//! The tables of `docs/formats.md`, `docs/formats-tokens.md` and `docs/formats-peg.md` are true: every example gives
//! the result in its row, and every format has examples.

use gramjet_compiler::SourceFile;
use gramjet_compiler::check::check;
use gramjet_compiler::diagnostics::Diagnostics;
use gramjet_compiler::formats;

const DOCUMENT: &str = concat!(
    include_str!("../../../docs/formats.md"),
    include_str!("../../../docs/formats-tokens.md"),
    include_str!("../../../docs/formats-peg.md")
);

/// The section that holds the examples of each format.
const SECTIONS: &[(&str, &str)] = &[
    ("## ABNF", "abnf"),
    ("## BNF", "bnf"),
    ("## ISO 14977", "iso-ebnf"),
    ("## GBNF", "gbnf"),
    ("## `.gram`", "gram"),
    ("## Nautilus", "nautilus"),
    ("## Gramatron", "gramatron"),
    ("## Regular expressions", "regex"),
    ("## pest", "pest"),
    ("## EBNF of specifications", "w3c"),
    ("## PEG", "peg"),
    ("## What is drawn", "peggy"),
    ("## tree-sitter", "tree-sitter"),
    ("## Lark", "lark"),
    ("## yacc", "yacc"),
];

/// Returns the findings in a text, one per line: `severity[code]: message`.
fn found(format: &str, text: &str) -> String {
    let mut diagnostics = Diagnostics::default();
    let grammar =
        formats::by_name(format).expect("a format's name").parse(&SourceFile::new("g", text), &mut diagnostics);
    check(&grammar, None, &mut diagnostics);
    diagnostics.iter().map(|d| format!("{}[{}]: {}\n", d.severity, d.code, d.message)).collect()
}

#[test]
fn examples_report_what_the_document_says() {
    let mut examples = 0;
    for (heading, format) in SECTIONS {
        let (_, section) = DOCUMENT.split_once(&format!("{heading}\n")).expect("the section is there");
        let section = section.split("\n## ").next().unwrap_or(section);
        let rows = section.lines().filter(|line| line.starts_with("| `"));
        for row in rows {
            // A bar inside code is written `\\|`.
            let row = row.replace("\\|", "\u{1}");
            let mut cells = row.trim_matches('|').split(" | ").map(|cell| cell.trim().replace('\u{1}', "|"));
            let (example, said) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
            // Several pieces of code are lines of one text.
            let lines: Vec<&str> = example.split("`, `").map(|code| code.trim_matches('`')).collect();
            let said = said.strip_prefix('`').and_then(|said| said.strip_suffix('`')).unwrap_or(&said);
            let found = found(format, &lines.join("\n"));
            assert!(found.contains(said), "{format}: {lines:?} should report\n{said}\nbut reports\n{found}");
            examples += 1;
        }
    }
    assert!(examples >= 25, "{examples}");
}

#[test]
fn every_format_stands_in_the_table() {
    for format in formats::ALL {
        let row = DOCUMENT.lines().find(|line| line.starts_with(&format!("| `{}` |", format.name())));
        let row = row.unwrap_or_else(|| panic!("{} is not in docs/formats.md", format.name()));
        for extension in format.extensions() {
            assert!(row.contains(&format!("`.{extension}`")), "{row} lacks .{extension}");
        }
    }
}

#[test]
fn texts_without_an_extension_are_known() {
    for (text, format) in [
        (include_str!("../../../tests/rfc/uri.abnf"), "abnf"),
        (include_str!("../../../tests/rfc/http.abnf"), "abnf"),
        (include_str!("../../../grammars/xml.ebnf"), "ebnf"),
        ("<a> ::= \"x\"\n", "bnf"),
        ("a = 'x' , b ;\nb = { 'y' } ;\n", "iso-ebnf"),
        ("root ::= a # 'x'\na ::= \"'\" [@']\n", "gbnf"),
        ("root ::= 'a'\n", "ebnf"),
        ("root ::= a\na ::= \"b\" @ 3 | \"c\"\n", "ebnf"),
        ("ctx.rule(\"START\", \"x\")\n", "nautilus"),
        ("[[\"START\", \"x\"]]\n", "nautilus"),
        ("{\"A\": [\"'x' A\", \"'y'\"]}", "gramatron"),
        ("{\"<start>\": [\"x\"]}", "fuzzingbook"),
        ("{\"<start>\": [[\"x\"]]}", "fuzzingbook"),
        ("{\"name\": \"x\", \"rules\": {\"a\": {\"type\": \"BLANK\"}}}", "tree-sitter"),
        ("a = { \"x\" ~ b }\nb = @{ \"y\" }\n", "pest"),
        ("[1] a ::= B [VC: a constraint]\n[2] B ::= 'b'\n", "w3c"),
        ("a <- \"x\" b / c\n", "peg"),
        ("a\n  = b:c \"x\" { return b; }\n  / [a-z]\n", "peggy"),
        ("start: \"x\" A\nA: \"y\"\n%ignore \" \"\n", "lark"),
        ("%token A \"a\"\n%%\ns: A ;\n", "yacc"),
        // The contents of comments and strings do not count.
        ("/* a ::= b\nctx.rule( */\n%token A \"::=\"\n%%\ns: A\n;\n", "yacc"),
        ("; a ::= b\n; ctx.rule(\na = \"::=\" %x20\n", "abnf"),
        ("// a ::= b\nstart: \"::=\" A // ctx.rule(\nA: \"y\"\n", "lark"),
        ("(* a ::= b\nstart: *)\na = 'ctx.rule(' , '::=' ;\n", "iso-ebnf"),
        ("# ctx.rule(\ns ::= 'ctx.rule('\n", "ebnf"),
        ("# a ::= b\nctx.rule(\"START\", \"a ::= b\")\n", "nautilus"),
        ("/*\ngrammar A;\n*/\na = { \"x\" ~ \"grammar B;\" }\n", "pest"),
        ("/* a = { b } */ grammar A;\na : 'x' ;\n", "g4"),
    ] {
        let shown: String = text.chars().take(60).collect();
        assert_eq!(formats::detect(&SourceFile::new("<stdin>", text)).name(), format, "{shown}");
    }
    // An extension that two formats share.
    assert_eq!(formats::detect(&SourceFile::new("a.ebnf", "a = 'x' , a ;\n")).name(), "iso-ebnf");
    assert_eq!(formats::detect(&SourceFile::new("a.ebnf", "a ::= 'x'\n")).name(), "ebnf");
    assert_eq!(formats::detect(&SourceFile::new("a.ebnf", "")).name(), "ebnf");
}
