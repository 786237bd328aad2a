//! Ranges of numbers: the bytes at each place of the numbers from one to another, by their digits.

use super::forms::{NumberForm, Order, Radix};
use crate::charset::{CharSet, Unit};

/// A digit, or all digits from one to another.
type Digits = (u8, u8);

impl NumberForm {
    /// Returns the least number that can be written. What follows from parts is never below 0.
    pub fn least(self) -> i128 {
        match self {
            NumberForm::Signed(..) => -i128::from(self.greatest()) - 1,
            NumberForm::Text(Radix::Decimal, None) => i64::MIN.into(),
            NumberForm::Text(Radix::Decimal, Some(width)) => {
                let beyond = 10i128.checked_pow(u32::from(width) - 1).unwrap_or(i128::MAX);
                (1 - beyond).max(i64::MIN.into())
            }
            NumberForm::Integer(..) | NumberForm::Text(..) | NumberForm::Leb128 | NumberForm::Raw(_) => 0,
        }
    }

    /// Returns the numbers from `first` to `last`, both of which can be written: lists of sets of characters or of
    /// bytes, one set for each place. Each number is written by one list. Numbers from 0 on come first.
    pub fn range(self, first: i128, last: i128) -> Vec<Vec<CharSet>> {
        self.ranges(&[(first, last)])
    }

    /// Returns the numbers of several ranges that have none in common, as [`NumberForm::range`] does.
    pub fn ranges(self, ranges: &[(i128, i128)]) -> Vec<Vec<CharSet>> {
        merge(ranges.iter().flat_map(|&(first, last)| self.unmerged(first, last)).collect())
    }

    fn unmerged(self, first: i128, last: i128) -> Vec<Vec<CharSet>> {
        let mut lists =
            if last >= 0 { self.plain(first.max(0).cast_unsigned(), last.cast_unsigned()) } else { Vec::new() };
        if first < 0 {
            let (least, greatest) = (last.min(-1).unsigned_abs(), first.unsigned_abs());
            lists.extend(self.negated(least, greatest));
        }
        lists
    }

    /// Returns the numbers from `first` to `last`, without a sign.
    fn plain(self, first: u128, last: u128) -> Vec<Vec<CharSet>> {
        match self {
            NumberForm::Integer(bytes, order) | NumberForm::Signed(bytes, order) => {
                let mut lists = lists(first, last, 256, bytes.into(), &|_, digits| bytes_of(digits, 0));
                if order == Order::Little {
                    lists.iter_mut().for_each(|list| list.reverse());
                }
                lists
            }
            NumberForm::Text(radix, Some(width)) => {
                lists(first, last, radix.base(), width.into(), &|_, digits| radix.characters(digits))
            }
            NumberForm::Text(radix, None) => {
                of_all_widths(first, last, radix.base(), &|_, digits| radix.characters(digits))
            }
            // A digest is no number.
            NumberForm::Raw(_) => Vec::new(),
            NumberForm::Leb128 => {
                let more = |place| if place == 0 { 0 } else { 0x80 };
                let mut lists = of_all_widths(first, last, 128, &|place, digits| bytes_of(digits, more(place)));
                lists.iter_mut().for_each(|list| list.reverse());
                lists
            }
        }
    }

    /// Returns the numbers from minus `least` to minus `greatest`.
    fn negated(self, least: u128, greatest: u128) -> Vec<Vec<CharSet>> {
        if let NumberForm::Signed(bytes, _) = self {
            let beyond = 1 << (8 * u32::from(bytes));
            return self.plain(beyond - greatest, beyond - least);
        }
        // The width of digits counts the sign.
        let digits = match self {
            NumberForm::Text(radix, width) => NumberForm::Text(radix, width.map(|width| width - 1)),
            other => other,
        };
        let mut lists = digits.plain(least, greatest);
        lists.iter_mut().for_each(|list| list.insert(0, CharSet::single(Unit::Char, '-'.into())));
        lists
    }
}

impl Radix {
    /// Returns the characters of some digits.
    fn characters(self, (first, last): Digits) -> CharSet {
        let letter = if self == Radix::UpperHex { 'A' } else { 'a' };
        let range = |first: u8, last: u8, from: char, zero: u8| {
            (first <= last)
                .then(|| (u32::from(from) + u32::from(first - zero), u32::from(from) + u32::from(last - zero)))
        };
        let ranges = [range(first, last.min(9), '0', 0), range(first.max(10), last, letter, 10)];
        CharSet::new(Unit::Char, ranges.into_iter().flatten())
    }
}

/// Returns the bytes of some digits, each with these bits set.
fn bytes_of((first, last): Digits, bits: u32) -> CharSet {
    CharSet::new(Unit::Byte, [(u32::from(first) | bits, u32::from(last) | bits)])
}

