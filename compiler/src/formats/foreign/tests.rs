//! One sample of each notation: each is read as itself, or refused by its name.

use crate::diagnostics::{Severity, SourceFile};
use crate::formats::{ALL, recognise};

/// Notations that no format reads, by what the refusal calls them.
const FOREIGN: &[(&str, &str)] = &[
    (
        "an XML Schema (XSD)",
        "<?xml version=\"1.0\"?>\n<!-- a -->\n<xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\">\n</xs:schema>\n",
    ),
    ("RELAX NG", "<grammar xmlns=\"http://relaxng.org/ns/structure/1.0\">\n<start/>\n</grammar>\n"),
    ("a DTD", "<!-- a ::= b -->\n<!ELEMENT note (to, from)>\n"),
    ("a grammar.js of tree-sitter", "module.exports = grammar({\n  name: 'a',\n  rules: { a: $ => 'x' }\n});\n"),
    ("Protocol Buffers", "syntax = \"proto3\";\nmessage A {\n  string b = 1;\n}\n"),
    ("ASN.1", "Rocket DEFINITIONS AUTOMATIC TAGS ::=\nBEGIN\nRange ::= INTEGER\nEND\n"),
    ("Kaitai Struct", "meta:\n  id: a\nseq:\n  - id: b\n    type: u1\n"),
    ("JavaCC", "PARSER_BEGIN(A)\npublic class A {}\nPARSER_END(A)\nvoid a() : {} { \"x\" }\n"),
    ("Coco/R", "COMPILER A\nCHARACTERS\n  digit = '0'..'9'.\nPRODUCTIONS\n  A = \"x\" .\nEND A.\n"),
    ("SableCC", "Package a;\nTokens\n  x = 'x';\nProductions\n  a = x;\n"),
    ("Xtext", "grammar org.example.A with org.eclipse.xtext.common.Terminals\ngenerate a \"http://a\"\nModel: 'x';\n"),
    ("LALRPOP", "use crate::ast;\n\ngrammar;\n\npub Term: i32 = {\n    <n:Num> => n,\n};\n"),
    ("Langium", "grammar HelloWorld\n\nentry Model:\n    (persons+=Person)*;\n\nPerson: 'person' name=ID;\n"),
    ("nearley", "@builtin \"whitespace.ne\"\nmain -> expr {% id %}\nexpr -> \"x\" | expr \"+\" \"x\"\n"),
    (
        "lemon",
        "%token_type {int}\nprogram ::= expr(A). { print(A); }\nexpr(A) ::= expr(B) PLUS expr(C). { A = B + C; }\n",
    ),
    ("jison", "%lex\n%%\n\\s+ /* skip */\n/lex\n%%\na : 'x' ;\n"),
    ("lex or flex", "%option noyywrap\n%%\n[0-9]+  { return NUM; }\n\"+\"  { return PLUS; }\n%%\n"),
    (
        "Menhir",
        "%token <int> INT\n%token PLUS EOF\n%start <int> main\n%%\nmain: e = expr EOF { e }\nexpr: i = INT { i }\n",
    ),
    ("TatSu", "@@grammar::CALC\nstart = expression $ ;\nexpression = 'x' ;\n"),
    (
        "a grammar of CPython's PEG generator",
        "file[mod_ty]: a=[statements] ENDMARKER { a }\nstatements[asdl_seq*]: statement+\n",
    ),
    (
        "Ohm",
        "Arithmetic {\n  Exp = AddExp\n  AddExp = AddExp \"+\" number -- plus\n         | number\n  number = digit+\n}\n",
    ),
    ("Fandango", "<start> ::= <number>\n<number> ::= <digit>+\nwhere int(<number>) % 2 == 0\n"),
    ("a TextMate grammar", "{\"scopeName\": \"source.a\", \"patterns\": [{\"match\": \"x\"}]}\n"),
];

