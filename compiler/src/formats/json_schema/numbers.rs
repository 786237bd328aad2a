//! Numbers: ranges exact by their digits, and multiples.

use super::Reader;
use super::decimal::{Bound, Decimal};
use super::facts::{Numbers, Types};
use super::make::Make;
use crate::ast::Expr;
use crate::derived::{NumberForm, Radix};
use crate::ordered::Set;

const DIGIT: (u32, u32) = (0x30, 0x39);
const NOT_ZERO: (u32, u32) = (0x31, 0x39);
/// The greatest number of multiples that are listed.
const MAX_LISTED: i128 = 1000;
/// The number of multiples that are drawn where there are too many.
const FEW: i128 = 200;

impl Reader<'_, '_> {
    /// Returns the numbers of these types that fulfil the facts. `None` if there is none.
    pub(super) fn number(
        &mut self,
        types: Types,
        numbers: &Numbers,
        excluded: &Set<String>,
        make: Make,
    ) -> Option<Expr> {
        let out = whole_numbers(excluded);
        let has_bounds = numbers.low.or(numbers.high).is_some();
        if let Some(step) = numbers.multiples.iter().copied().reduce(common) {
            return self.multiples(types, numbers, step, &out, make);
        }
        if !has_bounds && out.is_empty() {
            let name = match (types.has(Types::WHOLE), types.has(Types::FRACTION)) {
                (true, false) => "integer",
                (false, true) => "fraction",
                _ => "number",
            };
            return Some(make.rule(self.shared(name)));
        }
        let mut drawn = Vec::new();
        if types.has(Types::WHOLE) {
            let (low, high) = (numbers.low.map(|low| low.least(0)), numbers.high.map(|high| high.greatest(0)));
            let lists = without(low, high, &out, make);
            if !lists.is_empty() {
                let zeros = make.seq([make.text("."), make.many(make.text("0"), 1, None)]);
                drawn.push(make.seq([make.any(lists), make.any_or_read([make.empty()], [zeros])]));
            }
        }
        if types.has(Types::FRACTION) {
            drawn.extend(fractions(numbers, make));
        }
        (!drawn.is_empty()).then(|| make.any(drawn))
    }

    fn multiples(&mut self, types: Types, numbers: &Numbers, step: Decimal, out: &[i128], make: Make) -> Option<Expr> {
        // In units of the step's last digit, all multiples are whole numbers.
        let scale = step.scale;
        let low = numbers.low.map(|low| low.least(scale));
        let high = numbers.high.map(|high| high.greatest(scale));
        if scale == 0
            && let Some(zeros) = power_of_ten(step.digits)
            && out.is_empty()
        {
            if !types.has(Types::WHOLE) {
                return None;
            }
            return tens(low, high, zeros, make);
        }
        let step = step.digits;
        let first = low.map(|low| ceil(low, step));
        let last = high.map(|high| high.div_euclid(step));
        let (from, to) = match (first, last) {
            (Some(first), Some(last)) => (first, last.min(first + MAX_LISTED)),
            (Some(first), None) => (first, first + FEW),
            (None, Some(last)) => (last - FEW, last),
            (None, None) => (-FEW / 2, FEW),
        };
        let is_wanted = |number: i128| {
            let is_whole = number % 10i128.pow(scale) == 0;
            types.has(if is_whole { Types::WHOLE } else { Types::FRACTION })
                && !(is_whole && out.contains(&(number / 10i128.pow(scale))))
        };
        let listed = (from..=to).filter_map(|number| number.checked_mul(step)).filter(|&number| is_wanted(number));
        let listed: Vec<Expr> = listed.map(|number| make.text(written(number, scale))).collect();
        let is_all = matches!((first, last), (Some(first), Some(last)) if last - first <= MAX_LISTED);
        // Other multiples can only be read, as part of all numbers.
        let read = (!is_all).then(|| make.rule(self.shared("number")));
        (!listed.is_empty()).then(|| make.any_or_read(listed, read))
    }
}

/// Returns a number that multiples of both are multiples of.
fn common(one: Decimal, other: Decimal) -> Decimal {
    let scale = one.scale.max(other.scale);
    let (a, b) = (one.scaled(scale).0, other.scaled(scale).0);
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    match (a / x).checked_mul(b) {
        Some(digits) => Decimal { digits, scale },
        None => one.max(other),
    }
}

fn ceil(number: i128, step: i128) -> i128 {
    number.div_euclid(step) + i128::from(number.rem_euclid(step) != 0)
}

fn power_of_ten(number: i128) -> Option<u32> {
    (0..=18).find(|&power| 10i128.pow(power) == number)
}

/// Returns the multiples of a power of ten.
fn tens(low: Option<i128>, high: Option<i128>, zeros: u32, make: Make) -> Option<Expr> {
    let unit = 10i128.pow(zeros);
    let (low, high) = (low.map(|low| ceil(low, unit)), high.map(|high| high.div_euclid(unit)));
    let has_zero = low.is_none_or(|low| low <= 0) && high.is_none_or(|high| high >= 0);
    let mut lists = without(low, high, &[0], make);
    if zeros > 0 {
        lists = lists.into_iter().map(|list| make.seq([list, make.text("0".repeat(zeros as usize))])).collect();
    }
    if has_zero {
        lists.insert(0, make.text("0"));
    }
    (!lists.is_empty()).then(|| make.any(lists))
}

/// Returns the whole numbers among excluded values.
fn whole_numbers(excluded: &Set<String>) -> Vec<i128> {
    let number = |text: &String| {
        let (digits, scale) = text.split_once("e-")?;
        let (digits, scale): (i128, u32) = (digits.parse().ok()?, scale.parse().ok()?);
        (scale == 0).then_some(digits)
    };
    excluded.iter().filter_map(number).collect()
}

