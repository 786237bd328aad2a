//! Sets of bytes of which members are drawn, and the placeholder codes that let most of them be drawn in one pass over
//! the text.

use std::collections::{BTreeMap, BTreeSet};

use gramjet_compiler::analysis::pools::Pools;
use gramjet_compiler::charset::{CharSet, Unit};
use gramjet_compiler::ir::{Choice, Ir, NodeId};
use regex_syntax::utf8::Utf8Sequences;

/// There are at most this many codes: they share the upper half of the byte.
pub(crate) const CODES: usize = 16;
/// A set of more ranges than this gets no code.
pub(crate) const MAX_RANGES: usize = 8;

/// A set of at least two bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ByteSet([u64; 4]);

impl ByteSet {
    pub(crate) fn of(bytes: impl IntoIterator<Item = u8>) -> ByteSet {
        let mut set = ByteSet([0; 4]);
        bytes.into_iter().for_each(|byte| set.insert(byte));
        set
    }

    fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    pub(crate) fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 != 0
    }

    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns the members, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u8> + '_ {
        (0..=255).filter(|&byte| self.contains(byte))
    }

    /// Returns the inclusive ranges, ascending.
    pub(crate) fn ranges(&self) -> Vec<(u8, u8)> {
        let mut ranges: Vec<(u8, u8)> = Vec::new();
        for byte in self.iter() {
            match ranges.last_mut() {
                Some(last) if last.1 + 1 == byte => last.1 = byte,
                _ => ranges.push((byte, byte)),
            }
        }
        ranges
    }
}

/// Bytes one after the other, each of a set; a set of one member is that byte.
pub(crate) type Product = Vec<ByteSet>;

/// Returns a class as products that have no string in common, each with the number of its strings.
pub(crate) fn products(set: &CharSet) -> Vec<(f64, Product)> {
    let single = match set.unit() {
        Unit::Byte => ByteSet::of(set.iter().map(|byte| byte as u8)),
        Unit::Char => ByteSet::of(set.iter().take_while(|&member| member < 0x80).map(|byte| byte as u8)),
    };
    let mut products = Vec::new();
    if single.len() > 0 {
        products.push((single.len() as f64, vec![single]));
    }
    if set.unit() == Unit::Char {
        let characters = set.ranges().iter().filter(|range| range.1 >= 0x80);
        for &(low, high) in characters {
            let (Some(low), Some(high)) = (char::from_u32(low.max(0x80)), char::from_u32(high)) else { continue };
            for sequence in Utf8Sequences::new(low, high) {
                let product: Product =
                    sequence.as_slice().iter().map(|range| ByteSet::of(range.start..=range.end)).collect();
                let strings: usize = product.iter().map(ByteSet::len).product();
                products.push((strings as f64, product));
            }
        }
    }
    products
}

/// Returns the options of an unweighted choice that are single bytes, if there are several, and the numbers of its
/// other options. An option that repeats the byte of an earlier one counts among the others.
pub(crate) fn byte_options(ir: &Ir, node: NodeId) -> Option<(ByteSet, Box<[usize]>)> {
    let Some(Choice { options, slots: None }) = ir.node(node).choice() else { return None };
    let mut set = ByteSet([0; 4]);
    let is_other = |index: &usize| match ir.node(options[*index]).literal() {
        Some(&[byte]) if !set.contains(byte) => {
            set.insert(byte);
            false
        }
        _ => true,
    };
    let others = (0..options.len()).filter(is_other).collect();
    (set.len() > 1).then_some((set, others))
}

/// A pool is drawn as a product only if the product has at most this many sets.
const MAX_PRODUCT: usize = 3;

/// Returns the product that strings of a pool are, if they are one of few sets that are not all of one member.
pub(crate) fn product_of(strings: &[Box<[u8]>]) -> Option<Product> {
    let length = strings[0].len();
    if strings.len() < 2 || length > MAX_PRODUCT || strings.iter().any(|string| string.len() != length) {
        return None;
    }
    let product: Product = (0..length).map(|at| ByteSet::of(strings.iter().map(|string| string[at]))).collect();
    let mut size = 1usize;
    for set in &product {
        size = size.checked_mul(set.len()).filter(|&size| size <= strings.len())?;
    }
    // The strings of a pool differ: if there are as many as the product has, they are the product.
    (size == strings.len()).then_some(product)
}

