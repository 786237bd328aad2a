//! The code of sites: classes and choices. What only emits short strings is data, not branches.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::Emitter;
use super::body::At;
use super::credit::MAX_LITERAL;
use crate::analysis::alike::{groups, is_shared, items};
use crate::charset::CharSet;
use crate::ir::{Choice, Ir, Node, NodeId, Site, Slots};

/// Literals up to this length fit a packed table.
pub(super) const MAX_PACKED: usize = 7;

/// Strings of a choice among choices have at most so many bytes, ...
const MAX_NESTED: usize = 32;
/// ... and their table as many: larger ones would not stay in the first-level cache.
const MAX_NESTED_TABLE: usize = 1 << 14;

/// Of a choice with other options too, so many literals at least make a table.
const MIN_TABLE: usize = 2;

/// The literals that the options of a choice begin with, in canonical order.
fn leading_literals<'i>(ir: &'i Ir, choice: &Choice) -> Vec<&'i [u8]> {
    choice
        .options
        .iter()
        .map_while(|&option| match ir.node(option) {
            Node::Bytes(bytes) => Some(&**bytes),
            _ => None,
        })
        .collect()
}

/// What each choice byte leads to at a site that reads one.
fn by_byte(site: Site<'_>, what: impl Fn(usize) -> u8) -> [u8; 256] {
    std::array::from_fn(|byte| what(site.option_of(byte as u32) as usize))
}

