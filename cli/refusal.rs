//! Tells the user where confinement may be why a program failed.

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
