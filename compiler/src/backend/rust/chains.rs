//! The code of chains: rounds of single bytes that are written out one by one, which occur in unfolded IRs.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::Emitter;
use super::body::At;
use super::credit::RUN;
use crate::analysis::runs::{Chain, ChainEnd};

impl Emitter<'_> {
    /// Returns a chain up to the round that stops.
    pub(super) fn chain(&mut self, chain: &Chain, at: &At) -> TokenStream {
        let plus = chain.plus;
        let ensure = self.take(RUN.choices, RUN.output);
        let members: Vec<_> = chain.rounds.iter().map(|round| self.statics.bytes("BYTES", round)).collect();
        let count = Literal::usize_unsuffixed(members.len());
        let last = match &chain.end {
            ChainEnd::Node(rest) => {
                let mut code = TokenStream::new();
                self.either([true, false], |emitter, goes_on| {
                    if goes_on {
                        code = emitter.node(*rest, at);
                    }
                });
                return quote!(#ensure if cx.open_chain::<#count, #plus>(&mut s, [#(&#members),*]) { #code });
            }
            ChainEnd::Byte(table) => self.statics.bytes("BYTES", table),
            ChainEnd::Nothing => members[0].clone(),
        };
        quote!(#ensure cx.closed_chain::<#count, #plus>(&mut s, [#(&#members),*], &#last);)
    }
}
