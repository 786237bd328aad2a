//! Grammars: compiled once, shared by threads, used for parsing and for sessions.

use std::ffi::{CStr, CString, OsStr, c_char};
use std::ptr;
use std::str::FromStr;

use gramjet_compiler::SourceFile;
use gramjet_session::{Bound, FormatOptions, Language, LanguageError, ParseError, Settings};

use crate::bytes::gramjet_bytes;
use crate::calls::*;

/// A compiled grammar.
pub struct gramjet_grammar {
    pub(crate) language: Language,
    warnings: CString,
    engine: CString,
}

/// No limit.
pub const GRAMJET_UNLIMITED: u64 = u64::MAX;

/// Settings with which a grammar is read and run. With {0} all is as usual.
#[repr(C)]
#[derive(Debug)]
pub struct gramjet_options {
    /// The notation, by the name that `gramjet gen --format` takes; NULL to find it from the name of the file and its
    /// text.
    pub format: *const c_char,
    /// The start rule; NULL for the grammar's own.
    pub start: *const c_char,
    /// The engine: "auto", "jit", "vm" or "reference"; NULL for "auto".
    pub engine: *const c_char,
    /// The greatest depth of what is made, in rules; 0 for that of the grammar, or 32 where it sets neither depth nor
    /// length.
    pub max_depth: u64,
    /// The greatest length of what is made, in bytes; 0 for that of the grammar.
    pub max_len: u64,
    /// In notations with a lexer (ANTLR's), where separators stand between tokens: "auto", "space", "none", or "any",
    /// with which texts that others have made can be parsed and varied; NULL for "auto". Choice bytes mean something
    /// under one policy only.
    pub separator_policy: *const c_char,
    /// In notations with a lexer, what sets that are written as complements draw from: "readable", "ascii", "unicode",
    /// "bytes" or "all"; NULL for "all" with the policy "any", and "readable" with others.
    pub alphabet: *const c_char,
    /// The shape of what is made, as `gramjet gen --shape` takes it: "uniform", "balanced", "deep" or
    /// "target-size=BYTES"; NULL for what is usual for the grammar, which gramjet_grammar_warnings says if it is not
    /// that of the grammar itself.
    pub shape: *const c_char,
    /// In notations whose lexer leaves indentation to code, how its tokens are read, as `gramjet gen --indent` takes
    /// it: "auto", "none", or settings such as "unit=2,levels=5"; NULL for "auto". Choice bytes mean something under
    /// one such reading only.
    pub indent: *const c_char,
    /// The path of a file that says what tokens derive which the grammar only names; NULL if there is none.
    pub tokens: *const c_char,
    /// Treatment of alternatives of weight 0: with "keep" texts may have them, as those that others have made do; with
    /// "drop" they do not exist. NULL for "drop". Choice bytes mean something under one of the two only.
    pub zero_weights: *const c_char,
}

/// Returns the settings of options.
///
/// # Safety
///
/// `options` must be null or point to options whose strings are null or C strings.
unsafe fn settings(options: *const gramjet_options) -> Result<Settings, Failure> {
    // SAFETY: as for this function.
    let Some(options) = (unsafe { options.as_ref() }) else { return Ok(Settings::default()) };
    let bound = |value| match value {
        0 => Bound::Default,
        GRAMJET_UNLIMITED => Bound::Unlimited,
        value => Bound::At(value),
    };
    // SAFETY: as for this function.
    let (format, start, engine, separators, alphabet, shape, indent, tokens, zero_weights) = unsafe {
        (
            string(options.format, "the format")?,
            string(options.start, "the start rule")?,
            string(options.engine, "the engine")?,
            string(options.separator_policy, "the separator policy")?,
            string(options.alphabet, "the alphabet")?,
            string(options.shape, "the shape")?,
            string(options.indent, "the indentation")?,
            string(options.tokens, "the file of tokens")?,
            string(options.zero_weights, "the setting of zero weights")?,
        )
    };
    Ok(Settings {
        format: format.map(str::to_string),
        start: start.map(str::to_string),
        engine: named(engine)?.unwrap_or_default(),
        max_depth: bound(options.max_depth),
        max_len: bound(options.max_len),
        shape: named(shape)?,
        reading: FormatOptions {
            separators: named(separators)?.unwrap_or_default(),
            alphabet: named(alphabet)?,
            indent: named(indent)?.unwrap_or_default(),
            zero_weights: named(zero_weights)?.unwrap_or_default(),
            ..FormatOptions::default()
        },
        tokens: tokens.map(str::to_string),
        own_weights: false,
    })
}

