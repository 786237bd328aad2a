//! Decimal numbers as schemas write them, without rounding.

use std::cmp::Ordering;

/// The greatest magnitude of bounds. Bounds beyond it are lowered to it.
const GREATEST: i128 = 1_000_000_000_000_000_000;
/// The greatest number of digits after the point.
const MAX_SCALE: u32 = 17;

/// The number `digits / 10^scale`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    pub(super) digits: i128,
    pub(super) scale: u32,
}

impl Decimal {
    /// Returns the number of this text of JSON. A magnitude beyond 10^18 becomes 10^18, and digits beyond the
    /// seventeenth after the point are dropped.
    pub(super) fn read(text: &str) -> Option<Decimal> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let exponent: i64 = exponent.parse().unwrap_or(if exponent.starts_with('-') { -999 } else { 999 });
        let (sign, mantissa) = mantissa.strip_prefix('-').map_or((1, mantissa), |rest| (-1, rest));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let point = whole.len() as i64 + exponent;
        let all: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let first = all.iter().position(|&digit| digit != b'0').unwrap_or(all.len());
        if first < all.len() && point - first as i64 > 18 {
            return Some(Decimal { digits: sign * GREATEST, scale: 0 });
        }
        let digit = |place: i64| usize::try_from(place).ok().and_then(|place| all.get(place)).map_or(0, |&b| b - b'0');
        let last = all.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last as i64 + 1);
        let scale = (last - point).clamp(0, MAX_SCALE.into());
        let digits = (first as i64..point + scale)
            .try_fold(0i128, |number, place| number.checked_mul(10)?.checked_add(i128::from(digit(place))))?;
        Some(Decimal { digits: sign * digits, scale: scale as u32 })
    }

    /// Returns the number times 10^`scale`, rounded down, and whether that is exact.
    pub(super) fn scaled(self, scale: u32) -> (i128, bool) {
        match scale.checked_sub(self.scale) {
            Some(more) => (self.digits * 10i128.pow(more), true),
            None => {
                let unit = 10i128.pow(self.scale - scale);
                (self.digits.div_euclid(unit), self.digits.rem_euclid(unit) == 0)
            }
        }
    }

    /// Returns true if the number has no fraction.
    pub(super) fn is_whole(self) -> bool {
        self.scaled(0).1
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Decimal) -> Ordering {
        let scale = self.scale.max(other.scale);
        self.scaled(scale).0.cmp(&other.scaled(scale).0)
    }
}

/// A bound of numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    pub(super) at: Decimal,
    /// Whether the bound itself is out.
    pub(super) is_open: bool,
}

impl Bound {
    /// Returns the least number of 1/10^`scale` that a lower bound allows.
    pub(super) fn least(self, scale: u32) -> i128 {
        let (number, is_exact) = self.at.scaled(scale);
        number + i128::from(!is_exact || self.is_open)
    }

    /// Returns the greatest number of 1/10^`scale` that an upper bound allows.
    pub(super) fn greatest(self, scale: u32) -> i128 {
        let (number, is_exact) = self.at.scaled(scale);
        number - i128::from(is_exact && self.is_open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_without_rounding() {
        let read = |text| Decimal::read(text).map(|number| (number.digits, number.scale));
        assert_eq!(read("0"), Some((0, 0)));
        assert_eq!(read("-12"), Some((-12, 0)));
        assert_eq!(read("0.1"), Some((1, 1)));
        assert_eq!(read("1.50"), Some((15, 1)));
        assert_eq!(read("1e3"), Some((1000, 0)));
        assert_eq!(read("25e-4"), Some((25, 4)));
        assert_eq!(read("1e-30"), Some((0, 17)));
        assert_eq!(read("-1.7976931348623157e308"), Some((-1_000_000_000_000_000_000, 0)));
        let bound = |text, is_open| Bound { at: Decimal::read(text).expect("a number"), is_open };
        assert_eq!((bound("1.5", false).least(0), bound("1.5", false).greatest(0)), (2, 1));
        assert_eq!((bound("2", true).least(0), bound("2", true).greatest(0)), (3, 1));
        assert_eq!((bound("-0.5", false).least(0), bound("-0.5", false).greatest(0)), (0, -1));
    }
}
