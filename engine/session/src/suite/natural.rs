//! Natural numbers of any size, as far as counting needs them.

use std::fmt;

/// A natural number: its digits in base 2^64, the lowest first, without zeros at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Natural(Vec<u64>);

/// The greatest power of ten in a digit, and its zeros.
const TENS: (u64, usize) = (10_000_000_000_000_000_000, 19);

impl Natural {
    /// Returns true if it is 0.
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number, or the greatest value if it is greater.
    pub fn saturated(&self) -> u64 {
        match self.0[..] {
            [] => 0,
            [digit] => digit,
            _ => u64::MAX,
        }
    }

    /// Returns the number of its digits.
    pub(super) fn digits(&self) -> usize {
        self.0.len()
    }

    /// Adds another number.
    pub fn add(&mut self, other: &Natural) {
        self.add_product(other, &Natural::from(1));
    }

    /// Adds the product of two numbers.
    pub fn add_product(&mut self, a: &Natural, b: &Natural) {
        if a.is_zero() || b.is_zero() {
            return;
        }
        // Room for a carry.
        self.0.resize(self.0.len().max(a.0.len() + b.0.len()) + 1, 0);
        for (at, &digit) in a.0.iter().enumerate() {
            let mut carry = 0;
            for (sum, other) in self.0[at..].iter_mut().zip(b.0.iter().copied().chain(std::iter::repeat(0))) {
                let product = u128::from(digit) * u128::from(other) + u128::from(*sum) + carry;
                *sum = product as u64;
                carry = product >> 64;
            }
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    /// Divides the number, and returns the remainder.
    fn divide(&mut self, by: u64) -> u64 {
        let mut remainder = 0;
        for digit in self.0.iter_mut().rev() {
            let value = u128::from(remainder) << 64 | u128::from(*digit);
            *digit = (value / u128::from(by)) as u64;
            remainder = (value % u128::from(by)) as u64;
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        remainder
    }
}

impl From<u64> for Natural {
    fn from(number: u64) -> Natural {
        Natural(Some(number).filter(|&number| number > 0).into_iter().collect())
    }
}

impl fmt::Display for Natural {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut rest, mut groups) = (self.clone(), Vec::new());
        while !rest.is_zero() {
            groups.push(rest.divide(TENS.0));
        }
        write!(f, "{}", groups.pop().unwrap_or(0))?;
        groups.iter().rev().try_for_each(|group| write!(f, "{group:0width$}", width = TENS.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact() {
        let mut factorial = Natural::from(1);
        for number in 2..=30 {
            let mut next = Natural::default();
            next.add_product(&factorial, &Natural::from(number));
            factorial = next;
        }
        assert_eq!(factorial.to_string(), "265252859812191058636308480000000");
        assert_eq!(factorial.saturated(), u64::MAX);
        let mut sum = Natural::from(u64::MAX);
        sum.add(&Natural::from(1));
        assert_eq!((sum.to_string().as_str(), sum.digits()), ("18446744073709551616", 2));
        let mut square = Natural::default();
        square.add_product(&sum, &sum);
        square.add(&Natural::from(7));
        assert_eq!(square.to_string(), "340282366920938463463374607431768211463");
        assert_eq!((Natural::default().to_string().as_str(), Natural::from(7).saturated()), ("0", 7));
        assert!(Natural::from(0).is_zero());
    }

    #[test]
    fn groups_of_digits_keep_their_zeros() {
        let mut number = Natural::default();
        number.add_product(&Natural::from(TENS.0), &Natural::from(30));
        number.add(&Natural::from(5));
        assert_eq!(number.to_string(), "300000000000000000005");
    }
}
