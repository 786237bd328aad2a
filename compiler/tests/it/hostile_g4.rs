//! E6 for ANTLR grammars and the analyses of tokens: grammars that are small, or long, and costly.
//!
//! Each grammar is read in a process of its own.

use gramjet_compiler::SourceFile;
use gramjet_compiler::check::check;
use gramjet_compiler::diagnostics::Diagnostics;
use gramjet_compiler::formats;
use gramjet_testkit::amount;

use crate::children::{self, Meter};

/// Returns a smaller count for debug builds and short runs.
fn many(count: usize) -> usize {
    amount::part(if cfg!(debug_assertions) { count / 10 } else { count } as u64) as usize
}

fn numbered(count: usize, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect()
}

/// Returns the start of a grammar with one parser rule.
fn grammar(start: &str, lexer: &str) -> String {
    format!("grammar g;\ns : {start} EOF ;\n{lexer}\n")
}

/// Returns a chain of fragments: each refers to the next, the last to `end`.
fn fragments(count: usize, end: &str, body: impl Fn(&str) -> String) -> String {
    let rules = numbered(count, |i| format!("fragment F{i} : {} ;\n", body(&format!("F{}", i + 1))));
    format!("{rules}fragment F{count} : {end} ;\n")
}

/// Returns a different character for each number.
fn character(number: usize) -> String {
    format!("\\u{{{:X}}}", 0x1_0000 + number)
}

