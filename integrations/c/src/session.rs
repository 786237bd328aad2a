//! Sessions: inputs from a seed and from choice bytes, variants of texts, smaller texts.

use std::ffi::{CString, c_char, c_void};
use std::ptr;

use ::gramjet_session::{Mutation, ParseError, Session};
use gramjet::{Choices, Inputs, Producer};

use crate::bytes::gramjet_bytes;
use crate::calls::*;
use crate::grammar::gramjet_grammar;

/// A session makes inputs. Its state depends on the seed and on the calls so far.
pub struct gramjet_session {
    session: Session,
    inputs: Inputs<Box<dyn Producer + Send>>,
    producer: Box<dyn Producer + Send>,
    last: CString,
}

/// Starts a session. The same calls with the same seed write the same bytes on every machine.
///
/// # Safety
///
/// Each pointer must be null or valid for the access that its parameter documents.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gramjet_session_new(
    grammar: *const gramjet_grammar,
    seed: u64,
    session: *mut *mut gramjet_session,
) -> gramjet_status {
    call(|| {
        // SAFETY: as for this function.
        let (grammar, session) = unsafe {
            let session = exclusive(session, "session")?;
            *session = ptr::null_mut();
            (shared(grammar, "grammar")?, session)
        };
        let language = &grammar.language;
        *session = Box::into_raw(Box::new(gramjet_session {
            session: Session::new(language, seed),
            inputs: Inputs::new(language.producer(), seed),
            producer: language.producer(),
            last: CString::default(),
        }));
        Ok(())
    })
}

/// Frees a session.
///
/// # Safety
///
/// `session` must be NULL or a session that is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gramjet_session_free(session: *mut gramjet_session) {
    if !session.is_null() {
        // SAFETY: it was made of a box and is given back once.
        drop(unsafe { Box::from_raw(session) });
    }
}

/// Writes the next input of the run with the session's seed, as `gramjet gen --seed` does.
///
/// # Safety
///
/// Each pointer must be null or valid for the access that its parameter documents.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gramjet_generate(session: *mut gramjet_session, text: *mut gramjet_bytes) -> gramjet_status {
    call(|| {
        // SAFETY: as for this function.
        let (session, text) = unsafe { (exclusive(session, "session")?, exclusive(text, "text")?) };
        // SAFETY: as for this function.
        unsafe { text.write(|text| session.inputs.append_to(text)) };
        Ok(())
    })
}

/// Writes the input of choice bytes, within the limits of their header, or of the grammar if they have none. Every byte
/// string that does not begin as a header is a choice string, also the empty one. `*read` gets the number of choice
/// bytes that were read, without the header; it may be NULL.
///
/// # Safety
///
/// Each pointer must be null or valid for the access that its parameter documents.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gramjet_render(
    session: *mut gramjet_session,
    choices: *const u8,
    len: usize,
    text: *mut gramjet_bytes,
    read: *mut usize,
) -> gramjet_status {
    // SAFETY: as for this function.
    unsafe {
        rendered(session, choices, len, text, read, |session, choices, text| {
            let count = session.session.language().replay(&mut *session.producer, choices, text);
            count.map_err(|error| (GRAMJET_OTHER_GRAMMAR, error.to_string()))
        })
    }
}

/// Writes the input of choice bytes within the limits of the grammar, also if they begin as a header does: for fuzzers,
/// whose choice bytes are any.
///
/// # Safety
///
/// Each pointer must be null or valid for the access that its parameter documents.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gramjet_render_raw(
    session: *mut gramjet_session,
    choices: *const u8,
    len: usize,
    text: *mut gramjet_bytes,
    read: *mut usize,
) -> gramjet_status {
    // SAFETY: as for this function.
    unsafe {
        rendered(session, choices, len, text, read, |session, choices, text| {
            Ok(session.producer.produce(&mut Choices::replay(choices), text))
        })
    }
}

/// Writes what `render` makes of choice bytes, and how many of them it read.
///
/// # Safety
///
/// Each pointer must be null or valid for the access that [`gramjet_render`] documents.
unsafe fn rendered(
    session: *mut gramjet_session,
    choices: *const u8,
    len: usize,
    text: *mut gramjet_bytes,
    read: *mut usize,
    render: impl FnOnce(&mut gramjet_session, &[u8], &mut Vec<u8>) -> Result<u64, (gramjet_status, String)>,
) -> gramjet_status {
    call(|| {
        // SAFETY: as for this function.
        let (session, choices, text) =
            unsafe { (exclusive(session, "session")?, slice(choices, len, "choices")?, exclusive(text, "text")?) };
        text.check_apart(choices, "choices")?;
        // SAFETY: as for this function.
        let count = unsafe { text.write(|text| render(session, choices, text)) }?;
        // SAFETY: as for this function.
        if let Some(read) = unsafe { read.as_mut() } {
            // They were in memory.
            *read = count as usize;
        }
        Ok(())
    })
}

/// Finds the derivation of a text and remembers its parts, to use them in variants of other texts.
///
/// # Safety
///
/// Each pointer must be null or valid for the access that its parameter documents.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gramjet_remember(
    session: *mut gramjet_session,
    text: *const u8,
    len: usize,
) -> gramjet_status {
    call(|| {
        // SAFETY: as for this function.
        let (session, text) = unsafe { (exclusive(session, "session")?, slice(text, len, "text")?) };
        if session.session.remember(text) { Ok(()) } else { Err(why_not(session, text)) }
    })
}