/// Notations that formats read, by the format, with an extension that says nothing.
const OWN: &[(&str, &str)] = &[
    ("ebnf", "a ::= 'x' | [a-z]+\n"),
    ("w3c", "a ::= B\n@terminals\nB ::= 'b'\n"),
    ("bnf", "<a> ::= <b> \"x\"\n<b> ::= \"y\"\n"),
    ("gbnf", "root ::= \"a\" | b\nb ::= [^\"]+\n"),
    ("iso-ebnf", "a = 'x' , b ;\nb = { 'y' } ;\n"),
    ("abnf", "a = %x20 *(b)\nb = \"x\"\n"),
    ("g4", "grammar A;\na : 'x' ;\n"),
    ("lark", "start: \"x\" A\nA: \"y\"\n%ignore \" \"\n"),
    ("pest", "a = { \"x\" ~ b }\nb = @{ \"y\" }\n"),
    ("peg", "Expr <- Term (('+' / '-') Term)*\nTerm <- [0-9]+\n"),
    (
        "peggy",
        "start\n  = additive\n\nadditive\n  = left:integer \"+\" right:additive { return left + right; }\n  / integer\n\ninteger \"integer\"\n  = digits:[0-9]+ { return parseInt(digits.join(\"\"), 10); }\n",
    ),
    ("yacc", "%token A\n%%\ns: A ;\n%%\n"),
    ("gram", "# a comment\na ::= 'x' ;\nb ::= [a-z\\]]+ ;\n"),
    ("nautilus", "ctx.rule(\"START\", \"x\")\n"),
    ("gramatron", "{\"A\": [\"'x' A\", \"'y'\"]}"),
    ("fuzzingbook", "{\"<start>\": [\"x\"]}"),
    ("tree-sitter", "{\"name\": \"x\", \"rules\": {\"a\": {\"type\": \"BLANK\"}}}"),
    ("jsonschema", "{\"type\": \"object\", \"properties\": {}}"),
    ("openapi", "{\"openapi\": \"3.0.3\", \"paths\": {}}"),
];

#[test]
fn foreign_notations_are_refused_by_name() {
    assert_eq!(FOREIGN.len(), super::ALL.len());
    for (name, text) in FOREIGN {
        for file in ["a", "a.g", "a.d/b.c", "<stdin>"] {
            let found = recognise(&SourceFile::new(file, *text)).finding.unwrap_or_else(|| panic!("{name}"));
            assert_eq!(
                (found.severity, found.message),
                (Severity::Error, format!("this looks like {name}, which gramjet does not read"))
            );
        }
    }
    for foreign in super::ALL {
        assert!(crate::formats::by_name(foreign.nearest).is_some(), "{}", foreign.name);
    }
}

#[test]
fn own_notations_are_read_as_themselves_and_said_to_be() {
    // Each text is a regular expression, so none looks like one.
    assert_eq!(OWN.len() + 1, ALL.len());
    for (name, text) in OWN {
        let found = recognise(&SourceFile::new("folder.d/a.sg", *text));
        assert_eq!(found.format.name(), *name, "{text}");
        let said = found.finding.unwrap_or_else(|| panic!("{name}"));
        assert_eq!(
            (said.severity, said.message),
            (Severity::Warning, format!("this looks like `{name}`, and is read as that"))
        );
        let extension = found.format.extensions()[0];
        let called = recognise(&SourceFile::new(format!("a.{extension}"), *text));
        assert_eq!((called.format.name(), called.finding.is_none()), (*name, true));
    }
}

#[test]
fn what_nothing_is_known_of_is_read_as_ebnf() {
    let found = recognise(&SourceFile::new("a.sg", "what is this"));
    assert_eq!(found.format.name(), "ebnf");
    assert!(found.finding.is_some_and(|said| said.message.starts_with("nothing in this file says")));
    // What has no extension is usually in the EBNF.
    assert!(recognise(&SourceFile::new("<stdin>", "a ::= 'x'\n")).finding.is_none());
    assert!(recognise(&SourceFile::new("a.d/b", "a ::= 'x'\n")).finding.is_none());
    // The extension decides where nothing speaks against it.
    assert!(recognise(&SourceFile::new("a.bnf", "a = b\n")).finding.is_none());
    let doubted = recognise(&SourceFile::new("python.gram", FOREIGN[19].1));
    assert_eq!(doubted.format.name(), "gram");
    assert!(doubted.finding.is_some_and(|said| said.severity == Severity::Warning));
}

/// A rule may have a name that begins a line of another notation.
#[test]
fn rules_with_the_words_of_other_notations_are_rules() {
    for text in
        ["entry ::= 'a'\n", "message = header, { field } ;\nheader = 'a' ;\n", "a ::= '<!ELEMENT ' b\nb ::= 'x'\n"]
    {
        let found = recognise(&SourceFile::new("<stdin>", text));
        assert!(found.finding.is_none_or(|finding| finding.severity != Severity::Error), "{text}");
    }
}