/// A grammar's name and the function that makes its text.
type Hostile = (&'static str, fn() -> String);

fn grammars() -> Vec<Hostile> {
    vec![
        ("fragments-of-nothing", || {
            grammar("A", &format!("A : F0 'x' ; {}", fragments(60, "", |f| format!("{f} {f}"))))
        }),
        ("fragments-of-optional", || {
            grammar("A", &format!("A : F0 'x' ; {}", fragments(60, "'a'?", |f| format!("{f} {f}"))))
        }),
        ("fragments-without-end", || grammar("A", "A : F 'x' ; fragment F : F F F F | F F | ;")),
        ("fragments-that-nest", || {
            grammar("A", "A : F 'x' ; fragment F : (G G)* ; fragment G : (H H)* ; fragment H : (F F)* | 'y' ;")
        }),
        ("complement-of-fragments", || {
            let body = |f: &str| format!("{f}{}", format!(" | {f}").repeat(9));
            grammar("A", &format!("A : ~(F0) ; {}", fragments(18, "'x'", body)))
        }),
        ("complement-of-wide-fragments", || {
            let wide = numbered(many(40_000), |i| format!("{}'{}'", if i == 0 { "" } else { " | " }, character(2 * i)));
            grammar(
                "A+",
                &format!("{} fragment F : {wide} ;", numbered(300, |i| format!("A{i} : '{i}' ~(F | 'x') ;\n"))),
            )
        }),
        ("set-of-fragments", || {
            let body = |f: &str| format!("{f}{}", format!(" | {f}").repeat(9));
            grammar("A", &format!("A : (F0 | 'y') ; {}", fragments(15, "'x'", body)))
        }),
        ("set-of-empty-fragments", || {
            let body = |f: &str| format!("{f}{}", format!(" | {f}").repeat(9));
            grammar("A", &format!("A : (F0 | F0) ; {}", fragments(15, "[]", body)))
        }),
        ("sequence-of-tokens", || grammar(&"A ".repeat(many(400_000)), "A : 'a' ;")),
        ("sequence-of-optional-tokens", || grammar(&"A? ".repeat(many(200_000)), "A : 'a' ;")),
        ("sequence-in-modes", || {
            format!(
                "grammar g;\ns : {} EOF ;\nA : 'a' -> pushMode(M) ; E : 'e' ;\nmode M; B : 'b' -> popMode ; C : 'c' ;",
                "A C B E ".repeat(many(100_000))
            )
        }),
        ("blocks-in-blocks", || grammar(&format!("{}A{}", "(A? ".repeat(40), ")*".repeat(40)), "A : 'a' ;")),
        ("literals-10-000", || {
            grammar(&format!("('a'{})*", numbered(10_000, |i| format!(" | 'k{i}'"))), "W : ' ' -> skip ;")
        }),
        ("literals-1e6", || {
            grammar(&format!("('a'{})*", numbered(many(600_000), |i| format!(" | 'k{i}'"))), "W : ' ' -> skip ;")
        }),
        ("literals-in-rules", || {
            let rules = numbered(many(20_000), |i| format!("r{i} : 'k{i}' r{} | ;\n", i + 1));
            grammar("r0", &format!("{rules} r{} : 'x' ; W : ' ' -> skip ;", many(20_000)))
        }),
        ("literals-in-a-cycle", || {
            let count = many(7000);
            let rules = numbered(count, |i| {
                format!("r{i} : r{} 'k{i}' | 'k{i}' r{} | ;\n", (i + count - 1) % count, (i + 1) % count)
            });
            grammar("r0", &format!("{rules} W : ' ' -> skip ;"))
        }),
        ("tokens-1e6", || grammar("A0 A1", &numbered(many(500_000), |i| format!("A{i} : 'x{i}' ;\n")))),
        ("tokens-of-characters", || {
            grammar("A0 A1", &numbered(many(400_000), |i| format!("A{i} : '{}' ;\n", character(i))))
        }),
        ("tokens-of-sets", || {
            let sets =
                numbered(many(10_000), |i| format!("A{i} : [{}-{}] ;\n", character(i), character(2 * i + 20_000)));
            grammar("A0 A1", &sets)
        }),
        ("tokens-of-nested-sets", || {
            let sets = numbered(many(20_000), |i| format!("A{i} : [{}-{}]+ ;\n", character(i), character(100_000 - i)));
            grammar("A0 A1", &format!("{sets} W : ' ' -> skip ;"))
        }),
        ("tokens-of-long-fragments", || {
            let count = many(30_000);
            let uses = numbered(count, |i| format!("A{i} : 'a' F{i} ;\n"));
            grammar("(A0 | A1)*", &format!("{uses}{}", fragments(count, "'x'", |f| format!("'b' {f}"))))
        }),
        ("tokens-of-wide-fragments", || {
            let count = many(10_000);
            let uses = numbered(count, |i| format!("A{i} : 'a' F{i} ;\n"));
            let bodies = numbered(count, |i| format!("fragment F{i} : '{}' F{} ;\n", character(i), i + 1));
            grammar("(A0 | A1)*", &format!("{uses}{bodies}fragment F{count} : 'x' ;"))
        }),
        ("modes-300", || {
            modes(300, "~[<>]+? [a-z] ~[a-z] ~[a-z] ~[a-z] ~[a-z] ~[a-z] ~[a-z] ~[a-z] ~[a-z] ~[a-z] 'x'")
        }),
        ("modes-3000", || modes(many(3000), "~[<>]+ [a-z]*? 'x'")),
        ("identifiers-of-fragments", || {
            let fragments = fragments(15, "'x'", |f| format!("{f}{}", format!(" | {f}").repeat(9)));
            format!(
                "grammar g; options {{ superClass = LexerAdaptor; }} tokens {{ TOKEN_REF, RULE_REF }}\n\
                 s : (TOKEN_REF | RULE_REF)* ;\nID : F0 ; {fragments}"
            )
        }),
        ("modes-on-modes", || {
            let rules = numbered(60, |i| {
                format!(
                    "mode M{i}; A{i} : 'a' -> pushMode(M{}) ; B{i} : 'b' -> popMode ; C{i} : 'c' -> mode(M{}) ;\n",
                    (i + 1) % 60,
                    (i * 7) % 60
                )
            });
            let tokens = numbered(60, |i| format!("{}A{i} | B{i} | C{i}", if i == 0 { "" } else { " | " }));
            format!(
                "lexer grammar g; S : 's' -> pushMode(M0) ;\n{rules}\0parser grammar gParser; s : S ({tokens})* r ; r : ({tokens}) r ({tokens}) | S ;"
            )
        }),
        ("hidden-in-modes", || {
            let rules = numbered(20, |i| {
                format!(
                    "mode M{i}; {} T{i} : 't' ;\n",
                    numbered(20, |j| format!("H{i}x{j} : 'h{j}' -> skip, pushMode(M{j}) ;"))
                )
            });
            format!(
                "lexer grammar g; S : 's' -> pushMode(M0) ;\n{rules}\0parser grammar gParser; s : S (T1 T2 T3 T4 T5 T6)* ;"
            )
        }),
        ("many-states", || grammar("(A | B)*", &format!("A : [ab]* 'a' {} ; B : [ab]+ ;", "[ab] ".repeat(40)))),
        ("many-states-lazy", || grammar("(A | B)*", &format!("A : .*? 'a' {} 'b' ; B : .+? 'c' ;", ". ".repeat(30)))),
        ("many-identifiers", || {
            let tokens = numbered(60, |i| format!("A{i} : [a-z] [a-z0-9]* '{i}' [a-y]* ;\n"));
            grammar(
                &format!("(A0{})*", numbered(59, |i| format!(" | A{}", i + 1))),
                &format!("{tokens} W : ' ' -> skip ;"),
            )
        }),
        ("properties", || grammar("A", &format!("A : {} ;", "[\\p{L}\\P{Lu}] ".repeat(many(100_000))))),
        ("properties-unknown", || grammar("A", &format!("A : {} ;", "[\\p{Xyzzy}]".repeat(many(100_000))))),
        ("properties-not-closed", || grammar("A", &format!("A : [{} ;", "\\p{".repeat(many(1_000_000))))),
        ("escapes-not-closed", || grammar("A", &format!("A : '{} ;", "\\u{".repeat(many(1_000_000))))),
        ("escapes-not-closed-in-sets", || grammar("A", &format!("A : [{} ;", "\\u{".repeat(many(1_000_000))))),
        ("comments-not-closed", || grammar(&format!("{{ {}", "/* ".repeat(many(1_000_000))), "")),
        ("comments-not-closed-again", || grammar(&"/* { ".repeat(many(1_000_000)), "")),
        ("actions-not-closed", || grammar(&"{ ' ".repeat(many(1_000_000)), "")),
        ("arguments-not-closed", || grammar(&"a[ ' ".repeat(many(1_000_000)), "")),
        ("options-not-closed", || grammar(&"a< ".repeat(many(1_000_000)), "")),
        ("folded-sets", || {
            format!(
                "grammar g; options {{ caseInsensitive = true; }} s : A ; A : {} ;",
                "[a-z\\p{L}] ".repeat(many(20_000))
            )
        }),
        ("complements", || grammar("A", &format!("A : {} ;", "~[a-z\\p{L}] ".repeat(many(20_000))))),
        ("complements-of-tokens", || {
            let tokens = numbered(many(5000), |i| format!("A{i} : 'x{i}' ;\n"));
            grammar(&"~A0 ".repeat(many(5000)), &tokens)
        }),
        ("aliases", || {
            let tokens = numbered(many(50_000), |i| format!("A{i} : 'x{i}' ;\n"));
            grammar(&numbered(many(50_000), |i| format!("'x{i}' ")), &tokens)
        }),
    ]
}

/// Returns modes with a token that needs a large automaton. Each is reached from the one before.
fn modes(count: usize, pattern: &str) -> String {
    let rules =
        numbered(count, |i| format!("mode M{i}; A{i} : {pattern} ; N{i} : '>' -> mode(M{}) ;\n", (i + 1) % count));
    let tokens = numbered(count, |i| format!("A{i} N{i} "));
    format!("lexer grammar g; S : 's' -> mode(M0) ;\n{rules}\0parser grammar gParser; s : S {tokens} ;")
}

/// The file of a parser, if there is one.
struct Parser<'t>(&'t str);

