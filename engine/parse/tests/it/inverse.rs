//! E5: the choice bytes of a parsed text produce that text.

use gramjet_compiler::ast;
use gramjet_compiler::formats::FormatOptions;
use gramjet_compiler::reference::{self, Limits, Trace, render};
use gramjet_compiler::{Options, SourceFile, compile};
use gramjet_parse::{Budget, Parser};
use gramjet_testkit::{Draw, Rng, Shape, compiled, random_grammar};

use crate::kit::{check_inverse, shipped};

fn random_grammars(grammars: u64, strings: usize) {
    let mut parsed = 0;
    for seed in 0..grammars {
        let mut rng = Rng::new(seed + 900_000);
        let shape = [Shape::VARIED, Shape::ENUMERABLE, Shape::LONG, Shape::FINITE][seed as usize % 4];
        let grammar = random_grammar(&mut rng, &shape);
        let compiled = compiled(&grammar);
        let parser = Parser::new(&compiled.lowered);
        for _ in 0..strings {
            let choices = rng.choice_string(120);
            // With pools, too: their strings are strings of the rules.
            let max_depth = [None, Some(rng.below(6) as u32)][rng.below(2)];
            let text = render(&compiled.lowered, &compiled.pools, Limits { max_depth, max_len: None }, &choices).output;
            // Random grammars are ambiguous, which costs up to the cube of the length.
            if text.len() > 300 {
                continue;
            }
            let again = check_inverse(&compiled, &parser, &text, &|| format!("seed {seed}\n{}", ast::dump(&grammar)));
            // The same text, the same choice bytes.
            let second = parser.parse(&text, &Budget::default()).expect("parsed before");
            assert!(second.choices == again);
            parsed += 1;
        }
    }
    assert!(parsed as u64 > grammars * strings as u64 / 2, "{parsed}");
}

#[test]
fn random_choice_strings_on_random_grammars() {
    random_grammars(400, 8);
}

#[test]
#[ignore = "takes minutes"]
fn random_choice_strings_on_random_grammars_in_a_long_run() {
    random_grammars(20_000, 20);
}

fn shipped_grammar(name: &str, strings: usize) {
    let compiled = shipped(name);
    let parser = Parser::new(&compiled.lowered);
    let mut rng = Rng::new(name.bytes().map(u64::from).sum());
    for number in 0..strings {
        let len = [20, 200, 1000][number % 3];
        let choices = if number % 2 == 0 { rng.bytes(len) } else { rng.choice_string(len) };
        let max_depth = [Some(32), Some(rng.below(12) as u32), None][number % 3];
        let text = render(&compiled.lowered, &compiled.pools, Limits { max_depth, max_len: None }, &choices).output;
        check_inverse(&compiled, &parser, &text, &|| format!("{name} {choices:?}"));
    }
}

