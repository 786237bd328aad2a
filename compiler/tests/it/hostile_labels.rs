//! E6 for grammars with labels and names: whatever is written, a diagnostic or complete texts come soon and in bounded
//! memory.
//!
//! Grammars of the book and of tests are damaged token by token. Large ones are compiled in processes of their own.

use gramjet_compiler::reference::{Limits, render};
use gramjet_compiler::{Compiled, Options, SourceFile, compile, examine};
use gramjet_testkit::{Rng, amount};

use crate::children::{self, Meter};

/// The number of damaged grammars in a long run, and of those that one process takes.
const ALL: u64 = 500;
const AT_A_TIME: u64 = 20;

/// Files that have grammars with labels and names: as blocks, as string literals in lines of their own, or whole.
const SOURCES: [&str; 18] = [
    "docs/labels.md",
    "docs/names.md",
    "docs/codings.md",
    "docs/mirrors.md",
    "docs/parameters.md",
    "compiler/tests/it/parameters.rs",
    "compiler/tests/it/mirrors.rs",
    "engine/tests/it/labels.rs",
    "tests/labelled/xml.ebnf",
    "tests/labelled/csv.ebnf",
    "tests/labelled/values.ebnf",
    "tests/labelled/codings.ebnf",
    "grammars/png.ebnf",
    "engine/parse/tests/it/codings.rs",
    "grammars/tar.ebnf",
    "tests/labelled/ipv4.ebnf",
    "grammars/zip.ebnf",
    "tests/labelled/blocks.ebnf",
];

/// Returns the grammars of the files.
fn sources() -> Vec<String> {
    let read = |path: &&str| {
        let path = format!("{}/../{path}", env!("CARGO_MANIFEST_DIR"));
        (path.clone(), std::fs::read_to_string(path).expect("a file of this tree"))
    };
    let grammars = |(path, text): (String, String)| -> Vec<String> {
        if path.ends_with(".md") {
            text.split("```ebnf\n").skip(1).filter_map(|rest| Some(rest.split_once("```")?.0.to_string())).collect()
        } else if path.ends_with(".rs") {
            let literals = text.lines().filter_map(|line| line.strip_prefix("    \"")?.strip_suffix("\","));
            literals.map(|literal| literal.replace("\\\"", "\"").replace("\\\\", "\\")).collect()
        } else {
            vec![text]
        }
    };
    SOURCES.iter().map(read).flat_map(grammars).collect()
}

/// Returns the tokens of a grammar, about: words, texts, and single marks, with the blanks before them.
fn tokens(grammar: &str) -> Vec<&str> {
    let (mut tokens, mut rest) = (Vec::new(), grammar);
    while !rest.is_empty() {
        let begin = rest.len() - rest.trim_start().len();
        let token = &rest[begin..];
        let of_word = |c: char| c.is_alphanumeric() || c == '_';
        let len = match token.chars().next() {
            Some(quote @ ('\'' | '"')) => token[1..].find(quote).map_or(token.len(), |end| end + 2),
            Some('[') => token.find(']').map_or(token.len(), |end| end + 1),
            Some(c) if of_word(c) => token.find(|c| !of_word(c)).unwrap_or(token.len()),
            _ if token.starts_with("::=") => 3,
            first => first.map_or(0, char::len_utf8),
        };
        tokens.push(&rest[..begin + len]);
        rest = &rest[begin + len..];
    }
    tokens
}

/// Returns the kind of a token: a word, or by its first character.
fn kind(token: &str) -> Option<char> {
    token.trim_start().chars().next().map(|first| if first.is_alphanumeric() { 'a' } else { first })
}

