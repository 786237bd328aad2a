//! Tells the user why a program may have failed, or rejected texts: confinement, and other usual causes.

use gramjet_campaign::failing::Rejection;
use gramjet_harness::{Confinement, Run, refusal};

/// Returns a line for a run that failed or whose text was rejected, if the program may have been refused something.
pub fn hint(confinement: Confinement, run: &Run<'_>) -> Option<String> {
    if confinement == Confinement::Unconfined {
        return None;
    }
    let sign = refusal(&run.stderr.bytes).or_else(|| refusal(&run.stdout.bytes))?;
    Some(hint_of(sign))
}

/// Returns a line for a program that wrote this sign of a refusal.
pub fn hint_of(sign: &str) -> String {
    format!(
        "the program may have been refused something by confinement (it wrote `{sign}`): `--allow PERMISSION` or \
         `--unconfined` lets it; `gramjet confinement` lists what is refused"
    )
}

/// Words of a function that has got bytes where it can use text alone.
const WANTS_TEXT: [&str; 11] = [
    "cannot use a string pattern on a bytes-like object",
    "a bytes-like object is required, not 'str'",
    "first arg must be bytes or a tuple of bytes, not str",
    "must be str, not bytes",
    "must be a string, not bytes",
    "expected str instance, bytes found",
    "expected string or bytes-like object, got 'bytes'",
    "can't concat str to bytes",
    "'bytes' object has no attribute",
    "must be of type string. Received an instance of Buffer",
    "is not a function",
];

/// Words of a function that has got text where it can use bytes alone.
const WANTS_BYTES: [&str; 6] = [
    "cannot use a bytes pattern on a string-like object",
    "a bytes-like object is required, not 'str'",
    "must be bytes, not str",
    "can't concat bytes to str",
    "'str' object has no attribute 'decode'",
    "Received type string",
];

/// Beginnings of what an interpreter says of a program that lacks a part of itself.
const LACKS: [&str; 4] =
    ["ModuleNotFoundError: ", "ImportError: ", "Error: Cannot find module ", "java.lang.ClassNotFoundException: "];

/// Returns the usual cause of what a program said, and what to do about it.
pub fn usual_cause(said: &Rejection, gets_text: bool) -> Option<&'static str> {
    let says = |words: &[&str]| said.lines().iter().any(|line| words.iter().any(|words| line.contains(words)));
    if said.lines().iter().any(|line| LACKS.iter().any(|lacks| line.starts_with(lacks))) {
        return Some("it may lack a module: install that where the interpreter in `PATH` finds it");
    }
    // A program gets bytes in any case.
    match gets_text {
        _ if !said.is_exception() => None,
        false if says(&WANTS_TEXT) => Some("the function may want text, and gets bytes: `--text` gives it text"),
        true if says(&WANTS_BYTES) => Some("the function may want bytes, and gets text: leave out `--text`"),
        _ => None,
    }
}
