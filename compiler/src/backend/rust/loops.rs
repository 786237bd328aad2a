//! The code of loops: repetitions and right recursion. Rounds of single bytes are made in batches.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::Emitter;
use super::body::{At, Scope};
use super::credit::{MAX_LITERAL, RUN};
use super::names;
use crate::ir::{Choice, Ir, Node, NodeId, RuleId};

/// An item of a repetition that mostly is one byte from one choice byte.
struct ByteItem {
    /// What a choice byte below `bound` emits.
    table: [u8; 256],
    /// Choice bytes from here on lead to other options; 256 if there are none.
    bound: u32,
    /// The instances around the site.
    layers: i64,
    /// The greatest cost of an option: below it not all options are offered.
    max_cost: u64,
}

/// Batches pay if at least so many of 256 choice bytes lead to a single byte.
const MIN_BOUND: u32 = 64;

fn byte_item(ir: &Ir, node: NodeId) -> Option<ByteItem> {
    match ir.node(node) {
        Node::Class(set) if set.max_len() == 1 && set.len() <= 256 => {
            let members: Vec<u8> = set.iter().map(|member| set.encode(member).as_ref()[0]).collect();
            let table = std::array::from_fn(|byte| members[(byte * members.len()) >> 8]);
            Some(ByteItem { table, bound: 256, layers: 0, max_cost: 0 })
        }
        Node::Choice(choice) => byte_choice(ir, node, choice),
        Node::Inline { rule, body } if !super::body::jumps_to(ir, *body, *rule) => {
            let item = byte_item(ir, *body)?;
            Some(ByteItem { layers: item.layers + 1, ..item })
        }
        _ => None,
    }
}

fn byte_choice(ir: &Ir, node: NodeId, choice: &Choice) -> Option<ByteItem> {
    let count = choice.options.len();
    let option_of = |byte: usize| match &choice.slots {
        None => (byte * count) >> 8,
        Some(slots) => slots.option_of(byte as u32),
    };
    if count > 256 || choice.slots.as_ref().is_some_and(|slots| slots.bits() != 8) {
        return None;
    }
    let single = |option: usize| match ir.node(choice.options[option]) {
        Node::Bytes(bytes) if bytes.len() == 1 => Some(bytes[0]),
        _ => None,
    };
    let singles = (0..count).take_while(|&option| single(option).is_some()).count();
    let bound = (0..256).find(|&byte| option_of(byte) >= singles).unwrap_or(256) as u32;
    if bound < MIN_BOUND {
        return None;
    }
    let table = std::array::from_fn(|byte| single(option_of(byte).min(singles - 1)).unwrap_or(0));
    let max_cost = ir.facts(choice.options[count - 1]).min_len - ir.facts(node).min_len;
    Some(ByteItem { table, bound, layers: 0, max_cost })
}

/// What each choice byte of a pool's site emits, if it is one byte.
fn byte_pool(strings: &[Box<[u8]>]) -> Option<[u8; 256]> {
    // A pool of one string has no site, so a choice byte would be left over.
    let single = strings.len() > 1 && strings.iter().all(|string| string.len() == 1);
    single.then(|| std::array::from_fn(|byte| strings[(byte * strings.len()) >> 8][0]))
}

/// The item of `"" | item again`, if the body of a tail-recursive rule has this form.
fn star_item(ir: &Ir, rule: RuleId, body: NodeId) -> Option<NodeId> {
    let Node::Choice(Choice { options, slots: None }) = ir.node(body) else { return None };
    let [stop, go] = **options else { return None };
    let stops = matches!(ir.node(stop), Node::Bytes(bytes) if bytes.is_empty());
    let Node::Seq(items) = ir.node(go) else { return None };
    let [item, again] = **items else { return None };
    (stops && *ir.node(again) == Node::Again(rule)).then_some(item)
}

/// The item of `item | item again`, if the body of a tail-recursive rule has this form.
fn plus_item(ir: &Ir, rule: RuleId, body: NodeId) -> Option<NodeId> {
    let Node::Choice(Choice { options, slots: None }) = ir.node(body) else { return None };
    let [stop, go] = **options else { return None };
    let Node::Seq(items) = ir.node(go) else { return None };
    let [item, again] = **items else { return None };
    (ir.is_written_like(stop, item) && *ir.node(again) == Node::Again(rule)).then_some(item)
}