/// Returns a grammar with some tokens deleted, doubled, exchanged, or replaced by those of another one.
fn damaged(sources: &[String], rng: &mut Rng) -> String {
    let mut below = |most: usize| (rng.next_u64() % most.max(1) as u64) as usize;
    let one = tokens(&sources[below(sources.len())]);
    let other = tokens(&sources[below(sources.len())]);
    let mut made = one;
    for _ in 0..=below(2) {
        let (place, len) = (below(made.len()), 1 + below(6));
        let end = (place + len).min(made.len());
        match below(5) {
            0 => drop(made.drain(place..end)),
            1 => drop(made.splice(end..end, made[place..end].to_vec())),
            2 => {
                let with = below(made.len());
                made.swap(place, with);
            }
            3 => {
                let from = below(other.len());
                let to = (from + 1 + below(12)).min(other.len());
                drop(made.splice(place..end, other[from..to].to_vec()));
            }
            _ => {
                // Names, texts and marks take the place of their like, so that more grammars compile.
                let is_like = |token: &&&str| kind(token) == kind(made[place]);
                let like: Vec<&&str> = made.iter().chain(&other).filter(is_like).collect();
                made[place] = like[below(like.len())];
            }
        }
        if made.is_empty() {
            break;
        }
    }
    made.concat()
}

/// Renders texts under several limits, and checks that they are as long as they must be.
fn render_some(compiled: &Compiled, grammar: &str) {
    let min_len = compiled.min_len();
    let choices = Rng::new(3).bytes(40);
    for (max_depth, more) in [(None, Some(0)), (Some(3), Some(40)), (Some(8), Some(1000)), (Some(6), None)] {
        let max_len = more.map(|more| min_len + more);
        let run = render(&compiled.lowered, &compiled.pools, Limits { max_depth, max_len }, &choices);
        let len = run.output.len() as u64;
        assert!(max_len.is_none_or(|most| len <= most), "{len} {min_len} {max_len:?}\n{grammar}");
        // The minimum has room for numbers that make names unique, and for what is coded.
        let is_short = grammar.contains("unique") || compiled.lowered.has_codes();
        assert!(len >= min_len || is_short, "{len} {min_len} {max_len:?}\n{grammar}");
    }
}

/// Run by [`damaged_grammars_end_in_a_diagnostic_or_in_texts`] in processes of their own.
#[test]
fn child_of_damaged() {
    let Some(number) = children::wanted().and_then(|part| part.strip_prefix("damaged-")?.parse::<u64>().ok()) else {
        return;
    };
    let (sources, meter, mut compiled) = (sources(), Meter::start(), 0);
    for seed in number..number + AT_A_TIME {
        let grammar = damaged(&sources, &mut Rng::new(seed));
        match compile(&SourceFile::new("g.ebnf", &grammar), &Options::default()) {
            Ok((grammar_compiled, _)) => {
                render_some(&grammar_compiled, &grammar);
                compiled += 1;
            }
            Err(diagnostics) => assert!(diagnostics.has_errors(), "{grammar}"),
        }
    }
    meter.result(&format!("damaged-{number}"), &format!("{compiled} of {AT_A_TIME} compile"));
}

#[test]
fn damaged_grammars_end_in_a_diagnostic_or_in_texts() {
    let parts = (0..amount::part(ALL)).step_by(AT_A_TIME as usize).map(|number| format!("damaged-{number}"));
    let parts: Vec<String> = parts.collect();
    children::run("hostile_labels::child_of_damaged", parts.iter().map(String::as_str));
}

#[test]
fn sources_are_found_and_some_damaged_grammars_compile() {
    let sources = sources();
    assert!(sources.len() > 30, "{}", sources.len());
    for source in &sources {
        assert_eq!(tokens(source).concat().trim_end(), source.trim_end());
    }
    let grammars = (0..100).map(|seed| damaged(&sources, &mut Rng::new(seed)));
    let compile = |grammar| compile(&SourceFile::new("g.ebnf", grammar), &Options::default()).is_ok();
    let working = grammars.map(compile).filter(|&works| works).count();
    assert!((5..95).contains(&working), "{working}");
}

