//! Repeats parts of a text: rounds of a repetition, and what stands between two instances of a rule.

use gramjet_session::SpanKind;
use gramjet_session::decisions::{Decision, Derivation, Deriver, Part};

mod spots;

pub(crate) use spots::{Open, Spot, spots};

/// Ways in which the copies of a part differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Copies {
    /// They are equal.
    Equal,
    /// Their characters and bytes count up, so they are as distinct as their length allows.
    Distinct,
}

/// Parts of a text that can be repeated together any number of times.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pump {
    /// In ascending order, apart from each other.
    repeats: Vec<Repeat>,
    what: Vec<What>,
    /// The bytes of a copy.
    len: usize,
    /// Number of rounds or nested instances that the text has already: at least one.
    present: u32,
    /// Decision at which the repetition begins of which it is a round, or the outer instance of the rule.
    home: u32,
    /// Way in which the copies differ.
    pub copies: Copies,
}

/// Decisions that are repeated after themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Repeat {
    from: u32,
    to: u32,
    /// Whether it is the first round of a repetition that has to have one, so that no site has decided on it. A site
    /// decides on each copy.
    is_first_round: bool,
}

impl Repeat {
    /// Adds the options of the copy with this number, from 1 on.
    fn copy(self, whole: &Derivation, deriver: &Deriver, (copies, copy): (Copies, u32), options: &mut Vec<u32>) {
        let range = &whole.decisions[self.from as usize..self.to as usize];
        options.extend(self.is_first_round.then_some(1));
        match copies {
            Copies::Equal => options.extend(range.iter().map(|decision| decision.option)),
            Copies::Distinct => count_up(range, deriver, copy, options),
        }
    }
}

/// Part that is repeated, by its symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum What {
    /// A round of a repetition within a rule.
    Round(u32),
    /// Part between an instance of a rule and one within it.
    Recursion(u32),
}

impl Pump {
    /// Returns all single parts of a text that can be repeated, with the numbers of those that the text has already.
    pub fn all(whole: &Derivation, deriver: &Deriver) -> Vec<Pump> {
        let present = present(whole, deriver);
        let with = |spot: Spot| Pump { present: present[spot.number()].max(1), ..spot.pump() };
        spots(whole, deriver, usize::MAX, &mut Open::default()).map(with).collect()
    }

    /// Returns what it repeats: pumps with the same rule and the same decisions are alike wherever they stand.
    pub(crate) fn kind(&self, whole: &Derivation) -> impl Ord + use<> {
        let range = |repeat: &Repeat| &whole.decisions[repeat.from as usize..repeat.to as usize];
        let options = self.repeats.iter().flat_map(range).map(|decision| (decision.place, decision.option));
        (self.what.clone(), options.collect::<Vec<_>>())
    }

    /// Returns what it repeats, as people are told.
    pub(crate) fn topic(&self) -> impl Ord + use<> {
        (self.what.clone(), self.copies)
    }

    /// Returns what it is a part of: the decision at which the repetition begins, or the outer instance of the rule.
    pub(crate) fn home(&self) -> u32 {
        self.home
    }

    /// Returns true if another pump of the same kind is the next round, or the next level: equal copies of both make
    /// the same text.
    pub(crate) fn is_followed_by(&self, next: &Pump) -> bool {
        match (&self.repeats[..], &next.repeats[..]) {
            ([one], [two]) => self.home == next.home && one.to == two.from,
            ([begin, end], [inner, rest]) => begin.to == inner.from && rest.to == end.from,
            _ => false,
        }
    }

    /// Returns true if copies can be distinct: there is a class in what is repeated.
    pub(crate) fn can_differ(&self, whole: &Derivation, deriver: &Deriver) -> bool {
        has_class(self.repeats.iter().copied(), whole, deriver)
    }

    /// Returns how many copies can be distinct: each part counts on its own, if there is a class in it.
    pub(crate) fn capacity(&self, whole: &Derivation, deriver: &Deriver) -> u64 {
        let capacity = |repeat: &Repeat| {
            let range = &whole.decisions[repeat.from as usize..repeat.to as usize];
            let classes = range.iter().filter(|decision| deriver.is_class(decision.place));
            classes.fold(1, |product: u64, class| product.saturating_mul(u64::from(class.offered)))
        };
        self.repeats.iter().map(capacity).filter(|&copies| copies > 1).min().unwrap_or(1)
    }

