//! The C interface of custom mutators, as AFL++ 4.04c to 4.40c call it (`docs/custom_mutators.md` of AFL++).
//!
//! `afl_custom_havoc_mutation` is missing on purpose: it would be handed texts in the middle of byte mutations, which
//! have no derivation. So is `afl_custom_post_process`: what AFL++ keeps is the text already.

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::abort;

use crate::configuration::Configuration;
use crate::mutator::Mutator;

/// The state that AFL++ holds.
struct State {
    mutator: Mutator,
    mutant: Vec<u8>,
    text: CString,
}

/// Says why there is no mutator, and ends the fuzzer: AFL++ ignores the result of the initialisation.
fn refuse(reason: &str) -> ! {
    eprintln!("\n[-] PROGRAM ABORT : gramjet: {}\n", reason.trim_end());
    std::process::exit(1)
}

/// Runs `body`; a panic, a defect of gramjet, ends the fuzzer instead of unwinding into it.
fn guarded<T>(body: impl FnOnce() -> T) -> T {
    // The process ends, so nothing sees a state in between.
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        eprintln!("[-] gramjet: internal error in the custom mutator; please report it");
        abort()
    })
}

/// Returns the state at a pointer that AFL++ hands back.
///
/// # Safety
///
/// `data` must come from [`afl_custom_init`], not yet be given to [`afl_custom_deinit`], and no other reference may be
/// alive.
unsafe fn state<'a>(data: *mut c_void) -> &'a mut State {
    if data.is_null() {
        refuse("the custom mutator was called without its state");
    }
    // SAFETY: as for this function.
    unsafe { &mut *data.cast::<State>() }
}

/// Returns the bytes of a buffer of AFL++.
///
/// # Safety
///
/// `bytes` must point to `len` bytes that nothing writes to while the slice lives, or be null.
unsafe fn slice<'a>(bytes: *const u8, len: usize) -> &'a [u8] {
    if bytes.is_null() || len == 0 {
        return &[];
    }
    // SAFETY: as for this function.
    unsafe { std::slice::from_raw_parts(bytes, len) }
}

/// Returns the path in a C string.
///
/// # Safety
///
/// `name` must be a C string that lives as long as the path, or be null.
unsafe fn path<'a>(name: *const c_char) -> Option<&'a Path> {
    if name.is_null() {
        return None;
    }
    // SAFETY: as for this function.
    let name = unsafe { CStr::from_ptr(name) };
    Some(Path::new(OsStr::from_bytes(name.to_bytes())))
}

/// Makes the state from the environment; ends the fuzzer with a message if that is not possible.
#[unsafe(no_mangle)]
pub extern "C" fn afl_custom_init(_afl: *mut c_void, seed: c_uint) -> *mut c_void {
    guarded(|| {
        let configuration = Configuration::new(std::env::vars_os()).unwrap_or_else(|reason| refuse(&reason));
        configuration.warnings.iter().for_each(|warning| eprintln!("[!] gramjet: {warning}"));
        let mutator = Mutator::new(configuration, seed).unwrap_or_else(|error| refuse(&error.to_string()));
        let language = mutator.session().language();
        if !language.warnings().is_empty() {
            eprintln!("[!] gramjet: {}", language.warnings().trim_end());
        }
        let state = State { mutator, mutant: Vec::new(), text: CString::default() };
        Box::into_raw(Box::new(state)).cast()
    })
}

/// Frees the state.
///
/// # Safety
///
/// `data` must come from [`afl_custom_init`] and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn afl_custom_deinit(data: *mut c_void) {
    if data.is_null() {
        return;
    }
    // SAFETY: it was made of a box, and AFL++ gives it back once.
    let state = unsafe { Box::from_raw(data.cast::<State>()) };
    guarded(|| {
        if std::env::var_os("AFL_DEBUG").is_some() || std::env::var_os("AFL_NO_UI").is_some() {
            eprintln!("[*] gramjet: {}", state.mutator.summary());
        }
    });
}

/// Returns how many mutants of a queue entry AFL++ should ask for.
///
/// # Safety
///
/// `data` is the state; `text` points to `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn afl_custom_fuzz_count(data: *mut c_void, text: *const u8, len: usize) -> c_uint {
    // SAFETY: AFL++ hands over the state, and a buffer that it does not touch during the call.
    let (state, text) = unsafe { (state(data), slice(text, len)) };
    guarded(|| state.mutator.fuzz_count(text))
}