/// Returns the value that a name stands for, if there is a name.
fn named<T: FromStr<Err = String>>(name: Option<&str>) -> Result<Option<T>, Failure> {
    name.map(str::parse).transpose().map_err(|error| (GRAMJET_INVALID_ARGUMENT, error))
}

fn hand_out(language: Result<Language, LanguageError>, grammar: &mut *mut gramjet_grammar) -> Result<(), Failure> {
    let language = language.map_err(|error| {
        let status = match error {
            LanguageError::Setting(_) => GRAMJET_INVALID_ARGUMENT,
            _ => GRAMJET_INVALID_GRAMMAR,
        };
        (status, error.to_string())
    })?;
    let text = |text: &str| CString::new(text.replace('\0', " ")).unwrap_or_default();
    let (warnings, engine) = (text(language.warnings()), text(language.engine_name()));
    *grammar = Box::into_raw(Box::new(gramjet_grammar { language, warnings, engine }));
    Ok(())
}

/// Compiles the grammar in `text`, UTF-8 of `len` bytes. `options` may be NULL. If that fails, `*grammar` becomes NULL.
///
/// # Safety
///
/// Each pointer must be null or valid for the access that its parameter documents.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gramjet_grammar_compile(
    text: *const u8,
    len: usize,
    options: *const gramjet_options,
    grammar: *mut *mut gramjet_grammar,
) -> gramjet_status {
    call(|| {
        // SAFETY: as for this function.
        let (grammar, text, settings) = unsafe {
            let grammar = exclusive(grammar, "grammar")?;
            *grammar = ptr::null_mut();
            (grammar, slice(text, len, "text")?, settings(options)?)
        };
        let text = std::str::from_utf8(text)
            .map_err(|error| (GRAMJET_INVALID_GRAMMAR, format!("the grammar is not UTF-8 text: {error}")))?;
        hand_out(Language::compile(&SourceFile::new("grammar", text), &settings), grammar)
    })
}

/// Compiles the grammar in the file `name`, or the one that ships under this name, such as json. `options` may be NULL.
/// If that fails, `*grammar` becomes NULL.
///
/// # Safety
///
/// Each pointer must be null or valid for the access that its parameter documents.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gramjet_grammar_load(
    name: *const c_char,
    options: *const gramjet_options,
    grammar: *mut *mut gramjet_grammar,
) -> gramjet_status {
    call(|| {
        // SAFETY: as for this function.
        let (grammar, settings) = unsafe {
            let grammar = exclusive(grammar, "grammar")?;
            *grammar = ptr::null_mut();
            (grammar, settings(options)?)
        };
        if name.is_null() {
            return Err(is_null("name"));
        }
        // SAFETY: as for this function.
        let name = unsafe { CStr::from_ptr(name) };
        // SAFETY: the bytes of a C string that was handed in; paths need not be UTF-8.
        let name = unsafe { OsStr::from_encoded_bytes_unchecked(name.to_bytes()) };
        hand_out(Language::load(name, &settings), grammar)
    })
}

/// Returns warnings about the grammar, as a text of lines; empty if there are none. It lives as long as the grammar;
/// NULL for NULL.
///
/// # Safety
///
/// `grammar` must be NULL or a grammar.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gramjet_grammar_warnings(grammar: *const gramjet_grammar) -> *const c_char {
    // SAFETY: as for this function.
    unsafe { grammar.as_ref() }.map_or(ptr::null(), |grammar| grammar.warnings.as_ptr())
}

/// Returns the name of the engine that runs the grammar: "jit", "vm" or "reference". It lives as long as the grammar;
/// NULL for NULL.
///
/// # Safety
///
/// `grammar` must be NULL or a grammar.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gramjet_grammar_engine(grammar: *const gramjet_grammar) -> *const c_char {
    // SAFETY: as for this function.
    unsafe { grammar.as_ref() }.map_or(ptr::null(), |grammar| grammar.engine.as_ptr())
}

