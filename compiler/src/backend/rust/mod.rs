//! The Rust backend: one readable function per residual rule. The code depends only on the `gramjet` library.
//!
//! The emitter counts the most that code reads and writes, so the code does not check every access: it uses up a credit
//! (`credit`) and moves two pointers, which are passed from function to function in registers. Each function has three
//! instances (no limit, depth, depth and length), so that an unused limit costs nothing.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};

use crate::analysis::form::{Forms, Strings};
use crate::analysis::guards::guarded;
use crate::analysis::pools::Pools;
use crate::analysis::recursion::{Recursion, recursion, references};
use crate::analysis::runs::called_beside_chains;
use crate::ir::{Ir, NodeId, RuleId};
use crate::limits::{AssumedLimits, Decided, Limits};
use crate::ordered::sort_by_key;
use crate::passes::{MAX_UNFOLDED_DEPTH, MAX_UNFOLDED_NODES, optimise_unfolded};
use crate::pipeline::Compiled;

mod body;
mod chains;
mod credit;
mod loops;
mod module;
mod names;
mod sites;
mod size;
mod statics;

use body::{At, Scope};
use credit::{CREDIT, MAX_LITERAL, RUN, Used};
use statics::Statics;

/// The user's options for emitted code.
#[derive(Clone, Debug, Default)]
pub struct EmitOptions {
    /// Emits no `unsafe`: every access is checked.
    pub forbid_unsafe: bool,
    /// The depth limit of producers if the user of the producer sets none. `None` takes the limit of the grammar. A
    /// small limit is unfolded: producers that keep it run code of its own.
    pub max_depth: Option<u32>,
    /// The length limit in bytes of producers if the user of the producer sets none. `None` takes the limit of the
    /// grammar.
    pub max_len: Option<u64>,
    /// The path of the `gramjet` library in emitted text, if it is not `::gramjet`: `::gj` for a dependency called
    /// `gj`.
    pub library: Option<String>,
}

/// The greatest size of an emitted producer. For larger ones the Rust compiler would take minutes and gigabytes. A node
/// of the residual grammar counts as one; four literals, 16 numbers in tables, and 1024 bytes of literals and pools
/// each count as one too.
pub const MAX_SIZE: usize = 32_000;

impl EmitOptions {
    /// Returns the limits that the user asks for.
    pub fn asked(&self) -> AssumedLimits {
        AssumedLimits { max_depth: self.max_depth.map(Some), max_len: self.max_len.map(Some) }
    }

    /// Checks that the grammar can keep the limits, and that it is not too large.
    ///
    /// # Errors
    ///
    /// A message on the first limit that cannot be kept.
    pub fn check(&self, compiled: &Compiled) -> Result<(), String> {
        if let Some(path) = self.library.as_deref().filter(|path| syn::parse_str::<syn::Path>(path).is_err()) {
            return Err(format!("`{}` is not the path of a library, as `::gramjet` is", path.escape_debug()));
        }
        if compiled.lowered.has_labels() {
            return Err("in this grammar bytes follow from labelled parts or names, or are coded, which only the engines `jit`, `vm` and `reference` can do yet"
                .to_string());
        }
        let size = size::size(&compiled.residual, &compiled.pools).units();
        if size > MAX_SIZE {
            return Err(format!(
                "the grammar is too large to be compiled to Rust: with the tables of its pools and classes it is worth {size} \
                 nodes, and {MAX_SIZE} is the bound; the engine `vm` has no such bound"
            ));
        }
        if let Some(max_len) = self.max_len.filter(|&max_len| max_len < compiled.min_len()) {
            let min_len = compiled.min_len();
            return Err(format!(
                "a maximum length of {max_len} is too small: the shortest output has the length {min_len}"
            ));
        }
        match (self.max_depth, compiled.rule_without_pool()) {
            (Some(_), Some(rule)) => {
                Err(format!("a maximum depth cannot be kept: the minimum-depth strings of rule `{rule}` are too long"))
            }
            _ => Ok(()),
        }
    }
}