/// Returns a smaller count for short runs and for debug builds, which verify the IR after each pass.
fn many(count: u64) -> u64 {
    amount::part(if cfg!(debug_assertions) { count / 10 } else { count })
}

/// Returns a chain of rules: each refers to the next, the last to a literal.
fn chain(count: u64, body: impl Fn(u64, &str) -> String) -> String {
    let rules: String = (0..count).map(|i| format!("r{i} ::= {}\n", body(i, &format!("r{}", i + 1)))).collect();
    format!("{rules}r{count} ::= 'end'\nn ::= [ab]{{1,2}}\n")
}

fn of_kinds(count: u64) -> String {
    let parts: String = (0..count).map(|i| format!("$define(k{i}, 'a') $use(k{i}, 'b') ")).collect();
    format!("s ::= ({parts} s)?")
}

/// Returns rounds in rounds, each with a list of what is in them.
fn lists(depth: u64) -> String {
    let inner = (0..depth).rev().fold("'x'*".to_string(), |inner, i| {
        format!("e{i}:(n{i}:[a-z]* {inner} ';')* $each(e{i}, $n{i} $dec(len(n{i})))")
    });
    format!("s ::= {inner}")
}

/// A grammar's name and the function that makes its text.
type Large = (&'static str, fn() -> String);

const LARGE: &[Large] = &[
    ("names-in-a-chain", || chain(many(100_000), |_, next| format!("$define(k, n) $use(k, 'x') {next}"))),
    ("unique-names-in-a-chain", || {
        format!("s ::= $scope(k, r0)\n{}", chain(many(100_000), |_, next| format!("$unique(k, n) {next} | {next}")))
    }),
    ("scopes-in-a-chain", || chain(many(100_000), |_, next| format!("$scope(k, $unique(k, n) {next})"))),
    ("declared-in-a-chain", || chain(many(100_000), |_, next| format!("d:n {next} $declare(k, $d) $use(k, 'x')"))),
    ("copies-in-a-chain", || chain(many(100_000), |_, next| format!("d:n {next} $d"))),
    ("copies-of-copies-60", || chain(60, |_, next| format!("d:{next} $d"))),
    ("copies-of-copies-20", || chain(20, |_, next| format!("d:{next} $d"))),
    ("lengths-in-a-chain", || chain(many(50_000), |_, next| format!("$u8(len(d)) d:({next} 'x'*)"))),
    ("free-lengths-in-a-chain", || chain(many(2000), |_, next| format!("$dec(len(d)) d:({next} 'x'*)"))),
    ("counts-in-a-chain", || chain(40, |_, next| format!("d:'x'* ({next}){{count(d)}}"))),
    ("counts-of-counts", || {
        let counts: String = (1..60).map(|i| format!("d{i}:('x'{{count(d{})}})* ", i - 1)).collect();
        format!("s ::= d0:'x'* {counts}")
    }),
    ("codings-in-a-chain", || chain(many(20_000), |_, next| format!("'a' $percent({next}) 'b'"))),
    ("labelled-codings-in-a-chain", || {
        chain(many(50_000), |_, next| format!("$u32be(len(d)) p:$zlib(d:{next}) $u32be(crc32(p)) | 'x'"))
    }),
    ("codings-of-themselves", || {
        "s ::= $base64(s s) $jsonstring(s) | $xmltext(t)  t ::= $cstring(s) t | 'x'".to_string()
    }),
    ("codings-within-codings-10000", || format!("s ::= {}'x'{}", "$base16(".repeat(10_000), ")".repeat(10_000))),
    ("codings-within-codings-90", || format!("s ::= {}'x'*{}", "$base16(".repeat(90), ")".repeat(90))),
    ("scopes-within-scopes-10000", || format!("s ::= {}'x'{}", "$scope(k, ".repeat(10_000), ")".repeat(10_000))),
    ("scopes-within-scopes-90", || {
        format!("s ::= {}$unique(k, 'a'){}", "$scope(k, $unique(k, 'a') ".repeat(90), ")".repeat(90))
    }),
    ("labels-within-labels-10000", || {
        format!("s ::= {}'x'{}", (0..10_000).map(|i| format!("a{i}:(")).collect::<String>(), ")".repeat(10_000))
    }),
    ("lists-in-lists-3", || lists(3)),
    ("lists-in-lists-8", || lists(8)),
    ("lists-in-a-chain", || chain(many(2000), |_, next| format!("e:(d:n {next}? ';')* $each(e, $d)"))),
    ("groups-in-groups-60", || {
        let begins: String = (0..60).map(|i| format!("g{i}:(a{i}:[ab]* ")).collect();
        let copies: String = (0..20).map(|i| format!("$a{} ", 3 * i)).collect();
        format!("s ::= {begins}'x'{} {copies}", ")".repeat(60))
    }),
    ("labels-in-a-sequence", || {
        let count = many(50_000);
        let labels: String = (0..count).map(|i| format!("a{i}:[ab]* ")).collect();
        let copies: String = (0..count).map(|i| format!("$a{} ", i * 7919 % count)).collect();
        format!("s ::= {labels}{copies}")
    }),
    ("lengths-in-a-sequence", || {
        let count = many(5000);
        let lengths: String = (0..count).map(|i| format!("$u16be(len(a{i})) ")).collect();
        let labels: String = (0..count).map(|i| format!("a{i}:[ab]* ")).collect();
        format!("s ::= {lengths}{labels}")
    }),
    ("kinds-64", || of_kinds(64)),
    ("kinds-65", || of_kinds(65)),
    ("kinds-10000", || of_kinds(10_000)),
    ("unique-names-1e6", || format!("s ::= $scope(k, $unique(k, [ab]){{{}}})", many(1_000_000))),
    ("unique-names-1e6-at-most", || "s ::= $scope(k, $unique(k, [ab]){0,1000000})".into()),
    ("unique-names-4e9", || "s ::= $scope(k, $unique(k, [ab]){4000000000})".into()),
    ("names-1e6", || format!("s ::= ($define(k, [ab]) $use(k, 'x')){{{}}}", many(1_000_000))),
    ("unique-names-nested", || "s ::= $scope(k, ((($unique(k, [ab]){1000}){1000}){1000}){1000})".into()),
    ("declared-1e5", || format!("s ::= d:'a' {} $use(k, 'b')", "$declare(k, $d) ".repeat(many(100_000) as usize))),
    ("left-recursion-with-names", || "s ::= s $define(k, 'a') | $use(k, 'b') | s s | $scope(k, s)".into()),
    ("copies-that-double", || "s ::= d:s $d | 'x'".into()),
    ("copies-that-double-with-lengths", || {
        "s ::= $u32be(len(d)) d:s $d | 'x' | $scope(k, $unique(k, n)) s s  n ::= 'a'".into()
    }),
];

/// Run by [`large_grammars_end_in_a_diagnostic_or_in_texts`] in processes of their own.
#[test]
fn child_of_large() {
    let Some(wanted) = children::wanted() else { return };
    let Some((name, grammar)) = LARGE.iter().find(|(name, _)| *name == wanted) else { return };
    let (text, meter) = (grammar(), Meter::start());
    let file = SourceFile::new("g.ebnf", &text);
    let (Ok((_, diagnostics)) | Err(diagnostics)) = examine(&file, &Options::default());
    let outcome = diagnostics.to_plain_text(&file);
    if let Ok((compiled, _)) = compile(&file, &Options::default()) {
        render_some(&compiled, name);
    }
    meter.result(name, &outcome);
}

#[test]
fn large_grammars_end_in_a_diagnostic_or_in_texts() {
    children::run("hostile_labels::child_of_large", amount::some(LARGE, 2).map(|(name, _)| *name));
}
