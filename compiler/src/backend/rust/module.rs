//! The public part of an emitted module: its producer and its functions.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::Emitter;
use crate::limits::Decided;

impl Emitter<'_> {
    /// Returns the items of a module. `unfolded` is a depth limit with the rules for this limit alone.
    pub(super) fn module(&mut self, unfolded: Option<(u32, TokenStream)>) -> TokenStream {
        let (rules, library) = (self.rules("rules"), self.library);
        let min_len = Literal::u64_unsuffixed(self.compiled.min_len());
        let poolless = match self.compiled.rule_without_pool() {
            Some(rule) => quote!(Some(#rule)),
            None => quote!(None),
        };
        let limits = self.default_limits();
        let (run, run_batch) = (
            quote!(rules::run(self.limits, choices, output)),
            quote!(rules::run_batch(self.limits, choices, output, batch)),
        );
        let (run, run_batch, unfolded) = match unfolded {
            None => (run, run_batch, quote!()),
            Some((depth, rules)) => {
                let depth = Literal::u32_unsuffixed(depth);
                let is_it = quote!(self.limits.depth() == Some(#depth) && self.limits.length().is_none());
                (
                    quote!(if #is_it { unfolded::run(self.limits, choices, output) } else { #run }),
                    quote!(if #is_it { unfolded::run_batch(self.limits, choices, output, batch) } else { #run_batch }),
                    rules,
                )
            }
        };
        let start_name = &self.ir.rule(self.ir.start()).name;
        let about = format!(" Produces sentences of the grammar, from its start rule `{start_name}`.");
        // The attribute is put on each item: an included text cannot begin with an attribute for the whole.
        let used_or_not = quote!(#[allow(dead_code, unreachable_pub)]);
        quote! {
            /// The length in bytes of the shortest output.
            #used_or_not
            pub const MIN_LEN: u64 = #min_len;

            /// The limits of a new producer.
            #used_or_not
            pub const DEFAULT_LIMITS: #library::Limits = #limits;

            /// Returns a pseudo-random output: that of the first input of the run with this seed, within
            /// [`DEFAULT_LIMITS`].
            #used_or_not
            #[must_use]
            pub fn generate(seed: u64) -> ::std::vec::Vec<u8> {
                let mut output = ::std::vec::Vec::new();
                #library::Producer::produce(
                    &mut Producer::new(),
                    &mut #library::Choices::random(seed),
                    &mut output,
                );
                output
            }

            /// Returns the output of these choice bytes, within [`DEFAULT_LIMITS`]. Every byte string is a valid choice
            /// string.
            #used_or_not
            #[must_use]
            pub fn render(choice_bytes: &[u8]) -> ::std::vec::Vec<u8> {
                let mut output = ::std::vec::Vec::new();
                #library::Producer::produce(
                    &mut Producer::new(),
                    &mut #library::Choices::replay(choice_bytes),
                    &mut output,
                );
                output
            }

            #[doc = #about]
            #used_or_not
            #[derive(Clone, Copy, Debug)]
            pub struct Producer {
                limits: #library::Limits,
            }

            #used_or_not
            impl Producer {
                /// Returns a producer with [`DEFAULT_LIMITS`].
                #[must_use]
                pub const fn new() -> Producer {
                    Producer { limits: DEFAULT_LIMITS }
                }
            }

            impl ::std::default::Default for Producer {
                fn default() -> Producer {
                    Producer::new()
                }
            }

            impl #library::Producer for Producer {
                fn min_len(&self) -> u64 {
                    MIN_LEN
                }

                fn limits(&self) -> #library::Limits {
                    self.limits
                }

                fn set_limits(
                    &mut self,
                    limits: #library::Limits,
                ) -> ::std::result::Result<(), #library::LimitsError> {
                    limits.check(MIN_LEN, #poolless)?;
                    self.limits = limits;
                    ::std::result::Result::Ok(())
                }

                fn produce(
                    &mut self,
                    choices: &mut #library::Choices<'_>,
                    output: &mut ::std::vec::Vec<u8>,
                ) -> u64 {
                    #run
                }

                fn produce_batch(
                    &mut self,
                    choices: &mut #library::Choices<'_>,
                    output: &mut ::std::vec::Vec<u8>,
                    batch: &mut #library::Batch<'_>,
                ) -> u64 {
                    #run_batch
                }
            }

            #rules

            #unfolded
        }
    }

    fn default_limits(&self) -> TokenStream {
        let library = self.library;
        let has_pools = self.compiled.rule_without_pool().is_none();
        let decided = self.options.asked().in_force(self.compiled.directives(), has_pools);
        let Decided { limits, is_default_depth, .. } = decided;
        let depth = match limits.max_depth {
            Some(_) if is_default_depth => quote!(Some(#library::Limits::DEFAULT_MAX_DEPTH)),
            Some(depth) => {
                let depth = Literal::u32_unsuffixed(depth);
                quote!(Some(#depth))
            }
            None => quote!(None),
        };
        let length = match limits.max_len {
            Some(length) => {
                let length = Literal::u64_unsuffixed(length);
                quote!(Some(#length))
            }
            None => quote!(None),
        };
        quote!(#library::Limits::with(#depth, #length))
    }
}
