//! Small algorithms that count their steps on texts with a repeated part.

use super::*;

/// A family of texts, an algorithm, and the growth of its steps in the number of repetitions.
struct Family {
    name: &'static str,
    text: fn(usize) -> String,
    steps: fn(&[u8]) -> u64,
    expected: Expected,
}

#[test]
fn growth_of_algorithms_in_the_number_of_repetitions() {
    for family in families() {
        let sizes: &[u64] = match family.expected {
            Expected::Base(base) if base < 2.0 => &[1, 2, 3, 4, 6, 8, 12, 16, 20, 24],
            Expected::Base(_) => &[1, 2, 3, 4, 6, 8, 10, 12, 14],
            _ => &[1, 2, 3, 4, 6, 8, 16, 32, 64, 128, 256],
        };
        let Family { name, text, steps, expected } = family;
        let bare = growth(sizes, |n| steps(text(n as usize).as_bytes()) as f64);
        assert_law(name, &bare, expected);
        // A program also starts, and reads its input.
        let whole = growth(sizes, |n| {
            let text = text(n as usize);
            (700 + 3 * text.len() as u64 + steps(text.as_bytes())) as f64
        });
        let expected = match expected {
            Expected::Constant | Expected::Logarithmic => Expected::Power(1.0),
            superlinear => superlinear,
        };
        assert_law(name, &whole, expected);
    }
}

fn families() -> Vec<Family> {
    use Expected::{Base, Constant, Linearithmic, Logarithmic, Power};
    let family = |name, text, steps, expected| Family { name, text, steps, expected };
    vec![
        family("the first byte", |n| "ab".repeat(n), |_| 1, Constant),
        family("binary search", |n| "ab".repeat(n), |text| u64::from(text.len().ilog2()) + 1, Logarithmic),
        family("depth of brackets", |n| "()".repeat(n), |text| text.len() as u64, Power(1.0)),
        family("pushes to a vector that doubles", |n| "ab".repeat(n), vector_pushes, Power(1.0)),
        family("merge sort", |n| "dcab".repeat(n), |text| merge_sort(&mut text.to_vec()), Linearithmic),
        family("divisors by trial", |n| "ab".repeat(n), divisors_by_trial, Power(1.5)),
        family("bubble sort", |n| "dcba".repeat(n), bubble_sort, Power(2.0)),
        family("quicksort of equal keys", |n| "a".repeat(n), |text| quicksort(text.to_vec()), Power(2.0)),
        family("naive substring search", |n| "aaa".repeat(n), naive_substring, Power(2.0)),
        family("text that grows by copies", |n| "ab".repeat(n), |text| (1..=text.len() as u64).sum(), Power(2.0)),
        family("hash collisions in one chain", colliding_keys, |text| hash_chains(text, 4096), Power(2.0)),
        family("backtracking a*a*b", |n| "a".repeat(n), |text| stars(text, 2), Power(2.0)),
        family("backtracking a*a*a*b", |n| "a".repeat(n), |text| stars(text, 3), Power(3.0)),
        family("Cocke, Younger, Kasami", |n| "()".repeat(n), cocke_younger_kasami, Power(3.0)),
        family("backtracking (a+)+b", |n| "a".repeat(n), nested_plus, Base(2.0)),
        family("recursive descent without memo", nested_brackets, |text| expression(text, 0).1, Base(3.0)),
        family("Fibonacci numbers by the definition", |n| "a".repeat(n), |text| fibonacci(text.len()), Base(1.618)),
    ]
}

pub(super) fn vector_pushes(text: &[u8]) -> u64 {
    let (mut capacity, mut steps) = (1, 0);
    for length in 0..text.len() as u64 {
        if length == capacity {
            steps += length;
            capacity *= 2;
        }
        steps += 1;
    }
    steps
}

