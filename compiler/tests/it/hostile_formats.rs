//! E6 for the front ends: for any file, each format answers soon and in bounded memory, with a grammar or a diagnostic.
//!
//! The long texts of a format are read in a process of its own.

use gramjet_compiler::SourceFile;
use gramjet_compiler::check::check;
use gramjet_compiler::diagnostics::Diagnostics;
use gramjet_compiler::formats;
use gramjet_compiler::print;
use gramjet_testkit::{Draw, Rng, amount};

use crate::children::{self, Meter};

mod long;

use long::{LONG, Long};

/// The length of a text in bytes, in long runs.
const WHOLE_LENGTH: usize = if cfg!(debug_assertions) { 1_000_000 } else { 100_000_000 };

/// Returns the length of a text in bytes.
fn length() -> usize {
    amount::part(WHOLE_LENGTH as u64) as usize
}

/// Long texts for every format.
const ANY: &[Long] =
    &[("", "\0", ""), ("", "\u{FFFD}", ""), ("", "a", ""), ("", "\n", ""), ("", "\"", ""), ("", "::= ", "")];

/// Run by [`long_texts`] in processes of their own.
#[test]
fn child() {
    let Some(wanted) = children::wanted() else { return };
    let format = formats::by_name(&wanted).expect("a format's name");
    let (_, texts) = LONG.iter().find(|(name, _)| *name == wanted).expect("a format's texts");
    for (before, unit, behind) in texts.iter().chain(ANY) {
        let text = format!("{before}{}{behind}", unit.repeat(length() / unit.len()));
        let file = SourceFile::new("g", text);
        let meter = Meter::start();
        let mut diagnostics = Diagnostics::default();
        let grammar = format.parse(&file, &mut diagnostics);
        check(&grammar, None, &mut diagnostics);
        meter.result(&wanted, &format!("{before:?} {unit:?}: {}", diagnostics.to_plain_text(&file)));
    }
}

#[test]
fn long_texts() {
    children::run("hostile_formats::child", LONG.iter().map(|(name, _)| *name));
}

/// Every format has its long texts.
#[test]
fn no_format_is_forgotten() {
    for format in formats::ALL {
        let name = format.name();
        assert!(LONG.iter().any(|(known, _)| *known == name), "the format `{name}` has no texts in LONG");
    }
}

