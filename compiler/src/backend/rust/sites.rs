//! The code of sites: classes and choices. Sites that only emit short strings use data instead of branches.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::Emitter;
use super::body::At;
use super::credit::MAX_LITERAL;
use crate::analysis::alike::{Alike, Item, items};
use crate::analysis::form::{Nested, Strings};
use crate::charset::CharSet;
use crate::ir::{Choice, Ir, NodeId, Site, Slots};

/// The longest literal that fits a packed table, in bytes.
pub(super) const MAX_PACKED: usize = 7;

/// The fewest literals that make a table in a choice with other options too.
const MIN_TABLE: usize = 2;

/// Returns the literals that the options of a choice begin with, in canonical order.
fn leading_literals<'i>(ir: &'i Ir, choice: &Choice) -> Vec<&'i [u8]> {
    choice.options.iter().map_while(|&option| ir.node(option).literal()).collect()
}

impl Emitter<'_> {
    /// Returns a member of a large class.
    pub(super) fn member(&mut self, set: &CharSet) -> TokenStream {
        let ensure = self.take(3, 4);
        let class = self.statics.char_class(set);
        quote!(#ensure s = cx.member::<LEN>(s, &#class);)
    }

    /// Returns one of several strings.
    pub(super) fn strings(&mut self, site: &Strings<'_>) -> TokenStream {
        if let Some(table) = site.bytes() {
            return self.put_mapped(&table);
        }
        let (longest, width) = (site.longest(), site.site().width() as usize);
        let costs = if self.ir.is_ordered() {
            site.costs()
        } else {
            // There is no length limit.
            vec![0; site.strings.len()]
        };
        let ensure = self.take(width, if longest > MAX_LITERAL { 0 } else { longest });
        let pick = self.pick(site.site(), &costs);
        let reserve = if longest > MAX_LITERAL { self.reserve_output(longest) } else { quote!() };
        let put = self.put_numbered(&site.slices(), &quote!(option));
        quote!({ #ensure let option = #pick; #reserve #put })
    }

    fn put_mapped(&mut self, table: &[u8; 256]) -> TokenStream {
        let ensure = self.take(1, 1);
        let table = self.statics.bytes("BYTES", table);
        quote!(#ensure cx.put_mapped(&mut s, &#table);)
    }

    /// Returns the cost of each option: its bytes beyond those of the first.
    pub(super) fn costs(&self, node: NodeId, choice: &Choice) -> Vec<u64> {
        if !self.ir.is_ordered() {
            // There is no length limit.
            return vec![0; choice.options.len()];
        }
        let min_len = self.ir.facts(node).min_len;
        choice.options.iter().map(|&option| self.ir.facts(option).min_len - min_len).collect()
    }

    /// Returns an expression for the chosen option of a site. It pays the option's cost.
    fn pick(&mut self, site: Site<'_>, costs: &[u64]) -> TokenStream {
        let options = Literal::usize_unsuffixed(site.options() as usize);
        let free = match (site.slots(), site.options_of_bytes()) {
            (None, Some(_)) => quote!(cx.pick8(&mut s, #options)),
            (None, None) => quote!(cx.pick(&mut s, #options)),
            (Some(_), Some(table)) => {
                let table = self.statics.bytes("OPTIONS", &table);
                quote!(cx.pick_mapped(&mut s, &#table))
            }
            (Some(slots), None) => {
                let bits = Literal::u32_unsuffixed(slots.bits());
                let ends = self.statics.ends(slots.ends());
                quote!(cx.pick_slot(&mut s, #bits, &#ends))
            }
        };
        if costs.last() == Some(&0) {
            return free;
        }
        let limited = self.pick_within(site.slots(), costs);
        quote!(if LEN { #limited } else { #free })
    }

    /// Returns an expression for the chosen option of a site under a length limit. It pays the option's cost.
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

    /// Returns a choice with a branch for options that are not literals.
    pub(super) fn choice(&mut self, node: NodeId, choice: &Choice, at: &At) -> TokenStream {
        let costs = self.costs(node, choice);
        let ir = self.ir;
        let literals = leading_literals(ir, choice);
        let ensure = self.take(choice.site().width() as usize, 0);
        let packed = literals.iter().take_while(|literal| literal.len() <= MAX_PACKED).count();
        let first = if packed >= MIN_TABLE { packed } else { 0 };
        let options: Vec<Vec<NodeId>> = choice.options[first..].iter().map(|&option| items(ir, option)).collect();
        let branches = Branches { first, alike: Alike::new(ir, options, true, MAX_PACKED) };
        let chosen = Chosen::new(choice, branches.alike.groups.len() + usize::from(first > 0));
        let pick = match &chosen {
            Chosen::Option => {
                let pick = self.pick(choice.site(), &costs);
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
            codes.push(if is_literal {
                emitter.put_one_of(&literals[..first], &chosen)
            } else {
                emitter.branches(&branches, &chosen, at)
            });
        });
        let is_literal = chosen.is_below(first);
        let (put, branches) = (&codes[0], &codes[1]);
        quote!({ #ensure #pick if #is_literal { #put } else { #branches } })
    }

    /// Returns the code of the options after the literals, once the site is decided: the items that all begin with,
    /// then a branch for each group of options that differ only in short literals.
    fn branches(&mut self, branches: &Branches, chosen: &Chosen, at: &At) -> TokenStream {
        let Branches { first, alike } = branches;
        let head: TokenStream = alike.head().iter().map(|&item| self.node(item, at)).collect();
        let (ir, last) = (self.ir, alike.groups.len() - 1);
        let mut arms: Vec<(TokenStream, TokenStream)> = Vec::with_capacity(alike.groups.len());
        self.either(alike.groups.iter().enumerate(), |emitter, (index, group)| {
            let items = alike.items(ir, index).into_iter();
            let code = items
                .map(|item| match item {
                    Item::Same(item) => emitter.node(item, at),
                    Item::Literals(literals) => emitter.put_differing(*first, &literals, chosen),
                })
                .collect();
            let pattern =
                if index == last { quote!(_) } else { chosen.pattern(group.iter().map(|option| first + option)) };
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

    /// Emits the literal of the chosen option. `given` holds the literals by the numbers of their options, counted from
    /// the option `first`.
    fn put_differing(&mut self, first: usize, given: &[(usize, &[u8])], chosen: &Chosen) -> TokenStream {
        let count = given.iter().map(|(option, _)| first + option + 1).max().unwrap_or(0);
        let mut literals: Vec<&[u8]> = vec![b""; count];
        given.iter().for_each(|&(option, literal)| literals[first + option] = literal);
        let ensure = self.take(0, literals.iter().map(|literal| literal.len()).max().unwrap_or(0));
        let table = self.statics.packed(&literals);
        let option = self.option(chosen);
        quote!(#ensure cx.put_packed(&mut s, &#table, #option);)
    }

    /// Returns a choice among strings and choices among strings.
    pub(super) fn nested(&mut self, nested: &Nested<'_>) -> TokenStream {
        let ensure = self.take(2, nested.longest);
        let count = Literal::usize_unsuffixed(nested.options.len());
        let options = self.statics.ends(&nested.options);
        let put = match nested.longest {
            ..=MAX_PACKED => {
                let table = self.statics.packed(&nested.strings);
                quote!(cx.put_packed(&mut s, &#table, leaf);)
            }
            _ => {
                let table = self.statics.unordered_strings("STRINGS", &nested.strings);
                quote!(s = cx.put_string(s, &#table, leaf);)
            }
        };
        quote!({ #ensure let leaf = cx.pick_nested(&mut s, #count, &#options); #put })
    }

    /// Returns an expression for the number of the chosen option.
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

    /// Emits the chosen literal.
    fn put_one_of(&mut self, literals: &[&[u8]], chosen: &Chosen) -> TokenStream {
        let option = self.option(chosen);
        let longest = literals.iter().map(|literal| literal.len()).max().unwrap_or(0);
        let reserve = if longest > MAX_LITERAL { self.reserve_output(longest) } else { self.take(0, longest) };
        let put = self.put_numbered(literals, &option);
        quote!(#reserve #put)
    }

    /// Emits the literal whose number is the value of an expression.
    fn put_numbered(&mut self, literals: &[&[u8]], number: &TokenStream) -> TokenStream {
        if literals.iter().all(|literal| literal.len() <= MAX_PACKED) {
            let table = self.statics.packed(literals);
            return quote!(cx.put_packed(&mut s, &#table, #number););
        }
        let table = if self.ir.is_ordered() {
            self.statics.strings("STRINGS", literals, None)
        } else {
            self.statics.unordered_strings("STRINGS", literals)
        };
        quote!(s = cx.put_string(s, &#table, #number);)
    }
}

/// The options of a choice that are not literals of a table.
struct Branches {
    /// The number of the first option.
    first: usize,
    alike: Alike,
}

/// The value that the code of a site branches on.
enum Chosen {
    /// The number of the option.
    Option,
    /// The choice byte itself. The branch needs no multiplication and no table, so a wrong prediction is detected
    /// sooner.
    Slot {
        /// The first choice byte of each option.
        first_slots: Vec<u8>,
        /// The option of each choice byte, if the site is weighted.
        map: Option<Box<[u8; 256]>>,
    },
}

/// With more branches a jump table is faster than comparisons.
const MAX_COMPARED: usize = 4;

impl Chosen {
    fn new(choice: &Choice, branches: usize) -> Chosen {
        let count = choice.options.len();
        // For two equal options the Rust compiler optimizes the multiplication away.
        let is_plain = choice.slots.is_none() && count == 2;
        let map = choice.site().options_of_bytes().filter(|_| !is_plain);
        let Some(map) = map.filter(|_| (2..=MAX_COMPARED).contains(&branches)) else { return Chosen::Option };
        let first = |option: usize| map.iter().position(|&other| usize::from(other) == option);
        let first_slots: Option<Vec<u8>> = (0..count).map(|option| first(option).map(|slot| slot as u8)).collect();
        match first_slots {
            Some(first_slots) => Chosen::Slot { first_slots, map: choice.slots.as_ref().map(|_| Box::new(map)) },
            // No choice byte leads to an option without a slot, but a length limit may.
            None => Chosen::Option,
        }
    }

    fn subject(&self) -> TokenStream {
        match self {
            Chosen::Option => quote!(option),
            Chosen::Slot { .. } => quote!(slot),
        }
    }

    /// Returns an expression for whether one of the first `count` options was chosen.
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

    /// Returns a pattern for some options, in ascending order.
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
