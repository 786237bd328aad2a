//! Source lines of edges, from the debug information of a program and its libraries.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use addr2line::Loader;

use crate::locations::Locations;

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
    /// `file:line (function)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)?;
        self.function.as_ref().map_or(Ok(()), |function| write!(f, " ({function})"))
    }
}

/// Finds source lines. Debug information is read when it is first asked for.
#[derive(Default)]
pub struct Lines {
    loaders: HashMap<PathBuf, Option<Loader>>,
}

impl Lines {
    /// With nothing read yet.
    pub fn new() -> Lines {
        Lines::default()
    }

    /// The line of an edge; none if the program has no debug information for it.
    pub fn line(&mut self, locations: &Locations, edge: u32) -> Option<Line> {
        let (path, address) = locations.of(edge)?;
        self.line_at(path, address)
    }

    /// The line of an address of a program or library, as its file gives addresses.
    pub fn line_at(&mut self, path: &Path, address: u64) -> Option<Line> {
        if !self.loaders.contains_key(path) {
            self.loaders.insert(path.to_path_buf(), Loader::new(path).ok());
        }
        let loader = self.loaders.get(path)?.as_ref()?;
        let frame = loader.find_frames(address).ok()?.next().ok()??;
        let location = frame.location?;
        let named =
            || loader.find_symbol(address).map(|symbol| addr2line::demangle_auto(symbol.into(), None).into_owned());
        let function = match &frame.function {
            Some(function) => function.demangle().ok().map(|name| name.into_owned()),
            None => named(),
        };
        Some(Line { file: PathBuf::from(location.file?), line: location.line?, function })
    }
}