/// Returns the whole numbers in a range that are none of `out`.
fn without(low: Option<i128>, high: Option<i128>, out: &[i128], make: Make) -> Vec<Expr> {
    let mut out = out.to_vec();
    out.sort_unstable();
    let (mut found, mut from) = (Vec::new(), low);
    for number in out {
        if from.is_some_and(|from| number < from) || high.is_some_and(|high| number > high) {
            continue;
        }
        found.extend(integers(from, Some(number - 1), make));
        from = Some(number + 1);
    }
    found.extend(integers(from, high, make));
    found
}

/// Returns the whole numbers in a range.
pub(super) fn integers(low: Option<i128>, high: Option<i128>, make: Make) -> Vec<Expr> {
    let mut found = Vec::new();
    if high.is_none_or(|high| high >= 0) {
        found.extend(magnitudes(low.unwrap_or(0).max(0), high, make));
    }
    if low.is_none_or(|low| low < 0) {
        let least = high.map_or(1, |high| (-high).max(1));
        let minus = magnitudes(least, low.map(|low| -low), make);
        found.extend(minus.into_iter().map(|number| make.seq([make.text("-"), number])));
    }
    found
}

/// Returns the whole numbers from `low` on, which is not below 0.
fn magnitudes(low: i128, high: Option<i128>, make: Make) -> Vec<Expr> {
    let width = low.max(1).ilog10() + 1;
    let beyond = 10i128.pow(width);
    let last = high.unwrap_or(beyond - 1);
    if low > last {
        return Vec::new();
    }
    let mut found: Vec<Expr> = listed(low, last, make);
    if high.is_none() {
        found.push(make.seq([make.class(&[NOT_ZERO]), make.many(make.class(&[DIGIT]), width, None)]));
    }
    found
}

fn listed(low: i128, high: i128, make: Make) -> Vec<Expr> {
    let lists = NumberForm::Text(Radix::Decimal, None).range(low, high);
    lists.into_iter().map(|list| make.seq(list.into_iter().map(|set| make.set(set)))).collect()
}

/// Returns the numbers with a fraction in a range: all with up to the digits of the bounds and one more, and those
/// between them with any number of further digits.
fn fractions(numbers: &Numbers, make: Make) -> Vec<Expr> {
    let scale_of = |bound: Option<Bound>| bound.map_or(0, |bound| bound.at.scale);
    let scale = (scale_of(numbers.low).max(scale_of(numbers.high)) + 1).max(2);
    let least = |scale| numbers.low.map(|low| low.least(scale));
    let greatest = |scale| numbers.high.map(|high| high.greatest(scale));
    let mut found = Vec::new();
    for places in 1..=scale {
        let more = if places == scale { make.many(make.class(&[DIGIT]), 0, None) } else { make.empty() };
        let (low, high) = (least(places), greatest(places));
        let is_last = places == scale;
        // Further digits may not pass the bound.
        let room = i128::from(is_last);
        if high.is_none_or(|high| high - room >= 0) {
            let from = low.unwrap_or(0).max(0);
            let to = high.map(|high| high - room);
            found.extend(scaled(from, to, places, make).into_iter().map(|list| make.seq([list, more.clone()])));
        }
        if low.is_none_or(|low| low + room < 0) {
            let from = high.map_or(0, |high| -high).max(i128::from(!is_last));
            let to = low.map(|low| -low - room);
            let lists = scaled(from.max(1), to, places, make);
            found.extend(lists.into_iter().map(|list| make.seq([make.text("-"), list, more.clone()])));
        }
    }
    found
}

/// Returns the numbers of 1/10^`places` in a range above 0, with all their places written.
fn scaled(low: i128, high: Option<i128>, places: u32, make: Make) -> Vec<Expr> {
    let unit = 10i128.pow(places);
    let mut found = Vec::new();
    let point = |list: Vec<Expr>| {
        let at = list.len() - places as usize;
        let (whole, fraction) = list.split_at(at);
        make.seq(whole.iter().cloned().chain([make.text(".")]).chain(fraction.iter().cloned()))
    };
    let form = |width| NumberForm::Text(Radix::Decimal, width);
    let below_one = high.unwrap_or(unit - 1).min(unit - 1);
    if low <= below_one {
        let width = u8::try_from(places).unwrap_or(u8::MAX);
        for list in form(Some(width)).range(low, below_one) {
            let fraction = list.into_iter().map(|set| make.set(set));
            found.push(make.seq([make.text("0.")].into_iter().chain(fraction)));
        }
    }
    let from = low.max(unit);
    let beyond = 10i128.pow(from.ilog10() + 1);
    let to = high.unwrap_or(beyond - 1);
    if from <= to {
        let lists = form(None).range(from, to);
        found.extend(lists.into_iter().map(|list| point(list.into_iter().map(|set| make.set(set)).collect())));
    }
    if high.is_none() {
        let width = from.ilog10() + 1 - places;
        let digits = |min, max| make.many(make.class(&[DIGIT]), min, max);
        let more = digits(places, Some(places));
        found.push(make.seq([make.class(&[NOT_ZERO]), digits(width, None), make.text("."), more]));
    }
    found
}

/// Returns the number `number / 10^scale`.
fn written(number: i128, scale: u32) -> String {
    let unit = 10i128.pow(scale);
    let sign = if number < 0 { "-" } else { "" };
    let (whole, fraction) = (number.abs() / unit, number.abs() % unit);
    if fraction == 0 {
        return format!("{sign}{whole}");
    }
    let digits = format!("{fraction:0width$}", width = scale as usize);
    format!("{sign}{whole}.{}", digits.trim_end_matches('0'))
}
