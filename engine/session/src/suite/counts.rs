//! The number of texts of each length, and each of them by its number.
//!
//! *Derivations* are counted: a text that can be derived in several ways counts as often. A round of a repetition
//! beyond its fewest counts only if it is not empty, as an empty one makes no other text.

use gramjet_compiler::Compiled;
use gramjet_compiler::ir::Ir;

use super::forms::{Form, Forms, LONGEST};
use super::natural::Natural;

/// Reason why texts cannot be counted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Uncountable {
    /// Something follows from other parts.
    #[error("the lengths of texts do not follow from choices alone: the grammar has labels, names or codings")]
    Labels,
    /// A text has infinitely many derivations.
    #[error("a text can be derived in infinitely many ways: rule `{rule}` derives itself and nothing else")]
    Infinite {
        /// A rule that derives itself.
        rule: String,
    },
    /// Counting would take too long, or too much memory.
    #[error("counting texts of {len} bytes would take too much time and memory")]
    TooMuch {
        /// The length.
        len: u64,
    },
}

/// Numbers of derivations by length.
#[derive(Debug)]
pub struct Counts<'c> {
    ir: &'c Ir,
    forms: Forms,
    /// All forms, each after those that it depends on for texts of the same length.
    order: Vec<u32>,
    /// For each form the numbers of its derivations by length, exact and up to the greatest 64-bit number.
    exact: Vec<Vec<Natural>>,
    rough: Vec<Vec<u64>>,
    /// The length of the longest text, if there is one.
    longest: Option<u64>,
    work: u64,
    /// Whether counting has taken too much. Some forms have more numbers than others then.
    is_over: bool,
}

/// At most this many products of digits are computed; they take some seconds.
const MOST_WORK: u64 = 1 << 31;
/// At most this many numbers are kept.
const MOST_NUMBERS: u64 = 1 << 24;

