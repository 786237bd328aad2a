//! Source lines of edges, from the debug information of a program and its libraries.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use addr2line::demangle_auto;

use crate::locations::Locations;

mod debug;

use debug::Debug;

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Line {
    /// The file as the compiler was given it, within the folder in which it ran.
    pub file: PathBuf,
    /// From 1 on.
    pub line: u32,
    /// The function that has the line, also where it was inlined into another.
    pub function: Option<String>,
}

impl fmt::Display for Line {
    /// Writes `file:line (function)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)?;
        self.function.as_ref().map_or(Ok(()), |function| write!(f, " ({function})"))
    }
}

/// Finds source lines. Debug information is read when it is first asked for.
#[derive(Default)]
pub struct Lines {
    files: HashMap<PathBuf, Option<Debug>>,
}

impl Lines {
    /// Returns lines of which nothing is read yet.
    pub fn new() -> Lines {
        Lines::default()
    }

    /// Returns the line of an edge; `None` if the program has no debug information for it. If functions were inlined
    /// there, it is that of the innermost one that is not of a standard library.
    pub fn line(&mut self, locations: &Locations, edge: u32) -> Option<Line> {
        let mut frames = self.frames(locations, edge);
        let own = frames.iter().position(|line| !is_of_standard_library(&line.file)).unwrap_or(0);
        (own < frames.len()).then(|| frames.swap_remove(own))
    }

    /// Returns the line of an edge in each function that was inlined there, the innermost first.
    pub fn frames(&mut self, locations: &Locations, edge: u32) -> Vec<Line> {
        let place = locations.of(edge);
        place.and_then(|(path, address)| self.frames_at(path, address)).unwrap_or_default()
    }

    fn frames_at(&mut self, path: &Path, address: u64) -> Option<Vec<Line>> {
        if !self.files.contains_key(path) {
            self.files.insert(path.to_path_buf(), Debug::read(path));
        }
        let debug = self.files.get(path)?.as_ref()?;
        let mut frames = debug.frames(address)?;
        let mut lines = Vec::new();
        while let Ok(Some(frame)) = frames.next() {
            let Some((file, line)) = frame.location.and_then(|location| location.file.zip(location.line)) else {
                continue;
            };
            let named = || Some(demangle_auto(debug.symbol(address)?.into(), None).into_owned());
            let function = match &frame.function {
                Some(function) => function.demangle().ok().map(|name| name.into_owned()),
                None => named(),
            };
            lines.push(Line { file: PathBuf::from(file), line, function });
        }
        Some(lines)
    }
}

/// Returns true if a file is of Rust's or C++'s standard library.
fn is_of_standard_library(file: &Path) -> bool {
    let is_in = |folder: &str| file.to_string_lossy().contains(folder);
    file.starts_with("/rustc") || is_in("/rustlib/src/") || is_in("/include/c++/")
}
