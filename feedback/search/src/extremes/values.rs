//! The values at bounds.

/// Exponents of two at which types end, or doubles stop to hold each integer.
const BITS: [u32; 11] = [7, 8, 15, 16, 31, 32, 53, 63, 64, 127, 128];

/// Numbers at the bounds of floating-point types, or written in unusual ways.
const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1e400",
    "-1e400",
    "5e-324",
    "-0.0",
    "1e-400",
    "1.7976931348623157e308",
    "1.7976931348623159e308",
    "2.2250738585072011e-308",
    "2.2250738585072014e-308",
    "3.4028236e38",
    "1e-46",
    "0e0",
    "0.0",
    "1e99999999999",
    "1E+2147483648",
    "1e-9223372036854775808",
    "0.1",
    "123456789012345678901234567890",
    "00",
    "01",
    "+1",
    ".5",
    "5.",
    "1_000",
    "0x7fffffffffffffff",
    "0x8000000000000000",
    "0xffffffffffffffff",
    "0x10000000000000000",
    "0X0",
    "0x",
    "0o777",
    "0b1",
    "1n",
    "NaN",
    "nan",
    "Infinity",
    "-Infinity",
    "inf",
    "-inf",
];

/// Dates and times, most of which do not exist.
const TIMES: &[&str] = &[
    "0000-01-01",
    "0001-01-01",
    "9999-12-31",
    "10000-01-01",
    "2023-02-29",
    "2023-02-30",
    "1900-02-29",
    "2000-00-00",
    "2000-13-01",
    "00:00:00",
    "24:00:00",
    "23:59:60",
    "23:59:59.9999999999999",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59-23:59",
    "2000-02-30T00:00:00Z",
    "2000-01-01T00:00:00+24:00",
    "1970-01-01 00:00:00",
];

/// Characters, escapes and names that programs treat in ways of their own.
const TEXTS: &[&str] = &[
    "",
    "\0",
    "\\uD800",
    "\r\n",
    "\u{FEFF}",
    "__proto__",
    "\u{2028}",
    "\\uDC00",
    "\r",
    "\n",
    "constructor",
    "é",
    "e\u{301}",
    "\u{FFFF}",
    "\u{10FFFF}",
    "\\uD800\\uD800",
    "\\u0000",
    " ",
    "\t",
    "\u{B}",
    "\u{C}",
    "\u{85}",
    "\u{A0}",
    "\u{2029}",
    "\u{202E}",
    "\u{1F600}",
    "\u{FFFD}",
    "\u{7F}",
    "\u{1}",
    "\\",
    "\"",
    "'",
    "`",
    "\\u{110000}",
    "\\u{0}",
    "\\x00",
    "\\U00110000",
    "\\U0000D800",
    "\\777",
    "\\0",
    "\\110000 ",
    "&#0;",
    "&#xD800;",
    "&#x110000;",
    "&#4294967296;",
    "&#x0;",
    "%00",
    "%s%n",
    "%",
    "hasOwnProperty",
    "toString",
    "valueOf",
    "length",
    "null",
    "true",
    "undefined",
    "None",
    "prototype",
    "$&",
    "\n\r",
    "\\\n",
    "\\\r\n",
    "-",
    "--",
    "../",
    "ß",
    "\u{130}",
];

/// Bytes that are no characters: UTF-8 that is overlong, cut, of surrogates or beyond Unicode; marks of UTF-16.
pub(super) const INVALID: &[&[u8]] = &[
    b"\xFF",
    b"\xC0\x80",
    b"\xED\xA0\x80",
    b"\x80",
    b"\xE2\x82",
    b"\xF4\x90\x80\x80",
    b"\0",
    b"\xED\xB0\x80",
    b"\xC0\xAF",
    b"\xF0\x80\x80\xAF",
    b"\xF8\x88\x80\x80\x80",
    b"\xF0\x9F\x98",
    b"\xC3",
    b"\xFF\xFE",
    b"\xFE\xFF",
    b"\xEF\xBB\xBF",
    b"\xEF\xBB",
    b"\x1B",
    b"\r",
    b"\x1A",
];

/// Returns all values, those of different kinds in turn.
pub(super) fn values() -> Vec<Vec<u8>> {
    let digits = |digit: char, count: usize| digit.to_string().repeat(count);
    let long = [digits('9', 400), digits('1', 4301), format!("0.{}1", digits('0', 400)), digits('a', 256)];
    let integers: Vec<String> = BITS.into_iter().flat_map(beside).collect();
    let owned = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect::<Vec<_>>();
    let kinds = [integers, owned(NUMBERS), owned(TEXTS), owned(TIMES), long.to_vec()];
    let longest = kinds.iter().map(Vec::len).max().unwrap_or(0);
    let in_turn = (0..longest).flat_map(|at| kinds.iter().filter_map(move |kind| kind.get(at)));
    in_turn.map(|value| value.clone().into_bytes()).collect()
}

/// Returns a power of two, the numbers beside it, and their negatives.
fn beside(bits: u32) -> Vec<String> {
    let power = power_of_two(bits);
    // No power of two but 1 ends in 0 or 9.
    let other = |change: i8| {
        let (rest, last) = power.split_at(power.len() - 1);
        format!("{rest}{}", char::from(last.as_bytes()[0].wrapping_add_signed(change)))
    };
    let numbers = [other(-1), power.clone(), other(1)];
    numbers.iter().map(|number| format!("-{number}")).chain(numbers.clone()).collect()
}

/// Returns the decimal digits of a power of two.
fn power_of_two(bits: u32) -> String {
    let mut digits = vec![1u8];
    for _ in 0..bits {
        let mut carry = 0;
        for digit in &mut digits {
            let doubled = 2 * *digit + carry;
            (*digit, carry) = (doubled % 10, doubled / 10);
        }
        if carry > 0 {
            digits.push(carry);
        }
    }
    digits.iter().rev().map(|digit| char::from(b'0' + digit)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn powers_of_two_are_exact() {
        assert_eq!(power_of_two(0), "1");
        assert_eq!(power_of_two(63), (1u64 << 63).to_string());
        assert_eq!(power_of_two(127), (1u128 << 127).to_string());
        assert_eq!(beside(64)[2], format!("-{}", (1u128 << 64) + 1));
        assert_eq!(beside(64)[3], u64::MAX.to_string());
    }

    #[test]
    fn values_are_distinct() {
        let all = values();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        assert!(all.len() > 150, "{}", all.len());
    }
}