/// E5 where hidden tokens of a lexer may stand anywhere between tokens.
#[test]
fn grammars_with_a_lexer_are_inverted_with_gaps() {
    let grammar = r#"grammar Calls;
        calls : ('strict'? 'call' ID ('(' (expr (',' expr)*)? ')')? ';')* EOF ;
        expr : ID | INT | STRING | '-' expr | expr '+' expr | 'call' ID ;
        ID : [a-z]+ ;
        INT : [0-9]+ ;
        STRING : '"' ~["\r\n]* '"' ;
        BLOCK : '/*' .*? '*/' -> skip ;
        LINE : '//' .*? ('\r'? '\n' | EOF) -> channel(HIDDEN) ;
        DIRECTIVE : '#' [a-z]* -> skip ;
        WS : ([ \t] | NL)+ -> skip ;
        fragment NL : '\r'? '\n' ;
    "#;
    let options = Options { reading: FormatOptions::of_others(), ..Options::default() };
    let (compiled, _) = compile(&SourceFile::new("Calls.g4", grammar), &options).expect("a grammar");
    let parser = Parser::new(&compiled.lowered);
    let mut rng = Rng::new(5);
    let mut hidden = 0;
    for number in 0..2000 {
        let choices = if number % 2 == 0 { rng.bytes(80) } else { rng.choice_string(200) };
        let limits = Limits { max_depth: Some(20), max_len: None };
        let text = render(&compiled.lowered, &compiled.pools, limits, &choices).output;
        check_inverse(&compiled, &parser, &text, &|| format!("{choices:?}"));
        hidden += usize::from(text.windows(2).any(|two| two == b"/*" || two == b"//"));
    }
    assert!(hidden > 100, "{hidden}");
    let text = b"// a\n\tcall  x(1 + - \"y\")/**/; #d strict\r\ncall/*c*/y ;//";
    let choices = check_inverse(&compiled, &parser, text, &|| String::new());
    assert!(choices.len() < 2 * text.len());
}

/// E5 with alternatives of weight 0. They are read, and other derivations are preferred to theirs.
#[test]
fn alternatives_of_weight_0_are_read() {
    let grammar = "
        document ::= s item (',' s item)* | anything @ 0
        item     ::= name '=' s number | 'none' s @ 0.5 | '[' s item (',' s item)* ']' s | '{' s '}' s @ 0
        name     ::= [a-z] s | [a-zA-Z_]+ s @ 0
        number   ::= [1-9] s | [0-9]+ s @ 0
        s        ::= '' | blank+ @ 0
        blank    ::= [ #xA] | '#' [a-z]* #xA
        anything ::= '!' [a-z!]* rare?
        rare     ::= 'X' | 'Y' @ 0";
    let options = Options { reading: FormatOptions::of_others(), ..Options::default() };
    let file = SourceFile::new("g.ebnf", grammar);
    let (read, _) = compile(&file, &options).expect("a grammar");
    let (made, warnings) = compile(&file, &Options::default()).expect("a grammar");
    assert!(warnings.is_empty(), "{}", warnings.to_plain_text(&file));
    let parser = Parser::new(&read.lowered);
    for text in ["a=1", " a = 07 ,\n[none,B_b=2#x\n]#\n", "{ },none", "!!abcY", "[[[a=1]]]"] {
        check_inverse(&read, &parser, text.as_bytes(), &|| String::new());
    }
    assert!(Parser::new(&made.lowered).parse(b"a =1", &Budget::default()).is_err());
    // Everything that is generated has a derivation that is generated: no choice is one of 65536.
    let mut rng = Rng::new(7);
    for _ in 0..2000 {
        let choices = rng.bytes(60);
        let limits = Limits { max_depth: Some(10), max_len: None };
        let text = render(&made.lowered, &made.pools, limits, &choices).output;
        let of_read = check_inverse(&read, &parser, &text, &|| format!("{choices:?}"));
        let of_made = Parser::new(&made.lowered).parse(&text, &Budget::default()).expect("it was generated").choices;
        let limits = Limits::default();
        let mut bytes = (of_read.iter().copied(), of_made.iter().copied());
        let (mut traces, mut outputs) = ((Trace::default(), Trace::default()), (Vec::new(), Vec::new()));
        reference::run(&read.lowered, &read.pools, limits, &mut || bytes.0.next(), &mut outputs.0, Some(&mut traces.0));
        reference::run(&made.lowered, &made.pools, limits, &mut || bytes.1.next(), &mut outputs.1, Some(&mut traces.1));
        let places =
            |trace: &Trace| trace.instances.iter().map(|one| (one.rule, one.output.clone())).collect::<Vec<_>>();
        assert_eq!(places(&traces.0), places(&traces.1), "{}", text.escape_ascii());
    }
}

/// Grammars with the same blocks in each format that has tokens for indentation.
const BLOCKS: &[(&str, &str)] = &[
    (
        "Blocks.g4",
        "grammar Blocks; tokens { INDENT, DEDENT } file : line* EOF ; line : NAME ('=' NAME)? NL | 'if' NAME ':' NL INDENT line+ DEDENT ; \
         NAME : [a-z]+ ; NL : '\\r'? '\\n' [ \\t]* ; WS : ' '+ -> skip ;",
    ),
    (
        "blocks.lark",
        "start: line*\nline: NAME (\"=\" NAME)? _NL | \"if\" NAME \":\" _NL _INDENT line+ _DEDENT\n\
         NAME: /[a-z]+/\n_NL: /(\\r?\\n[\\t ]*)+/\n%declare _INDENT _DEDENT\n%ignore \" \"\n",
    ),
    (
        "blocks.json",
        r#"{"rules": {"file": {"type": "REPEAT", "content": {"type": "SYMBOL", "name": "line"}},
            "line": {"type": "CHOICE", "members": [
                {"type": "SEQ", "members": [{"type": "SYMBOL", "name": "name"}, {"type": "SYMBOL", "name": "_newline"}]},
                {"type": "SEQ", "members": [{"type": "SYMBOL", "name": "name"}, {"type": "STRING", "value": "="},
                    {"type": "SYMBOL", "name": "name"}, {"type": "SYMBOL", "name": "_newline"}]},
                {"type": "SEQ", "members": [{"type": "STRING", "value": "if"}, {"type": "SYMBOL", "name": "name"},
                    {"type": "STRING", "value": ":"}, {"type": "SYMBOL", "name": "_indent"},
                    {"type": "REPEAT1", "content": {"type": "SYMBOL", "name": "line"}}, {"type": "SYMBOL", "name": "_dedent"}]}]},
            "name": {"type": "PATTERN", "value": "[a-z]+"}},
            "externals": [{"type": "SYMBOL", "name": "_newline"}, {"type": "SYMBOL", "name": "_indent"},
                {"type": "SYMBOL", "name": "_dedent"}]}"#,
    ),
];

