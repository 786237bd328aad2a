//! Texts at boundaries, pairs of options, and corpora.

use gramjet_session::suite::boundary::{Boundary, boundary};
use gramjet_session::suite::corpus::Corpus;
use gramjet_session::suite::pairs::pairs;

use super::*;

fn at_boundaries(grammar: &Compiled, limits: Limits) -> Boundary {
    let parser = Parser::new(&grammar.lowered);
    let made = boundary(grammar, &parser, limits, 0).expect("a small grammar");
    for case in &made.cases {
        let parsed = parser.parse(&case.text, &Budget::default());
        assert_eq!(parsed.is_ok(), case.is_valid, "{}: {:?}", case.why, String::from_utf8_lossy(&case.text));
    }
    made
}

/// Returns the texts of a kind.
fn of_kind(made: &Boundary, kind: &str) -> BTreeSet<String> {
    let own = made.cases.iter().filter(|case| case.kind == Some(kind));
    own.map(|case| String::from_utf8_lossy(&case.text).into_owned()).collect()
}

fn set(texts: &[&str]) -> BTreeSet<String> {
    texts.iter().map(|text| text.to_string()).collect()
}

#[test]
fn rounds_at_boundaries() {
    let made = at_boundaries(&compiled("s ::= '<' 'ab'{2,5} '>' t?  t ::= 'c'* '!'"), Limits::default());
    // The text of 2 rounds is the shortest one, too, and that of 3 rounds the next one.
    assert_eq!(of_kind(&made, "shortest-text"), set(&["<abab>"]));
    assert_eq!(of_kind(&made, "one-round-more"), set(&["<ababab>", "<abab>c!"]));
    assert_eq!(of_kind(&made, "most-rounds"), set(&["<ababababab>"]));
    assert_eq!(of_kind(&made, "too-many-rounds"), set(&["<abababababab>", "<abab>!!"]));
    assert_eq!(of_kind(&made, "next-length"), set(&["<abab>!"]));
}

#[test]
fn classes_and_ranges_at_boundaries() {
    let made = at_boundaries(&compiled("s ::= '(' [b-dx] ')'"), Limits::default());
    let all: BTreeSet<String> =
        made.cases.iter().filter(|case| case.is_valid).map(|case| String::from_utf8_lossy(&case.text).into()).collect();
    assert_eq!(all, set(&["(b)", "(d)", "(x)"]));
    assert_eq!(of_kind(&made, "beyond-class"), set(&["(a)", "(e)", "(w)", "(y)"]));
    let numbers = at_boundaries(&compiled("s ::= $dec(1..65535) | 'n' $u8(3..200)"), Limits::default());
    let valid: BTreeSet<Vec<u8>> =
        numbers.cases.iter().filter(|case| case.is_valid).map(|case| case.text.clone()).collect();
    for text in [&b"1"[..], b"65535", b"9", b"10", b"n\x03", b"n\xC8"] {
        assert!(valid.contains(text), "{text:?} of {valid:?}");
    }
    let beyond: BTreeSet<Vec<u8>> =
        numbers.cases.iter().filter(|case| !case.is_valid).map(|case| case.text.clone()).collect();
    for text in [&b"65536"[..], b"n\x02", b"n\xC9", b"0"] {
        assert!(beyond.contains(text), "{text:?} of {beyond:?}");
    }
}

#[test]
fn the_longest_texts_within_limits() {
    let lists = compiled("list ::= '[' (list (',' list)*)? ']'");
    let made = at_boundaries(&lists, Limits { max_len: Some(9), max_depth: None });
    assert!(of_kind(&made, "longest-text").iter().all(|text| text.len() == 9), "{made:?}");
    assert_eq!(of_kind(&made, "shortest-text"), set(&["[]"]));
    assert!(made.cases.iter().filter(|case| case.is_valid).all(|case| case.text.len() <= 9));
    let finite = at_boundaries(&compiled("s ::= 'x'{0,3} 'y'?"), Limits::default());
    assert_eq!(of_kind(&finite, "longest-text"), set(&["xxxy"]));
    assert_eq!(of_kind(&finite, "shortest-text"), set(&[""]));
}

const HEAD: &str = "head ::= ('GET' | 'PUT' | 'HEAD') ' ' path? (' HTTP/' ('1.0' | '1.1'))?
    path ::= '/' | '*' (':' port)?  port ::= '80' | '443'";