impl Emitter<'_> {
    pub(super) fn class(&mut self, set: &CharSet) -> TokenStream {
        let count = set.len();
        if count > 256 {
            let ensure = self.take(3, 4);
            let class = self.statics.char_class(set);
            return quote!(#ensure s = cx.member::<LEN>(s, &#class););
        }
        let members: Vec<_> = set.iter().map(|member| set.encode(member)).collect();
        if set.max_len() == 1 {
            return self.put_mapped(&by_byte(Site::even(count), |option| members[option].as_ref()[0]));
        }
        let literals: Vec<&[u8]> = members.iter().map(AsRef::as_ref).collect();
        let costs: Vec<u64> = literals.iter().map(|literal| literal.len() as u64 - set.min_len()).collect();
        let ensure = self.take(1, set.max_len() as usize);
        let pick = self.pick(literals.len(), None, &costs);
        let table = self.statics.packed(&literals);
        quote!({ #ensure let option = #pick; cx.put_packed(&mut s, &#table, option); })
    }

    /// One of at most 256 equally probable strings of the same short length.
    pub(super) fn put_equal(&mut self, strings: &[&[u8]]) -> TokenStream {
        if strings[0].len() == 1 {
            return self.put_mapped(&by_byte(Site::even(strings.len() as u32), |option| strings[option][0]));
        }
        let ensure = self.take(1, strings[0].len());
        let pick = self.pick(strings.len(), None, &[0]);
        let table = self.statics.packed(strings);
        quote!({ #ensure let option = #pick; cx.put_packed(&mut s, &#table, option); })
    }

    fn put_mapped(&mut self, table: &[u8; 256]) -> TokenStream {
        let ensure = self.take(1, 1);
        let table = self.statics.bytes("BYTES", table);
        quote!(#ensure cx.put_mapped(&mut s, &#table);)
    }

    /// What each option costs more than the first.
    pub(super) fn costs(&self, node: NodeId, choice: &Choice) -> Vec<u64> {
        if !self.ir.is_ordered() {
            // There is no length limit.
            return vec![0; choice.options.len()];
        }
        let min_len = self.ir.facts(node).min_len;
        choice.options.iter().map(|&option| self.ir.facts(option).min_len - min_len).collect()
    }

    /// An expression for the option of a site; it pays the option's cost.
    fn pick(&mut self, count: usize, choice: Option<&Choice>, costs: &[u64]) -> TokenStream {
        let slots = choice.and_then(|choice| choice.slots.as_ref());
        let options = Literal::usize_unsuffixed(count);
        let free = match slots {
            None if count <= 256 => quote!(cx.pick8(&mut s, #options)),
            None => quote!(cx.pick(&mut s, #options)),
            Some(slots) if slots.bits() == 8 => {
                let table = by_byte(Site::new(count as u32, Some(slots)), |option| option as u8);
                let table = self.statics.bytes("OPTIONS", &table);
                quote!(cx.pick_mapped(&mut s, &#table))
            }
            Some(slots) => {
                let bits = Literal::u32_unsuffixed(slots.bits());
                let ends = self.statics.ends(slots.ends());
                quote!(cx.pick_slot(&mut s, #bits, &#ends))
            }
        };
        if costs.last() == Some(&0) {
            return free;
        }
        let limited = self.pick_within(slots, costs);
        quote!(if LEN { #limited } else { #free })
    }

    /// An expression for the option of a site under a length limit; it pays the option's cost.
    fn pick_within(&mut self, slots: Option<&Slots>, costs: &[u64]) -> TokenStream {
        let costs = self.statics.costs(costs);
        match slots {
            None => quote!(cx.pick_within(&mut s, &#costs)),
            Some(slots) => {
                let bits = Literal::u32_unsuffixed(slots.bits());
                let ends = self.statics.ends(slots.ends());
                quote!(cx.pick_slot_within(&mut s, #bits, &#ends, &#costs))
            }
        }
    }

    pub(super) fn choice(&mut self, node: NodeId, choice: &Choice, at: &At) -> TokenStream {
        let costs = self.costs(node, choice);
        let count = choice.options.len();
        let ir = self.ir;
        let literals = leading_literals(ir, choice);
        let site = Site::new(count as u32, choice.slots.as_ref());
        // One byte each, whatever the site: the choice byte leads to it at once.
        if literals.len() == count && literals.iter().all(|literal| literal.len() == 1) && site.bits() == 8 {
            return self.put_mapped(&by_byte(site, |option| literals[option][0]));
        }
        if let Some(chain) = self.chain(node, at) {
            return chain;
        }
        if let Some(nested) = self.nested(choice, &costs) {
            return nested;
        }
        let ensure = self.take(site.width() as usize, 0);
        if literals.len() == count {
            let pick = self.pick(count, Some(choice), &costs);
            let put = self.put_one_of(&literals, &Chosen::Option);
            return quote!({ #ensure let option = #pick; #put });
        }
        let packed = literals.iter().take_while(|literal| literal.len() <= MAX_PACKED).count();
        let first = if packed >= MIN_TABLE { packed } else { 0 };
        let options: Vec<Vec<NodeId>> = choice.options[first..].iter().map(|&option| items(ir, option)).collect();
        let shared = (0..).take_while(|&position| is_shared(ir, &options, position)).count();
        let groups = groups(ir, &options, shared, MAX_PACKED);
        let branches = Branches { first, options, shared, groups };
        let chosen = Chosen::new(choice, branches.groups.len() + usize::from(first > 0));
        let pick = match &chosen {
            Chosen::Option => {
                let pick = self.pick(count, Some(choice), &costs);
                quote!(let option = #pick;)
            }
            Chosen::Slot { .. } if costs.last() == Some(&0) => quote!(let slot = cx.byte(&mut s);),
            Chosen::Slot { first_slots, .. } => {
                let table = self.statics.short_bytes("SLOTS", first_slots);
                let pick = self.pick_within(choice.slots.as_ref(), &costs);
                quote!(let slot = if LEN { #table[#pick] } else { cx.byte(&mut s) };)
            }
        };
        if first == 0 {
            let branches = self.branches(&branches, &chosen, at);
            return quote!({ #ensure #pick #branches });
        }
        let mut codes = Vec::new();
        self.either([true, false], |emitter, is_literal| {
            codes.push(match is_literal {
                true => emitter.put_one_of(&literals[..first], &chosen),
                false => emitter.branches(&branches, &chosen, at),
            });
        });
        let is_literal = chosen.is_below(first);
        let (put, branches) = (&codes[0], &codes[1]);
        quote!({ #ensure #pick if #is_literal { #put } else { #branches } })
    }

    /// The code of the options behind the literals, once the site is decided: what all begin with, then a branch for each
    /// group of options that differ in short literals only.
    fn branches(&mut self, branches: &Branches, chosen: &Chosen, at: &At) -> TokenStream {
        let Branches { first, options, shared, groups } = branches;
        let head: TokenStream = options[0][..*shared].iter().map(|&item| self.node(item, at)).collect();
        let last = groups.len() - 1;
        let mut arms: Vec<(TokenStream, TokenStream)> = Vec::with_capacity(groups.len());
        self.either(groups.iter().enumerate(), |emitter, (index, group)| {
            let code = (*shared..options[group[0]].len())
                .map(|position| {
                    let members: Vec<(usize, NodeId)> =
                        group.iter().map(|&option| (first + option, options[option][position])).collect();
                    emitter.merged(&members, chosen, at)
                })
                .collect();
            let pattern = match index == last {
                true => quote!(_),
                false => chosen.pattern(group.iter().map(|option| first + option)),
            };
            arms.push((pattern, code));
        });
        let subject = chosen.subject();
        let branches = match &arms[..] {
            [(_, code)] => quote!(#code),
            [(pattern, code), (_, other)] if code.is_empty() => quote!(if !matches!(#subject, #pattern) { #other }),
            _ => {
                let arms = arms.iter().map(|(pattern, code)| quote!(#pattern => { #code }));
                quote!(match #subject { #(#arms)* })
            }
        };
        quote!(#head #branches)
    }

    /// The code of an item that is the same in several options but for short literals.
    fn merged(&mut self, members: &[(usize, NodeId)], chosen: &Chosen, at: &At) -> TokenStream {
        let ir = self.ir;
        let (_, item) = members[0];
        if members.iter().all(|&(_, other)| ir.is_written_like(item, other)) {
            return self.node(item, at);
        }
        let count = members.iter().map(|(option, _)| option + 1).max().unwrap_or(0);
        let mut literals: Vec<&[u8]> = vec![b""; count];
        for &(option, item) in members {
            if let Node::Bytes(bytes) = ir.node(item) {
                literals[option] = bytes;
            }
        }
        let ensure = self.take(0, literals.iter().map(|literal| literal.len()).max().unwrap_or(0));
        let table = self.statics.packed(&literals);
        let option = self.option(chosen);
        quote!(#ensure cx.put_packed(&mut s, &#table, #option);)
    }

    /// The code of a choice whose options are short literals or choices of such, where a length limit does not tell them
    /// apart: two sites, no branch.
    fn nested(&mut self, choice: &Choice, costs: &[u64]) -> Option<TokenStream> {
        let ir = self.ir;
        let mut entries: Vec<u32> = Vec::with_capacity(choice.options.len());
        let mut leaves: Vec<&[u8]> = Vec::new();
        if choice.slots.is_some() || choice.options.len() > 256 || costs.last() != Some(&0) {
            return None;
        }
        for &option in &choice.options {
            let first = leaves.len() as u32;
            match ir.node(option) {
                Node::Choice(inner) if inner.slots.is_none() && inner.options.len() <= 256 => {
                    leaves.extend(leading_literals(ir, inner));
                    if leaves.len() as u32 - first != inner.options.len() as u32 {
                        return None;
                    }
                }
                Node::Bytes(bytes) => leaves.push(bytes),
                _ => return None,
            }
            entries.push(first | (leaves.len() as u32 - first) << 16);
        }
        if leaves.len() == entries.len() {
            return None;
        }
        let len = leaves.iter().map(|leaf| leaf.len()).max()?;
        // Under a length limit the sites may be narrowed unless all leaves cost the same.
        let is_narrowed = self.ir.is_ordered() && leaves.iter().any(|leaf| leaf.len() != len);
        if len > MAX_NESTED || leaves.len() * len.max(8) > MAX_NESTED_TABLE || is_narrowed {
            return None;
        }
        let ensure = self.take(2, len);
        let count = Literal::usize_unsuffixed(entries.len());
        let entries = self.statics.ends(&entries);
        let put = match len {
            ..=MAX_PACKED => {
                let table = self.statics.packed(&leaves);
                quote!(cx.put_packed(&mut s, &#table, leaf);)
            }
            _ => {
                let table = self.statics.unordered_strings("STRINGS", &leaves);
                quote!(s = cx.put_string(s, &#table, leaf);)
            }
        };
        Some(quote!({ #ensure let leaf = cx.pick_nested(&mut s, #count, &#entries); #put }))
    }

    /// An expression for the number of the option that was chosen.
    fn option(&mut self, chosen: &Chosen) -> TokenStream {
        match chosen {
            Chosen::Option => quote!(option),
            Chosen::Slot { first_slots, map: None } => {
                let count = Literal::usize_unsuffixed(first_slots.len());
                quote!(((usize::from(slot) * #count) >> 8))
            }
            Chosen::Slot { map: Some(map), .. } => {
                let map = self.statics.bytes("OPTIONS", map);
                quote!(usize::from(#map[usize::from(slot)]))
            }
        }
    }

    /// Emits the literal whose number was chosen.
    fn put_one_of(&mut self, literals: &[&[u8]], chosen: &Chosen) -> TokenStream {
        let option = self.option(chosen);
        let longest = literals.iter().map(|literal| literal.len()).max().unwrap_or(0);
        let reserve = match longest > MAX_LITERAL {
            true => self.reserve_output(longest),
            false => self.take(0, longest),
        };
        if longest <= MAX_PACKED {
            let table = self.statics.packed(literals);
            return quote!(#reserve cx.put_packed(&mut s, &#table, #option););
        }
        let table = match self.ir.is_ordered() {
            true => self.statics.strings("STRINGS", literals, None),
            false => self.statics.unordered_strings("STRINGS", literals),
        };
        quote!(#reserve s = cx.put_string(s, &#table, #option);)
    }
}

/// The options of a choice that are not literals of a table.
struct Branches {
    /// The number of the first one.
    first: usize,
    /// The items of each.
    options: Vec<Vec<NodeId>>,
    /// How many items all of them begin with.
    shared: usize,
    /// The options in groups that share their code.
    groups: Vec<Vec<usize>>,
}

/// What the code of a site branches on.
enum Chosen {
    /// The number of the option.
    Option,
    /// The choice byte itself: no multiplication and no table stands between it and the branch, which so is known sooner
    /// where it was predicted wrongly.
    Slot {
        /// The first choice byte of each option.
        first_slots: Vec<u8>,
        /// The option of each choice byte, if the site is weighted.
        map: Option<Box<[u8; 256]>>,
    },
}

/// With more branches than this a jump table is better than comparisons.
const MAX_COMPARED: usize = 4;

impl Chosen {
    fn new(choice: &Choice, branches: usize) -> Chosen {
        let count = choice.options.len();
        // Of two equal options the compiler sees through the multiplication.
        let is_plain = choice.slots.is_none() && count == 2;
        let map = Site::new(count as u32, choice.slots.as_ref()).options_of_bytes().filter(|_| !is_plain);
        let Some(map) = map.filter(|_| (2..=MAX_COMPARED).contains(&branches)) else { return Chosen::Option };
        let first = |option: usize| map.iter().position(|&other| usize::from(other) == option);
        let first_slots: Option<Vec<u8>> = (0..count).map(|option| first(option).map(|slot| slot as u8)).collect();
        match first_slots {
            Some(first_slots) => Chosen::Slot { first_slots, map: choice.slots.as_ref().map(|_| Box::new(map)) },
            // An option without a slot is never chosen by a byte, but may be by a length limit.
            None => Chosen::Option,
        }
    }

    fn subject(&self) -> TokenStream {
        match self {
            Chosen::Option => quote!(option),
            Chosen::Slot { .. } => quote!(slot),
        }
    }

    /// An expression for whether one of the first `count` options was chosen.
    fn is_below(&self, count: usize) -> TokenStream {
        match self {
            Chosen::Option => {
                let count = Literal::usize_unsuffixed(count);
                quote!(option < #count)
            }
            Chosen::Slot { first_slots, .. } => {
                let bound = Literal::u8_unsuffixed(first_slots[count]);
                quote!(slot < #bound)
            }
        }
    }

    /// A pattern for some options, in ascending order.
    fn pattern(&self, options: impl Iterator<Item = usize>) -> TokenStream {
        let Chosen::Slot { first_slots, .. } = self else {
            let numbers = options.map(Literal::usize_unsuffixed);
            return quote!(#(#numbers)|*);
        };
        let mut ranges: Vec<(u8, u8)> = Vec::new();
        for option in options {
            let (low, high) = (first_slots[option], first_slots.get(option + 1).map_or(u8::MAX, |&next| next - 1));
            match ranges.last_mut() {
                Some(last) if last.1.checked_add(1) == Some(low) => last.1 = high,
                _ => ranges.push((low, high)),
            }
        }
        let ranges = ranges.iter().map(|&(low, high)| {
            let (low, high) = (Literal::u8_unsuffixed(low), Literal::u8_unsuffixed(high));
            quote!(#low..=#high)
        });
        quote!(#(#ranges)|*)
    }
}