/// Sets with the codes by which they are drawn.
#[derive(Clone, Debug)]
pub(crate) struct Codes {
    /// The upper half that all codes share.
    window: u8,
    sets: BTreeMap<ByteSet, u8>,
}

impl Codes {
    /// Returns the code of a set, if it has one.
    pub(crate) fn code(&self, set: &ByteSet) -> Option<u8> {
        self.sets.get(set).copied()
    }

    /// Returns the upper half of all codes.
    pub(crate) fn window(&self) -> u8 {
        self.window
    }

    /// Returns the sets with their codes.
    pub(crate) fn sets(&self) -> impl Iterator<Item = (&ByteSet, u8)> {
        self.sets.iter().map(|(set, &code)| (set, code))
    }

    /// Gives codes to the sets that are most worth it, from bytes that no literal text and no member of a set without a
    /// code has.
    pub(crate) fn choose(ir: &Ir, pools: &Pools, with_pools: bool, texts: &[&[u8]]) -> Codes {
        let mut literal = ByteSet([0; 4]);
        let mut worth: BTreeMap<ByteSet, u64> = BTreeMap::new();
        let mut text = |bytes: &[u8]| bytes.iter().for_each(|&byte| literal.insert(byte));
        texts.iter().for_each(|bytes| text(bytes));
        let mut set = |set: ByteSet| *worth.entry(set).or_default() += u64::from(set.len().ilog2());
        for node in (0..ir.node_count()).map(NodeId::new) {
            ir.node(node).literal().into_iter().for_each(&mut text);
            let products = ir.node(node).class().into_iter().flat_map(products);
            products.flat_map(|(_, product)| product).for_each(&mut set);
            byte_options(ir, node).into_iter().for_each(|(bytes, _)| set(bytes));
        }
        if with_pools {
            for pool in ir.bodies().filter_map(|(rule, _)| pools.get(rule)) {
                for same_len in pool.strings.chunk_by(|a, b| a.len() == b.len()) {
                    match product_of(same_len) {
                        Some(product) => product.into_iter().for_each(&mut set),
                        None => same_len.iter().for_each(|string| text(string)),
                    }
                }
            }
        }
        let single: Vec<ByteSet> = worth.keys().copied().filter(|set| set.len() == 1).collect();
        for set in single {
            worth.remove(&set);
            set.iter().for_each(|byte| text(&[byte]));
        }
        let mut order: Vec<(u64, ByteSet)> = worth.into_iter().map(|(set, worth)| (worth, set)).collect();
        order.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        (0..16)
            .map(|window| Codes::within(window, &order, &literal))
            .max_by_key(|codes| {
                let worth: u64 =
                    order.iter().filter(|(_, set)| codes.sets.contains_key(set)).map(|(worth, _)| worth).sum();
                (worth, codes.window)
            })
            .expect("there are sixteen windows")
    }

    /// Returns the best that one window can do.
    fn within(window: u8, order: &[(u64, ByteSet)], literal: &ByteSet) -> Codes {
        let mut taken: BTreeSet<u8> = literal.iter().filter(|byte| byte >> 4 == window).collect();
        let able = |set: &ByteSet| set.ranges().len() <= MAX_RANGES && set.len() < 256;
        let mut kept = CODES;
        loop {
            kept = kept.min(CODES - taken.len());
            let coded: Vec<ByteSet> = order.iter().map(|&(_, set)| set).filter(able).take(kept).collect();
            // Members of the others are literal text.
            let others = order.iter().filter(|(_, set)| !coded.contains(set));
            let more: BTreeSet<u8> =
                others.flat_map(|(_, set)| set.iter().collect::<Vec<_>>()).filter(|byte| byte >> 4 == window).collect();
            let before = taken.len();
            taken.extend(more);
            if taken.len() == before {
                let codes = (window << 4..=window << 4 | 15).filter(|code| !taken.contains(code));
                return Codes { window, sets: coded.into_iter().zip(codes).collect() };
            }
        }
    }
}
