//! A search beside others that share a folder.

use std::path::{Path, PathBuf};

use clap::Args;
use gramjet_campaign::{Place, Siblings};

use crate::failure::Failure;

/// The name of a search among those of a shared folder.
#[derive(Debug, Args)]
pub struct NodeArgs {
    /// Search beside others that share the folder DIR, also from other machines: in `DIR/NAME`. Texts that others have
    /// kept are taken over, also those of instances of afl-fuzz, which find the texts of this search in turn. With the
    /// same seed, searches with different names make different texts.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

impl NodeArgs {
    /// Returns true if other searches may read its folder meanwhile.
    pub fn is_shared(&self) -> bool {
        self.name.is_some()
    }

    /// Returns a number to mix into the seed, so that nodes with the same seed make different texts. 0 without a name.
    pub fn salt(&self) -> u64 {
        self.name.as_ref().map_or(0, |name| gramjet_session::hash(name.as_bytes()))
    }

    /// Returns the folder of this search alone.
    pub fn folder(&self, output: &Path) -> PathBuf {
        self.name.as_ref().map_or_else(|| output.to_path_buf(), |name| output.join(name))
    }

    /// Returns the other searches in the shared folder, with their texts in a place; `None` if there is no shared
    /// folder.
    pub fn siblings(&self, output: &Path, place: Place) -> Result<Option<Siblings>, Failure> {
        let siblings = self.name.as_ref().map(|name| Siblings::new(output, name, place));
        Ok(siblings.transpose()?)
    }
}