/// Makes a mutant; the buffer belongs to the mutator and is good until the next call.
///
/// # Safety
///
/// `data` is the state; `text` and `other` point to as many bytes as their lengths say; `mutant` can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn afl_custom_fuzz(
    data: *mut c_void,
    text: *mut u8,
    len: usize,
    mutant: *mut *mut u8,
    other: *mut u8,
    other_len: usize,
    max_len: usize,
) -> usize {
    // SAFETY: AFL++ hands over the state, and buffers that it does not touch during the call; `other` may be null.
    let (state, text, other) = unsafe { (state(data), slice(text, len), slice(other, other_len)) };
    guarded(|| state.mutator.fuzz(text, Some(other), max_len, &mut state.mutant));
    // SAFETY: it is the place for the result.
    unsafe { mutant.write(state.mutant.as_mut_ptr()) };
    state.mutant.len()
}

/// Returns the name of the operation that made the last mutant, for the name of a queue entry.
///
/// # Safety
///
/// `data` is the state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn afl_custom_describe(data: *mut c_void, max_len: usize) -> *const c_char {
    // SAFETY: AFL++ hands over the state.
    let state = unsafe { state(data) };
    guarded(|| {
        let name = state.mutator.description();
        state.text = CString::new(&name[..name.len().min(max_len)]).unwrap_or_default();
        state.text.as_ptr()
    })
}

/// Returns a line for builds of AFL++ with introspection.
///
/// # Safety
///
/// `data` is the state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn afl_custom_introspection(data: *mut c_void) -> *const c_char {
    // SAFETY: AFL++ hands over the state.
    let state = unsafe { state(data) };
    guarded(|| {
        state.text = CString::new(state.mutator.summary()).unwrap_or_default();
        state.text.as_ptr()
    })
}

/// Takes note of a queue entry that is about to be fuzzed; it always is.
///
/// # Safety
///
/// `data` is the state, `name` a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn afl_custom_queue_get(data: *mut c_void, name: *const c_char) -> u8 {
    // SAFETY: AFL++ hands over the state and a C string.
    let (state, entry) = unsafe { (state(data), path(name)) };
    guarded(|| {
        if let Some(entry) = entry {
            state.mutator.visit(entry);
        }
    });
    1
}

/// Takes note of a new queue entry; its file is left as it is.
///
/// # Safety
///
/// `data` is the state, `name` a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn afl_custom_queue_new_entry(
    data: *mut c_void,
    name: *const c_char,
    _origin: *const c_char,
) -> u8 {
    // SAFETY: AFL++ hands over the state and a C string.
    let (state, entry) = unsafe { (state(data), path(name)) };
    guarded(|| {
        if let Some(entry) = entry {
            state.mutator.add(entry);
        }
    });
    0
}

/// Begins to trim a queue entry; returns the number of steps.
///
/// # Safety
///
/// `data` is the state; `text` points to `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn afl_custom_init_trim(data: *mut c_void, text: *mut u8, len: usize) -> c_int {
    // SAFETY: AFL++ hands over the state, and a buffer that it does not touch during the call.
    let (state, text) = unsafe { (state(data), slice(text, len)) };
    step_number(guarded(|| state.mutator.begin_trim(text)))
}

/// Returns the next shorter text.
///
/// # Safety
///
/// `data` is the state; `trimmed` can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn afl_custom_trim(data: *mut c_void, trimmed: *mut *mut u8) -> usize {
    // SAFETY: AFL++ hands over the state.
    let state = unsafe { state(data) };
    let text = state.mutator.trimmed();
    state.mutant.clear();
    state.mutant.extend_from_slice(text);
    // SAFETY: it is the place for the result.
    unsafe { trimmed.write(state.mutant.as_mut_ptr()) };
    state.mutant.len()
}

/// Says whether the text was as good; returns the number of the next step.
///
/// # Safety
///
/// `data` is the state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn afl_custom_post_trim(data: *mut c_void, success: u8) -> c_int {
    // SAFETY: AFL++ hands over the state.
    let state = unsafe { state(data) };
    step_number(guarded(|| state.mutator.end_step(success != 0)))
}

fn step_number(steps: u32) -> c_int {
    c_int::try_from(steps).unwrap_or(c_int::MAX)
}