impl formats::Loader for Parser<'_> {
    fn load(&self, name: &str) -> Result<SourceFile, String> {
        match name {
            "gParser.g4" if !self.0.is_empty() => Ok(SourceFile::new(name, self.0)),
            _ => Err("no such file".to_string()),
        }
    }
}

/// Run by [`hostile_grammars_of_antlr`] in processes of their own. The text after a NUL is the parser's file.
#[test]
fn child() {
    let Some(wanted) = children::wanted() else { return };
    let grammars = grammars();
    let (_, text) = grammars.iter().find(|(name, _)| *name == wanted).expect("a grammar's name");
    let text = text();
    let (text, parser) = text.split_once('\0').unwrap_or((&text, ""));
    let file = SourceFile::new("g", text);
    let loader = Parser(parser);
    let meter = Meter::start();
    let mut diagnostics = Diagnostics::default();
    let format = formats::by_name("g4").expect("the format is known");
    let surroundings = formats::Surroundings { loader: &loader, ..formats::Surroundings::default() };
    let grammar = format.parse_within(&file, &surroundings, &mut diagnostics);
    check(&grammar, None, &mut diagnostics);
    let (said, rules) = (diagnostics.to_plain_text(&file), grammar.rules.len());
    meter.result(&wanted, &format!("{rules:7} rules: {}", said.lines().next().unwrap_or("ok")));
}

#[test]
fn hostile_grammars_of_antlr() {
    children::run("hostile_g4::child", amount::some(grammars(), 2).map(|(name, _)| name));
}
