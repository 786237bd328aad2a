//! The code of nodes: sequences with their reservations, references, inlined instances.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;
use syn::Lifetime;

use super::Emitter;
use super::needs::{MAX_LITERAL, Needs, sequence};
use crate::analysis::jumps::jumps_to;
use crate::ir::{Node, NodeId, RuleId};

/// Where a node stands: how to compute the levels left, and the instances that a jump back may name.
#[derive(Clone)]
pub struct At {
    /// The variable that holds the levels left for the innermost function or loop.
    pub base: Ident,
    /// How many instances deeper than that the node stands.
    pub offset: i64,
    /// Rule, label and level variable of the enclosing loops, innermost last.
    pub scopes: Vec<(RuleId, Lifetime, Ident)>,
}

impl At {
    /// One instance deeper.
    pub fn deeper(&self) -> At {
        At { offset: self.offset + 1, ..self.clone() }
    }

    /// The levels left `more` instances deeper than here.
    pub fn depth(&self, more: i64) -> TokenStream {
        let base = &self.base;
        match self.offset + more {
            0 => quote!(#base),
            offset => {
                let offset = Literal::i64_unsuffixed(offset);
                quote!(#base - #offset)
            }
        }
    }

    /// Whether an instance `more` deeper than here is beyond the limit (where there is one).
    pub fn is_beyond(&self, more: i64) -> TokenStream {
        let base = &self.base;
        let offset = Literal::i64_unsuffixed(self.offset + more);
        quote!(DEPTH && #base < #offset)
    }
}

impl Emitter<'_> {
    /// The statements of a node. They rely on a reservation of the node's needs.
    pub(super) fn node(&mut self, node: NodeId, at: &At) -> TokenStream {
        let ir = self.ir;
        match ir.node(node) {
            Node::Bytes(bytes) => self.literal(bytes),
            Node::Class(set) => self.class(set),
            Node::Choice(choice) => self.choice(node, choice, at),
            Node::Seq(items) => self.sequence(items, at),
            Node::Repeat { item, min, max } => self.repeat(*item, *min, *max, at),
            Node::Rule(rule) => {
                let function = &self.functions[rule.index()];
                let depth = at.depth(1);
                quote!(s = #function::<DEPTH, LEN>(cx, s, #depth);)
            }
            Node::Again(rule) => self.jump_back(*rule, at),
            Node::Inline { rule, body } if jumps_to(ir, *body, *rule) => self.tail_loop(*rule, *body, at),
            Node::Inline { rule, body } => {
                let beyond = at.is_beyond(1);
                let inside = self.node(*body, &at.deeper());
                match self.pool_code(*rule, true) {
                    Some(pool) if pool.is_empty() => quote!(if !(#beyond) { #inside }),
                    Some(pool) => quote!(if #beyond { #pool } else { #inside }),
                    None => inside,
                }
            }
        }
    }

    pub(super) fn literal(&mut self, bytes: &[u8]) -> TokenStream {
        let text = Literal::byte_string(bytes);
        match bytes {
            [] => quote!(),
            [byte] => {
                let byte = byte_literal(*byte);
                quote!(cx.put_byte(&mut s, #byte);)
            }
            _ if bytes.len() > MAX_LITERAL => quote!(s = cx.put_slice(s, #text);),
            _ => quote!(cx.put(&mut s, #text);),
        }
    }

    fn sequence(&mut self, items: &[NodeId], at: &At) -> TokenStream {
        let pieces = items.iter().map(|&item| (self.node(item, at), self.needs[item.index()])).collect();
        self.pieces(pieces, &mut Needs::default())
    }

    /// Pieces of code one after the other, with reservations where the one in force does not cover what comes.
    /// `used` says what the reservation in force had to cover so far; it is a barrier at the end if the reservation in force
    /// then covers these pieces alone.
    pub(super) fn pieces(&self, pieces: Vec<(TokenStream, Needs)>, used: &mut Needs) -> TokenStream {
        let mut code = TokenStream::new();
        let mut reserved_here = false;
        for index in 0..pieces.len() {
            let (piece, needs) = &pieces[index];
            match used.then(*needs) {
                Some(sum) if !used.barrier => *used = sum,
                _ => {
                    code.extend(self.reserve(sequence(pieces[index..].iter().map(|(_, needs)| *needs))));
                    *used = *needs;
                    reserved_here = true;
                }
            }
            code.extend(piece.clone());
        }
        used.barrier |= reserved_here;
        code
    }

    fn jump_back(&mut self, rule: RuleId, at: &At) -> TokenStream {
        // The verifier holds that there is such a scope.
        let Some((_, label, variable)) = at.scopes.iter().rev().find(|(scope, _, _)| *scope == rule) else {
            return quote!();
        };
        let depth = at.depth(1);
        quote! {
            if DEPTH {
                #variable = #depth;
            }
            continue #label;
        }
    }
}

/// A byte as a literal that shows the character where it is one.
pub fn byte_literal(byte: u8) -> Literal {
    match byte {
        b' '..=b'~' => Literal::byte_character(byte),
        _ => Literal::u8_unsuffixed(byte),
    }
}