/// Returns the length of the grammar's shortest text in bytes; 0 for NULL.
///
/// # Safety
///
/// `grammar` must be NULL or a grammar.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gramjet_grammar_min_len(grammar: *const gramjet_grammar) -> u64 {
    // SAFETY: as for this function.
    unsafe { grammar.as_ref() }.map_or(0, |grammar| grammar.language.producer().min_len())
}

/// Frees a grammar.
///
/// # Safety
///
/// `grammar` must be NULL or a grammar that is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gramjet_grammar_free(grammar: *mut gramjet_grammar) {
    if !grammar.is_null() {
        // SAFETY: it was made of a box and is given back once.
        drop(unsafe { Box::from_raw(grammar) });
    }
}

/// Finds the choice bytes that produce a text, whatever its depth and length, and writes them after a header, as files
/// of choice bytes have it: it says to which grammar they belong. If the text does not conform, `*offset` gets the
/// place of the first byte that nothing can stand for; `choices` and `offset` may be NULL.
///
/// # Safety
///
/// Each pointer must be null or valid for the access that its parameter documents.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gramjet_parse(
    grammar: *const gramjet_grammar,
    text: *const u8,
    len: usize,
    choices: *mut gramjet_bytes,
    offset: *mut usize,
) -> gramjet_status {
    // SAFETY: as for this function.
    unsafe { parse(grammar, text, len, choices, offset, true) }
}

/// Finds the choice bytes that produce a text without limits on depth and length, and writes them without a header.
///
/// # Safety
///
/// Each pointer must be null or valid for the access that its parameter documents.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gramjet_parse_raw(
    grammar: *const gramjet_grammar,
    text: *const u8,
    len: usize,
    choices: *mut gramjet_bytes,
    offset: *mut usize,
) -> gramjet_status {
    // SAFETY: as for this function.
    unsafe { parse(grammar, text, len, choices, offset, false) }
}

/// Finds the choice bytes that produce a text, and writes them after a header, if `has_header`, or without one.
///
/// # Safety
///
/// Each pointer must be null or valid for the access that its parameter documents.
unsafe fn parse(
    grammar: *const gramjet_grammar,
    text: *const u8,
    len: usize,
    choices: *mut gramjet_bytes,
    offset: *mut usize,
    has_header: bool,
) -> gramjet_status {
    call(|| {
        // SAFETY: as for this function.
        let (grammar, text) = unsafe { (shared(grammar, "grammar")?, slice(text, len, "text")?) };
        // SAFETY: as for this function.
        unsafe { choices.as_ref() }.map_or(Ok(()), |choices| choices.check_apart(text, "text"))?;
        // SAFETY: as for this function.
        if let Some(choices) = unsafe { choices.as_mut() } {
            // SAFETY: as for this function.
            unsafe { choices.write(|_| ()) };
        }
        match grammar.language.parse(text) {
            Ok(found) => {
                let found = if has_header { grammar.language.with_header(&found) } else { found };
                // SAFETY: as for this function.
                if let Some(choices) = unsafe { choices.as_mut() } {
                    // SAFETY: as for this function.
                    unsafe { choices.write(|choices| choices.extend_from_slice(&found)) };
                }
                Ok(())
            }
            Err(error) => {
                let (status, place) = match &error {
                    ParseError::Mismatch(mismatch) => (GRAMJET_MISMATCH, mismatch.offset),
                    ParseError::Steps { offset, .. } | ParseError::Memory { offset, .. } => {
                        (GRAMJET_TOO_COSTLY, *offset)
                    }
                    ParseError::TooLong { .. } => (GRAMJET_TOO_COSTLY, 0),
                };
                // SAFETY: as for this function.
                if let Some(offset) = unsafe { offset.as_mut() } {
                    *offset = place;
                }
                Err((status, error.to_string()))
            }
        }
    })
}

/// Grammars are used by many threads at the same time.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<gramjet_grammar>();
};
