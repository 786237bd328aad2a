//! Expressions with marks as terms over letters, and the terms of the texts whose marks are honoured.

use super::alphabet::Alphabet;
use super::{MAX_DEPTH, MAX_ROUNDS, Mark, MarkKind, WORD_END, number, word};
use crate::ast::{Expr, ExprKind};
use crate::charset::{CharSet, Unit};
use crate::formats::pattern::terms::{ALL, EMPTY, Edge, Id, Letters, NEVER, Terms};

/// Translates the expressions of one grammar's marks.
pub(super) struct Translating<'s, 'g> {
    pub(super) terms: &'s mut Terms,
    pub(super) alphabet: &'s Alphabet,
    pub(super) rule: &'s dyn Fn(&str) -> Option<&'g Expr>,
    pub(super) looks: &'g [Mark],
    /// The marks. Each is a letter.
    pub(super) marks: &'s [usize],
    /// The number of letters that stand for characters.
    pub(super) texts: usize,
    pub(super) mark_letters: Letters,
}

impl<'g> Translating<'_, 'g> {
    /// Returns the language of an expression. Marks are letters if `marked`. In the condition of a mark they are not:
    /// there, marks may stand anywhere.
    pub(super) fn term(&mut self, expr: &'g Expr, marked: bool, depth: u32) -> Option<Id> {
        Some(match &expr.kind {
            ExprKind::Bytes(bytes) => {
                let mut items = Vec::new();
                for c in std::str::from_utf8(bytes).ok()?.chars() {
                    items.push(self.letters(&CharSet::single(Unit::Char, c.into()), marked));
                }
                self.terms.all_of(&items)
            }
            ExprKind::Class(set) => self.letters(set, marked),
            ExprKind::Times { .. }
            | ExprKind::Label { .. }
            | ExprKind::Derived(_)
            | ExprKind::Naming { .. }
            | ExprKind::Coded { .. }
            | ExprKind::Call { .. } => {
                return None;
            }
            ExprKind::Rule(name) => match number(expr) {
                Some(number) if marked => {
                    let place = self.marks.iter().position(|&mark| mark == number)?;
                    self.terms.one(1 << (self.texts + place))
                }
                // A mark within the condition of another.
                Some(_) => return None,
                None if depth == 0 => return None,
                None => self.term((self.rule)(name)?, marked, depth - 1)?,
            },
            ExprKind::Seq(items) => {
                let items: Option<Vec<Id>> = items.iter().map(|item| self.term(item, marked, depth)).collect();
                self.terms.all_of(&items?)
            }
            ExprKind::Choice(options) => {
                let options: Option<Vec<Id>> =
                    options.iter().map(|option| self.term(&option.expr, marked, depth)).collect();
                self.terms.or(options?)
            }
            ExprKind::Repeat { item, min, max } => {
                if *min > MAX_ROUNDS || max.is_some_and(|max| max > MAX_ROUNDS) {
                    return None;
                }
                let item = self.term(item, marked, depth)?;
                let mut rest = match max {
                    None => self.terms.star(item),
                    Some(_) => EMPTY,
                };
                for _ in *min..max.unwrap_or(*min) {
                    let round = self.terms.seq(item, rest);
                    rest = self.terms.or([EMPTY, round]);
                }
                (0..*min).fold(rest, |rest, _| self.terms.seq(item, rest))
            }
        })
    }

    fn letters(&mut self, set: &CharSet, marked: bool) -> Id {
        let one = self.terms.one(self.alphabet.letters_of(set));
        if marked {
            return one;
        }
        let marks = self.any_marks();
        let behind = self.terms.seq(one, marks);
        self.terms.seq(marks, behind)
    }

    /// Returns any number of marks.
    fn any_marks(&mut self) -> Id {
        let marks = self.terms.one(self.mark_letters);
        self.terms.star(marks)
    }

    /// Returns the texts of `all` in which each mark's condition holds. For marks of the kind `reaching`, the condition
    /// may continue beyond the text if it holds as far as the text goes.
    pub(super) fn honoured(&mut self, all: Id, reaching: Option<MarkKind>) -> Option<Id> {
        let mut honoured = all;
        for place in 0..self.marks.len() {
            let bad = self.refused(place, reaching)?;
            let good = self.terms.not(bad);
            honoured = self.terms.and([honoured, good]);
        }
        Some(honoured)
    }

    /// Returns the texts in which the condition of a mark does not hold.
    fn refused(&mut self, place: usize, reaching: Option<MarkKind>) -> Option<Id> {
        let looks = self.looks;
        let look = &looks[self.marks[place]];
        if !look.kind.asks_beside() {
            return Some(NEVER);
        }
        let mark = self.terms.one(1 << (self.texts + place));
        let is_ahead = matches!(look.kind, MarkKind::Ahead | MarkKind::NotAhead);
        let mut beside = if is_ahead {
            self.beginning_with(&look.body)?
        } else {
            let body = self.term(&look.body, false, MAX_DEPTH)?;
            self.terms.seq(ALL, body)
        };
        if matches!(look.kind, MarkKind::Ahead | MarkKind::Behind) {
            if reaching == Some(look.kind) {
                let cut = self.cut(&look.body, if is_ahead { Edge::Beginning } else { Edge::End })?;
                beside = self.terms.or([beside, cut]);
            }
            beside = self.terms.not(beside);
        }
        Some(self.terms.all_of(&if is_ahead { [ALL, mark, beside] } else { [beside, mark, ALL] }))
    }

    /// Returns the texts that begin with one of these. The end of the text is the end of a word.
    fn beginning_with(&mut self, body: &'g Expr) -> Option<Id> {
        Some(match &body.kind {
            ExprKind::Rule(name) if name == WORD_END => {
                let others = CharSet::new(Unit::Char, [(0, 0x10_FFFF)]).difference(&word());
                let other = self.letters(&others, false);
                let more = self.terms.seq(other, ALL);
                let none = self.any_marks();
                self.terms.or([none, more])
            }
            ExprKind::Seq(items) => {
                let Some((last, before)) = items.split_last() else { return Some(ALL) };
                let parts: Option<Vec<Id>> = before.iter().map(|item| self.term(item, false, MAX_DEPTH)).collect();
                let mut parts = parts?;
                parts.push(self.beginning_with(last)?);
                self.terms.all_of(&parts)
            }
            ExprKind::Choice(options) => {
                let options: Option<Vec<Id>> = options.iter().map(|option| self.beginning_with(&option.expr)).collect();
                self.terms.or(options?)
            }
            ExprKind::Times { .. }
            | ExprKind::Label { .. }
            | ExprKind::Derived(_)
            | ExprKind::Naming { .. }
            | ExprKind::Coded { .. }
            | ExprKind::Call { .. } => {
                return None;
            }
            ExprKind::Bytes(_) | ExprKind::Class(_) | ExprKind::Rule(_) | ExprKind::Repeat { .. } => {
                let body = self.term(body, false, MAX_DEPTH)?;
                self.terms.seq(body, ALL)
            }
        })
    }

    /// Returns the texts of a mark's condition, cut off at one side: their beginnings or their ends.
    fn cut(&mut self, body: &'g Expr, edge: Edge) -> Option<Id> {
        let none = self.any_marks();
        Some(match &body.kind {
            ExprKind::Bytes(bytes) => {
                let mut parts = Vec::new();
                for c in std::str::from_utf8(bytes).ok()?.chars() {
                    let one = self.letters(&CharSet::single(Unit::Char, c.into()), false);
                    parts.push((none, one));
                }
                self.cut_seq(parts, edge)
            }
            ExprKind::Class(set) => {
                let one = self.letters(set, false);
                self.terms.or([none, one])
            }
            ExprKind::Rule(_) => return None,
            ExprKind::Times { .. }
            | ExprKind::Label { .. }
            | ExprKind::Derived(_)
            | ExprKind::Naming { .. }
            | ExprKind::Coded { .. }
            | ExprKind::Call { .. } => {
                return None;
            }
            ExprKind::Seq(items) => {
                let mut parts = Vec::new();
                for item in items {
                    parts.push((self.cut(item, edge)?, self.term(item, false, MAX_DEPTH)?));
                }
                self.cut_seq(parts, edge)
            }
            ExprKind::Choice(options) => {
                let options: Option<Vec<Id>> = options.iter().map(|option| self.cut(&option.expr, edge)).collect();
                self.terms.or(options?)
            }
            ExprKind::Repeat { item, max, .. } => {
                let (cut, whole) = (self.cut(item, edge)?, self.term(item, false, MAX_DEPTH)?);
                let rounds = match max {
                    None => self.terms.star(whole),
                    Some(max) => (1..*max).fold(EMPTY, |rounds, _| {
                        let round = self.terms.seq(whole, rounds);
                        self.terms.or([EMPTY, round])
                    }),
                };
                let last = match edge {
                    Edge::Beginning => self.terms.seq(rounds, cut),
                    Edge::End => self.terms.seq(cut, rounds),
                };
                self.terms.or([none, last])
            }
        })
    }

    /// Returns the texts of a sequence in a mark's condition, cut off at one side. Each part comes with its own
    /// [`cut`](Self::cut).
    fn cut_seq(&mut self, mut parts: Vec<(Id, Id)>, edge: Edge) -> Id {
        if edge == Edge::Beginning {
            parts.reverse();
        }
        let none = self.any_marks();
        parts.into_iter().fold(none, |rest, (cut, whole)| {
            let more = match edge {
                Edge::Beginning => self.terms.seq(whole, rest),
                Edge::End => self.terms.seq(rest, whole),
            };
            self.terms.or([cut, more])
        })
    }

    /// Returns the texts in which the condition of a mark reaches the edge of the text.
    pub(super) fn touching(&mut self, place: usize, whole: Id, text_letters: Letters) -> Option<Id> {
        let look = &self.looks[self.marks[place]];
        let length = longest(&look.body)?;
        let mark = self.terms.one(1 << (self.texts + place));
        let marks = self.any_marks();
        let any = self.terms.one(text_letters);
        let mut beside = marks;
        for _ in 1..length.min(MAX_ROUNDS) {
            let more = self.terms.all_of(&[marks, any, beside]);
            beside = self.terms.or([marks, more]);
        }
        let shape = match look.kind {
            MarkKind::NotAhead => [ALL, mark, beside],
            _ => [beside, mark, ALL],
        };
        let shape = self.terms.all_of(&shape);
        Some(self.terms.and([whole, shape]))
    }
}

/// Returns the greatest length of an expression's texts in characters. The expression has no marks. `None` if there is
/// no bound, or if it refers to rules.
fn longest(expr: &Expr) -> Option<u32> {
    match &expr.kind {
        ExprKind::Bytes(bytes) => u32::try_from(bytes.len()).ok(),
        ExprKind::Class(_) => Some(1),
        ExprKind::Rule(name) => (name == WORD_END).then_some(0),
        ExprKind::Seq(items) => items.iter().try_fold(0u32, |length, item| Some(length.saturating_add(longest(item)?))),
        ExprKind::Choice(options) => {
            options.iter().try_fold(0, |length, option| Some(longest(&option.expr)?.max(length)))
        }
        ExprKind::Repeat { item, max, .. } => Some(longest(item)?.saturating_mul((*max)?)),
        ExprKind::Label { item, .. } => longest(item),
        ExprKind::Times { .. } | ExprKind::Derived(_) => None,
        ExprKind::Naming { .. } | ExprKind::Coded { .. } | ExprKind::Call { .. } => None,
    }
}