    /// Returns the parts within what is repeated that can be replaced, the last first.
    pub(crate) fn parts(&self, whole: &Derivation) -> Vec<Part> {
        let is_within = |part: &&Part| {
            part.kind != SpanKind::Round
                && self.repeats.iter().any(|repeat| repeat.from <= part.decisions.0 && part.decisions.1 <= repeat.to)
        };
        let mut parts: Vec<Part> = whole.parts.iter().filter(is_within).copied().collect();
        parts.reverse();
        parts
    }

    /// Returns the pump of another text at the same place that repeats the same.
    pub(crate) fn same_in(&self, other: &Derivation, deriver: &Deriver) -> Option<Pump> {
        self.same_at(self.repeats[0].from, other, deriver)
    }

    /// Returns the pump of another text that repeats the same, and begins at this decision.
    pub(crate) fn same_at(&self, from: u32, other: &Derivation, deriver: &Deriver) -> Option<Pump> {
        let is_same = |pump: &Pump| pump.what == self.what && pump.repeats[0].from == from;
        Pump::all(other, deriver).into_iter().find(is_same).map(|pump| pump.copied(self.copies))
    }

    /// Returns the options of the text with the repeated part alone: without the other rounds of its repetition, or
    /// without the instances around and within the two that it stands between. Also the place where the part begins
    /// then. `None` if there is nothing to leave out.
    pub(crate) fn alone(&self, whole: &Derivation) -> Option<(Vec<u32>, u32)> {
        let is_left_out = match (&self.what[..], &self.repeats[..]) {
            ([What::Round(_)], [round]) => other_rounds(whole, round)?,
            ([What::Recursion(symbol)], [before, after]) => {
                let (outer, inner) = ((before.from, after.to), (before.to, after.from));
                let instances = || whole.parts.iter().filter(|part| part.symbol == *symbol);
                let outermost = instances().map(|part| part.decisions).find(|&range| holds(range, outer))?;
                let within = instances().map(|part| part.decisions).filter(|&range| holds(inner, range));
                let innermost = within.min_by_key(|range| range.1 - range.0)?;
                let between = |(from, to): (u32, u32), kept: (u32, u32)| [(from, kept.0), (kept.1, to)];
                [between(outermost, outer), between(inner, innermost)].concat()
            }
            _ => return None,
        };
        let mut options: Vec<Option<u32>> = whole.options().map(Some).collect();
        for (from, to) in is_left_out {
            options[from as usize..to as usize].fill(None);
        }
        let from = options[..self.repeats[0].from as usize].iter().flatten().count() as u32;
        let kept: Vec<u32> = options.into_iter().flatten().collect();
        (kept.len() < whole.decisions.len()).then_some((kept, from))
    }

    /// Returns a pump of both parts at once; `None` if they overlap.
    pub fn with(&self, other: &Pump) -> Option<Pump> {
        let mut repeats: Vec<Repeat> = self.repeats.iter().chain(&other.repeats).copied().collect();
        repeats.sort_unstable();
        let is_apart = repeats.windows(2).all(|two| two[0].to <= two[1].from && two[0] != two[1]);
        let what = self.what.iter().chain(&other.what).copied().collect();
        // Both numbers grow by one with each copy.
        let present = (self.present + other.present).div_ceil(2);
        is_apart.then_some(Pump {
            repeats,
            what,
            len: self.len + other.len,
            present,
            home: self.home,
            copies: self.copies,
        })
    }

    /// Returns the same pump with other copies.
    #[must_use]
    pub fn copied(&self, copies: Copies) -> Pump {
        Pump { copies, ..self.clone() }
    }

    /// Returns the number of bytes that a copy adds.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns how many rounds or nested instances the text has already, at least one: the mean where several parts are
    /// repeated.
    pub fn present(&self) -> u32 {
        self.present
    }

