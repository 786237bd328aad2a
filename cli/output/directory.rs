//! A directory with one file per input, named by the input's number in the whole run, so that shards never collide.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::quoted;
use crate::output::chunk::Chunk;
use crate::output::sink::{Sink, SinkError};
use crate::plan::Plan;

/// Numbers have at least this many digits, so that an input's name does not depend on the length of the run.
const MIN_DIGITS: usize = 8;

/// One file per input.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    /// The file extension with its dot, or nothing.
    extension: String,
    plan: Plan,
    digits: usize,
    /// The file that is written, or that could not be.
    current: PathBuf,
}

impl Directory {
    /// Returns the directory `path`, made if necessary.
    pub fn create(path: &Path, extension: Option<&str>, plan: Plan, greatest: Option<u64>) -> io::Result<Directory> {
        fs::create_dir_all(path)?;
        let extension = extension.filter(|text| !text.is_empty()).map_or(String::new(), |text| format!(".{text}"));
        let digits = greatest.map_or(0, |number| number.to_string().len()).max(MIN_DIGITS);
        Ok(Directory { path: path.to_path_buf(), extension, plan, digits, current: path.to_path_buf() })
    }
}

impl Sink for Directory {
    fn write(&mut self, chunk: &Chunk) -> Result<(), SinkError> {
        let mut start = 0;
        for (position, &end) in (chunk.first..).zip(&chunk.ends) {
            let number = self.plan.number(position);
            self.current = self.path.join(format!("{number:0width$}{}", self.extension, width = self.digits));
            if let Err(source) = fs::write(&self.current, &chunk.bytes[start..end]) {
                // Half an input is worse than none. Something else than a file was there before, and stays.
                if fs::symlink_metadata(&self.current).is_ok_and(|metadata| metadata.is_file()) {
                    let _ = fs::remove_file(&self.current);
                }
                return Err(SinkError { written: start, source });
            }
            start = end;
        }
        Ok(())
    }

    fn finish(&mut self, _bytes: u64) -> io::Result<()> {
        Ok(())
    }

    fn description(&self) -> String {
        quoted(&self.current)
    }
}
