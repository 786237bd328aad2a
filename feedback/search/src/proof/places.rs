//! The places where a text has a part that can be repeated, and the order in which they are tried. A text has many
//! places for the same part, as in lists beside each other and in nested ones, and the cost may grow in one alone.

use std::collections::BTreeMap;

use gramjet_session::decisions::{Derivation, Deriver};

use crate::pump::{Copies, Pump};

/// At most this many places are measured with few copies to choose among those of a kind.
const PROBED: usize = 96;
/// The places of each kind that are looked at, and how many places that are in all.
const OF_KIND: usize = 2;
const LOOKED: usize = 96;

/// A place where a part can be repeated, with equal or distinct copies.
pub(super) struct Place {
    /// Part that is repeated there.
    pub(super) pump: Pump,
    /// Steepness of the growth of the cost with few copies; 0 if it was not measured.
    pub(super) steepness: f64,
    /// Places of one kind have the same rule, decisions and copies.
    kind: (usize, Copies),
}

/// Returns all places, in the order of the text. Of rounds side by side, and of levels one within another, that are of
/// one kind the first stands for all, as equal copies of each make the same text.
pub(super) fn all(whole: &Derivation, deriver: &Deriver) -> Vec<Place> {
    let pumps = Pump::all(whole, deriver);
    let kinds: Vec<_> = pumps.iter().map(|pump| pump.kind(whole)).collect();
    let mut numbers = BTreeMap::new();
    let mut last: Vec<Option<&Pump>> = Vec::new();
    let mut places = Vec::new();
    for (pump, kind) in pumps.iter().zip(&kinds) {
        let next = numbers.len();
        let kind = *numbers.entry(kind).or_insert(next);
        last.resize(numbers.len(), None);
        let before = last[kind].replace(pump);
        if before.is_some_and(|before| before.is_followed_by(pump)) {
            continue;
        }
        let distinct = pump.can_differ(whole, deriver).then_some(Copies::Distinct);
        let copies = [Some(Copies::Equal), distinct].into_iter().flatten();
        places.extend(copies.map(|copies| Place { pump: pump.copied(copies), steepness: 0.0, kind: (kind, copies) }));
    }
    places
}

/// Returns the places to measure with few copies: those of kinds that have several. Rules, kinds, and within these
/// lists or outer instances take turns, and early turns lie far apart in the text.
pub(super) fn to_probe(places: &mut [Place]) -> Vec<&mut Place> {
    let mut counts = BTreeMap::new();
    places.iter().for_each(|place| *counts.entry(place.kind).or_insert(0) += 1);
    let several = places.iter_mut().filter(|place| counts[&place.kind] > 1).collect();
    let apart = ordered(several, |place| place.kind, usize::reverse_bits);
    let homes = in_turns(apart, |place| (place.kind, place.pump.home()));
    let rules = in_turns(homes, |place| place.pump.topic());
    let mut kinds = in_turns(rules, |place| place.kind);
    kinds.truncate(PROBED);
    kinds
}

/// Returns the places to look at: the steepest of each kind, and then the next ones. Rules take turns.
pub(super) fn chosen(mut places: Vec<Place>) -> Vec<Pump> {
    places.sort_by(|one, other| other.steepness.total_cmp(&one.steepness));
    let rules = in_turns(places, |place| place.pump.topic());
    let kinds = in_turns(rules, |place| place.kind);
    let mut counts = BTreeMap::new();
    let is_among_first = |place: &Place| {
        let count = counts.entry(place.kind).or_insert(0);
        *count += 1;
        *count <= OF_KIND
    };
    kinds.into_iter().filter(is_among_first).take(LOOKED).map(|place| place.pump).collect()
}

/// Returns the first of each key, then the second of each, and so on.
pub(super) fn in_turns<T, K: Ord>(items: Vec<T>, key: impl Fn(&T) -> K) -> Vec<T> {
    ordered(items, key, |turn| turn)
}