pub(super) fn merge_sort(text: &mut [u8]) -> u64 {
    if text.len() < 2 {
        return 0;
    }
    let (left, right) = text.split_at_mut(text.len() / 2);
    let mut steps = merge_sort(left) + merge_sort(right);
    let (left, right) = (left.to_vec(), right.to_vec());
    let (mut from_left, mut from_right) = (0, 0);
    for place in text {
        steps += 1;
        let takes_left = from_right == right.len() || from_left < left.len() && left[from_left] <= right[from_right];
        *place = if takes_left { left[from_left] } else { right[from_right] };
        if takes_left { from_left += 1 } else { from_right += 1 }
    }
    steps
}

pub(super) fn divisors_by_trial(text: &[u8]) -> u64 {
    let mut steps = 0;
    for number in 1..=text.len() {
        let mut divisor = 1;
        while divisor * divisor <= number {
            steps += 1;
            divisor += 1;
        }
    }
    steps
}

pub(super) fn bubble_sort(text: &[u8]) -> u64 {
    let (mut text, mut steps) = (text.to_vec(), 0);
    loop {
        let mut swapped = false;
        for at in 1..text.len() {
            steps += 1;
            if text[at - 1] > text[at] {
                text.swap(at - 1, at);
                swapped = true;
            }
        }
        if !swapped {
            return steps;
        }
    }
}

pub(super) fn quicksort(text: Vec<u8>) -> u64 {
    let Some((&pivot, rest)) = text.split_first() else { return 1 };
    let (less, more): (Vec<u8>, Vec<u8>) = rest.iter().partition(|&&byte| byte < pivot);
    rest.len() as u64 + quicksort(less) + quicksort(more)
}

/// Searches the first half of the text, followed by a byte that it lacks.
pub(super) fn naive_substring(text: &[u8]) -> u64 {
    let mut wanted = text[..text.len() / 2].to_vec();
    wanted.push(b'b');
    let compared =
        |window: &[u8]| window.iter().zip(&wanted).take_while(|(left, right)| left == right).count() as u64 + 1;
    text.windows(wanted.len()).map(compared).sum()
}

/// Returns different keys with one hash under the polynomial with the factor 31.
fn colliding_keys(n: usize) -> String {
    let key = |number: usize| (0..10).map(|bit| if number >> bit & 1 == 1 { "Aa" } else { "BB" }).collect::<String>();
    (0..n).map(|number| key(number) + " ").collect()
}

/// Returns the steps of a hash table with this many chains.
fn hash_chains(text: &[u8], count: usize) -> u64 {
    let (mut chains, mut steps) = (vec![Vec::new(); count], 0);
    for key in text.split(|byte| *byte == b' ').filter(|key| !key.is_empty()) {
        let hash = key.iter().fold(0_u32, |hash, &byte| hash.wrapping_mul(31).wrapping_add(u32::from(byte)));
        let chain: &mut Vec<&[u8]> = &mut chains[hash as usize % count];
        let before = chain.iter().take_while(|known| **known != key).count();
        steps += 1 + before as u64;
        if before == chain.len() {
            chain.push(key);
        }
    }
    steps
}

/// Returns the steps of a hash table that doubles, with a hash of the first two characters of a key.
pub(super) fn hash_table(text: &[u8]) -> u64 {
    let place = |key: &[u8], chains: &Vec<Vec<&[u8]>>| {
        let hash = key.iter().take(2).fold(0_u32, |hash, &byte| hash.wrapping_mul(31).wrapping_add(u32::from(byte)));
        hash.wrapping_mul(0x9e37_79b1) as usize >> 8 & (chains.len() - 1)
    };
    let (mut chains, mut keys, mut steps) = (vec![Vec::new(); 8], 0, 0);
    for key in text.split(|byte| *byte == b' ').filter(|key| !key.is_empty()) {
        let at = place(key, &chains);
        let before = chains[at].iter().take_while(|known| **known != key).count();
        steps += 1 + before as u64;
        if before < chains[at].len() {
            continue;
        }
        chains[at].push(key);
        keys += 1;
        if keys > chains.len() {
            let known = std::mem::take(&mut chains);
            chains.resize(2 * known.len(), Vec::new());
            for key in known.into_iter().flatten() {
                let at = place(key, &chains);
                chains[at].push(key);
                steps += 1;
            }
        }
    }
    steps
}

