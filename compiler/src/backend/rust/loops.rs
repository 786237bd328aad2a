//! The code of loops: repetitions and right recursion. Rounds of single bytes run in batches.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::Emitter;
use super::body::{At, Scope};
use super::credit::{MAX_LITERAL, RUN};
use super::names;
use crate::analysis::form::Repetition;
use crate::analysis::runs::{ByteItem, Stop, TailRun, byte_pool};
use crate::ir::{NodeId, RuleId};

impl Emitter<'_> {
    /// Returns an inlined instance of a rule that is only right recursion over single bytes.
    fn star(&mut self, rule: RuleId, run: &TailRun, at: &At) -> Option<TokenStream> {
        let TailRun { item, bytes, stops, .. } = run;
        if bytes.bound < 256 || bytes.layers > 1 || *stops == Stop::Other {
            return None;
        }
        let plus = *stops == Stop::Item;
        let strings = &self.pools.get(rule)?.strings;
        let longest = strings.last().map_or(0, |string| string.len());
        if longest > MAX_LITERAL {
            return None;
        }
        let pool = self.pool(rule)?;
        let last = match self.ir.node(*item).instance() {
            Some(rule) => byte_pool(&self.pools.get(rule)?.strings)?,
            None => bytes.table,
        };
        let behind =
            if plus { byte_pool(strings) } else { matches!(&**strings, [only] if only.is_empty()).then_some([0; 256]) };
        let name = names::constant("STAR", &self.ir.rule(rule).name);
        let star = self.statics.star(&name, [&bytes.table, &last, &behind.unwrap_or([0; 256])], &pool);
        if behind.is_some() {
            let ensure = self.take(RUN.choices + 1, RUN.output + longest);
            let depth = at.depth(0);
            return Some(quote!(#ensure s = cx.even_star::<#plus, DEPTH, LEN>(s, #depth, &#star);));
        }
        let depth = at.depth(1);
        Some(self.within(rule, at, |emitter| {
            let ensure = emitter.take(RUN.choices + 1, RUN.output + longest);
            quote!(#ensure s = cx.star::<#plus, DEPTH, LEN>(s, #depth, &#star);)
        }))
    }

    /// Returns an inlined instance of a rule that jumps back to itself.
    pub(super) fn tail_loop(&mut self, rule: RuleId, body: NodeId, run: Option<TailRun>, at: &At) -> TokenStream {
        if let Some(star) = run.as_ref().and_then(|run| self.star(rule, run, at)) {
            return star;
        }
        let label = self.label();
        let levels = format_ident!("depth_{}", &label.ident.to_string()[1..]);
        let depth = at.depth(1);
        let (begin, head) = self.begin_loop();
        let mut scopes = at.scopes.clone();
        scopes.push(Scope { rule, label: label.clone(), levels: levels.clone(), head });
        let inside = At { base: levels.clone(), offset: 0, scopes };
        let count = |done: &Ident| quote!(if DEPTH { #levels -= #done as rt::Depth; });
        let allowed = |bytes: &ByteItem| {
            let layers = Literal::u32_unsuffixed(bytes.layers);
            quote!(#levels + 1 - #layers)
        };
        let round = if let Some(TailRun { item, bytes, .. }) = run.filter(|run| run.stops == Stop::Empty) {
            let run = self.run(&bytes, allowed(&bytes), quote!(None), count);
            let pool = self.pool_exit(rule, &levels, &label);
            let behind_pool = self.used;
            let site = self.round_site(run, item, &label, pool);
            let behind_site = self.used.or(behind_pool);
            // The next round begins with a run, which needs no credit.
            let code = self.node(item, &inside);
            self.used = behind_site;
            quote! {
                #site
                #code
                if DEPTH { #levels -= 1; }
            }
        } else {
            let pool = self.pool_exit(rule, &levels, &label);
            let behind_pool = self.used;
            self.used = head;
            let code = self.node(body, &inside);
            self.used = self.used.or(behind_pool);
            quote!(#pool #code break #label;)
        };
        quote! {
            let mut #levels = #depth;
            #begin
            #label: loop { #round }
        }
    }

    /// Emits a string of the rule's pool and leaves the loop, beyond the depth limit.
    fn pool_exit(&mut self, rule: RuleId, levels: &Ident, label: &syn::Lifetime) -> TokenStream {
        let before = self.used;
        let pool = self.pool_code(rule);
        // This path leaves the loop, so its `ensure` does not count for the others.
        self.used = self.used.or(before);
        match pool {
            Some(pool) => quote! {
                if DEPTH && #levels < 0 {
                    #pool
                    break #label;
                }
            },
            None => quote!(),
        }
    }

    /// Runs further rounds of single bytes, as many as possible. Afterwards `end` says how they ended. `depth` is the
    /// number of rounds that the depth allows, `most` the number that the repetition allows.
    fn run(
        &mut self,
        item: &ByteItem,
        depth: TokenStream,
        most: TokenStream,
        count: impl FnOnce(&Ident) -> TokenStream,
    ) -> TokenStream {
        let table = self.statics.bytes("BYTES", &item.table);
        let bound = Literal::u32_unsuffixed(item.bound);
        let max_cost = Literal::u64_unsuffixed(item.max_cost);
        let done = format_ident!("done");
        let count = count(&done);
        self.used = RUN;
        quote! {
            let end;
            let allowed = rt::rounds(
                if DEPTH { Some(#depth) } else { None },
                if LEN { Some(cx.slack.saturating_sub(#max_cost)) } else { None },
                #most,
            );
            if allowed == 0 {
                s = cx.ensure(s);
                end = rt::RunEnd::Capped;
            } else {
                let done;
                (s, end, done) = cx.run::<false>(s, &#table, #bound, allowed);
                if LEN { cx.slack -= done; }
                #count
            }
        }
    }

    /// Decides whether there is one more round after `run`, unless `end` says so.
    fn round_site(
        &mut self,
        run: TokenStream,
        item: NodeId,
        label: &syn::Lifetime,
        before_site: TokenStream,
    ) -> TokenStream {
        let go = self.go_site(item, label);
        // The other ways come here directly after the run.
        self.used = self.used.or(RUN);
        let cost = Literal::u64_unsuffixed(self.ir.facts(item).min_len);
        quote! {
            #run
            match end {
                rt::RunEnd::Stopped => break #label,
                rt::RunEnd::Capped => { #before_site #go }
                rt::RunEnd::Other => if LEN { cx.slack -= #cost; },
            }
        }
    }

    /// Returns the site that decides on a further round.
    fn go_site(&mut self, item: NodeId, label: &syn::Lifetime) -> TokenStream {
        let ensure = self.take(1, 0);
        let min_len = self.ir.facts(item).min_len;
        let free = quote!(cx.pick8(&mut s, 2));
        let site = match min_len {
            0 => free,
            _ => {
                let costs = self.statics.costs(&[0, min_len]);
                quote!(if LEN { cx.pick_within(&mut s, &#costs) } else { #free })
            }
        };
        quote! {
            #ensure
            if #site == 0 {
                break #label;
            }
        }
    }

    pub(super) fn repeat(&mut self, repetition: &Repetition, at: &At) -> TokenStream {
        let &Repetition { item, min, max, ref bytes } = repetition;
        if let Some(bytes) = bytes.as_ref().filter(|bytes| bytes.is_plain()) {
            let table = self.statics.bytes("BYTES", &bytes.table);
            let further = max.map_or(u64::MAX, |max| u64::from(max - min));
            let (min, further) = (Literal::u32_unsuffixed(min), Literal::u64_unsuffixed(further));
            let ensure = self.take(RUN.choices, RUN.output);
            return quote!(#ensure s = cx.repeat_bytes::<LEN>(s, &#table, #min, #further););
        }
        let label = self.label();
        let rounds = format_ident!("rounds_{}", &label.ident.to_string()[1..]);
        if max == Some(min) {
            let (begin, head) = self.begin_loop();
            let code = self.node(item, at);
            let next = self.next_round(head);
            let min = Literal::u32_unsuffixed(min);
            return quote!(#begin for _ in 0..#min { #code #next });
        }
        let (begin_rounds, check, most, count) = match max {
            None => (quote!(), quote!(), quote!(None), quote!()),
            Some(max) => {
                let further = Literal::u64_unsuffixed(u64::from(max - min));
                (
                    quote!(let mut #rounds: u64 = #further;),
                    quote!(if #rounds == 0 { break #label; }),
                    quote!(Some(#rounds)),
                    quote!(#rounds -= 1;),
                )
            }
        };
        let (begin, head) = self.begin_loop();
        let begin = quote!(#begin_rounds #begin);
        let site = match bytes {
            Some(bytes) => {
                // Rounds don't change the depth. So it allows all of them, or none if the item is beyond the limit.
                let depth = match bytes.layers {
                    0 => quote!(rt::Depth::MAX),
                    layers => {
                        let beyond = at.is_beyond(layers.into());
                        quote!(if #beyond { 0 } else { rt::Depth::MAX })
                    }
                };
                let run = self.run(bytes, depth, most, |done| match max {
                    Some(_) => quote!(#rounds -= #done;),
                    None => quote!(),
                });
                self.round_site(run, item, &label, check)
            }
            None => {
                let go = self.go_site(item, &label);
                quote!(#check #go)
            }
        };
        // The loop ends at the site at the latest.
        let behind_site = self.used;
        if min > 0 {
            // The rounds below the minimum have no site.
            self.used = self.used.or(head);
        }
        let code = self.node(item, at);
        let next = self.next_round(head);
        self.used = behind_site;
        if min == 0 {
            return quote!(#begin #label: loop { #site #code #count #next });
        }
        // The item's code is emitted once, so that nested repetitions do not multiply it.
        let first = format_ident!("first_{}", &label.ident.to_string()[1..]);
        let min = Literal::u32_unsuffixed(min);
        quote! {
            #begin
            let mut #first: u32 = #min;
            #label: loop {
                let is_first = #first > 0;
                if is_first { #first -= 1; } else { #site }
                #code
                if !is_first { #count }
                #next
            }
        }
    }
}