    /// Returns true if copies add no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns what is repeated, for people.
    pub fn describe(&self, deriver: &Deriver) -> String {
        let name = |symbol| deriver.rule_name(symbol).unwrap_or("?").to_string();
        let one = |what: &What| match what {
            What::Round(rule) => format!("rounds of a repetition in `{}`", name(*rule)),
            What::Recursion(rule) => format!("`{0}` in `{0}`", name(*rule)),
        };
        let copies = match self.copies {
            Copies::Equal => "",
            Copies::Distinct => ", all distinct",
        };
        self.what.iter().map(one).collect::<Vec<_>>().join(" and ") + copies
    }

    /// Returns the options of the text with `times` copies more of each part.
    pub fn options(&self, whole: &Derivation, deriver: &Deriver, times: u32) -> Vec<u32> {
        let decisions = &whole.decisions;
        let mut options = Vec::with_capacity(decisions.len());
        let mut at = 0;
        for &Repeat { from, to, is_first_round } in &self.repeats {
            options.extend(decisions[at..to as usize].iter().map(|decision| decision.option));
            let repeat = Repeat { from, to, is_first_round };
            (1..=times).for_each(|copy| repeat.copy(whole, deriver, (self.copies, copy), &mut options));
            at = to as usize;
        }
        options.extend(decisions[at..].iter().map(|decision| decision.option));
        options
    }
}

/// Returns true if there is a class with several members in what is repeated.
fn has_class(mut repeats: impl Iterator<Item = Repeat>, whole: &Derivation, deriver: &Deriver) -> bool {
    repeats.any(|repeat| {
        let mut decisions = whole.decisions[repeat.from as usize..repeat.to as usize].iter();
        decisions.any(|decision| decision.offered > 1 && deriver.is_class(decision.place))
    })
}

/// Returns the decisions of the other rounds of a round's repetition.
fn other_rounds(whole: &Derivation, round: &Repeat) -> Option<Vec<(u32, u32)>> {
    let is_repetition = |part: &Part| matches!(part.kind, SpanKind::Repetition { .. });
    let range = (round.from, round.to);
    let around = |part: &&Part| is_repetition(part) && part.decisions != range && holds(part.decisions, range);
    let repetition = whole.parts.iter().filter(around).min_by_key(|part| part.decisions.1 - part.decisions.0)?;
    let number = whole.parts.iter().position(|part| std::ptr::eq(part, repetition))?;
    let mut rounds = Vec::new();
    let mut at = number + 1;
    while at < repetition.next as usize {
        let part = &whole.parts[at];
        if part.kind == SpanKind::Round && part.decisions != range {
            rounds.push(part.decisions);
        }
        at = part.next as usize;
    }
    Some(rounds)
}

fn holds(outer: (u32, u32), inner: (u32, u32)) -> bool {
    outer.0 <= inner.0 && inner.1 <= outer.1
}

/// Returns the numbers that the text has already: for each round, the number of rounds of its repetition; for each
/// instance of a rule, the number of instances of the rule within each other of which it is one. 1 for other parts.
fn present(whole: &Derivation, deriver: &Deriver) -> Vec<u32> {
    let parts = &whole.parts;
    // The nearest part around each that it is counted with: the repetition of a round, the same rule around an
    // instance.
    let mut around: Vec<Option<usize>> = vec![None; parts.len()];
    let mut counts = vec![1; parts.len()];
    let mut open: Vec<usize> = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        while open.last().is_some_and(|&outer| parts[outer].next as usize <= number) {
            open.pop();
        }
        around[number] = match part.kind {
            SpanKind::Round => open.last().copied(),
            SpanKind::Rule => open.iter().rev().copied().find(|&outer| is_same_rule(&parts[outer], part)),
            _ => None,
        };
        match (part.kind, around[number]) {
            // Required rounds are no parts.
            (SpanKind::Repetition { .. }, _) => counts[number] = deriver.min_rounds(part.symbol).unwrap_or(0),
            (SpanKind::Round, Some(repetition)) => counts[repetition] += 1,
            _ => {}
        }
        open.push(number);
    }
    // Heights of instances from the inside, then the numbers from the outside.
    for number in (0..parts.len()).rev().filter(|&number| parts[number].kind == SpanKind::Rule) {
        if let Some(outer) = around[number] {
            counts[outer] = counts[outer].max(counts[number] + 1);
        }
    }
    let mut above = vec![0; parts.len()];
    for number in 0..parts.len() {
        match (parts[number].kind, around[number]) {
            (SpanKind::Rule, Some(outer)) => above[number] = above[outer] + 1,
            (SpanKind::Round, Some(repetition)) => counts[number] = counts[repetition],
            _ => {}
        }
    }
    counts.iter().zip(above).map(|(count, above)| count + above).collect()
}