/// Returns why the derivation of a text is not known.
fn why_not(session: &gramjet_session, text: &[u8]) -> Failure {
    match session.session.check(text) {
        Err(error @ ParseError::Mismatch(_)) => (GRAMJET_MISMATCH, error.to_string()),
        Err(error) => (GRAMJET_TOO_COSTLY, error.to_string()),
        Ok(()) => (GRAMJET_TOO_COSTLY, "the text costs too much".to_string()),
    }
}

/// Writes a variant of a text that has at most `max_len` bytes. Of a text that does not conform there are none; an
/// input that is made at random stands for it, and gramjet_last_mutation says "fresh".
///
/// # Safety
///
/// Each pointer must be null or valid for the access that its parameter documents.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gramjet_mutate(
    session: *mut gramjet_session,
    text: *const u8,
    len: usize,
    max_len: usize,
    variant: *mut gramjet_bytes,
) -> gramjet_status {
    call(|| {
        // SAFETY: as for this function.
        let (session, text, variant) =
            unsafe { (exclusive(session, "session")?, slice(text, len, "text")?, exclusive(variant, "variant")?) };
        variant.check_apart(text, "text")?;
        // SAFETY: as for this function.
        let mutation = unsafe { variant.write(|variant| session.session.mutate(text, max_len, variant)) };
        name(session, mutation)
    })
}

/// Writes a text with a part of another one in place of one of its own, at most `max_len` bytes; another variant if
/// they have nothing in common.
///
/// # Safety
///
/// Each pointer must be null or valid for the access that its parameter documents.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gramjet_splice(
    session: *mut gramjet_session,
    text: *const u8,
    len: usize,
    other: *const u8,
    other_len: usize,
    max_len: usize,
    variant: *mut gramjet_bytes,
) -> gramjet_status {
    call(|| {
        // SAFETY: as for this function.
        let (session, text, other, variant) = unsafe {
            (
                exclusive(session, "session")?,
                slice(text, len, "text")?,
                slice(other, other_len, "other")?,
                exclusive(variant, "variant")?,
            )
        };
        variant.check_apart(text, "text")?;
        variant.check_apart(other, "other")?;
        // SAFETY: as for this function.
        let mutation = unsafe { variant.write(|variant| session.session.splice(text, other, max_len, variant)) };
        name(session, mutation)
    })
}

fn name(session: &mut gramjet_session, mutation: Option<Mutation>) -> Result<(), Failure> {
    let Some(mutation) = mutation else {
        return Err((GRAMJET_NO_ROOM, "every text of the grammar is longer than the greatest length".to_string()));
    };
    session.last = CString::new(mutation.name()).unwrap_or_default();
    Ok(())
}

/// Returns how the last variant was made: "havoc", "redraw", "splice", "repeat-recursion", "collapse", "swap",
/// "delete", "repeat-round" or "fresh"; empty if there was none. It lives up to the next call on the session; NULL for
/// NULL.
///
/// # Safety
///
/// `session` must be NULL or a session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gramjet_last_mutation(session: *const gramjet_session) -> *const c_char {
    // SAFETY: as for this function.
    unsafe { session.as_ref() }.map_or(ptr::null(), |session| session.last.as_ptr())
}

/// Says whether a text has what is asked for: 0 for no. It must return; it must not call gramjet with the session in
/// use.
pub type gramjet_test = Option<unsafe extern "C" fn(text: *const u8, len: usize, context: *mut c_void) -> i32>;

/// Searches for a shorter and simpler text for which `test` holds, as it must for `text`. It is called at most
/// `max_tests` times, with `context` handed through.
///
/// # Safety
///
/// Each pointer must be null or valid for the access that its parameter documents.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gramjet_minimise(
    session: *mut gramjet_session,
    text: *const u8,
    len: usize,
    max_tests: u64,
    test: gramjet_test,
    context: *mut c_void,
    smallest: *mut gramjet_bytes,
) -> gramjet_status {
    call(|| {
        // SAFETY: as for this function.
        let (session, text, smallest) =
            unsafe { (exclusive(session, "session")?, slice(text, len, "text")?, exclusive(smallest, "smallest")?) };
        smallest.check_apart(text, "text")?;
        let test = test.ok_or_else(|| is_null("test"))?;
        // SAFETY: the caller's function, with the caller's context.
        let holds = |text: &[u8]| unsafe { test(text.as_ptr(), text.len(), context) } != 0;
        if !session.session.remember(text) {
            return Err(why_not(session, text));
        }
        if max_tests == 0 || !holds(text) {
            return Err((GRAMJET_INVALID_ARGUMENT, "the test does not hold for the text".to_string()));
        }
        let mut search = session.session.minimise(text).ok_or_else(|| is_null("text"))?;
        for _ in 1..max_tests {
            let Some(candidate) = search.propose() else { break };
            let holds = holds(candidate);
            search.judge(holds);
        }
        // SAFETY: as for this function.
        unsafe { smallest.write(|smallest| smallest.extend_from_slice(search.text())) };
        Ok(())
    })
}