impl Emitter<'_> {
    /// An inlined instance of a rule that is right recursion over single bytes and nothing else.
    fn star(&mut self, rule: RuleId, body: NodeId, at: &At) -> Option<TokenStream> {
        let (item, plus) = match star_item(self.ir, rule, body) {
            Some(item) => (item, false),
            None => (plus_item(self.ir, rule, body)?, true),
        };
        let bytes = byte_item(self.ir, item).filter(|bytes| bytes.bound == 256 && bytes.layers <= 1)?;
        let strings = &self.compiled.pools.get(rule)?.strings;
        let longest = strings.last().map_or(0, |string| string.len());
        if longest > MAX_LITERAL {
            return None;
        }
        let pool = self.pool(rule)?;
        let last = match self.ir.node(item) {
            Node::Inline { rule, .. } => byte_pool(&self.compiled.pools.get(*rule)?.strings)?,
            _ => bytes.table,
        };
        let name = names::constant("STAR", &self.ir.rule(rule).name);
        let star = self.statics.star(&name, &bytes.table, &last, &pool);
        let depth = at.depth(1);
        Some(self.within(rule, at, |emitter| {
            let ensure = emitter.take(RUN.choices + 1, RUN.output + longest);
            quote!(#ensure s = cx.star::<#plus, DEPTH, LEN>(s, #depth, &#star);)
        }))
    }

    /// An inlined instance of a rule that jumps back to itself.
    pub(super) fn tail_loop(&mut self, rule: RuleId, body: NodeId, at: &At) -> TokenStream {
        if let Some(star) = self.star(rule, body, at) {
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
            let layers = Literal::i64_unsuffixed(bytes.layers);
            quote!(#levels + 1 - #layers)
        };
        let star = star_item(self.ir, rule, body).and_then(|item| Some((item, byte_item(self.ir, item)?)));
        let round = if let Some((item, bytes)) = star {
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

    /// Beyond the depth limit: a string of the rule's pool, and out of the loop.
    fn pool_exit(&mut self, rule: RuleId, levels: &Ident, label: &syn::Lifetime) -> TokenStream {
        match self.pool_code(rule) {
            Some(pool) => quote! {
                if DEPTH && #levels < 0 {
                    #pool
                    break #label;
                }
            },
            None => quote!(),
        }
    }

    /// Further rounds of single bytes, as many as may be; `end` then says how they ended. `depth` is the number of rounds
    /// that the depth allows, `most` what the repetition does.
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

    /// Decides, after `run`, whether there is one more round, unless that is known.
    fn round_site(
        &mut self,
        run: TokenStream,
        item: NodeId,
        label: &syn::Lifetime,
        before_site: TokenStream,
    ) -> TokenStream {
        let go = self.go_site(item, label);
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

    /// The site that decides on a further round.
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

    pub(super) fn repeat(&mut self, item: NodeId, min: u32, max: Option<u32>, at: &At) -> TokenStream {
        if let Some(bytes) = byte_item(self.ir, item).filter(|bytes| bytes.bound == 256 && bytes.layers == 0) {
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
        let site = match byte_item(self.ir, item) {
            Some(bytes) => {
                // Rounds don't change the depth: it allows all of them or, for an item beyond the limit, none.
                let depth = match bytes.layers {
                    0 => quote!(rt::Depth::MAX),
                    layers => {
                        let beyond = at.is_beyond(layers);
                        quote!(if #beyond { 0 } else { rt::Depth::MAX })
                    }
                };
                let run = self.run(&bytes, depth, most, |done| match max {
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
        // The loop ends at the site, at the latest.
        let behind_site = self.used;
        let code = self.node(item, at);
        let next = self.next_round(head);
        self.used = behind_site;
        if min == 0 {
            return quote!(#begin #label: loop { #site #code #count #next });
        }
        // The item stands once, so that nested repetitions do not multiply.
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
