//! The promises of sessions on variants, lengths, depths, and on what they remember.

use std::collections::BTreeSet;

use gramjet::choices::Operation;
use gramjet_compiler::SourceFile;
use gramjet_session::{Bound, EngineKind, Language, Mutation, Session, Settings, Shape, hash};

const JSON: &str = r##"
json   ::= value
value  ::= object | array | string | number | 'true' | 'false' | 'null'
object ::= '{' (member (',' member)*)? '}'
member ::= string ':' value
array  ::= '[' (value (',' value)*)? ']'
string ::= '"' [a-z]* '"'
number ::= '0' | [1-9] [0-9]{0,5}
"##;

const TEXT: &[u8] = br#"{"a":[1,22,[true]],"bc":{"d":null,"e":"xyz"}}"#;

fn language(grammar: &str, settings: &Settings) -> Language {
    Language::compile(&SourceFile::new("g.ebnf", grammar), settings).expect("a grammar")
}

fn depth(text: &[u8]) -> i32 {
    let mut deepest = 0;
    text.iter().fold(0, |depth, &byte| {
        let depth = depth + i32::from(byte == b'[' || byte == b'{') - i32::from(byte == b']' || byte == b'}');
        deepest = deepest.max(depth);
        depth
    });
    deepest
}

#[test]
fn variants_conform_differ_and_depend_on_the_seed() {
    let language = language(JSON, &Settings::default());
    let run = |seed| {
        let mut session = Session::new(&language, seed);
        let mut variant = Vec::new();
        let mut made = BTreeSet::new();
        let mut all = Vec::new();
        for number in 0..600 {
            let mutation = match number % 3 {
                0 => session.splice(TEXT, br#"[[[["other"]]]]"#, 200, &mut variant),
                _ => session.mutate(TEXT, 200, &mut variant),
            };
            made.insert(mutation.expect("there is room").name());
            assert!(language.parse(&variant).is_ok() && variant.len() <= 200 && variant != TEXT);
            all.push(variant.clone());
        }
        assert_eq!(made.len(), Operation::ALL.len());
        assert!(all.iter().any(|variant| variant.windows(5).any(|part| part == b"other")));
        all
    };
    let first = run(1);
    assert!(first == run(1) && first != run(2));
    let distinct = first.iter().collect::<BTreeSet<_>>().len();
    assert!(distinct > 250, "{distinct}");
}

#[test]
fn derivations_are_looked_up_before_texts_are_parsed() {
    // Equal weights: a variant that the depth limit cuts has no choice bytes without it, so it is parsed.
    let language = language(JSON, &Settings { shape: Some(Shape::Uniform), ..Settings::default() });
    let mut session = Session::new(&language, 1);
    assert!(!session.knows(TEXT) && session.remember(TEXT) && session.knows(TEXT));
    assert_eq!((session.statistics().parsed, session.statistics().known), (1, 0));
    let mut texts = Vec::new();
    for _ in 0..50 {
        let mut variant = Vec::new();
        session.mutate(TEXT, 1000, &mut variant).expect("there is room");
        assert!(session.knows(&variant) && session.remember(&variant));
        texts.push(variant);
    }
    assert_eq!(session.statistics().parsed, 1, "the last variant is known");
    for text in &texts {
        assert!(session.knows(text) && session.remember(text));
    }
    assert_eq!(session.statistics().parsed, 1);
    // Choice bytes from elsewhere are accepted if they produce the text.
    let choices = language.parse(b"[[7]]").expect("a JSON text");
    assert!(!session.offer(b"[7]", &choices) && session.offer(b"[[7]]", &choices));
    assert_eq!(session.choices(b"[[7]]"), Some(&*choices));
    assert_eq!(session.statistics().parsed, 1);
    assert_ne!(hash(b"[7]"), hash(b"[[7]]"));
}

#[test]
fn texts_that_do_not_conform_are_counted_and_replaced() {
    let language = language(JSON, &Settings::default());
    let mut session = Session::new(&language, 3);
    let mut made = BTreeSet::new();
    for _ in 0..100 {
        let mut variant = Vec::new();
        assert_eq!(session.mutate(b"[1,", 500, &mut variant), Some(Mutation::Fresh));
        assert!(language.parse(&variant).is_ok() && variant.len() <= 500);
        made.insert(variant);
    }
    assert!(made.len() > 20, "{}", made.len());
    let statistics = session.statistics();
    assert_eq!((statistics.unparsed, statistics.fresh, statistics.changed), (1, 100, 0));
    assert!(session.check(b"[1,").is_err() && session.check(b"[1]").is_ok());
    // A grammar of one text: nothing can be changed.
    let one = self::language("s ::= 'x'", &Settings::default());
    let mut variant = Vec::new();
    assert_eq!(Session::new(&one, 1).mutate(b"x", 10, &mut variant), Some(Mutation::Fresh));
    assert_eq!(variant, b"x");
}

#[test]
fn lengths_are_kept() {
    let language = language(JSON, &Settings { max_len: Bound::At(60), ..Settings::default() });
    let mut session = Session::new(&language, 5);
    let mut variant = Vec::new();
    let mut cut = 0;
    for most in [0, 1, 2, 3, 10, 44, 59, 1000] {
        for _ in 0..200 {
            let mutation = session.mutate(TEXT, most, &mut variant);
            assert_eq!(mutation.is_some(), most > 0);
            cut += usize::from(matches!(mutation, Some(Mutation::Cut(_))));
            assert!(variant.len() <= most.min(60));
            assert!(most == 0 || language.parse(&variant).is_ok());
        }
    }
    assert!(cut > 100 && session.statistics().cut == cut as u64, "{cut}");
}

/// Mutators keep the length, so that no variant has to be cut.
#[test]
fn variants_of_texts_that_fit_are_not_cut() {
    let language = language(JSON, &Settings::default());
    let mut session = Session::new(&language, 6);
    let mut variant = Vec::new();
    for more in [0, 1, 5] {
        for _ in 0..1000 {
            let mutation = session.mutate(TEXT, TEXT.len() + more, &mut variant);
            assert!(matches!(mutation, Some(Mutation::Changed(_))), "{mutation:?}");
        }
    }
}

/// Variants are as deep as the limit or the text, not more.
#[test]
fn depths_are_kept_and_deep_texts_stay_exact() {
    let language = language(JSON, &Settings { max_depth: Bound::At(8), ..Settings::default() });
    let mut session = Session::new(&language, 7);
    let mut variant = Vec::new();
    let shallow: i32 = (0..2000)
        .map(|_| {
            session.mutate(b"[[1]]", 10_000, &mut variant).expect("there is room");
            depth(&variant)
        })
        .max()
        .unwrap_or(0);
    assert!((3..=5).contains(&shallow), "{shallow}");
    let deep = [b"[".repeat(40), b"7,\"abc\"".to_vec(), b"]".repeat(40)].concat();
    let mut as_deep = 0;
    for _ in 0..300 {
        session.mutate(&deep, 10_000, &mut variant).expect("there is room");
        assert!(depth(&variant) <= 41 && language.parse(&variant).is_ok());
        as_deep += usize::from(depth(&variant) >= 40);
    }
    assert!(as_deep > 50, "{as_deep}");
}

#[test]
fn trimmed_texts_are_shorter_and_keep_what_is_asked() {
    let language = language(JSON, &Settings::default());
    let mut session = Session::new(&language, 9);
    let mut trim = session.trim(TEXT, 1000).expect("it conforms");
    let mut tests = 0;
    while let Some(text) = trim.propose() {
        assert!(text.len() < TEXT.len());
        let holds = text.windows(4).any(|part| part == b"null");
        tests += 1;
        trim.judge(holds);
    }
    assert_eq!(trim.text(), b"null");
    assert!(tests < 60, "{tests}");
    assert!(session.offer(b"null", trim.choices()));
    assert!(session.trim(b"[", 1000).is_none());
    let mut short = session.trim(TEXT, 3).expect("it conforms");
    assert_eq!((0..10).filter(|_| short.propose().is_some()).count(), 3);
}

/// Variants that are too long are not made in full and then thrown away.
#[test]
fn variants_that_are_too_long_are_not_made_to_their_end() {
    const LINE: usize = 1 << 16;
    const MOST: usize = 3 * LINE;
    let text = vec![b'x'; 2 * LINE];
    for engine in EngineKind::ALL.into_iter().filter(|kind| kind.is_available()) {
        let settings = Settings { engine, ..Settings::default() };
        let language = language(&format!("text ::= line*  line ::= '{}'", "x".repeat(LINE)), &settings);
        let mut session = Session::new(&language, 1);
        let mut variant = Vec::new();
        let mut cut = 0;
        for _ in 0..100 {
            let mutation = session.mutate(&text, MOST, &mut variant).expect("there is room");
            cut += usize::from(matches!(mutation, Mutation::Cut(_)));
            assert!(variant.len() <= MOST);
        }
        // Rounds are repeated up to 65536 times, which would be 4 GiB. Buffers grow by doubling.
        assert!(variant.capacity() < 512 * LINE, "{engine:?} {}", variant.capacity());
        assert!(session.statistics().changed > 0, "{cut}");
    }
}