impl EmitOptions {
    /// Returns a warning if producers begin without a depth limit, although the grammar file or the default asks for
    /// one.
    pub fn warning(&self, compiled: &Compiled) -> Option<String> {
        let rule = compiled.rule_without_pool()?;
        let Decided { limits, is_default_depth, .. } = self.asked().or_default(compiled.directives());
        let expected = match limits.max_depth.filter(|_| self.max_depth.is_none())? {
            _ if is_default_depth => "the default maximum depth".to_string(),
            depth => format!("the maximum depth {depth} of the grammar file"),
        };
        Some(format!(
            "{expected} cannot be kept, so producers begin without one: the minimum-depth strings of rule `{rule}` are too \
             long to be kept in a pool"
        ))
    }
}

/// Returns the source text of a module, formatted; with the feature `rust-text`. The options must have been checked
/// with [`EmitOptions::check`].
#[cfg(feature = "rust-text")]
pub fn emit(compiled: &Compiled, options: &EmitOptions) -> String {
    // The formatter recurses over the code, which is nested like the grammar.
    let on_helper = std::thread::scope(|scope| {
        let helper = std::thread::Builder::new().stack_size(EMIT_STACK);
        helper.spawn_scoped(scope, || emit_here(compiled, options)).ok()?.join().ok()
    });
    on_helper.unwrap_or_else(|| emit_here(compiled, options))
}

/// The stack of the formatter's thread, in bytes.
#[cfg(feature = "rust-text")]
const EMIT_STACK: usize = 256 << 20;

#[cfg(feature = "rust-text")]
fn emit_here(compiled: &Compiled, options: &EmitOptions) -> String {
    // An invalid path has been refused.
    let library = options.library.as_deref().and_then(|path| path.parse().ok()).unwrap_or_else(|| quote!(::gramjet));
    let items = tokens(compiled, options, &library);
    let text = match syn::parse2::<syn::File>(items.clone()) {
        Ok(file) => prettyplease::unparse(&file),
        // Only a defect of the backend leads here. The Rust compiler then reports it.
        Err(_) => items.to_string(),
    };
    format!("// Generated by gramjet from a grammar; do not edit.\n\n{text}")
}

/// Returns the items of a module, in which `library` is the path of the `gramjet` library. The options must have been
/// checked ([`EmitOptions::check`]).
pub fn tokens(compiled: &Compiled, options: &EmitOptions, library: &TokenStream) -> TokenStream {
    let unfolded = unfolded(compiled, options)
        .map(|(depth, ir)| (depth, Emitter::new(compiled, &ir, &Pools::none(), options, library).rules("unfolded")));
    Emitter::new(compiled, &compiled.residual, &compiled.pools, options, library).module(unfolded)
}

/// The greatest size of an unfolded form, in the units of [`MAX_SIZE`].
const MAX_UNFOLDED_SIZE: usize = 4000;

/// Returns the initial depth limit of producers and the form with it unfolded. Only if the limit is stated, small, and
/// the only one.
fn unfolded(compiled: &Compiled, options: &EmitOptions) -> Option<(u32, Ir)> {
    let Limits { max_depth, max_len } = options.asked().over(compiled.directives());
    let depth = max_depth.filter(|&depth| depth <= MAX_UNFOLDED_DEPTH)?;
    if max_len.is_some() || compiled.rule_without_pool().is_some() {
        return None;
    }
    let ir = optimise_unfolded(&compiled.lowered, &compiled.pools, depth, MAX_UNFOLDED_NODES)?;
    (size::size(&ir, &Pools::none()).units() <= MAX_UNFOLDED_SIZE).then_some((depth, ir))
}

/// State of one emission.
struct Emitter<'c> {
    compiled: &'c Compiled,
    ir: &'c Ir,
    forms: Forms<'c>,
    pools: &'c Pools,
    options: &'c EmitOptions,
    /// The path of the library.
    library: &'c TokenStream,
    /// The function of each rule with a body.
    functions: Vec<Ident>,
    /// The rules that check that there is stack left.
    guarded: Vec<bool>,
    recursion: Recursion,
    /// The credit used at the emitter's place in the code.
    used: Used,
    /// The credit used at the end of each function emitted so far.
    exits: Vec<Option<Used>>,
    statics: Statics,
    next_label: usize,
}

