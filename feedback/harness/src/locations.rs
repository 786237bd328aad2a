//! The locations of the edges of a program: in which file, and at which address of it.

use std::path::{Path, PathBuf};

/// Locations of the edges of a program. None is known of programs that AFL++ has built.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Locations {
    pub(crate) images: Vec<Image>,
    /// By the number of the edge; 0 where none is known.
    pub(crate) addresses: Vec<u64>,
}

/// The program's own file or a shared library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Image {
    pub(crate) path: PathBuf,
    /// The numbers of its edges.
    pub(crate) first: u32,
    pub(crate) count: u32,
}

impl Locations {
    /// Returns the file of the program or library that has the edge, and the address there, as its file gives it.
    pub fn of(&self, edge: u32) -> Option<(&Path, u64)> {
        let address = self.addresses.get(edge as usize).copied().filter(|&address| address != 0)?;
        let image = self.images.iter().find(|image| edge.wrapping_sub(image.first) < image.count)?;
        Some((&image.path, address))
    }
}
