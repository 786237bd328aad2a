//! AFL's havoc: random changes of bytes, several at once.

use crate::random::Random;

/// At most two to this power changes are made at once.
const MOST_STACKED: usize = 7;
/// Number of kinds of changes.
pub(crate) const OPERATORS: usize = 15;
/// The greatest number that is added or subtracted.
const MOST_ADDED: usize = 35;

const INTERESTING_8: [i32; 9] = [-128, -1, 0, 1, 16, 32, 64, 100, 127];
const INTERESTING_16: [i32; 10] = [-32768, -129, 128, 255, 256, 512, 1000, 1024, 4096, 32767];
const INTERESTING_32: [i32; 8] = [i32::MIN, -100_663_046, -32769, 32768, 65535, 65536, 100_663_045, i32::MAX];

/// Blocks do not become longer where texts may be longer than this.
const LONG: usize = 4096;

/// Lengths of blocks that are deleted, inserted and overwritten.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    /// The greatest length of a text.
    pub most: usize,
    /// Number of the ranges of lengths that are in use, of three.
    pub ranges: usize,
}

impl Blocks {
    /// Returns a length of at most `limit`, which is not 0.
    fn draw(self, limit: usize, random: &mut Random) -> usize {
        let [small, medium, large] = [1, 4, 12].map(|sixteenths| (self.most.min(LONG) * sixteenths / 16).max(1));
        let (least, most) = [(1, small), (small, medium), (medium, large)][random.below(self.ranges)];
        let least = if least >= limit { 1 } else { least };
        least + random.below(most.min(limit) - least + 1)
    }
}

/// Changes a text 2 to 128 times.
pub fn havoc(text: &mut Vec<u8>, blocks: Blocks, random: &mut Random) {
    if text.is_empty() {
        return;
    }
    for _ in 0..2usize << random.below(MOST_STACKED) {
        change(random.below(OPERATORS), text, blocks, random);
    }
}

/// Applies one operator. Some do nothing to texts that are too short, or as long as can be.
pub(crate) fn change(operator: usize, text: &mut Vec<u8>, blocks: Blocks, random: &mut Random) {
    let mut any = |bound: usize| random.below(bound);
    match operator {
        0 => {
            let bit = any(text.len() * 8);
            text[bit / 8] ^= 128 >> (bit % 8);
        }
        1 => replace::<1>(text, random, |_, random| interesting(&[&INTERESTING_8], random)),
        2 => replace::<2>(text, random, |_, random| interesting(&[&INTERESTING_8, &INTERESTING_16], random)),
        3 => replace::<4>(text, random, |_, random| {
            interesting(&[&INTERESTING_8, &INTERESTING_16, &INTERESTING_32], random)
        }),
        4 => replace::<1>(text, random, |number, random| number.wrapping_sub(addend(random))),
        5 => replace::<1>(text, random, |number, random| number.wrapping_add(addend(random))),
        6 => replace::<2>(text, random, |number, random| number.wrapping_sub(addend(random))),
        7 => replace::<2>(text, random, |number, random| number.wrapping_add(addend(random))),
        8 => replace::<4>(text, random, |number, random| number.wrapping_sub(addend(random))),
        9 => replace::<4>(text, random, |number, random| number.wrapping_add(addend(random))),
        10 => {
            let place = any(text.len());
            text[place] ^= 1 + any(255) as u8;
        }
        11 | 12 => delete(text, blocks, random),
        13 => insert(text, blocks, random),
        _ => overwrite(text, blocks, random),
    }
}

fn addend(random: &mut Random) -> u32 {
    1 + random.below(MOST_ADDED) as u32
}

fn interesting(lists: &[&[i32]], random: &mut Random) -> u32 {
    let mut number = random.below(lists.iter().map(|list| list.len()).sum());
    for list in lists {
        match list.get(number) {
            Some(&value) => return value as u32,
            None => number -= list.len(),
        }
    }
    0
}

/// Replaces the number in some `N` bytes, of either byte order.
fn replace<const N: usize>(text: &mut [u8], random: &mut Random, by: impl FnOnce(u32, &mut Random) -> u32) {
    if text.len() < N {
        return;
    }
    let place = random.below(text.len() - N + 1);
    let bytes = &mut text[place..place + N];
    let is_swapped = N > 1 && random.below(2) == 1;
    if is_swapped {
        bytes.reverse();
    }
    let mut number = [0; 4];
    number[..N].copy_from_slice(bytes);
    bytes.copy_from_slice(&by(u32::from_le_bytes(number), random).to_le_bytes()[..N]);
    if is_swapped {
        bytes.reverse();
    }
}