fn is_same_rule(outer: &Part, inner: &Part) -> bool {
    outer.kind == SpanKind::Rule && outer.symbol == inner.symbol
}

/// Returns the symbol of the innermost rule.
fn rule_of<'p>(mut around: impl Iterator<Item = &'p Part>) -> u32 {
    around.find(|outer| outer.kind == SpanKind::Rule).map_or(0, |rule| rule.symbol)
}

/// Writes the options of a copy: its number is added to the classes of the part, which are the digits of a counter.
fn count_up(range: &[Decision], deriver: &Deriver, copy: u32, options: &mut Vec<u32>) {
    let begin = options.len();
    options.extend(range.iter().map(|decision| decision.option));
    let mut rest = copy;
    // The last character changes first.
    for (number, decision) in range.iter().enumerate().rev() {
        if decision.offered > 1 && deriver.is_class(decision.place) {
            let sum = decision.option + rest % decision.offered;
            options[begin + number] = sum % decision.offered;
            rest /= decision.offered;
        }
    }
}

#[cfg(test)]
mod tests {
    use gramjet_compiler::SourceFile;
    use gramjet_session::{Language, Settings, Shape};

    use super::*;

    fn settings() -> Settings {
        Settings { shape: Some(Shape::Uniform), ..Settings::default() }
    }

    fn language(text: &str) -> Language {
        Language::compile(&SourceFile::new("g.ebnf", text), &settings()).expect("a grammar")
    }

    /// Returns the texts of all pumps with two copies more.
    fn pumped(grammar: &str, text: &str, copies: Copies) -> Vec<String> {
        let language = language(grammar);
        let mut deriver = language.deriver(None);
        let mut whole = Derivation::default();
        deriver.decode(&language.parse(text.as_bytes()).expect("it conforms"), &mut whole);
        let mut made = Derivation::default();
        let mut texts = Vec::new();
        for pump in Pump::all(&whole, &deriver) {
            let options = pump.copied(copies).options(&whole, &deriver, 2);
            deriver.replay(&options, &mut made);
            texts.push(String::from_utf8(made.text.clone()).expect("ASCII"));
        }
        texts
    }

    const LISTS: &str = "list ::= '[' (item (',' item)*)? ']'  item ::= [a-z] | list";

    #[test]
    fn rounds_and_recursion_are_repeated() {
        assert_eq!(pumped(LISTS, "[a,b]", Copies::Equal), ["[a,b,b,b]"]);
        assert_eq!(pumped(LISTS, "[[a]]", Copies::Equal), ["[[[[a]]]]", "[[[[a]]]]"]);
        assert_eq!(pumped(LISTS, "[a,b]", Copies::Distinct), ["[a,b,c,d]"]);
        // Bounded repetitions are left alone.
        assert_eq!(pumped("s ::= 'a'{0,9} 'b'", "aab", Copies::Equal), [""; 0]);
    }

    #[test]
    fn distinct_copies_count_in_several_digits() {
        let grammar = "s ::= (',' [a-b] [a-c])*";
        let language = language(grammar);
        let mut deriver = language.deriver(None);
        let (mut whole, mut made) = (Derivation::default(), Derivation::default());
        deriver.decode(&language.parse(b",aa").expect("it conforms"), &mut whole);
        let pump = Pump::all(&whole, &deriver)[0].copied(Copies::Distinct);
        deriver.replay(&pump.options(&whole, &deriver, 5), &mut made);
        assert_eq!(made.text, b",aa,ab,ac,ba,bb,bc");
    }

