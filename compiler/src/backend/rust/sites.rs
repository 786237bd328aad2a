//! The code of sites: classes and choices. What only emits short strings is data, not branches.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::Emitter;
use super::body::At;
use super::needs::{MAX_LITERAL, Needs};
use crate::analysis::alike::{groups, is_shared, items};
use crate::charset::CharSet;
use crate::ir::{Choice, Ir, Node, NodeId};

/// Literals up to this length fit a packed table.
pub(super) const MAX_PACKED: usize = 7;

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

impl Emitter<'_> {
    pub(super) fn class(&mut self, set: &CharSet) -> TokenStream {
        let count = set.len();
        if count > 256 {
            let class = self.statics.char_class(set);
            return quote!(s = cx.member::<LEN>(s, &#class););
        }
        let members: Vec<_> = set.iter().map(|member| set.encode(member)).collect();
        if set.max_len() == 1 {
            let table = std::array::from_fn(|byte| members[(byte * members.len()) >> 8].as_ref()[0]);
            return self.put_mapped(&table);
        }
        let literals: Vec<&[u8]> = members.iter().map(AsRef::as_ref).collect();
        let costs: Vec<u64> = literals.iter().map(|literal| literal.len() as u64 - set.min_len()).collect();
        let pick = self.pick(literals.len(), None, &costs);
        let table = self.statics.packed(&literals);
        quote!({ let option = #pick; cx.put_packed(&mut s, &#table, option); })
    }

    /// One of at most 256 equally probable strings of the same short length.
    pub(super) fn put_equal(&mut self, strings: &[&[u8]]) -> TokenStream {
        if strings[0].len() == 1 {
            return self.put_mapped(&std::array::from_fn(|byte| strings[(byte * strings.len()) >> 8][0]));
        }
        let pick = self.pick(strings.len(), None, &[0]);
        let table = self.statics.packed(strings);
        quote!({ let option = #pick; cx.put_packed(&mut s, &#table, option); })
    }

    fn put_mapped(&mut self, table: &[u8; 256]) -> TokenStream {
        let table = self.statics.bytes("BYTES", table);
        quote!(cx.put_mapped(&mut s, &#table);)
    }

    /// What each option costs more than the first.
    pub(super) fn costs(&self, node: NodeId, choice: &Choice) -> Vec<u64> {
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
                let table = std::array::from_fn(|slot| slots.option_of(slot as u32) as u8);
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
        let costs = self.statics.costs(costs);
        let limited = match slots {
            None => quote!(cx.pick_within(&mut s, &#costs)),
            Some(slots) => {
                let bits = Literal::u32_unsuffixed(slots.bits());
                let ends = self.statics.ends(slots.ends());
                quote!(cx.pick_slot_within(&mut s, #bits, &#ends, &#costs))
            }
        };
        quote!(if LEN { #limited } else { #free })
    }

    pub(super) fn choice(&mut self, node: NodeId, choice: &Choice, at: &At) -> TokenStream {
        let costs = self.costs(node, choice);
        let count = choice.options.len();
        let ir = self.ir;
        let literals = leading_literals(ir, choice);
        // One byte each, whatever the site: the choice byte leads to it at once.
        if literals.len() == count && literals.iter().all(|literal| literal.len() == 1) {
            let option_of: Option<Box<dyn Fn(usize) -> usize>> = match &choice.slots {
                None if count <= 256 => Some(Box::new(|byte| (byte * count) >> 8)),
                Some(slots) if slots.bits() == 8 => Some(Box::new(|byte| slots.option_of(byte as u32))),
                _ => None,
            };
            if let Some(option_of) = option_of {
                return self.put_mapped(&std::array::from_fn(|byte| literals[option_of(byte)][0]));
            }
        }
        if let Some(nested) = self.nested(choice, &costs) {
            return nested;
        }
        let pick = self.pick(count, Some(choice), &costs);
        if literals.len() == count {
            let put = self.put_one_of(&literals);
            return quote!({ let option = #pick; #put });
        }
        let packed = literals.iter().take_while(|literal| literal.len() <= MAX_PACKED).count();
        let first = if packed >= MIN_TABLE { packed } else { 0 };
        let branches = self.branches(choice, first, at);
        if first == 0 {
            return quote!({ let option = #pick; #branches });
        }
        let put = self.put_one_of(&literals[..first]);
        let first = Literal::usize_unsuffixed(first);
        quote!({ let option = #pick; if option < #first { #put } else { #branches } })
    }

    /// The code of the options from number `first` on, once `option` is known: what all begin with, then a branch for each
    /// group of options that differ in short literals only.
    fn branches(&mut self, choice: &Choice, first: usize, at: &At) -> TokenStream {
        let ir = self.ir;
        let options: Vec<Vec<NodeId>> = choice.options[first..].iter().map(|&option| items(ir, option)).collect();
        let shared = (0..).take_while(|&position| is_shared(ir, &options, position)).count();
        let mut used = Needs::default();
        let head = options[0][..shared].iter().map(|&item| (self.node(item, at), self.needs[item.index()])).collect();
        let head = self.pieces(head, &mut used);
        let groups = groups(ir, &options, shared, MAX_PACKED);
        let last = groups.len() - 1;
        let mut arms: Vec<(TokenStream, TokenStream)> = Vec::with_capacity(groups.len());
        for (index, group) in groups.iter().enumerate() {
            let pieces = (shared..options[group[0]].len())
                .map(|position| {
                    let members: Vec<(usize, NodeId)> =
                        group.iter().map(|&option| (first + option, options[option][position])).collect();
                    self.merged(&members, at)
                })
                .collect();
            let code = self.pieces(pieces, &mut used.clone());
            let numbers = group.iter().map(|option| Literal::usize_unsuffixed(first + option));
            arms.push((if index == last { quote!(_) } else { quote!(#(#numbers)|*) }, code));
        }
        let branches = match &arms[..] {
            [(_, code)] => quote!(#code),
            [(pattern, code), (_, other)] if code.is_empty() => quote!(if !matches!(option, #pattern) { #other }),
            _ => {
                let arms = arms.iter().map(|(pattern, code)| quote!(#pattern => { #code }));
                quote!(match option { #(#arms)* })
            }
        };
        quote!(#head #branches)
    }

    /// The code of an item that is the same in several options but for short literals, and its needs.
    fn merged(&mut self, members: &[(usize, NodeId)], at: &At) -> (TokenStream, Needs) {
        let ir = self.ir;
        let (_, item) = members[0];
        if members.iter().all(|&(_, other)| ir.is_written_like(item, other)) {
            return (self.node(item, at), self.needs[item.index()]);
        }
        let options = members.iter().map(|(option, _)| option + 1).max().unwrap_or(0);
        let mut literals: Vec<&[u8]> = vec![b""; options];
        for &(option, item) in members {
            if let Node::Bytes(bytes) = ir.node(item) {
                literals[option] = bytes;
            }
        }
        let needs = members.iter().map(|(_, item)| self.needs[item.index()]).fold(Needs::default(), Needs::or);
        let table = self.statics.packed(&literals);
        (quote!(cx.put_packed(&mut s, &#table, option);), needs)
    }

    /// The code of a choice whose options are short literals or choices of such, all of one length: two sites, no branch.
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
        let len = leaves.first()?.len();
        if len > MAX_PACKED || leaves.len() > 0xFFFF || leaves.iter().any(|leaf| leaf.len() != len) {
            return None;
        }
        let count = Literal::usize_unsuffixed(entries.len());
        let entries = self.statics.ends(&entries);
        let table = self.statics.packed(&leaves);
        Some(quote!({ let leaf = cx.pick_nested(&mut s, #count, &#entries); cx.put_packed(&mut s, &#table, leaf); }))
    }

    /// Emits the literal with the number `option`.
    fn put_one_of(&mut self, literals: &[&[u8]]) -> TokenStream {
        if literals.iter().all(|literal| literal.len() <= MAX_PACKED) {
            let table = self.statics.packed(literals);
            return quote!(cx.put_packed(&mut s, &#table, option););
        }
        let table = self.statics.strings("STRINGS", literals, None);
        let longest = literals.last().map_or(0, |literal| literal.len());
        // Literals beyond the bound are barriers: they are not part of the reservation so far.
        let reserve = match longest > MAX_LITERAL {
            true => {
                let longest = Literal::usize_unsuffixed(longest);
                quote!(s = cx.reserve(s, 0, #longest);)
            }
            false => quote!(),
        };
        quote!(#reserve s = cx.put_string(s, &#table, option);)
    }
}
