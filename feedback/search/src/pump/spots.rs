//! Finds the single parts of a text that can be repeated.

use gramjet_session::SpanKind;
use gramjet_session::decisions::{Derivation, Deriver, Part};

use super::{Copies, Pump, Repeat, What, has_class, is_same_rule, rule_of};

/// A single part of a text that can be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The number of the part.
    number: usize,
    repeats: (Repeat, Option<Repeat>),
    what: What,
    len: usize,
    home: u32,
}

/// While the parts of a text are looked at: what is around the current one, by the numbers of the parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Open {
    /// Rules and repetitions around it, the outer ones first.
    around: Vec<u32>,
    /// By symbol: the instance of the rule that has begun last.
    last: Vec<u32>,
    /// By part: the instance of the same rule around it.
    outer: Vec<u32>,
}

impl Open {
    const NONE: u32 = u32::MAX;

    fn begin(&mut self, whole: &Derivation) {
        self.around.clear();
        self.last.fill(Open::NONE);
        self.outer.clear();
        self.outer.resize(whole.parts.len(), Open::NONE);
    }

    /// Returns the innermost instance of a rule around another one, which is the part with this number.
    #[inline]
    fn same_rule<'w>(&mut self, whole: &'w Derivation, number: u32) -> Option<&'w Part> {
        let symbol = whole.parts[number as usize].symbol as usize;
        if symbol >= self.last.len() {
            self.last.resize(symbol + 1, Open::NONE);
        }
        let mut outer = std::mem::replace(&mut self.last[symbol], number);
        // Those that have ended are not around it, but what was around them may be.
        while outer != Open::NONE && whole.parts[outer as usize].next <= number {
            outer = self.outer[outer as usize];
        }
        self.outer[number as usize] = outer;
        whole.parts.get(outer as usize)
    }
}

/// Returns all single parts of a text that can be repeated, and of which a copy has at most `most` bytes. Reuses the
/// memory of `open`.
pub(crate) fn spots<'w>(
    whole: &'w Derivation,
    deriver: &'w Deriver,
    most: usize,
    open: &'w mut Open,
) -> impl Iterator<Item = Spot> + 'w {
    open.begin(whole);
    (0..).zip(&whole.parts).filter_map(move |(number, part)| {
        let fits = (1..=most).contains(&part.len());
        match part.kind {
            SpanKind::Rule | SpanKind::Repetition { .. } => {}
            SpanKind::Round if fits => {}
            SpanKind::Round | SpanKind::Choice | SpanKind::Pool => return None,
        }
        while open.around.pop_if(|outer| whole.parts[*outer as usize].next <= number).is_some() {}
        let around = || open.around.iter().rev().map(|&outer| &whole.parts[outer as usize]);
        let spot = match part.kind {
            SpanKind::Round => {
                return Spot::of_round(part, around()).map(|spot| Spot { number: number as usize, ..spot });
            }
            SpanKind::Repetition { room: u32::MAX } if fits => Spot::of_first_round(whole, number, deriver, around()),
            SpanKind::Rule => open.same_rule(whole, number).and_then(|outer| Spot::of_recursion(part, outer, most)),
            SpanKind::Repetition { .. } | SpanKind::Choice | SpanKind::Pool => None,
        };
        // Choices and rounds around a part say nothing of it.
        open.around.push(number);
        spot.map(|spot| Spot { number: number as usize, ..spot })
    })
}

impl Spot {
    /// Returns the part with this number, if it can be repeated and a copy has at most `most` bytes. To find all of a
    /// text, [`spots`] is faster.
    pub(crate) fn at(whole: &Derivation, deriver: &Deriver, most: usize, number: usize) -> Option<Spot> {
        let part = &whole.parts[number];
        let fits = (1..=most).contains(&part.len());
        let around = || whole.parts[..number].iter().rev().filter(|outer| outer.next as usize > number);
        let spot = match part.kind {
            SpanKind::Round if fits => Spot::of_round(part, around()),
            SpanKind::Repetition { room: u32::MAX } if fits => {
                Spot::of_first_round(whole, number as u32, deriver, around())
            }
            SpanKind::Rule => {
                let outer = around().find(|outer| is_same_rule(outer, part));
                outer.and_then(|outer| Spot::of_recursion(part, outer, most))
            }
            SpanKind::Round | SpanKind::Repetition { .. } | SpanKind::Choice | SpanKind::Pool => None,
        };
        spot.map(|spot| Spot { number, ..spot })
    }

