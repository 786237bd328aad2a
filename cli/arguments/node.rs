//! A search beside others that share a folder.

use std::path::{Path, PathBuf};

use clap::Args;
use gramjet_campaign::{Place, Siblings};

use crate::failure::Failure;

/// Name of the first instance of afl-fuzz, and the beginning of those of the others.
const AFL: &str = "afl";

/// The name of a search among those of a shared folder.
#[derive(Debug, Args)]
pub struct NodeArgs {
    /// Search beside others that share the folder DIR, also from other machines: in `DIR/NAME`. Texts that others have
    /// kept are taken over, also those of instances of afl-fuzz, which find the texts of this search in turn. With the
    /// same seed, searches with different names make different texts. No search is named `afl` or `afl-N`: such are
    /// instances of afl-fuzz that searches have started.
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
    /// folder. Refuses a name of an instance of afl-fuzz, which would take the folder for its own.
    pub fn siblings(&self, output: &Path, place: Place) -> Result<Option<Siblings>, Failure> {
        if let Some(name) = self.name.as_ref().filter(|name| is_for_afl(name)) {
            let message = format!("`--name {name}`: instances of afl-fuzz that searches start have such names");
            return Err(Failure::Usage(message));
        }
        let siblings = self.name.as_ref().map(|name| Siblings::new(output, name, place));
        Ok(siblings.transpose()?)
    }
}

/// Returns the name of an instance of afl-fuzz that a search starts, by its number from 1 on.
pub fn name_for_afl(number: u32) -> String {
    if number == 1 { AFL.to_string() } else { format!("{AFL}-{number}") }
}

/// Returns true if instances of afl-fuzz have such names.
fn is_for_afl(name: &str) -> bool {
    let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    name.strip_prefix(AFL).is_some_and(|rest| rest.is_empty() || rest.strip_prefix('-').is_some_and(is_number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_search_is_named_as_an_instance_of_afl_fuzz() {
        for name in [name_for_afl(1), name_for_afl(2), name_for_afl(999)] {
            let node = NodeArgs { name: Some(name) };
            assert!(matches!(node.siblings(Path::new("."), Place::Queue), Err(Failure::Usage(_))), "{node:?}");
        }
        for name in ["afl-", "afl-x", "afl2", "me-afl"] {
            let node = NodeArgs { name: Some(name.to_string()) };
            assert!(node.siblings(Path::new("."), Place::Queue).is_ok(), "{node:?}");
        }
    }
}
