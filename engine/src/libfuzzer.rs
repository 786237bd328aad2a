//! Custom mutators for libFuzzer: [`fuzz_mutator!`](crate::fuzz_mutator) registers them for a fuzz target that takes
//! choice bytes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gramjet::choices::FuzzMutator;
use gramjet::{Choices, Producer};
use gramjet_compiler::formats::Loader;
use gramjet_compiler::{Options, SourceFile, compile};

use crate::tracer::Tracer;

/// Registers mutators that work along the structure of choice bytes for the fuzz target of this crate: libFuzzer's
/// `LLVMFuzzerCustomMutator` and `LLVMFuzzerCustomCrossOver`.
///
/// ```ignore
/// gramjet::grammar! { mod json = "grammars/json.ebnf" { max_depth: 1000 }; }
///
/// gramjet_engine::fuzz_mutator!(json::Producer, "grammars/json.ebnf");
///
/// libfuzzer_sys::fuzz_target!(|json: gramjet::Doc<json::Producer>| {
///     let _ = my_parser::parse(&json);
/// });
/// ```
///
/// The first argument is the producer that the target renders choice bytes with. The second is the grammar that it was
/// made of, as a path relative to `Cargo.toml`. A third one, where the producer has another start rule than the
/// grammar, is its name. If the grammar refers to other files, such as a lexer or imports, these come last:
/// `fuzz_mutator!(xml::Producer, "grammars/XMLParser.g4", "document", with ["grammars/XMLLexer.g4"])`. The files are
/// read when the target is built. Before the first mutation, both are run on some choice strings: it panics with a
/// message if they differ.
#[macro_export]
macro_rules! fuzz_mutator {
    ($producer:ty, $path:literal $(, with [$($other:literal),* $(,)?])? $(,)?) => {
        $crate::fuzz_mutator!(@ $producer, $path, ::core::option::Option::None, [$($($other),*)?]);
    };
    ($producer:ty, $path:literal, $start:literal $(, with [$($other:literal),* $(,)?])? $(,)?) => {
        $crate::fuzz_mutator!(@ $producer, $path, ::core::option::Option::Some($start), [$($($other),*)?]);
    };
    (@ $producer:ty, $path:literal, $start:expr, [$($other:literal),*]) => {
        const _: () = {
            ::std::thread_local! {
                static MUTATOR: ::core::cell::RefCell<$crate::libfuzzer::Registered> = ::core::cell::RefCell::new($crate::libfuzzer::Registered::new(
                    &mut <$producer as ::core::default::Default>::default(),
                    $path,
                    ::core::include_str!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/", $path)),
                    &[$(($other, ::core::include_str!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/", $other)))),*],
                    $start,
                ));
            }

            #[unsafe(export_name = "LLVMFuzzerCustomMutator")]
            unsafe extern "C" fn mutate(data: *mut u8, size: usize, max_size: usize, seed: ::core::ffi::c_uint) -> usize {
                // SAFETY: libFuzzer gives a buffer of `max_size` bytes, the first `size` of them set; of more if `size`
                // is greater.
                let data = unsafe { ::core::slice::from_raw_parts_mut(data, ::core::cmp::max(size, max_size)) };
                MUTATOR.with_borrow_mut(|mutator| mutator.mutate(data, size, max_size, seed as u32))
            }

            #[unsafe(export_name = "LLVMFuzzerCustomCrossOver")]
            unsafe extern "C" fn cross_over(
                one: *const u8,
                one_size: usize,
                other: *const u8,
                other_size: usize,
                mutant: *mut u8,
                max_size: usize,
                seed: ::core::ffi::c_uint,
            ) -> usize {
                // SAFETY: libFuzzer gives two inputs and a buffer, each with its size, apart from each other.
                let (one, other, mutant) = unsafe {
                    (
                        ::core::slice::from_raw_parts(one, one_size),
                        ::core::slice::from_raw_parts(other, other_size),
                        ::core::slice::from_raw_parts_mut(mutant, max_size),
                    )
                };
                MUTATOR.with_borrow_mut(|mutator| mutator.cross_over(one, other, mutant, seed as u32))
            }
        };
    };
}

/// A mutator of the choice bytes of a producer. It is one type, so that it is compiled here, where no instrumentation
/// slows it down if this crate has none.
#[derive(Clone, Debug)]
pub struct Registered(FuzzMutator<Tracer>);

impl Registered {
    /// Returns a mutator of the choice bytes of `producer`, which was made of this grammar, with its limits. `others`
    /// are the files that the grammar names: their paths and texts.
    ///
    /// # Panics
    ///
    /// If the grammar does not compile, or produces something else: a fuzz target cannot go on.
    pub fn new(
        producer: &mut dyn Producer,
        path: &str,
        grammar: &str,
        others: &[(&'static str, &'static str)],
        start: Option<&str>,
    ) -> Registered {
        let file = SourceFile::new(path, grammar);
        let folder = Path::new(path).parent().map_or_else(PathBuf::new, Path::to_path_buf);
        let loader = Embedded { folder, files: others.to_vec() };
        let options =
            Options { start: start.map(str::to_string), loader: Some(Arc::new(loader)), ..Options::default() };
        let compiled = match compile(&file, &options) {
            Ok((compiled, _)) => compiled,
            Err(diagnostics) => panic!("fuzz_mutator!: {}", diagnostics.to_plain_text(&file)),
        };
        let mut tracer = Tracer::new(&compiled);
        if let Err(error) = tracer.set_limits(producer.limits()) {
            panic!("fuzz_mutator!: the producer was not made of {path}: {error}");
        }
        if let Some(choices) = difference(producer, &mut tracer) {
            panic!(
                "fuzz_mutator!: the producer was not made of {path}, or with another start rule or other options: choice \
                 bytes {choices:02x?} differ"
            );
        }
        Registered(FuzzMutator::new(tracer))
    }

    /// See [`FuzzMutator::mutate`].
    pub fn mutate(&mut self, data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
        self.0.mutate(data, size, max_size, seed)
    }

    /// See [`FuzzMutator::cross_over`].
    pub fn cross_over(&mut self, one: &[u8], other: &[u8], mutant: &mut [u8], seed: u32) -> usize {
        self.0.cross_over(one, other, mutant, seed)
    }
}

/// Gives the files that were read when the target was built.
struct Embedded {
    folder: PathBuf,
    files: Vec<(&'static str, &'static str)>,
}

impl Loader for Embedded {
    fn load(&self, name: &str) -> Result<SourceFile, String> {
        let path = self.folder.join(name);
        let file = self.files.iter().find(|(other, _)| Path::new(other) == path);
        file.map(|&(other, text)| SourceFile::new(other, text))
            .ok_or_else(|| format!("it is not among the files of fuzz_mutator!; add `with [\"{}\"]`", path.display()))
    }
}

/// Returns choice bytes of which the two make different inputs.
fn difference(one: &mut dyn Producer, other: &mut dyn Producer) -> Option<Vec<u8>> {
    const STRINGS: u64 = 64;
    (0..STRINGS).find_map(|number| {
        let mut random = Choices::of_block(0, number);
        let choices: Vec<u8> = (0..4 * number).map_while(|_| random.next_byte()).collect();
        let (mut text, mut other_text) = (Vec::new(), Vec::new());
        let read = one.produce(&mut Choices::replay(&choices), &mut text);
        let other_read = other.produce(&mut Choices::replay(&choices), &mut other_text);
        (read != other_read || text != other_text).then_some(choices)
    })
}