/// Small grammars, one or more for each format.
const SEEDS: &[&str] = &[
    include_str!("../../../tests/rfc/http.abnf"),
    "Request for Comments: 1\n\n   Prose is x = y.\n\n   a = 1*b / <c, see\n     d> [\n\nA  [Page 1]\n\u{C}\nRFC 1  T  2030\n\n     \"x\" ] ; e\n   b =/ %s\"y\"\n   f = $1\nb = #a\n",
    include_str!("../../../grammars/json.ebnf"),
    "<a> ::= \"x\" <b>* | (<c>)? [\"!\"]\n<b> ::= 'y\\n' ;\n<c> ::= x + y | <empty>\n",
    "S -> a S b | ε\nT -> 'x' S\n",
    "a = 'x' , { b - 'y' } , [ 3 * c ] ; (* n *)\nb = 'a' | 'b' | 'y' ;\nc = ? any character ? , { b }- .",
    "S ::= T+ (\"<\" | 'svg')? ; # c\nT : [a-dP-R\\]+-] \"\\x41\" | ;\nT ::: [S, U];",
    "ctx.rule(\"START\", \"<{A}>\\\\{\" + r\"\\n\", weight=2)\nctx.regex(\"A\", \"[a-c]+?x|(?:y)\")\nctx.script(\"A\", [\"A\",\"B\"], lambda a,b: b\"%s,%s\" % (a, b))\nctx.rule(\"B\", b\"\\xff\")\nx = [1,\n2]\n",
    "[[\"START\", \"x{A}\"], [\"A\", \"\\\\{{START}\"]]",
    "{\"PROGRAM\": [\"'x' A\", \"'\\\\n'\"], \"A\": [\"'<' A '>'\"]}",
    "{\"init_state\": 0, \"final_state\": \"2\", \"pda\": {\"0\": [[\"0_1\", \"1\", \"let \"]], \"1\": [[\"1_1\", 2, \"x\"]]}}",
    "^a(b|cd)*[x-z]+?(?:q{2,3}|r?)\\.(?!x)\\b[^\\d[a-f]]$",
    "a = { SOI ~ (b ~ \",\")* ~ !\"x\" ~ ANY ~ ^\"y\"{2,3} ~ PUSH(c) ~ POP }\nb = @{ 'a'..'z'+ }\nc = ${ b | !b ~ d }\nd = !{ \"\\u{41}\" }\nWHITESPACE = _{ \" \" | \"\\n\" }\nCOMMENT = _{ \"/*\" ~ (!\"*/\" ~ ANY)* ~ \"*/\" }",
    "{{ code }}\na \"name\" = @b:(c / 'x'i)|2..3, \",\"| !{ c } &d $[^a-f\\n]i* { return 1; }\nb = !k n:c c / \"/*\" (!\"*/\" .)* \"*/\"\nk = (\"if\" / \"in\") !c\nc = [a-z] [a-z0-9]*\nd = (' ' / '//' [^\\n]* / '\\n')* c _ c\n_ = ' '*\n",
    "[1] a ::= b C? | '\\' - #x41 /* ws: explicit */ [wfc: c]\nb ::= (C - ('x' C)) [^#x20-z]\n@terminals\nC ::= [a-z-]+ - ('if' | 'in')\n@pass: ' '\n",
    "%{ c %}\na <- (b / < c >) { d } !. # e\nb <- 'x' c? / \"\\101\" /\nc <- &b [^a-z\\]] ;\n%%\n",
    "{\"rules\": {\"a\": {\"type\": \"SEQ\", \"members\": [{\"type\": \"STRING\", \"value\": \"let\"}, {\"type\": \"SYMBOL\", \"name\": \"b\"}, {\"type\": \"REPEAT\", \"content\": {\"type\": \"IMMEDIATE_TOKEN\", \"content\": {\"type\": \"PATTERN\", \"value\": \"[a-z]\"}}}]}, \"b\": {\"type\": \"PATTERN\", \"value\": \"\\\\w+\"}}, \"extras\": [{\"type\": \"PATTERN\", \"value\": \"\\\\s\"}], \"externals\": [{\"type\": \"SYMBOL\", \"name\": \"_newline\"}]}",
    "?start: (a | \"x\"i b{c, \",\"})+ -> all\n  | A ~ 2..3\nb{x, y}: x (y x)*\nc: [A] /b.*?c/s\n!a.2: \"a\"..\"z\"\nA: \"q\"\n%import common.NUMBER -> N\n%ignore \" \"\n%extend a: N\n",
    "start: (_NL | line)*\nline: A _NL | \"if\" A \":\" _NL _INDENT line+ _DEDENT\nA: /[a-z]+/\n_NL: /(\\r?\\n[\\t ]*)+/\n%declare _INDENT _DEDENT\n%ignore \" \"\n",
    "{\"rules\": {\"a\": {\"type\": \"SEQ\", \"members\": [{\"type\": \"STRING\", \"value\": \"x\"}, {\"type\": \"SYMBOL\", \"name\": \"_indent\"}, {\"type\": \"REPEAT\", \"content\": {\"type\": \"SYMBOL\", \"name\": \"a\"}}, {\"type\": \"SYMBOL\", \"name\": \"_dedent\"}]}}, \"externals\": [{\"type\": \"SYMBOL\", \"name\": \"_indent\"}, {\"type\": \"SYMBOL\", \"name\": \"_dedent\"}]}",
    "grammar g; options { caseInsensitive = true; }\ns : ('if' ID | ~';' INT? .)* EOF # all ;\nID : [a-z_\\u00E0-\\u{1F600}]+ ; INT : DIGIT+ -> type(ID) ;\nfragment DIGIT : '0'..'9' | '\\uD83D\\uDE00' ;\nC : '/*' .*? '*/' -> channel(HIDDEN) ;\nWS : [ \\t\\p{White_Space}]+ -> skip ;",
    "lexer grammar GLexer;\ntokens { INDENT }\nOPEN : '<' -> pushMode(TAG) ; TEXT : ~[<&]+ ; Q : '\"' -> more, mode(STR) ;\nmode TAG; CLOSE : '>' -> popMode ; NAME : [:a-z] [-:a-z0-9]* ; S : ' '+ -> skip ;\nmode STR; E : '\"' -> type(TEXT), mode(DEFAULT_MODE) ; A : . -> more ;",
    "%{ int x; %}\n%token NUM 258 \"1\" END 0\n%left '+'\n%%\ns: NUM { f(\"}\"); } | s[l] '+' s %prec NUM | error | %empty ;\nt: \"if\" s END\n%%\nmain",
];