    fn of_round<'p>(round: &Part, mut around: impl Iterator<Item = &'p Part>) -> Option<Spot> {
        let repetition = around.find(|outer| matches!(outer.kind, SpanKind::Repetition { .. }))?;
        let is_free = repetition.kind == SpanKind::Repetition { room: u32::MAX };
        let (from, to) = round.decisions;
        let repeat = Repeat { from, to, is_first_round: false };
        let home = repetition.decisions.0;
        (is_free && !round.is_empty())
            .then(|| Spot::new((repeat, None), What::Round(rule_of(around)), round.len(), home))
    }

    /// Returns the only round of a repetition that has to have one.
    fn of_first_round<'p>(
        whole: &Derivation,
        number: u32,
        deriver: &Deriver,
        around: impl Iterator<Item = &'p Part>,
    ) -> Option<Spot> {
        let part = &whole.parts[number as usize];
        if part.is_empty() || deriver.min_rounds(part.symbol) != Some(1) {
            return None;
        }
        // Rounds of repetitions within this one have their own sites before them.
        let has_more = whole.within(number as usize).any(|inner| inner.kind == SpanKind::Round);
        let (from, end) = part.decisions;
        let repeat = Repeat { from, to: end.checked_sub(1)?, is_first_round: true };
        (!has_more).then(|| Spot::new((repeat, None), What::Round(rule_of(around)), part.len(), from))
    }

    fn of_recursion(inner: &Part, outer: &Part, most: usize) -> Option<Spot> {
        if !(1..=most).contains(&(outer.len() - inner.len())) {
            return None;
        }
        let repeat = |from, to| Repeat { from, to, is_first_round: false };
        let before = repeat(outer.decisions.0, inner.decisions.0);
        let after = repeat(inner.decisions.1, outer.decisions.1);
        let what = What::Recursion(inner.symbol);
        Some(Spot::new((before, Some(after)), what, outer.len() - inner.len(), outer.decisions.0))
    }

    fn new(repeats: (Repeat, Option<Repeat>), what: What, len: usize, home: u32) -> Spot {
        Spot { number: 0, repeats, what, len, home }
    }

    /// Returns the number of bytes that a copy adds.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of the part: a round, the only one of a repetition, or the inner one of two instances.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// Writes the options of a repetition that has nothing but copies of a round, after as many rounds as there have to
    /// be. Returns the symbol and the depth of the repetition, and the least number of rounds; `None` for what is no
    /// round.
    pub(crate) fn copies_alone(
        &self,
        whole: &Derivation,
        deriver: &Deriver,
        (copies, times): (Copies, u32),
        options: &mut Vec<u32>,
    ) -> Option<(u32, u32, u32)> {
        let (round, None) = self.repeats else { return None };
        let is_around =
            |part: &&Part| part.next as usize > self.number && matches!(part.kind, SpanKind::Repetition { .. });
        let outer = whole.parts[..=self.number].iter().rfind(is_around)?;
        let least = deriver.min_rounds(outer.symbol)?;
        options.clear();
        // The rounds that there have to be have no site before them.
        let item = round.from + u32::from(!round.is_first_round)..round.to;
        for _ in 0..least {
            options.extend(whole.decisions[item.start as usize..item.end as usize].iter().map(|known| known.option));
        }
        (1..=times).for_each(|copy| round.copy(whole, deriver, (copies, copy), options));
        options.push(0);
        Some((outer.symbol, outer.depth, least))
    }

    /// Returns the number of the outer one of the two instances of a rule that the part stands between; `None` for a
    /// round.
    pub(crate) fn outer(&self, whole: &Derivation) -> Option<usize> {
        self.repeats.1?;
        let inner = &whole.parts[self.number];
        let is_around = |part: &Part| part.next as usize > self.number && is_same_rule(part, inner);
        whole.parts[..self.number].iter().rposition(is_around)
    }

    /// Returns true if copies can be distinct: there is a class in what is repeated.
    pub(crate) fn can_differ(&self, whole: &Derivation, deriver: &Deriver) -> bool {
        has_class(std::iter::once(self.repeats.0).chain(self.repeats.1), whole, deriver)
    }

    /// Returns the part, to be repeated. What the text has already is not counted.
    pub(crate) fn pump(&self) -> Pump {
        let &Spot { repeats: (first, second), what, len, home, .. } = self;
        let repeats = std::iter::once(first).chain(second).collect();
        Pump { repeats, what: vec![what], len, present: 1, home, copies: Copies::Equal }
    }
}
