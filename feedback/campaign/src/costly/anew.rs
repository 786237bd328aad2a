//! New processes for runs whose cost is to say nothing of earlier runs.
//!
//! Where a process takes many texts, its first call can load what later ones find, so it costs more; and a text that
//! was run before can be in a cache, so it costs less.

use gramjet_session::{Language, Session};

use super::study::Measure;
use crate::error::Error;

/// Texts that are looked at for one like another.
const LOOKED: usize = 40;

/// Lets a new process begin, and runs a text there that is like the given one, so that the given one finds loaded what
/// it needs, and no cache has it. Returns false if each run has a process of its own.
pub fn begin(meter: &mut impl Measure, language: &Language, text: &[u8]) -> Result<bool, Error> {
    if !meter.renew()? {
        return Ok(false);
    }
    if let Some(like) = like(language, text) {
        meter.read(&like)?;
    }
    Ok(true)
}

/// Returns the longest text that lacks a part of another one, of those that are found at once.
fn like(language: &Language, text: &[u8]) -> Option<Vec<u8>> {
    let mut session = Session::new(language, 0);
    let mut trim = session.minimise(text)?;
    let mut longest: Option<Vec<u8>> = None;
    for _ in 0..LOOKED {
        let Some(proposed) = trim.propose() else { break };
        if proposed != text && longest.as_ref().is_none_or(|known| proposed.len() > known.len()) {
            longest = Some(proposed.to_vec());
        }
        trim.judge(false);
    }
    longest
}
