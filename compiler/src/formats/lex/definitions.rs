//! The definitions of a file of lex, which patterns refer to by `{NAME}`.

use super::file::Text;
use super::patterns::{self, Context, Matched};
use crate::diagnostics::{Diagnostics, Span};
use crate::formats::builder::Builder;
use crate::ordered::Set;
use crate::tokens::{Fragment, Pattern, Sets, each_part};

/// The definitions of a file. Mistakes are reported of those that rules use.
pub(super) struct Definitions<'t> {
    texts: Vec<Text<'t>>,
    pub(super) fragments: Vec<Fragment>,
    pub(super) sets: Sets,
    /// The definitions that each one refers to.
    uses: Vec<Vec<usize>>,
    /// Marks of the definitions with `^`, `$` or `/` in them, or in one that they refer to.
    is_placed: Vec<bool>,
    /// The definitions that rules use.
    used: Set<usize>,
}

impl<'t> Definitions<'t> {
    /// Reads all definitions. `span` is the place that they are given.
    pub(super) fn read(texts: &[Text<'t>], context: &Context<'_>, span: Span) -> Definitions<'t> {
        let mut unheard = Diagnostics::default();
        let mut builder = Builder::new(&mut unheard);
        builder.quiet = true;
        let mut fragments = Vec::new();
        let mut is_placed = Vec::new();
        for text in texts {
            let nothing = Matched { pattern: Pattern::Choice(Vec::new()), at_line_start: false, trailing: None };
            let matched = patterns::rule(*text, context, &mut builder).unwrap_or(nothing);
            is_placed.push(matched.at_line_start || matched.trailing.is_some());
            fragments.push(Fragment { name: text.name.to_string(), span, pattern: matched.pattern });
        }
        let uses: Vec<Vec<usize>> =
            fragments.iter().map(|fragment| references([&fragment.pattern].into_iter())).collect();
        spread(&mut is_placed, &uses);
        let sets = Sets::new(&fragments);
        Definitions { texts: texts.to_vec(), fragments, sets, uses, is_placed, used: Set::new() }
    }

    /// Returns true if patterns of a rule use a definition with `^`, `$` or `/` in it. The definitions that they use
    /// are noted.
    pub(super) fn are_placed<'p>(&mut self, patterns: impl Iterator<Item = &'p Pattern>) -> bool {
        let references = references(patterns);
        self.used.extend(references.iter().copied());
        references.into_iter().any(|number| self.is_placed[number])
    }

    /// Reports what is wrong with the definitions that rules use, directly or through others.
    pub(super) fn report(&mut self, context: &Context<'_>, builder: &mut Builder<'_>) {
        let mut pending: Vec<usize> = self.used.iter().copied().collect();
        while let Some(number) = pending.pop() {
            pending.extend(self.uses[number].iter().filter(|&&used| self.used.insert(used)));
        }
        for &number in &self.used {
            if builder.gives_up() {
                break;
            }
            drop(patterns::rule(self.texts[number], context, builder));
        }
    }
}

/// Returns the definitions that patterns refer to.
fn references<'p>(patterns: impl Iterator<Item = &'p Pattern>) -> Vec<usize> {
    let mut found = Set::new();
    for pattern in patterns {
        each_part(pattern, &mut |part| {
            if let Pattern::Fragment(number) = part {
                found.insert(*number);
            }
        });
    }
    found.into_iter().collect()
}

/// Marks the definitions that refer to a marked one.
fn spread(marks: &mut [bool], uses: &[Vec<usize>]) {
    let mut users = vec![Vec::new(); uses.len()];
    for (user, used) in uses.iter().enumerate() {
        used.iter().for_each(|&used| users[used].push(user));
    }
    let mut pending: Vec<usize> = (0..marks.len()).filter(|&number| marks[number]).collect();
    while let Some(number) = pending.pop() {
        for &user in &users[number] {
            if !std::mem::replace(&mut marks[user], true) {
                pending.push(user);
            }
        }
    }
}