const TOKENS: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "|",
    "/",
    "*",
    "+",
    "?",
    "~",
    "!",
    "&",
    "-",
    "=",
    ":",
    ";",
    ",",
    ".",
    "\"",
    "'",
    "\\",
    "%",
    "%%",
    "#",
    "@",
    "^",
    "$",
    "\n",
    "\n\n",
    " ",
    "a",
    "A",
    "::=",
    "=/",
    "->",
    "..",
    "%x",
    "%x41-",
    "/*",
    "*/",
    "(*",
    "*)",
    "//",
    "9999999999",
    "{2,",
    "\\u{",
    "\\x",
    "(?",
    "(?:",
    "[^",
    "é",
    "\u{1F600}",
    "\0",
    "\r\n",
    "((((((((",
    "[[[[[[[[",
    "<a>",
    "%ignore ",
    "%token ",
    "ctx.rule(",
    "\"type\":",
    "null",
    "-> ",
    "ANY",
    "WHITESPACE",
    "error",
    "lambda x: ",
    "-> skip",
    "mode M;",
    "<-",
    "@terminals\n",
    " - ",
    "#x41",
    "{ return 1; }",
    "&{",
    "[Page 1]\n",
    "\u{C}\n",
    "_(\"x\")",
    "|2..3, ",
    "fragment A : ",
    "\\p{L}",
    "EOF",
    "\u{FFFD}",
    "\u{7F}\u{1}",
];

/// Does for some seconds what a fuzzer would do for ten minutes: every format reads every mutation of every seed. Run
/// by [`mutations_of_all_seeds_in_all_formats`] in a process of its own.
#[test]
fn mutations() {
    let Some(wanted) = children::wanted() else { return };
    let whole = Meter::start();
    let mut rng = Rng::new(2026);
    let rounds = amount::part(if cfg!(debug_assertions) { 1500 } else { 20_000 }) as usize;
    let (mut sound, mut printed) = (0, 0);
    for round in 0..rounds {
        let mut text: Vec<char> = SEEDS[round % SEEDS.len()].chars().take(2000).collect();
        for _ in 0..rng.between(1, 3) {
            let from = rng.below(text.len() + 1);
            let to = (from + rng.below(20)).min(text.len());
            match rng.below(6) {
                0 => drop(text.drain(from..to)),
                1 => drop(text.splice(from..to, TOKENS[rng.below(TOKENS.len())].chars())),
                2 => drop(text.splice(from..from, TOKENS[rng.below(TOKENS.len())].chars())),
                3 => {
                    let copy = text[from..to].to_vec();
                    let place = rng.below(text.len() + 1);
                    text.splice(place..place, copy);
                }
                4 => text.truncate(from),
                _ => {
                    let other: Vec<char> = SEEDS[rng.below(SEEDS.len())].chars().collect();
                    let start = rng.below(other.len());
                    text.splice(from..to, other[start..(start + 40).min(other.len())].iter().copied());
                }
            }
        }
        let file = SourceFile::new("g", text.into_iter().collect::<String>());
        let detected = formats::detect(&file).name();
        for format in formats::ALL {
            let mut diagnostics = Diagnostics::default();
            let grammar = format.parse(&file, &mut diagnostics);
            let is_sound = check(&grammar, None, &mut diagnostics).is_some();
            for diagnostic in diagnostics.iter() {
                let span = diagnostic.span.unwrap_or_default();
                let place = file.text().get(span.start as usize..span.end as usize);
                assert!(place.is_some(), "{}: {diagnostic:?}\n{}", format.name(), file.text());
            }
            diagnostics.to_plain_text(&file);
            sound += usize::from(is_sound && format.name() == detected);
            for printer in print::ALL.iter().filter(|_| is_sound && format.name() == detected) {
                printed += usize::from(printer.print(&grammar, &mut diagnostics).is_some());
            }
        }
    }
    whole.result(&wanted, &format!("{sound} of {rounds} texts were grammars as detected, {printed} were printed"));
    assert!(sound > rounds / 50 && printed > rounds / 50);
}

#[test]
fn mutations_of_all_seeds_in_all_formats() {
    children::run("hostile_formats::mutations", ["mutations"]);
}