/// Returns the steps of a match of `a*` as often as given, then `b`, at the beginning of a text without `b`.
fn stars(text: &[u8], left: u32) -> u64 {
    if left == 0 {
        return 1;
    }
    (0..=text.len()).map(|taken| 1 + stars(&text[taken..], left - 1)).sum()
}

/// Recognises brackets by the table of Cocke, Younger and Kasami, a set of symbols for each part of the text:
/// `S = S S | L R | L A; A = S R; L = "("; R = ")"`.
pub(super) fn cocke_younger_kasami(text: &[u8]) -> u64 {
    let [s, a, l, r] = [1_u8, 2, 4, 8];
    let rules = [(s, s, s), (s, l, r), (s, l, a), (a, s, r)];
    let leaf = |byte: &u8| if *byte == b'(' { l } else { r };
    // Row i holds the parts of length i + 1 by their beginnings.
    let mut table: Vec<Vec<u8>> = vec![text.iter().map(leaf).collect()];
    let mut steps = text.len() as u64;
    for length in 2..=text.len() {
        let mut row = vec![0; text.len() - length + 1];
        for (start, symbols) in row.iter_mut().enumerate() {
            for split in 1..length {
                let (left, right) = (table[split - 1][start], table[length - split - 1][start + split]);
                let derives = |rule: &&(u8, u8, u8)| left & rule.1 != 0 && right & rule.2 != 0;
                *symbols |= rules.iter().filter(derives).fold(0, |symbols, rule| symbols | rule.0);
                steps += 1;
            }
        }
        table.push(row);
    }
    assert_ne!(table[text.len() - 1][0] & s, 0, "brackets are in the language");
    steps
}

/// Returns the steps of a match of `(a+)+b` at the beginning of a text; `None` if they are too many.
pub(super) fn nested_groups(text: &[u8]) -> Option<u64> {
    const MOST: u64 = 1 << 18;
    /// Returns true if it matches after a group or more, or a step too many was made.
    fn groups(text: &[u8], steps: &mut u64) -> bool {
        let run = text.iter().take_while(|byte| **byte == b'a').count();
        (1..=run).rev().any(|taken| {
            *steps += 1;
            *steps > MOST || groups(&text[taken..], steps) || text.get(taken) == Some(&b'b')
        })
    }
    let mut steps = 0;
    groups(text, &mut steps);
    (steps <= MOST).then_some(steps)
}

/// Returns the steps of a match of `(a+)+b` on a text without `b`.
fn nested_plus(text: &[u8]) -> u64 {
    (1..=text.len()).map(|taken| 1 + nested_plus(&text[taken..])).sum::<u64>() + 1
}

fn nested_brackets(n: usize) -> String {
    "(".repeat(n) + "x" + &")".repeat(n)
}

/// Parses `E = T "+" E | T "-" E | T`; returns where the expression ends, and the steps.
pub(super) fn expression(text: &[u8], at: usize) -> (Option<usize>, u64) {
    let mut steps = 0;
    for operator in [Some(b'+'), Some(b'-'), None] {
        let (end, more) = term(text, at);
        steps += more + 1;
        let Some(end) = end else { continue };
        match operator {
            None => return (Some(end), steps),
            Some(operator) if text.get(end) == Some(&operator) => {
                let (end, more) = expression(text, end + 1);
                steps += more;
                if end.is_some() {
                    return (end, steps);
                }
            }
            Some(_) => {}
        }
    }
    (None, steps)
}

/// Parses `T = "x" | "(" E ")"`.
fn term(text: &[u8], at: usize) -> (Option<usize>, u64) {
    match text.get(at) {
        Some(b'x') => (Some(at + 1), 1),
        Some(b'(') => {
            let (end, steps) = expression(text, at + 1);
            (end.filter(|end| text.get(*end) == Some(&b')')).map(|end| end + 1), steps + 1)
        }
        _ => (None, 1),
    }
}

pub(super) fn fibonacci(n: usize) -> u64 {
    if n < 2 { 1 } else { 1 + fibonacci(n - 1) + fibonacci(n - 2) }
}
