//! The static tables of an emitted module: equal tables are emitted once.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::names::Taken;
use crate::charset::CharSet;
use crate::ordered::Map;

/// Padding after the strings of a table, in bytes. Must be at least the runtime's `Strings::PADDING`.
const PADDING: usize = 64;

/// Tables in the order in which they were first used.
#[derive(Default)]
pub struct Statics {
    items: Vec<TokenStream>,
    /// The name of each table, by its type and value.
    known: Map<String, Ident>,
    names: Taken,
}

impl Statics {
    /// Returns the items.
    pub fn items(&self) -> TokenStream {
        let items = &self.items;
        quote!(#(#items)*)
    }

    fn add(&mut self, name: &str, ty: TokenStream, value: TokenStream) -> Ident {
        let key = format!("{ty} = {value}");
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let name = self.names.unique(name);
        self.items.push(quote!(static #name: #ty = #value;));
        self.known.insert(key, name.clone());
        name
    }

    /// Returns a table of 256 bytes: the output or the option for each choice byte.
    pub fn bytes(&mut self, name: &str, table: &[u8; 256]) -> Ident {
        let table = Literal::byte_string(table);
        self.add(name, quote!([u8; 256]), quote!(*#table))
    }

    /// Returns a table with one byte per option.
    pub fn short_bytes(&mut self, name: &str, table: &[u8]) -> Ident {
        let count = Literal::usize_unsuffixed(table.len());
        let table = table.iter().map(|&byte| Literal::u8_unsuffixed(byte));
        self.add(name, quote!([u8; #count]), quote!([#(#table),*]))
    }

    /// Adds a table of literals of up to seven bytes, packed little endian with their lengths in the top byte.
    pub fn packed(&mut self, literals: &[&[u8]]) -> Ident {
        let packed = literals.iter().map(|literal| {
            let mut bytes = [0; 8];
            bytes[..literal.len()].copy_from_slice(literal);
            bytes[7] = literal.len() as u8;
            let value: TokenStream = format!("{:#018x}", u64::from_le_bytes(bytes)).parse().unwrap_or_default();
            value
        });
        let count = Literal::usize_unsuffixed(literals.len());
        self.add("LITERALS", quote!([u64; #count]), quote!([#(#packed),*]))
    }

    /// Returns the strings of a site, ascending in length.
    pub fn strings(&mut self, name: &str, strings: &[&[u8]], shortest: Option<&[u8]>) -> Ident {
        let (data, starts) = data_and_starts(strings);
        let shortest = match shortest {
            Some(shortest) => {
                let shortest = Literal::byte_string(shortest);
                quote!(Some(#shortest))
            }
            None => quote!(None),
        };
        self.add(name, quote!(rt::Strings), quote!(rt::Strings::new(#data, &[#(#starts),*], #shortest)))
    }

    /// Returns the strings of a site without a length limit.
    pub fn unordered_strings(&mut self, name: &str, strings: &[&[u8]]) -> Ident {
        let (data, starts) = data_and_starts(strings);
        self.add(name, quote!(rt::Strings), quote!(rt::Strings::unordered(#data, &[#(#starts),*])))
    }

    /// Returns the tables of right recursion over single bytes.
    pub fn star(&mut self, name: &str, tables: [&[u8; 256]; 3], pool: &Ident) -> Ident {
        let [table, last, behind] = tables.map(|table| {
            if table.iter().all(|&byte| byte == 0) {
                quote!([0; 256])
            } else {
                let bytes = Literal::byte_string(table);
                quote!(*#bytes)
            }
        });
        self.add(name, quote!(rt::Star), quote!(rt::Star { table: #table, last: #last, behind: #behind, pool: &#pool }))
    }

    /// Returns a class with more than 256 characters.
    pub fn char_class(&mut self, set: &CharSet) -> Ident {
        let mut before = 0;
        let ranges = set.ranges().iter().map(|&(low, high)| {
            let first: TokenStream = format!("{low:#x}").parse().unwrap_or_default();
            let count = Literal::u32_unsuffixed(before);
            before += high - low + 1;
            quote!((#first, #count))
        });
        let ranges: Vec<TokenStream> = ranges.collect();
        let within = (1..=4).map(|bytes| Literal::u32_unsuffixed(set.len_within(bytes)));
        let value = quote!(rt::CharClass::new(&[#(#ranges),*], [#(#within),*]));
        self.add("CLASS", quote!(rt::CharClass), value)
    }

    /// Adds a table of numbers: the costs of options, or the ends of their slots.
    pub fn costs(&mut self, costs: &[u64]) -> Ident {
        let count = Literal::usize_unsuffixed(costs.len());
        let costs = costs.iter().map(|&cost| Literal::u64_unsuffixed(cost));
        self.add("COSTS", quote!([u64; #count]), quote!([#(#costs),*]))
    }

    /// Adds a table of the ends of the options' slots, and returns its name.
    pub fn ends(&mut self, ends: &[u32]) -> Ident {
        let count = Literal::usize_unsuffixed(ends.len());
        let ends = ends.iter().map(|&end| Literal::u32_unsuffixed(end));
        self.add("ENDS", quote!([u32; #count]), quote!([#(#ends),*]))
    }
}

/// Returns the strings one after the other with padding, and the start of each string with the end of the last one.
fn data_and_starts(strings: &[&[u8]]) -> (Literal, Vec<Literal>) {
    let mut data = strings.concat();
    let mut start = 0;
    let ends = strings.iter().map(|string| {
        start += string.len() as u32;
        start
    });
    let starts = std::iter::once(0).chain(ends).map(Literal::u32_unsuffixed).collect();
    data.extend([0; PADDING]);
    (Literal::byte_string(&data), starts)
}