/// Returns the pairs of options in a text of [`HEAD`], read by hand.
fn pairs_of_head(text: &str) -> BTreeSet<String> {
    let (method, rest) = text.split_once(' ').expect("a method");
    let mut steps =
        vec![format!("head-1.{}", 1 + ["GET", "PUT", "HEAD"].iter().position(|&m| m == method).expect("it"))];
    let (path, version) = rest.split_once(" HTTP/").map_or((rest, None), |(path, version)| (path, Some(version)));
    steps.push(format!("head-2.{}", if path.is_empty() { "fewest" } else { "more" }));
    steps.push(format!("head-3.{}", if version.is_none() { "fewest" } else { "more" }));
    steps.extend(version.map(|version| format!("head-4.{}", if version == "1.0" { 1 } else { 2 })));
    let mut pairs = BTreeSet::new();
    for (at, one) in steps.iter().enumerate() {
        pairs.extend(steps[at + 1..].iter().map(|other| format!("{one} & {other}")));
    }
    if let Some(rest) = path.strip_prefix('*') {
        pairs.insert(format!("path.2 & path-2.{}", if rest.is_empty() { "fewest" } else { "more" }));
    }
    pairs
}

/// Returns all texts of [`HEAD`].
fn heads() -> Vec<String> {
    let mut all = Vec::new();
    for method in ["GET", "PUT", "HEAD"] {
        for path in ["", "/", "*", "*:80", "*:443"] {
            all.extend(["", " HTTP/1.0", " HTTP/1.1"].map(|version| format!("{method} {path}{version}")));
        }
    }
    all
}

#[test]
fn all_pairs_that_any_text_has_are_covered() {
    let grammar = compiled(HEAD);
    let made = pairs(&grammar, Limits::default(), 0).expect("few");
    let possible: BTreeSet<String> = heads().iter().flat_map(|text| pairs_of_head(text)).collect();
    assert_eq!((made.all, made.covered), (possible.len(), possible.len()), "{possible:?} {made:?}");
    let texts: Vec<String> = made.cases.iter().map(|case| String::from_utf8_lossy(&case.text).into_owned()).collect();
    let found: BTreeSet<String> = texts.iter().flat_map(|text| pairs_of_head(text)).collect();
    assert_eq!(found, possible);
    assert!(texts.len() <= 12, "{texts:?}");
    let told: BTreeSet<String> = made.cases.iter().flat_map(|case| case.covers.clone()).collect();
    assert_eq!(told, possible);
}

#[test]
fn pairs_of_recursive_rules_end() {
    for name in ["json", "expr"] {
        let made = pairs(&shipped(name), Limits::default(), 0).expect("few");
        assert_eq!((made.covered, made.missing.len()), (made.all, 0), "{name}: {:?}", made.missing);
    }
}

#[test]
fn corpora_are_measured_and_distilled() {
    let grammar = compiled(HEAD);
    let mut corpus = Corpus::new(&grammar, 2).expect("few paths");
    let texts = ["GET /", "GET ", "GET /", "PUT * HTTP/1.0", "GET *:80", "HEAD * HTTP/1.0"];
    for text in texts {
        corpus.add(text.as_bytes(), &Budget::default()).expect("it conforms");
    }
    assert!(corpus.add(b"POST /", &Budget::default()).is_err());
    let of_texts = |numbers: &[usize]| -> BTreeSet<String> {
        numbers.iter().flat_map(|&at| paths_of(&grammar, 2, texts[at].as_bytes())).collect()
    };
    let all = all_paths(&grammar, 2);
    let found = of_texts(&[0, 1, 2, 3, 4, 5]);
    assert_eq!((corpus.all(), corpus.covered()), (all.len(), found.len()));
    assert_eq!(corpus.missing().into_iter().collect::<BTreeSet<_>>(), all.difference(&found).cloned().collect());
    let added = corpus.added();
    assert_eq!((added[2], added.iter().sum::<usize>()), (0, found.len()));
    let kept = corpus.distilled();
    assert_eq!(of_texts(&kept), found);
    for left_out in &kept {
        let others: Vec<usize> = kept.iter().copied().filter(|text| text != left_out).collect();
        assert_ne!(of_texts(&others), found, "{left_out} is needed");
    }
    // No smaller set has all paths.
    let sets = (0..1u32 << texts.len()).map(|set| (0..texts.len()).filter(|&at| set >> at & 1 == 1).collect());
    let least = sets.filter(|set: &Vec<usize>| of_texts(set) == found).map(|set| set.len()).min();
    assert_eq!(Some(kept.len()), least);
}