/// Puts items in the order that `order` gives to the number of an item among those of its key. Equal ones stay in
/// order.
fn ordered<T, K: Ord>(items: Vec<T>, key: impl Fn(&T) -> K, order: impl Fn(usize) -> usize) -> Vec<T> {
    let mut counts = BTreeMap::new();
    let mut numbered: Vec<(usize, T)> = Vec::with_capacity(items.len());
    for item in items {
        let count = counts.entry(key(&item)).or_insert(0);
        numbered.push((order(*count), item));
        *count += 1;
    }
    numbered.sort_by_key(|(number, _)| *number);
    numbered.into_iter().map(|(_, item)| item).collect()
}

#[cfg(test)]
mod tests {
    use gramjet_compiler::SourceFile;
    use gramjet_session::{Language, Settings, Shape};

    use super::*;

    /// Returns what each place makes of a text with two more copies, in an order.
    fn made(grammar: &str, text: &str, order: fn(Vec<Place>) -> Vec<Pump>) -> Vec<String> {
        let settings = Settings { shape: Some(Shape::Uniform), ..Settings::default() };
        let language = Language::compile(&SourceFile::new("g.ebnf", grammar), &settings).expect("a grammar");
        let mut deriver = language.deriver(None);
        let (mut whole, mut made) = (Derivation::default(), Derivation::default());
        deriver.decode(&language.parse(text.as_bytes()).expect("it conforms"), &mut whole);
        let pumps = order(all(&whole, &deriver));
        let texts = pumps.iter().map(|pump| {
            deriver.replay(&pump.options(&whole, &deriver, 2), &mut made);
            String::from_utf8(made.text.clone()).expect("ASCII")
        });
        texts.collect()
    }

    fn probed(mut places: Vec<Place>) -> Vec<Pump> {
        to_probe(&mut places).into_iter().map(|place| place.pump.clone()).collect()
    }

    fn every(places: Vec<Place>) -> Vec<Pump> {
        places.into_iter().map(|place| place.pump).collect()
    }

    #[test]
    fn rounds_and_levels_of_one_kind_side_by_side_are_one_place() {
        assert_eq!(made("s ::= ('a' | 'b')*", "aaba", every), ["aaaaba", "aabbba", "aabaaa"]);
        assert_eq!(
            made("s ::= '(' s ')' | '[' s ']' | 'x'", "(([((x))]))", every),
            ["(((([((x))]))))", "(([[[((x))]]]))", "(([((((x))))]))",]
        );
        assert_eq!(made("s ::= [ab]*", "aa", every), ["aaaa", "abaa"]);
    }

    #[test]
    fn a_kind_with_one_place_is_not_measured_before() {
        assert_eq!(made("s ::= 'a'* 'b'*", "aabb", probed), [""; 0]);
    }

    #[test]
    fn lists_take_turns_before_their_rounds() {
        let grammar = "s ::= l l  l ::= ('a' | 'b')* ';'";
        let first = ["aaabab;aba;", "abbbab;aba;", "abab;aaaba;", "abab;abbba;"];
        let then = ["abaaab;aba;", "ababbb;aba;", "abab;abaaa;"];
        assert_eq!(made(grammar, "abab;aba;", probed), [&first[..], &then].concat());
    }

    #[test]
    fn the_steepest_places_of_each_kind_are_looked_at() {
        let steepest = |places: Vec<Place>| {
            let steep = |(number, place): (usize, Place)| Place { steepness: number as f64, ..place };
            chosen(places.into_iter().enumerate().map(steep).collect())
        };
        let grammar = "s ::= l*  l ::= 'a' 'b'* ';'";
        let found = made(grammar, "ab;ab;ab;", steepest);
        assert_eq!(found, ["ab;ab;abbb;", "ab;ab;ab;ab;ab;", "ab;abbb;ab;"]);
    }

    #[test]
    fn turns_go_round() {
        let items = vec![(1, 'a'), (1, 'b'), (2, 'c'), (1, 'd'), (2, 'e'), (3, 'f')];
        let turns: String = in_turns(items, |item| item.0).into_iter().map(|item| item.1).collect();
        assert_eq!(turns, "acfbed");
        let apart: String = ordered("abcdefgh".chars().collect(), |_| (), usize::reverse_bits).into_iter().collect();
        assert_eq!(apart, "aecgbfdh");
    }
}