/// Returns the numbers from `first` to `last`, each with as many digits as it needs.
fn of_all_widths(first: u128, last: u128, base: u32, set: &dyn Fn(usize, Digits) -> CharSet) -> Vec<Vec<CharSet>> {
    let mut found = Vec::new();
    let (mut width, mut least, mut beyond) = (1, 0, u128::from(base));
    while least <= last {
        let (first, last) = (first.max(least), last.min(beyond - 1));
        if first <= last {
            found.extend(lists(first, last, base, width, set));
        }
        (width, least, beyond) = (width + 1, beyond, beyond * u128::from(base));
    }
    found
}

/// Returns the numbers from `first` to `last` with this number of digits. `set` says what digits are at
/// a place: the highest one is at place 0.
fn lists(
    first: u128,
    last: u128,
    base: u32,
    width: usize,
    set: &dyn Fn(usize, Digits) -> CharSet,
) -> Vec<Vec<CharSet>> {
    let digits = |mut number: u128| {
        let mut digits = vec![0; width];
        for digit in digits.iter_mut().rev() {
            *digit = (number % u128::from(base)) as u8;
            number /= u128::from(base);
        }
        digits
    };
    let of_list = |list: Vec<Digits>| list.into_iter().enumerate().map(|(place, digits)| set(place, digits)).collect();
    between(&digits(first), &digits(last), (base - 1) as u8).into_iter().map(of_list).collect()
}

/// Returns the numbers between two of one width, as digits with the highest first, in ascending order.
fn between(first: &[u8], last: &[u8], greatest: u8) -> Vec<Vec<Digits>> {
    let all = |digit: u8, digits: &[u8]| digits.iter().all(|&other| other == digit);
    let Some(((&low, first), (&high, last))) = first.split_first().zip(last.split_first()) else {
        return vec![Vec::new()];
    };
    let after = |digits: Digits, rest: Vec<Vec<Digits>>| {
        rest.into_iter().map(move |rest| [vec![digits], rest].concat()).collect::<Vec<_>>()
    };
    let is_whole = (all(0, first), all(greatest, last));
    if low == high && is_whole != (true, true) {
        return after((low, low), between(first, last, greatest));
    }
    let mut found = Vec::new();
    let (mut from, mut to) = (u16::from(low), u16::from(high) + 1);
    if !is_whole.0 {
        found.extend(after((low, low), between(first, &vec![greatest; first.len()], greatest)));
        from += 1;
    }
    to -= u16::from(!is_whole.1);
    if from < to {
        found.extend(after((from as u8, (to - 1) as u8), vec![vec![(0, greatest); first.len()]]));
    }
    if !is_whole.1 {
        found.extend(after((high, high), between(&vec![0; last.len()], last, greatest)));
    }
    found
}

/// Makes one list of lists that differ at one place.
fn merge(lists: Vec<Vec<CharSet>>) -> Vec<Vec<CharSet>> {
    let mut merged: Vec<Vec<CharSet>> = Vec::new();
    for list in lists {
        let only_difference = |other: &Vec<CharSet>| {
            let mut differences = (0..list.len()).filter(|&place| list[place] != other[place]);
            differences.next().filter(|_| differences.next().is_none())
        };
        let alike = merged.iter_mut().filter(|other| other.len() == list.len());
        match alike.filter_map(|other| Some((only_difference(other)?, other))).next() {
            Some((place, other)) => other[place] = other[place].union(&list[place]),
            None => merged.push(list),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_few_lists() {
        let range = |name: &str, first, last| {
            let lists = NumberForm::by_name(name).expect("a form").range(first, last);
            let shown =
                |set: &CharSet| set.ranges().iter().map(|(a, b)| format!("{a:x}-{b:x}")).collect::<Vec<_>>().join(",");
            lists.iter().map(|list| list.iter().map(shown).collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
        };
        assert_eq!(range("u8", 0, 255), ["0-ff"]);
        assert_eq!(range("i8", -128, 127), ["0-ff"]);
        assert_eq!(range("i8", -5, 10), ["0-a,fb-ff"]);
        assert_eq!(range("u16le", 0x1200, 0x34FF), ["0-ff 12-34"]);
        assert_eq!(range("u16be", 0x1234, 0x1301), ["12-12 34-ff", "13-13 0-1"]);
        assert_eq!(range("leb128", 100, 300), ["64-7f", "80-ff 1-1", "80-ac 2-2"]);
        assert_eq!(range("dec", -3, 12), ["30-39", "31-31 30-32", "2d-2d 31-33"]);
        assert_eq!(range("hex", 8, 12), ["38-39,61-63"]);
    }
}