impl<'c> Counts<'c> {
    /// Prepares to count the texts of a grammar.
    ///
    /// # Errors
    ///
    /// If they cannot be counted.
    pub fn new(compiled: &'c Compiled) -> Result<Counts<'c>, Uncountable> {
        let ir = &*compiled.lowered;
        if ir.has_labels() {
            return Err(Uncountable::Labels);
        }
        let forms = Forms::new(ir).ok_or(Uncountable::TooMuch { len: compiled.min_len() })?;
        let order = sorted(&forms, Forms::as_long).map_err(|form| Uncountable::Infinite {
            rule: rule_in_circle(&forms, form).map_or(String::new(), |rule| compiled.told(rule).to_string()),
        })?;
        let longest = sorted(&forms, Forms::parts).ok().map(|order| longest(&forms, &order, ir));
        let count = forms.forms.len();
        let (exact, rough) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        Ok(Counts { ir, forms, order, exact, rough, longest, work: 0, is_over: false })
    }

    /// Returns the length of the longest text, in bytes; `None` if there is none.
    pub fn longest(&self) -> Option<u64> {
        self.longest
    }

    /// Returns the number of derivations of texts of this length.
    ///
    /// # Errors
    ///
    /// If that takes too much.
    pub fn of(&mut self, len: u64) -> Result<&Natural, Uncountable> {
        if len > u64::from(LONGEST) {
            return Err(Uncountable::TooMuch { len });
        }
        let start = self.forms.start as usize;
        while self.exact[start].len() as u64 <= len {
            self.extend()?;
        }
        Ok(&self.exact[start][len as usize])
    }

    /// Counts the derivations of texts that are a byte longer.
    fn extend(&mut self) -> Result<(), Uncountable> {
        let len = self.exact[self.forms.start as usize].len();
        if self.is_over || (len as u64 + 1) * self.order.len() as u64 > MOST_NUMBERS {
            return Err(Uncountable::TooMuch { len: len as u64 });
        }
        for at in 0..self.order.len() {
            let form = self.order[at];
            let count = if self.forms.min_lens[form as usize] > len as u64 {
                Natural::default()
            } else {
                self.count(form, len)
            };
            self.rough[form as usize].push(count.saturated());
            self.exact[form as usize].push(count);
            if self.work > MOST_WORK {
                self.is_over = true;
                return Err(Uncountable::TooMuch { len: len as u64 });
            }
        }
        Ok(())
    }

    fn count(&mut self, form: u32, len: usize) -> Natural {
        let of = |form: u32| &self.exact[form as usize];
        let mut count = Natural::default();
        match &self.forms.forms[form as usize] {
            Form::Bytes(bytes) => count = u64::from(bytes.len() == len).into(),
            Form::Class(_, lens) => {
                count = len.checked_sub(1).and_then(|at| lens.get(at)).copied().unwrap_or(0).into();
            }
            Form::Rule(_, body) => count.add(&of(*body)[len]),
            Form::One(options) => options.iter().for_each(|&option| count.add(&of(option)[len])),
            Form::Pair(a, b) => {
                for first in self.splits(*a, *b, len) {
                    count.add_product(&of(*a)[first], &of(*b)[len - first]);
                    self.work += 1 + (of(*a)[first].digits() * of(*b)[len - first].digits()) as u64;
                }
            }
            Form::More(_, _) if len == 0 => count = 1.into(),
            Form::More(item, rest) => {
                for first in 1..=len {
                    count.add_product(&of(*item)[first], &of(*rest)[len - first]);
                    self.work += 1 + (of(*item)[first].digits() * of(*rest)[len - first].digits()) as u64;
                }
            }
        }
        self.work += 1;
        count
    }

    /// Returns the lengths that the first of two parts can have.
    fn splits(&self, a: u32, b: u32, len: usize) -> std::ops::RangeInclusive<usize> {
        let least = |form: u32| self.forms.min_lens[form as usize] as usize;
        least(a)..=len.saturating_sub(least(b))
    }

    /// Writes the text of a derivation by its length and its number among those of this length, which must have been
    /// counted.
    pub fn text(&self, len: u64, number: u64, text: &mut Vec<u8>) {
        text.clear();
        let mut open = vec![(self.forms.start, len as usize, number)];
        while let Some((form, len, mut number)) = open.pop() {
            let of = |form: u32, len: usize| self.rough[form as usize][len];
            match &self.forms.forms[form as usize] {
                Form::Bytes(bytes) => text.extend_from_slice(bytes),
                Form::Class(node, lens) => {
                    let shorter: u64 = lens[..len - 1].iter().sum();
                    let set = self.ir.node(*node).class();
                    let member = set.and_then(|set| Some(set.encode(set.nth((shorter + number) as u32)?)));
                    text.extend_from_slice(member.as_ref().map_or(&[], AsRef::as_ref));
                }
                Form::Rule(_, body) => open.push((*body, len, number)),
                Form::One(options) => {
                    for &option in options {
                        match number.checked_sub(of(option, len)) {
                            Some(rest) => number = rest,
                            None => {
                                open.push((option, len, number));
                                break;
                            }
                        }
                    }
                }
                Form::More(_, _) if len == 0 => {}
                Form::Pair(a, b) => self.split(self.splits(*a, *b, len), (*a, *b), len, number, &mut open),
                Form::More(a, b) => self.split(1..=len, (*a, *b), len, number, &mut open),
            }
        }
    }

    /// Finds the lengths and numbers of two parts, and opens them.
    fn split(
        &self,
        splits: impl Iterator<Item = usize>,
        (a, b): (u32, u32),
        len: usize,
        mut number: u64,
        open: &mut Vec<(u32, usize, u64)>,
    ) {
        for first in splits {
            let (firsts, seconds) = (self.rough[a as usize][first], self.rough[b as usize][len - first]);
            match number.checked_sub(firsts.saturating_mul(seconds)) {
                Some(rest) => number = rest,
                None => {
                    open.push((b, len - first, number % seconds));
                    open.push((a, first, number / seconds));
                    return;
                }
            }
        }
    }
}

/// Returns all forms, each after those that it depends on.
///
/// # Errors
///
/// A form that depends on itself.
fn sorted(forms: &Forms, needs: impl Fn(&Forms, u32) -> Vec<u32>) -> Result<Vec<u32>, u32> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Not,
        Open,
        Done,
    }
    let (mut seen, mut order) = (vec![Seen::Not; forms.forms.len()], Vec::new());
    for first in 0..forms.forms.len() as u32 {
        if seen[first as usize] != Seen::Not {
            continue;
        }
        seen[first as usize] = Seen::Open;
        let mut open = vec![(first, needs(forms, first))];
        while let Some((form, left)) = open.last_mut() {
            let Some(next) = left.pop() else {
                seen[*form as usize] = Seen::Done;
                order.push(*form);
                open.pop();
                continue;
            };
            match seen[next as usize] {
                Seen::Open => return Err(next),
                Seen::Done => {}
                Seen::Not => {
                    seen[next as usize] = Seen::Open;
                    open.push((next, needs(forms, next)));
                }
            }
        }
    }
    Ok(order)
}

/// Returns a rule among the forms that depend on each other with this one.
fn rule_in_circle(forms: &Forms, form: u32) -> Option<gramjet_compiler::ir::RuleId> {
    let (mut known, mut open) = (vec![false; forms.forms.len()], vec![form]);
    while let Some(form) = open.pop() {
        if let Form::Rule(rule, _) = forms.forms[form as usize] {
            return Some(rule);
        }
        if !std::mem::replace(&mut known[form as usize], true) {
            open.extend(forms.as_long(form));
        }
    }
    None
}

/// Returns the length of the longest text, where no form is made of itself.
fn longest(forms: &Forms, order: &[u32], ir: &Ir) -> u64 {
    let mut longest = vec![0u64; forms.forms.len()];
    for &form in order {
        let of = |form: u32| longest[form as usize];
        longest[form as usize] = match &forms.forms[form as usize] {
            Form::Bytes(bytes) => bytes.len() as u64,
            Form::Class(node, _) => ir.node(*node).class().map_or(0, |set| set.max_len()),
            Form::Rule(_, body) => of(*body),
            Form::Pair(a, b) | Form::More(a, b) => of(*a).saturating_add(of(*b)),
            Form::One(options) => options.iter().map(|&option| of(option)).max().unwrap_or(0),
        };
    }
    longest[forms.start as usize]
}