    #[test]
    fn a_part_can_stand_alone() {
        let alone = |grammar: &str, text: &str| -> Vec<String> {
            let language = language(grammar);
            let mut deriver = language.deriver(None);
            let (mut whole, mut made) = (Derivation::default(), Derivation::default());
            deriver.decode(&language.parse(text.as_bytes()).expect("it conforms"), &mut whole);
            let pumps = Pump::all(&whole, &deriver);
            let options = pumps.iter().filter_map(|pump| pump.alone(&whole));
            let texts = options.map(|(options, _)| {
                deriver.replay(&options, &mut made);
                String::from_utf8(made.text.clone()).expect("ASCII")
            });
            texts.collect()
        };
        assert_eq!(alone("s ::= [a-z]*", "abc"), ["a", "b", "c"]);
        assert_eq!(alone("s ::= l*  l ::= [a-z]* ';'", "ab;c;"), ["ab;", "a;c;", "b;c;", "c;"]);
        assert_eq!(alone("s ::= '(' s ')' | [x-z]", "((y))"), ["(y)", "(y)"]);
        assert_eq!(alone("s ::= [(\\[] s [)\\]] | 'x'", "([(x)])"), ["(x)", "[x]", "(x)"]);
    }

    /// The two ways to find what can be repeated agree on each part, whatever the length of a copy.
    #[test]
    fn a_part_alone_is_a_spot_if_it_is_one_of_all() {
        let language = language("list ::= '[' (item (',' item)*)? ']' tail{0,2}  item ::= [a-z] | list  tail ::= '!'+");
        let mut deriver = language.deriver(None);
        let (mut whole, mut open, mut found) = (Derivation::default(), Open::default(), 0);
        for text in ["[]", "[a]!", "[[a],b]!!!", "[[[a,b],c,[]]!,d]!!", "[[[[[x]]]]]"] {
            deriver.decode(&language.parse(text.as_bytes()).expect("it conforms"), &mut whole);
            for most in [0, 1, 2, 5, usize::MAX] {
                let all: Vec<Spot> = spots(&whole, &deriver, most, &mut open).collect();
                let alone = (0..whole.parts.len()).filter_map(|number| Spot::at(&whole, &deriver, most, number));
                assert_eq!(alone.collect::<Vec<_>>(), all, "{text}, {most}");
                found += all.len();
            }
        }
        assert!(found > 50, "{found}");
    }

    #[test]
    fn what_the_text_has_already_counts() {
        let present = |grammar: &str, text: &str| -> Vec<u32> {
            let language = language(grammar);
            let mut whole = Derivation::default();
            language.deriver(None).decode(&language.parse(text.as_bytes()).expect("it conforms"), &mut whole);
            Pump::all(&whole, &language.deriver(None)).iter().map(Pump::present).collect()
        };
        assert_eq!(present("s ::= 'a'*", "aaaa"), [4; 4]);
        // The required round is no part of its own, but a round.
        assert_eq!(present("s ::= 'a'+", "aaaa"), [4; 3]);
        assert_eq!(present("s ::= 'a'+", "a"), [1]);
        assert_eq!(present("s ::= l*  l ::= 'a'* ';'", "aaa;a;"), [2, 3, 3, 3, 2, 1]);
        assert_eq!(present("s ::= '(' s ')' | 'x'", "(((x)))"), [4; 3]);
        assert_eq!(present("s ::= '(' s s ')' | 'x'", "((xx)x)"), [3, 3, 3, 2]);
    }

    #[test]
    fn two_pumps_work_together_if_they_are_apart() {
        let language = language("s ::= 'a'* '-' 'b'*");
        let mut deriver = language.deriver(None);
        let (mut whole, mut made) = (Derivation::default(), Derivation::default());
        deriver.decode(&language.parse(b"a-b").expect("it conforms"), &mut whole);
        let pumps = Pump::all(&whole, &deriver);
        let both = pumps[0].with(&pumps[1]).expect("they are apart");
        assert_eq!(pumps[0].with(&pumps[0]), None);
        deriver.replay(&both.options(&whole, &deriver, 3), &mut made);
        assert_eq!(made.text, b"aaaa-bbbb");
    }
}
