//! Texts with values at the bounds of what programs can hold, each at the places of the grammar that can hold it.

use std::collections::BTreeSet;

use gramjet_session::decisions::Around;
use gramjet_session::{Budget, Language};

use crate::digest::digest;

mod values;

use values::{INVALID, values};

/// At most this many texts of the language, and broken ones.
const MOST: usize = 512;
const MOST_BROKEN: usize = 128;
/// Effort for one text: these are short, and what takes long to parse is left out.
const BUDGET: Budget = Budget { max_memory: 64 << 20, max_steps: Some(1 << 20) };
/// At most this many texts are looked at.
const TRIED: usize = 1 << 13;

/// Words that a program may know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// Words that the caller has been given.
    pub given: Vec<Vec<u8>>,
    /// Constants that were found in the program.
    pub found: Vec<Vec<u8>>,
}

impl Words {
    /// Returns all words, those that were given first.
    pub fn all(&self) -> impl Iterator<Item = &[u8]> {
        self.given.iter().chain(&self.found).map(Vec::as_slice)
    }
}

/// A short text with a value at a bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extreme {
    /// The text.
    pub text: Vec<u8>,
    /// Whether it is in the language.
    pub is_of_language: bool,
}

/// Returns short texts of at most `max_len` bytes with one value each: numbers beside powers of two and at the bounds
/// of floating-point types, dates that do not exist, unusual characters and escapes, line ends, names that are special
/// somewhere. Each value is put at each place that can hold it; where there are too many, at as many places as any
/// other. The words that were given come first. Those that were found come in turn with the values, at all places that
/// the grammar has. With broken texts, also bytes that are no characters. No further texts are looked for once
/// `is_over` returns true.
pub fn extremes(
    language: &Language,
    words: &Words,
    with_broken: bool,
    max_len: usize,
    is_over: &mut dyn FnMut() -> bool,
) -> Vec<Extreme> {
    let mut places = language.deriver(None).places();
    let whole = Around::default();
    if !places.contains(&whole) {
        places.insert(0, whole.clone());
    }
    let mut made = Made { language, max_len, places, known: BTreeSet::new(), texts: Vec::new() };
    made.add(&words.given, MOST, true, is_over);
    let given = made.texts.len();
    made.add(&values(), MOST, true, is_over);
    if !words.found.is_empty() {
        let of_values = made.texts.split_off(given);
        made.places = language.deriver(None).all_places();
        if !made.places.contains(&whole) {
            made.places.insert(0, whole);
        }
        made.add(&words.found, MOST.saturating_sub(given), true, is_over);
        let of_words = made.texts.split_off(given);
        made.texts.extend(in_turn(of_words, of_values));
    }
    if with_broken {
        let invalid: Vec<Vec<u8>> = INVALID.iter().map(|bytes| bytes.to_vec()).collect();
        made.add(&invalid, MOST_BROKEN, false, is_over);
    }
    made.texts
}

/// Returns one of each in turn, and at the end what the longer one has left.
fn in_turn(first: Vec<Extreme>, second: Vec<Extreme>) -> Vec<Extreme> {
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    let mut texts = Vec::new();
    while first.len() + second.len() > 0 {
        texts.extend(first.next());
        texts.extend(second.next());
    }
    texts
}

/// The texts so far, and all that is needed for more.
struct Made<'l> {
    language: &'l Language,
    max_len: usize,
    places: Vec<Around>,
    /// Digests of texts that were looked at.
    known: BTreeSet<u64>,
    texts: Vec<Extreme>,
}