/// E5 where the beginnings of lines mean something.
#[test]
fn grammars_with_indentation_are_inverted() {
    for &(name, grammar) in BLOCKS {
        let (compiled, _) = compile(&SourceFile::new(name, grammar), &Options::default()).expect(name);
        let parser = Parser::new(&compiled.lowered);
        let mut rng = Rng::new(6);
        let mut nested = 0;
        for number in 0..500 {
            let choices = if number % 2 == 0 { rng.bytes(120) } else { rng.choice_string(200) };
            let limits = Limits { max_depth: Some(20), max_len: Some(400) };
            let text = render(&compiled.lowered, &compiled.pools, limits, &choices).output;
            check_inverse(&compiled, &parser, &text, &|| format!("{name} {choices:?}"));
            nested += usize::from(text.windows(9).any(|part| part == b"\n        "));
        }
        assert!(nested > 20, "{name}: {nested}");
        let text = b"if a:\n    if b:\n        c=d\n        e\n    if f:\n        g\nh\n";
        check_inverse(&compiled, &parser, text, &|| name.to_string());
        for wrong in [&b"if a:\nb\n"[..], b"a\n    b\n", b"if a:\n    b\n  c\n"] {
            assert!(parser.parse(wrong, &Budget::default()).is_err(), "{name}: {}", wrong.escape_ascii());
        }
    }
}

macro_rules! shipped {
    ($($name:ident)*) => {
        $(mod $name {
            #[test]
            fn choice_strings() {
                super::shipped_grammar(stringify!($name), 200);
            }

            #[test]
            #[ignore = "takes minutes"]
            fn choice_strings_in_a_long_run() {
                super::shipped_grammar(stringify!($name), 100_000);
            }
        })*

        #[test]
        fn every_grammar_that_ships_is_here() {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../grammars");
            let files = std::fs::read_dir(folder).expect("the grammars").flatten();
            let mut names: Vec<String> = files
                .filter_map(|file| file.file_name().to_string_lossy().strip_suffix(".ebnf").map(str::to_string))
                .collect();
            names.sort();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}
shipped!(
    c cookie cron css csv date_time diff dockerfile dot expr flex gitignore glob go graphql html http imf ini java javascript
    json json5 jsonpath latex_math lua markdown nginx png protobuf python regex scheme semver_range sh solidity sql svg tar
    toml typescript uri wf wkt xml xpath yaml zip
);