impl<'c> Emitter<'c> {
    fn new(
        compiled: &'c Compiled,
        ir: &'c Ir,
        pools: &'c Pools,
        options: &'c EmitOptions,
        library: &'c TokenStream,
    ) -> Self {
        Emitter {
            compiled,
            ir,
            // If the IR can keep a length limit, the code for it is emitted.
            forms: Forms::new(ir, ir.is_ordered()).with_chains(),
            pools,
            options,
            library,
            functions: names::functions(ir),
            guarded: guarded(ir),
            recursion: recursion(ir),
            used: Used::ALL,
            exits: vec![None; ir.rules().len()],
            statics: Statics::default(),
            next_label: 0,
        }
    }

    fn machine(&self) -> Ident {
        format_ident!("{}", if self.options.forbid_unsafe { "safe" } else { "raw" })
    }

    /// Returns the module with the functions of the rules and their tables.
    fn rules(&mut self, name: &str) -> TokenStream {
        let functions = self.functions();
        let statics = self.statics.items();
        let (machine, name, library) = (self.machine(), format_ident!("{name}"), self.library);
        let start = &self.functions[self.ir.start().index()];
        let [credit_choices, credit_output, run_choices, run_output] =
            [CREDIT.choices, CREDIT.output, RUN.choices, RUN.output].map(Literal::usize_unsuffixed);
        let call = quote!(rt::#machine::run(&ENTRIES, super::MIN_LEN, limits, choices, output));
        let call_batch = quote!(rt::#machine::run_batch(&ENTRIES, super::MIN_LEN, limits, choices, output, batch));
        let (about_rules, call, call_batch) = if self.options.forbid_unsafe {
            (" One function per residual rule.", call, call_batch)
        } else {
            (
                " One function per residual rule. Safety: each is entered with a state of its machine, and reads and writes \
                 only what the reservation before it covers; tables are indexed by options below their length.",
                quote!(unsafe { #call }),
                quote!(unsafe { #call_batch }),
            )
        };
        let entries = if self.ir.is_ordered() {
            quote!([#start::<false, false>, #start::<true, false>, #start::<true, true>])
        } else {
            // The unfolded code has the limit built in.
            quote!([#start::<false, false>; 3])
        };
        quote! {
            #[doc = #about_rules]
            #[allow(
                clippy::all,
                clippy::nursery,
                clippy::pedantic,
                clippy::restriction,
                missing_docs,
                non_snake_case,
                unreachable_code,
                unused_assignments,
                unused_parens,
                unused_labels,
                unused_mut,
                unused_variables
            )]
            mod #name {
                use #library::rt;
                use #library::rt::#machine::{Entries, Machine, State};

                // The code below relies on this.
                const _: () = assert!(rt::CREDIT_CHOICES >= #credit_choices && rt::CREDIT_OUTPUT >= #credit_output);
                const _: () = assert!(rt::RUN_CHOICES <= #run_choices && rt::RUN_OUTPUT <= #run_output);

                static ENTRIES: Entries = #entries;

                pub(super) fn run(
                    limits: #library::Limits,
                    choices: &mut #library::Choices<'_>,
                    output: &mut ::std::vec::Vec<u8>,
                ) -> u64 {
                    #call
                }

                pub(super) fn run_batch(
                    limits: #library::Limits,
                    choices: &mut #library::Choices<'_>,
                    output: &mut ::std::vec::Vec<u8>,
                    batch: &mut #library::Batch<'_>,
                ) -> u64 {
                    #call_batch
                }

                #(#functions)*

                #statics
            }
        }
    }

    /// Returns the functions of all residual rules, in the order of the rules. A callee is emitted before its callers,
    /// so that the credit that it leaves is known.
    fn functions(&mut self) -> Vec<TokenStream> {
        let mut functions: Vec<(RuleId, TokenStream)> = Vec::new();
        let called = called_beside_chains(self.ir);
        for rule in self.recursion.bottom_up().to_vec() {
            if let Some(body) = self.ir.body(rule).filter(|_| called[rule.index()]) {
                functions.push((rule, self.function(rule, body)));
            }
        }
        sort_by_key(&mut functions, |&(rule, _)| rule);
        functions.into_iter().map(|(_, function)| function).collect()
    }

    /// Returns the function of a residual rule. Callers enter it with any credit. If the rule's pool is data, they
    /// enter it only within the depth limit.
    fn function(&mut self, rule: RuleId, body: NodeId) -> TokenStream {
        let function = self.functions[rule.index()].clone();
        let doc = format!(" Rule `{}`.", self.ir.rule(rule).name);
        let depth = format_ident!("depth");
        let label = self.label();
        self.used = Used::ALL;
        let loops = self.forms.is_loop(rule, body);
        // Jumps back into the loop pass the check of the depth limit.
        let begin = if loops { self.begin_loop().0 } else { quote!() };
        let scope = Scope { rule, label: label.clone(), levels: depth.clone(), head: self.used };
        let at = At { base: depth, offset: 0, scopes: vec![scope] };
        let head = self.used;
        let pool = if self.is_entered_within(rule) { None } else { self.pool_code(rule) };
        let mut exit = Used::NOTHING;
        let pool = pool.map(|pool| {
            let leave = self.leave(rule);
            exit = self.used;
            quote!(if DEPTH && depth < 0 { #pool #leave return s; })
        });
        self.used = head;
        let enter = if loops { quote!() } else { self.enter(&function, body) };
        let inside = self.node(body, &at);
        let leave = self.leave(rule);
        self.exits[rule.index()] = Some(exit.or(self.used));
        let guard = if self.guarded[rule.index()] {
            quote!(if cx.stack_is_low() { return cx.deeper(s, depth, #function::<DEPTH, LEN>); })
        } else {
            quote!()
        };
        let round = quote!(#pool #enter #inside #leave);
        let round = if loops { quote!(#begin #label: loop { #round return s; }) } else { quote!(#round s) };
        let signature = quote! {
            fn #function<const DEPTH: bool, const LEN: bool>(
                cx: &mut Machine<'_, '_>,
                mut s: State,
                mut depth: rt::Depth,
            ) -> State
        };
        if self.options.forbid_unsafe {
            quote!(#[doc = #doc] #signature { #guard #round })
        } else {
            quote!(#[doc = #doc] unsafe #signature { unsafe { #guard #round } })
        }
    }

    /// Returns the static table of a rule's pool.
    fn pool(&mut self, rule: RuleId) -> Option<Ident> {
        let pool = self.pools.get(rule)?;
        let name = names::constant("POOL", &self.ir.rule(rule).name);
        let strings: Vec<&[u8]> = pool.strings.iter().map(|string| &**string).collect();
        Some(self.statics.strings(&name, &strings, pool.shortest.as_deref()))
    }

    /// Returns true if emitting a string of the rule's pool takes a few instructions, as for a site of short literals.
    fn pool_is_data(&self, rule: RuleId) -> bool {
        self.pools.get(rule).is_some_and(|pool| match &*pool.strings {
            [only] => only.len() <= 2 * sites::MAX_PACKED && pool.shortest.is_none(),
            // All strings must have the same length, so that no length limit excludes some of them.
            strings => {
                let len = strings[0].len();
                len <= sites::MAX_PACKED && strings.iter().all(|string| string.len() == len) && pool.shortest.is_none()
            }
        })
    }

    /// Returns true if the callers of the rule's function check the depth limit.
    fn is_entered_within(&self, rule: RuleId) -> bool {
        self.pool_is_data(rule) && self.ir.body(rule).is_some_and(|body| !self.forms.is_loop(rule, body))
    }

    /// Returns the statements that emit a string of a rule's pool.
    fn pool_code(&mut self, rule: RuleId) -> Option<TokenStream> {
        let pool = self.pools.get(rule)?;
        let strings = Strings::of_pool(pool, self.ir.rule(rule).facts.min_len);
        if self.pool_is_data(rule) {
            return Some(match &strings.strings[..] {
                [only] => self.literal(only),
                _ => self.strings(&strings),
            });
        }
        let longest = strings.longest();
        let reserve = if longest > MAX_LITERAL {
            self.reserve_output(longest)
        } else {
            self.take(strings.site().width() as usize, longest)
        };
        let pool = self.pool(rule)?;
        Some(quote!(#reserve s = cx.string::<LEN>(s, &#pool);))
    }

    fn label(&mut self) -> syn::Lifetime {
        self.next_label += 1;
        syn::Lifetime::new(&format!("'l{}", self.next_label), Span::call_site())
    }
}

/// Returns the number of residual rules of a compiled grammar and of the references between them: a measure of the
/// emitted code.
pub fn residual_size(compiled: &Compiled) -> (usize, usize) {
    let ir = &compiled.residual;
    (ir.bodies().count(), references(ir).len())
}
