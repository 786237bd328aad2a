//! The code of nodes: sequences, references, inlined instances.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;
use syn::Lifetime;

use super::Emitter;
use super::credit::{MAX_LITERAL, Used};
use crate::analysis::form::Form;
use crate::ir::{NodeId, RuleId};

/// The context of a node: the levels left, and the instances that a jump back may name.
#[derive(Clone)]
pub struct At {
    /// The variable that holds the levels left for the innermost function or loop.
    pub base: Ident,
    /// The number of instances between that function or loop and the node.
    pub offset: i64,
    /// The enclosing loops, innermost last.
    pub scopes: Vec<Scope>,
}

/// An instance of a rule that may have jumps back to it.
#[derive(Clone)]
pub struct Scope {
    pub rule: RuleId,
    pub label: Lifetime,
    /// The variable that holds its levels left.
    pub levels: Ident,
    /// The part of the credit that may be used at its beginning.
    pub head: Used,
}

impl At {
    /// Returns the place one instance deeper.
    pub fn deeper(&self) -> At {
        At { offset: self.offset + 1, ..self.clone() }
    }

    /// Returns the levels left, `more` instances deeper than here.
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

    /// Returns a condition that is true if an instance `more` deeper than here is beyond the limit (where there is
    /// one).
    pub fn is_beyond(&self, more: i64) -> TokenStream {
        let base = &self.base;
        let offset = Literal::i64_unsuffixed(self.offset + more);
        quote!(DEPTH && #base < #offset)
    }
}

impl Emitter<'_> {
    /// Returns the statements of a node.
    pub(super) fn node(&mut self, node: NodeId, at: &At) -> TokenStream {
        match self.forms.of(node) {
            Form::Literal(bytes) => self.literal(bytes),
            Form::Strings(strings) => self.strings(&strings),
            Form::Member(set) => self.member(set),
            Form::Nested(nested) => self.nested(&nested),
            Form::Chain(chain) => self.chain(&chain, at),
            Form::Branches(choice) => self.choice(node, choice, at),
            Form::Sequence(items) => items.iter().map(|&item| self.node(item, at)).collect(),
            Form::Repetition(repetition) => self.repeat(&repetition, at),
            Form::Call(rule) => {
                if self.is_entered_within(rule) {
                    self.within(rule, at, |emitter| emitter.call(rule, at))
                } else {
                    self.call(rule, at)
                }
            }
            Form::Instance(rule, body) => self.within(rule, at, |emitter| emitter.node(body, &at.deeper())),
            Form::Loop(rule, body, run) => self.tail_loop(rule, body, run, at),
            Form::JumpBack(rule) => self.jump_back(rule, at),
            // Refused before.
            Form::Labels(_) => TokenStream::new(),
        }
    }

    fn call(&mut self, rule: RuleId, at: &At) -> TokenStream {
        let function = &self.functions[rule.index()];
        let depth = at.depth(1);
        self.used = self.exit_of(rule);
        quote!(s = #function::<DEPTH, LEN>(cx, s, #depth);)
    }

    /// Returns an instance of a rule: a string of its pool beyond the depth limit, else what `inside` emits.
    pub(super) fn within(
        &mut self,
        rule: RuleId,
        at: &At,
        mut inside: impl FnMut(&mut Self) -> TokenStream,
    ) -> TokenStream {
        let beyond = at.is_beyond(1);
        let mut codes = Vec::new();
        self.either([true, false], |emitter, is_beyond| {
            codes.push(if is_beyond { emitter.pool_code(rule) } else { Some(inside(emitter)) });
        });
        match &codes[..] {
            [Some(pool), Some(inside)] if pool.is_empty() => quote!(if !(#beyond) { #inside }),
            [Some(pool), Some(inside)] => quote!(if #beyond { #pool } else { #inside }),
            _ => codes.into_iter().flatten().collect(),
        }
    }

    pub(super) fn literal(&mut self, bytes: &[u8]) -> TokenStream {
        let text = Literal::byte_string(bytes);
        if bytes.len() > MAX_LITERAL {
            let reserve = self.reserve_output(bytes.len());
            return quote!(#reserve s = cx.put_slice(s, #text););
        }
        let ensure = self.take(0, bytes.len());
        match bytes {
            [] => quote!(),
            [byte] => {
                let byte = byte_literal(*byte);
                quote!(#ensure cx.put_byte(&mut s, #byte);)
            }
            _ => quote!(#ensure cx.put(&mut s, #text);),
        }
    }

    fn jump_back(&mut self, rule: RuleId, at: &At) -> TokenStream {
        // The verifier guarantees that there is such a scope.
        let Some(Scope { label, levels, head, .. }) = at.scopes.iter().rev().find(|scope| scope.rule == rule) else {
            return quote!();
        };
        let depth = at.depth(1);
        let ensure = self.next_round(*head);
        quote! {
            if DEPTH {
                #levels = #depth;
            }
            #ensure
            continue #label;
        }
    }
}

/// Returns a byte literal, as a character where there is one.
pub fn byte_literal(byte: u8) -> Literal {
    match byte {
        b' '..=b'~' => Literal::byte_character(byte),
        _ => Literal::u8_unsuffixed(byte),
    }
}
