//! Debug information of one file in the format ELF, of the compiler's `.dwo` files, and of the package that `dwp` makes
//! of them. Only the sections that lines and functions are found by are read.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use addr2line::{Context, FrameIter, LookupContinuation, LookupResult, SplitDwarfLoad};
use gimli::{Dwarf, DwarfPackage, EndianArcSlice, Reader as _, RunTimeEndian, SectionId};
use object::{CompressionFormat, Object, ObjectSection, ReadCache, SymbolMap, SymbolMapName};

/// A part of a section that was read into memory.
type Slice = EndianArcSlice<RunTimeEndian>;

/// A section that is longer when decompressed is not read, in bytes.
const LONGEST: u64 = 1 << 30;

/// The debug information of a program or library.
pub(super) struct Debug {
    context: Context<Slice>,
    package: Option<DwarfPackage<Slice>>,
    symbols: Vec<(u64, String)>,
}

impl Debug {
    /// Reads the debug information of a file; `None` if that fails. Without any, its symbols are known all the same.
    pub(super) fn read(path: &Path) -> Option<Debug> {
        let cache = ReadCache::new(opened(path)?);
        let file = object::File::parse(&cache).ok()?;
        let dwarf = Dwarf::load(|id| section(&file, Some(id.name()), is_used(id))).ok()?;
        let symbols = symbols(&file.symbol_map());
        Some(Debug { context: Context::from_dwarf(dwarf).ok()?, package: package(path), symbols })
    }

    /// Returns the functions at an address, the innermost first.
    pub(super) fn frames(&self, address: u64) -> Option<FrameIter<'_, Slice>> {
        let mut looked_up = self.context.find_frames(address);
        loop {
            match looked_up {
                LookupResult::Output(frames) => return frames.ok(),
                LookupResult::Load { load, continuation } => looked_up = continuation.resume(self.split(&load)),
            }
        }
    }

    /// Returns the name of the last symbol at or before an address.
    pub(super) fn symbol(&self, address: u64) -> Option<&str> {
        let after = self.symbols.partition_point(|(start, _)| *start <= address);
        self.symbols[..after].last().map(|(_, name)| name.as_str())
    }

    /// Returns the part of the debug information that the compiler has put beside the object file.
    fn split(&self, load: &SplitDwarfLoad<Slice>) -> Option<Arc<Dwarf<Slice>>> {
        let packed = self.package.as_ref().and_then(|package| package.find_cu(load.dwo_id, &load.parent).ok()?);
        if let Some(dwarf) = packed {
            return Some(Arc::new(dwarf));
        }
        let folder = load.comp_dir.as_ref().and_then(path_of).unwrap_or_default();
        let cache = ReadCache::new(opened(&folder.join(path_of(load.path.as_ref()?)?))?);
        let file = object::File::parse(&cache).ok()?;
        let mut dwarf = Dwarf::load(|id| section(&file, id.dwo_name(), is_used(id))).ok()?;
        // A file of an earlier build has another number.
        let unit = dwarf.unit(dwarf.units().next().ok()??).ok()?;
        if unit.dwo_id != Some(load.dwo_id) {
            return None;
        }
        dwarf.make_dwo(&load.parent);
        Some(Arc::new(dwarf))
    }
}

/// Opens a regular file. The program names it, or its debug information does: a pipe would be waited for.
fn opened(path: &Path) -> Option<File> {
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path).ok()?;
    file.metadata().is_ok_and(|facts| facts.is_file()).then_some(file)
}

/// Returns the package of `.dwo` files that stands beside a program, if there is one.
fn package(path: &Path) -> Option<DwarfPackage<Slice>> {
    let mut name = path.as_os_str().to_os_string();
    name.push(".dwp");
    let cache = ReadCache::new(opened(Path::new(&name))?);
    let file = object::File::parse(&cache).ok()?;
    let empty = Slice::new(Arc::default(), endian(&file));
    // A section that cannot be read is as good as not there.
    let loaded = |id: SectionId| Ok::<_, gimli::Error>(section(&file, id.dwo_name(), true).unwrap_or(empty.clone()));
    DwarfPackage::load(loaded, empty.clone()).ok()
}

/// Returns true for the sections that lines and functions are found by. Places of variables, for one, are as large.
fn is_used(id: SectionId) -> bool {
    !matches!(id, SectionId::DebugLoc | SectionId::DebugLocLists | SectionId::DebugTypes | SectionId::DebugMacro)
}

/// Returns the content of a section; empty if the file has none of that name.
fn section<'a>(file: &impl Object<'a>, name: Option<&str>, is_used: bool) -> Result<Slice, object::Error> {
    let found = name.filter(|_| is_used).and_then(|name| file.section_by_name(name));
    let data = found.map_or(Ok(Cow::Borrowed(&[][..])), |section| uncompressed(&section))?;
    Ok(Slice::new(Arc::from(data), endian(file)))
}

/// Returns the data of a section, of which compilers make less with `-gz`.
fn uncompressed<'a>(section: &impl ObjectSection<'a>) -> Result<Cow<'a, [u8]>, object::Error> {
    let stored = section.compressed_data()?;
    let len = usize::try_from(stored.uncompressed_size.min(LONGEST)).unwrap_or(usize::MAX);
    let data = match stored.format {
        CompressionFormat::Zlib => miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(stored.data, len).ok(),
        CompressionFormat::Zstandard => zstandard(stored.data, len),
        _ => return stored.decompress(),
    };
    // Without its data, a section is as good as not there.
    Ok(Cow::Owned(data.unwrap_or_default()))
}

fn zstandard(stored: &[u8], len: usize) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    data.try_reserve_exact(len).ok()?;
    ruzstd::decoding::FrameDecoder::new().decode_all_to_vec(stored, &mut data).ok()?;
    Some(data)
}

fn endian<'a>(file: &impl Object<'a>) -> RunTimeEndian {
    if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big }
}

fn symbols(map: &SymbolMap<SymbolMapName<'_>>) -> Vec<(u64, String)> {
    map.symbols().iter().map(|symbol| (symbol.address(), symbol.name().to_string())).collect()
}

fn path_of(name: &Slice) -> Option<PathBuf> {
    Some(PathBuf::from(OsStr::from_bytes(&name.to_slice().ok()?)))
}
