//! Notes to the user of a search, besides the texts that it finds.

use std::path::PathBuf;

use crate::error::Error;
use crate::folder::LeftAlone;

/// Something that the user of a search is to know.
#[derive(Debug)]
pub enum Note {
    /// The search begins with texts of earlier searches in its folder.
    Resumed {
        /// Number of these texts.
        texts: u64,
    },
    /// The best texts of earlier searches cost something else now: the program seems to have changed.
    Changed {
        /// File of the text that cost most.
        file: PathBuf,
        /// Its cost now.
        cost: u64,
        /// Its cost when it was found.
        before: u64,
    },
    /// A failure did not happen again.
    NotAgain {
        /// Outcome of the run that failed.
        outcome: String,
        /// Number of runs that did not.
        tries: usize,
        /// Folder in which it is kept.
        folder: PathBuf,
    },
    /// The best text cost more in the search than in a new process.
    Cold {
        /// Its cost in a new process, after another text.
        cost: u64,
        /// Its cost in the search.
        before: u64,
    },
    /// A proof that a cost grows faster than n to this power.
    Proved(f64),
    /// An entry of a folder that is left alone.
    LeftAlone(LeftAlone),
    /// The search does not end early, as a proof of growth has failed.
    NoProof(Error),
}