impl Made<'_> {
    /// Adds at most this many texts with these values: in each round one of each value, at another place. Texts that
    /// are not in the language are left out if that is wanted.
    fn add(&mut self, values: &[Vec<u8>], most: usize, only_of_language: bool, is_over: &mut dyn FnMut() -> bool) {
        let places = self.places.len();
        let pairs = (0..places).flat_map(|round| (0..values.len()).map(move |value| (value, (value + round) % places)));
        let (begin, mut text) = (self.texts.len(), Vec::new());
        for (value, place) in pairs.take(TRIED) {
            if self.texts.len() - begin >= most || is_over() {
                return;
            }
            self.places[place].write(&values[value], &mut text);
            if text.len() > self.max_len || !self.known.insert(digest(&text)) {
                continue;
            }
            let is_of_language = self.language.parse_within(&text, &BUDGET).is_ok();
            if is_of_language || !only_of_language {
                self.texts.push(Extreme { text: text.clone(), is_of_language });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use gramjet_compiler::SourceFile;
    use gramjet_session::Settings;

    use super::*;

    fn made(grammar: &str, with_broken: bool) -> Vec<Extreme> {
        made_with(grammar, &Words::default(), with_broken)
    }

    fn made_with(grammar: &str, words: &Words, with_broken: bool) -> Vec<Extreme> {
        let source = SourceFile::new("g.ebnf", grammar);
        let language = Language::compile(&source, &Settings::default()).expect("a grammar");
        let made = extremes(&language, words, with_broken, 4096, &mut || false);
        for Extreme { text, is_of_language } in &made {
            assert_eq!(language.parse(text).is_ok(), *is_of_language, "{}", text.escape_ascii());
        }
        made
    }

    fn has(made: &[Extreme], text: &[u8]) -> bool {
        made.iter().any(|extreme| extreme.text == text)
    }

    const LISTS: &str = r#"
        list ::= '[' (item (',' item)*)? ']'
        item ::= number | string | list
        number ::= '-'? ('0' | [1-9] [0-9]*) ('e' '-'? [0-9]+)?
        string ::= '"' ([^"\\] | '\\u' [0-9A-F]{4})* '"'
    "#;

    #[test]
    fn each_value_stands_where_the_grammar_can_hold_it() {
        let made = made(LISTS, false);
        assert!(made.iter().all(|extreme| extreme.is_of_language));
        let expected = [
            "[9223372036854775808]",
            "[-9223372036854775809]",
            "[1e400]",
            "[5e-324]",
            "[\"\\uD800\"]",
            "[\"\t\"]",
            "[\"\u{2028}\"]",
        ];
        for text in expected {
            assert!(has(&made, text.as_bytes()), "{text:?}");
        }
        let distinct: BTreeSet<&Vec<u8>> = made.iter().map(|extreme| &extreme.text).collect();
        assert_eq!(distinct.len(), made.len());
    }

    #[test]
    fn words_of_the_caller_come_first_at_each_place_that_can_hold_them() {
        let words = Words { given: vec![b"magic".to_vec(), b"4242".to_vec()], found: Vec::new() };
        let made = made_with(LISTS, &words, false);
        let first: Vec<String> =
            made[..8].iter().map(|extreme| String::from_utf8_lossy(&extreme.text).into()).collect();
        assert!(first.contains(&"[4242]".to_string()) && first.contains(&"[\"magic\"]".to_string()), "{first:?}");
    }

    #[test]
    fn words_that_were_found_stand_at_all_places_and_leave_the_values_their_turns() {
        let grammar = LISTS.replace("| list", "| list | '{' string ':' number '}'");
        let words = Words { given: Vec::new(), found: vec![b"magic".to_vec(), b"\x01\xFF".to_vec()] };
        let (made, without) = (made_with(&grammar, &words, false), made(&grammar, false));
        for text in [&b"[\"magic\"]"[..], b"[{\"magic\":0}]"] {
            let at = made.iter().position(|extreme| extreme.text == text);
            assert!(at.is_some_and(|at| at < 16), "{}: {at:?}", text.escape_ascii());
        }
        let of_values = |extreme: &&Extreme| without.contains(extreme);
        assert!(made.iter().filter(of_values).eq(without.iter()));
    }

    #[test]
    fn broken_texts_have_bytes_that_are_no_characters() {
        let made = made(LISTS, true);
        for text in [&b"[\"\xC0\x80\"]"[..], b"[\"\xED\xA0\x80\"]", b"[\"\xFF\"]"] {
            assert!(has(&made, text), "{}", text.escape_ascii());
        }
        let broken = made.iter().filter(|extreme| !extreme.is_of_language).count();
        assert!(broken <= MOST_BROKEN && made.len() - broken <= MOST, "{broken} of {}", made.len());
    }

    #[test]
    fn no_value_takes_the_room_of_others_where_there_are_many_places() {
        let rules: String = (0..200).map(|rule| format!("w{rule} ::= '{rule}=' [ -~]* ';'\n")).collect();
        let all: Vec<String> = (0..200).map(|rule| format!("w{rule}")).collect();
        let made = made(&format!("s ::= {}\n{rules}", all.join(" | ")), false);
        assert_eq!(made.len(), MOST);
        let with =
            |value: &str| made.iter().filter(|extreme| extreme.text.ends_with(format!("={value};").as_bytes())).count();
        assert!(with("-0") > 0 && with("__proto__") > 0 && with("9223372036854775808") > 0);
    }
}
