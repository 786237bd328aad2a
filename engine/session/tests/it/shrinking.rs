//! Texts become small in few tests. All numbers here are deterministic.

use gramjet::Inputs;
use gramjet_session::{Language, Session, Settings};

use crate::properties::{PROPERTIES, Property};

/// Returns the result of a search, and how many tests it asks for.
fn minimised(session: &mut Session, text: &[u8], holds: &dyn Fn(&[u8]) -> bool) -> (Vec<u8>, usize) {
    let mut search = session.minimise(text).expect("the text conforms");
    let mut tests = 0;
    while let Some(proposed) = search.propose() {
        let verdict = holds(proposed);
        tests += 1;
        search.judge(verdict);
    }
    assert!(holds(search.text()));
    (search.text().to_vec(), tests)
}

fn language(name: &str) -> Language {
    Language::load(name.as_ref(), &Settings::default()).expect("a grammar that ships")
}

/// Alternatives for many elements become alternatives for few, and one kind of part becomes another.
#[test]
fn alternatives_are_crossed() {
    let mut session = Session::new(&language("json"), 1);
    let property = |name| PROPERTIES.iter().find(|property| property.name == name).expect("it is there");
    for (text, name, smallest) in [
        (r#"{"":[[{},0,0],0,0]}"#, "depth of 4", "[[[{}]]]"),
        (r#"{"":[{},0,0]}"#, "object in array in object", r#"{"":[{}]}"#),
        (r#"[0,{"":[{}]}]"#, "object in array in object", r#"{"":[{}]}"#),
        (r#"{"":0,"":0,"":0,"":7}"#, "a number with a 7", "7"),
        ("[0E7]", "a number with a 7", "7"),
        (r#"{"a":1,"b":{"key":2,"x":3,"key":4}}"#, "two equal keys in an object", r#"{"":0,"":0}"#),
    ] {
        let (found, tests) = minimised(&mut session, text.as_bytes(), &|text| (property(name).holds)(text));
        assert_eq!(String::from_utf8_lossy(&found), smallest, "from {text}");
        assert!(tests < 60, "{tests} tests from {text}");
    }
}

/// A part moves into a neighbour, one becomes two others, and another option keeps all parts that find a place there.
#[test]
fn parts_find_other_places() {
    let has_commas = PROPERTIES.iter().find(|property| property.name == "three commas").expect("it is there").holds;
    /// A grammar, a text, the result, and the condition that must hold.
    type Subject<'h> = (&'static str, &'static str, &'static str, &'h dyn Fn(&[u8]) -> bool);
    let subjects: [Subject<'_>; 5] = [
        ("json", "[[[],7]]", "[[[7]]]", &|text: &[u8]| text.contains(&b'7') && text.starts_with(b"[[[")),
        ("json", "[7,[[]]]", "[[[7]]]", &|text: &[u8]| text.contains(&b'7') && text.ends_with(b"]]]")),
        ("json", r#"{"":0,"":0,"":0,"":0}"#, "[0,0,0,0]", &has_commas),
        ("css", "@media all{a{}}a{}a{}", "a{}a{}a{}a{}", &|text: &[u8]| {
            text.iter().filter(|&&byte| byte == b'{').count() > 3
        }),
        (
            "xml",
            "<!DOCTYPE report[<!ENTITY company \"0 0\"><!ENTITY product \"0 0 by &company;\"><!---->]><report><section title=\"0 \">\
             <p>0 00 0</p></section></report><!---->",
            "<!--<!--><A/>",
            &|text: &[u8]| text.windows(4).filter(|part| part == b"<!--").count() > 1,
        ),
    ];
    for (grammar, text, smallest, holds) in subjects {
        let (found, tests) = minimised(&mut Session::new(&language(grammar), 1), text.as_bytes(), holds);
        assert_eq!(String::from_utf8_lossy(&found), smallest, "from {text}");
        assert!(tests < 100, "{tests} tests from {text}");
    }
}

/// Returns the first random text that has the property, and is not too long.
fn example(language: &Language, property: &Property, seed: u64) -> Vec<u8> {
    let mut run = Inputs::new(language.producer(), seed);
    let mut text = Vec::new();
    for _ in 0..100_000 {
        text.clear();
        run.append_to(&mut text);
        if text.len() < 2000 && (property.holds)(&text) {
            return text;
        }
    }
    panic!("no text of {} with {}", property.grammar, property.name);
}

/// Nine in ten searches end with the smallest text or with one of two bytes more, and half of them ask for few tests.
#[test]
fn nearly_all_searches_end_with_the_smallest_text() {
    // `GRAMJET_ALL_SEEDS=1 cargo test -p gramjet-session --test it -- --nocapture nearly_all` prints all.
    let seeds = if std::env::var_os("GRAMJET_ALL_SEEDS").is_some() { 5 } else { 1 };
    let (mut runs, mut small, mut all) = (0, 0, Vec::new());
    for grammar in ["json", "expr", "xml", "css", "lua"] {
        let language = language(grammar);
        let mut session = Session::new(&language, 1);
        for property in PROPERTIES.iter().filter(|property| property.grammar == grammar) {
            assert!((property.holds)(property.smallest.as_bytes()), "{}", property.name);
            assert!(language.parse(property.smallest.as_bytes()).is_ok(), "{}", property.smallest);
            let mut lens = Vec::new();
            let (mut calls, mut shortest) = (Vec::new(), Vec::new());
            for seed in 0..seeds {
                let text = example(&language, property, seed);
                let (found, tests) = minimised(&mut session, &text, &property.holds);
                runs += 1;
                small += usize::from(found.len() <= property.smallest.len() + 2);
                lens.push(found.len());
                if found.len() < property.smallest.len() {
                    shortest.push(found);
                }
                calls.push(tests);
            }
            calls.sort_unstable();
            let median = calls[calls.len() / 2];
            all.extend(calls);
            println!("| {grammar} | {} | {} | {lens:?} | {median} |", property.name, property.smallest.len());
            shortest.iter().for_each(|text| println!("  {}", String::from_utf8_lossy(text)));
        }
    }
    all.sort_unstable();
    println!("{small} of {runs}; median of tests {}", all[all.len() / 2]);
    assert!(small * 100 >= runs * 90, "{small} of {runs}");
    assert!(all[all.len() / 2] <= 50, "{all:?}");
}

/// Neither the depth nor the size of a text limits a search.
#[test]
fn long_and_deep_texts_become_small() {
    let mut session = Session::new(&language("json"), 1);
    let deep = [vec![b'['; 3000], b"7".to_vec(), vec![b']'; 3000]].concat();
    let (found, tests) = minimised(&mut session, &deep, &|text| text.contains(&b'7'));
    assert_eq!((found.as_slice(), tests < 60), (&b"7"[..], true), "{tests}");
    let long = format!("[{}7{}]", "1,".repeat(5000), ",22".repeat(5000));
    let (found, tests) = minimised(&mut session, long.as_bytes(), &|text| text.contains(&b'7'));
    assert_eq!((found.as_slice(), tests < 120), (&b"7"[..], true), "{tests}");
}
