//! Enumeration of the strings of a grammar up to a length, by plain iteration; and of the strings of pools.

use std::collections::BTreeSet;

use crate::form::{Form, Kind, System};

/// A set of strings.
pub type Strings = BTreeSet<Vec<u8>>;

/// Returns the strings of at most `max_len` bytes that each variable derives; `None` if one derives more than `most` of
/// them.
pub fn languages(system: &System, max_len: usize, most: usize) -> Option<Vec<Strings>> {
    let mut languages = vec![Strings::new(); system.variables.len()];
    let bound = Bound { max_len, most };
    loop {
        let mut grown = false;
        for (variable, form) in system.variables.iter().enumerate() {
            let Some(form) = form else { continue };
            let strings = bound.strings(form, &languages)?;
            if strings.len() > languages[variable].len() {
                grown = true;
                languages[variable] = strings;
            }
        }
        if !grown {
            return Some(languages);
        }
    }
}

/// Returns the strings of at most `max_len` bytes that the start rule derives; `None` if a variable derives more than
/// `most`.
pub fn language(system: &System, max_len: usize, most: usize) -> Option<Strings> {
    Some(std::mem::take(&mut languages(system, max_len, most)?[system.start]))
}

/// Returns all strings of a variable's pool, whatever their number: those of the grammar in which each choice keeps its
/// options of least depth and each repetition its least number of rounds. `None` if a part of it has more than `most`.
pub fn pool(system: &System, variable: usize, most: usize) -> Option<Strings> {
    let bound = Bound { max_len: usize::MAX, most };
    pool_of(system, system.variables[variable].as_ref()?, &bound)
}

fn pool_of(system: &System, form: &Form, bound: &Bound) -> Option<Strings> {
    match &form.kind {
        Kind::Bytes(_) | Kind::Class(_) => bound.strings(form, &[]),
        Kind::Variable(variable, _) => pool(system, *variable, bound.most),
        Kind::Seq(items) => {
            let mut strings = Strings::from([Vec::new()]);
            for item in items {
                strings = bound.product(&strings, &pool_of(system, item, bound)?)?;
            }
            Some(strings)
        }
        Kind::Choice(options, _) => {
            let least = options.iter().filter(|option| option.facts.min_depth == form.facts.min_depth);
            let mut strings = Strings::new();
            for option in least {
                strings.extend(pool_of(system, option, bound)?);
            }
            bound.checked(strings)
        }
        Kind::Repeat(_, 0, _) | Kind::Repeat(_, _, Some(0)) => Some(Strings::from([Vec::new()])),
        Kind::Repeat(item, min, _) => {
            let rounds = pool_of(system, item, bound)?;
            (0..*min).try_fold(Strings::from([Vec::new()]), |strings, _| bound.product(&strings, &rounds))
        }
        // Other bytes may follow from other parts of the text, so the strings of parts are none of their own.
        Kind::Times(..) | Kind::Scope(..) | Kind::Label(..) | Kind::Derived(_) | Kind::Naming(..) | Kind::Coded(..) => {
            None
        }
    }
}

struct Bound {
    max_len: usize,
    most: usize,
}

impl Bound {
    fn strings(&self, form: &Form, languages: &[Strings]) -> Option<Strings> {
        let strings = match &form.kind {
            Kind::Bytes(bytes) => Strings::from([bytes.clone()]),
            Kind::Class(set) if set.len() as usize > self.most => return None,
            Kind::Class(set) => set.iter().map(|member| set.encode(member).as_ref().to_vec()).collect(),
            Kind::Variable(variable, _) => languages[*variable].clone(),
            Kind::Seq(items) => {
                let mut strings = Strings::from([Vec::new()]);
                for item in items {
                    strings = self.product(&strings, &self.strings(item, languages)?)?;
                }
                strings
            }
            Kind::Choice(options, _) => {
                let mut strings = Strings::new();
                for option in options {
                    strings.extend(self.strings(option, languages)?);
                }
                strings
            }
            Kind::Times(..)
            | Kind::Scope(..)
            | Kind::Label(..)
            | Kind::Derived(_)
            | Kind::Naming(..)
            | Kind::Coded(..) => return None,
            Kind::Repeat(item, min, max) => {
                let item = self.strings(item, languages)?;
                let mut round = Strings::from([Vec::new()]);
                for _ in 0..*min {
                    round = self.product(&round, &item)?;
                }
                let mut all = round.clone();
                let mut rounds = *min;
                // Rounds that add nothing add nothing later.
                while max.is_none_or(|max| rounds < max) {
                    round = self.product(&round, &item)?;
                    let before = all.len();
                    all.extend(round.iter().cloned());
                    if all.len() == before {
                        break;
                    }
                    rounds += 1;
                }
                all
            }
        };
        let within = strings.into_iter().filter(|string| string.len() <= self.max_len).collect();
        self.checked(within)
    }

    fn product(&self, left: &Strings, right: &Strings) -> Option<Strings> {
        if left.len().saturating_mul(right.len()) > self.most.saturating_mul(64) {
            return None;
        }
        let mut by_len: Vec<&Vec<u8>> = right.iter().collect();
        by_len.sort_by_key(|string| string.len());
        let mut strings = Strings::new();
        for left in left {
            let fitting = by_len.iter().take_while(|right| left.len() + right.len() <= self.max_len);
            strings.extend(fitting.map(|right| [left.as_slice(), right].concat()));
        }
        self.checked(strings)
    }

    fn checked(&self, strings: Strings) -> Option<Strings> {
        (strings.len() <= self.most).then_some(strings)
    }
}
