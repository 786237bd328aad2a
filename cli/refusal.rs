//! Tells the user where confinement may be why a program failed.

use std::sync::atomic::{AtomicBool, Ordering};

use gramjet_harness::{Confinement, Run, refusal};

use crate::failure::say;

/// Returns a line for a run that failed or whose text was rejected, if the program may have been refused something.
pub fn hint(confinement: Confinement, run: &Run<'_>) -> Option<String> {
    if confinement == Confinement::Unconfined {
        return None;
    }
    let sign = refusal(&run.stderr.bytes).or_else(|| refusal(&run.stdout.bytes))?;
    Some(format!(
        "the program may have been refused something by confinement (it wrote `{sign}`): `--allow PERMISSION` or \
         `--unconfined` lets it; `gramjet confinement` lists what is refused"
    ))
}

/// Says that once for all runs of this process.
pub fn say_hint(confinement: Confinement, run: &Run<'_>) {
    static IS_SAID: AtomicBool = AtomicBool::new(false);
    if let Some(hint) = hint(confinement, run)
        && !IS_SAID.swap(true, Ordering::Relaxed)
    {
        say!("gramjet: {hint}");
    }
}
