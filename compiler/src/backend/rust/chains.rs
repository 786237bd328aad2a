//! The code of chains: rounds of single bytes that are written out, as an unfolded depth limit leaves them.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::Emitter;
use super::body::At;
use super::credit::RUN;
use crate::analysis::runs::{ChainEnd, chain};
use crate::ir::NodeId;

impl Emitter<'_> {
    /// The chain that a choice is. Only where a depth limit is unfolded: references are looked through.
    pub(super) fn chain(&mut self, node: NodeId, at: &At) -> Option<TokenStream> {
        if self.ir.is_ordered() {
            return None;
        }
        let chain = chain(self.ir, node)?;
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
                return Some(quote!(#ensure if cx.open_chain::<#count, #plus>(&mut s, [#(&#members),*]) { #code }));
            }
            ChainEnd::Byte(table) => self.statics.bytes("BYTES", table),
            ChainEnd::Nothing => members[0].clone(),
        };
        Some(quote!(#ensure cx.closed_chain::<#count, #plus>(&mut s, [#(&#members),*], &#last);))
    }
}
