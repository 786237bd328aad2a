//! Finds the texts that an edit at a place can let in: those that conform with any bytes there. So most edits need not
//! be tried.

use std::collections::BTreeMap;

use gramjet_compiler::ast::Grammar;

use crate::refine::holes::anything;
use crate::refine::place::ExprPath;
use crate::refine::reader::Reader;

/// Places of a rule that are looked at.
const MOST_PLACES: usize = 120;

/// Texts, and for each place of the rules so far the numbers of those that an edit there can let in.
pub(super) struct Reach<'r> {
    grammar: &'r Grammar,
    pub(super) texts: &'r [Vec<u8>],
    of: BTreeMap<ExprPath, Vec<usize>>,
}

impl<'r> Reach<'r> {
    pub(super) fn new(grammar: &'r Grammar, texts: &'r [Vec<u8>]) -> Reach<'r> {
        Reach { grammar, texts, of: BTreeMap::new() }
    }

    /// Looks at the places of a rule, and gives those at which an edit can let a text in. `None` once it is over.
    pub(super) fn add(&mut self, rule: usize, goes_on: &dyn Fn() -> Option<()>) -> Option<Vec<ExprPath>> {
        let (mut found, mut looked_at) = (Vec::new(), 0);
        let mut open = vec![(ExprPath::body(rule), (0..self.texts.len()).collect::<Vec<usize>>())];
        while let Some((place, of_outer)) = open.pop().filter(|_| looked_at < MOST_PLACES) {
            goes_on()?;
            looked_at += 1;
            // What is let in at a part is let in at the whole, too.
            let texts = self.let_in(&place, &of_outer);
            if texts.is_empty() {
                continue;
            }
            let count = place.get(self.grammar).map_or(0, |expr| expr.children().count());
            open.extend((0..count).rev().map(|number| (place.child(number), texts.clone())));
            self.of.insert(place.clone(), texts);
            found.push(place);
        }
        Some(found)
    }

    /// Returns the numbers of the texts that an edit at a place can let in.
    pub(super) fn of(&self, place: &ExprPath) -> &[usize] {
        self.of.get(place).map_or(&[], Vec::as_slice)
    }

    fn let_in(&self, place: &ExprPath, among: &[usize]) -> Vec<usize> {
        // What cannot be looked at is not left out.
        let Some(reader) = Reader::new(&anything(self.grammar, place)) else { return among.to_vec() };
        among.iter().copied().filter(|&number| reader.may_read(&self.texts[number])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refine::testing::grammar;

    #[test]
    fn places_at_which_no_edit_helps_are_left_out() {
        let grammar = grammar("text ::= list | 'x' word\nlist ::= '[' [0-9]+ ']'\nword ::= [a-z]+\n");
        let texts = [b"[a]".to_vec(), b"x1".to_vec(), b"[".to_vec()];
        let mut reach = Reach::new(&grammar, &texts);
        let goes_on = || Some(());
        let paths = |places: Vec<ExprPath>| places.into_iter().map(|place| place.path).collect::<Vec<_>>();
        assert_eq!(paths(reach.add(1, &goes_on).expect("time")), [vec![], vec![1], vec![1, 0]]);
        assert_eq!(reach.of(&ExprPath { rule: 1, path: vec![1] }), [0]);
        assert_eq!(reach.of(&ExprPath::body(1)), [0, 1, 2]);
        assert_eq!(paths(reach.add(2, &goes_on).expect("time")), [vec![], vec![0]]);
        assert_eq!(reach.of(&ExprPath::body(2)), [1]);
        assert!(reach.add(0, &|| None).is_none());
    }

    #[test]
    fn edits_within_repetitions_recursion_and_what_is_only_read_are_kept() {
        let mut grammar = grammar(
            "text ::= list | word @ 0\nlist ::= list ',' item | item?\nitem ::= ('a'+ 'b')+\nword ::= '<' [x] '>'\n",
        );
        grammar.keep_zero_weights();
        let texts = [b"acb,ab".to_vec(), b"<y>".to_vec()];
        let mut reach = Reach::new(&grammar, &texts);
        for (rule, path, wanted) in
            [(1, vec![], 0), (1, vec![0, 0], 0), (1, vec![1], 0), (2, vec![0, 0], 0), (3, vec![1], 1)]
        {
            reach.add(rule, &|| Some(())).expect("time");
            assert!(reach.of(&ExprPath { rule, path: path.clone() }).contains(&wanted), "{rule} {path:?}");
        }
    }
}