fn delete(text: &mut Vec<u8>, blocks: Blocks, random: &mut Random) {
    if text.len() < 2 {
        return;
    }
    let len = blocks.draw(text.len() - 1, random);
    let from = random.below(text.len() - len + 1);
    text.drain(from..from + len);
}

/// Inserts a block of the text (75 %) or of one byte.
fn insert(text: &mut Vec<u8>, blocks: Blocks, random: &mut Random) {
    let is_clone = random.below(4) > 0;
    let len = blocks.draw(if is_clone { text.len() } else { blocks.most.max(1) }, random);
    if text.len() + len >= blocks.most {
        return;
    }
    let block = match is_clone {
        true => {
            let from = random.below(text.len() - len + 1);
            text[from..from + len].to_vec()
        }
        false => vec![filler(text, random); len],
    };
    let to = random.below(text.len());
    text.splice(to..to, block);
}

/// Overwrites a block by another one of the text (75 %) or by one byte.
fn overwrite(text: &mut [u8], blocks: Blocks, random: &mut Random) {
    if text.len() < 2 {
        return;
    }
    let len = blocks.draw(text.len() - 1, random);
    let [from, to] = [(); 2].map(|()| random.below(text.len() - len + 1));
    if random.below(4) > 0 {
        text.copy_within(from..from + len, to);
    } else {
        let byte = filler(text, random);
        text[to..to + len].fill(byte);
    }
}

/// Returns any byte, or any of the text.
fn filler(text: &[u8], random: &mut Random) -> u8 {
    match random.below(2) {
        0 => text[random.below(text.len())],
        _ => random.below(256) as u8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: Blocks = Blocks { most: 60, ranges: 3 };

    /// Returns all texts that an operator makes.
    fn results(operator: usize, text: &[u8], blocks: Blocks) -> Vec<Vec<u8>> {
        let mut random = Random::new(1);
        let mut results: Vec<Vec<u8>> = (0..20_000)
            .map(|_| {
                let mut text = text.to_vec();
                change(operator, &mut text, blocks, &mut random);
                text
            })
            .collect();
        results.sort();
        results.dedup();
        results
    }

    #[test]
    fn operators_change_what_they_say() {
        assert_eq!(results(0, &[0], BLOCKS), [1, 2, 4, 8, 16, 32, 64, 128].map(|byte| vec![byte]));
        let mut bytes = INTERESTING_8.map(|value| vec![value as u8]);
        bytes.sort();
        assert_eq!(results(1, b"x", BLOCKS), bytes);
        // 19 values in two byte orders. 0 and -1 read the same backwards, and of four pairs each is the other one
        // backwards: 1 and 256, 16 and 4096, 128 and -32768, -129 and 32767.
        assert_eq!(results(2, b"xx", BLOCKS).len(), 19 * 2 - 2 - 4 * 2);
        assert_eq!(results(4, &[10], BLOCKS).len(), 35);
        assert!(results(5, &[255], BLOCKS).iter().all(|text| text[0] < 35));
        assert!(results(7, &[255, 0], BLOCKS).contains(&vec![0, 1]));
        assert_eq!(results(10, &[7], BLOCKS).len(), 255);
        assert_eq!(results(11, b"abc", BLOCKS), [&b"a"[..], b"ab", b"ac", b"bc", b"c"]);
        assert_eq!([2, 3, 11, 14].map(|operator| results(operator, b"x", BLOCKS).len()), [1; 4]);
    }

    #[test]
    fn no_text_is_empty_or_longer_than_the_limit() {
        let mut random = Random::new(1);
        for ranges in 1..=3 {
            for most in 1..40 {
                let mut text = b"x".to_vec();
                for _ in 0..200 {
                    havoc(&mut text, Blocks { most, ranges }, &mut random);
                    assert!((1..=most).contains(&text.len()), "{}", text.len());
                }
            }
        }
    }

    #[test]
    fn blocks_are_small_at_first() {
        let mut random = Random::new(1);
        let mut longest = |ranges, limit| {
            let blocks = Blocks { most: 64, ranges };
            (0..1000).map(|_| blocks.draw(limit, &mut random)).max()
        };
        assert_eq!([longest(1, 60), longest(2, 60), longest(3, 60)], [Some(4), Some(16), Some(48)]);
        assert_eq!(longest(3, 10), Some(10));
    }

    #[test]
    fn blocks_are_bounded_however_long_texts_may_be() {
        let mut random = Random::new(1);
        let blocks = Blocks { most: usize::MAX, ranges: 3 };
        assert!((0..1000).all(|_| blocks.draw(usize::MAX, &mut random) <= LONG));
        let mut text = vec![b'x'; 2 * LONG];
        for _ in 0..1000 {
            change(13, &mut text, blocks, &mut random);
        }
        assert!(text.len() > 3 * LONG, "{}", text.len());
    }
}
