//! Memory of code. It is writable first; then instructions are executable, tables are not, and nothing is writable:
//! each stage is a type of its own.

use std::io;

use super::pages;

/// The unit of access rights, in bytes: the pages of x86-64.
pub(super) const PAGE: usize = 4096;

/// A mapping of this process, which ends with it.
struct Mapping {
    base: *mut u8,
    len: usize,
}

// SAFETY: the mapping belongs to its holder, as the memory of a vector does.
unsafe impl Send for Mapping {}
// SAFETY: shared access only reads.
unsafe impl Sync for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: no other value has the mapping.
        unsafe { pages::unmap(self.base.cast(), self.len) }
    }
}

/// Memory that is being written.
pub(super) struct Writable {
    mapping: Mapping,
}

/// Instructions in executable pages and tables in readable ones.
pub(super) struct Executable {
    mapping: Mapping,
    instructions: usize,
}

impl Writable {
    /// Returns new memory of at least `len` bytes.
    pub fn map(len: usize) -> io::Result<Writable> {
        let len = len.next_multiple_of(PAGE);
        let base = pages::map(len, 0)?;
        Ok(Writable { mapping: Mapping { base: base.cast(), len } })
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is readable, writable and borrowed from this.
        unsafe { std::slice::from_raw_parts_mut(self.mapping.base, self.mapping.len) }
    }

    /// Makes the first `instructions` bytes, whole pages, executable, and the rest read-only.
    pub fn protect(self, instructions: usize) -> io::Result<Executable> {
        let Mapping { base, len } = self.mapping;
        assert!(instructions.is_multiple_of(PAGE) && instructions <= len);
        // SAFETY: both parts are of this mapping, and there is no reference to it.
        unsafe {
            pages::protect(base.cast(), instructions, libc::PROT_READ | libc::PROT_EXEC)?;
            if instructions < len {
                pages::protect(base.add(instructions).cast(), len - instructions, libc::PROT_READ)?;
            }
        }
        Ok(Executable { mapping: self.mapping, instructions })
    }
}

impl Executable {
    /// Returns the pages of instructions.
    pub fn instructions(&self) -> &[u8] {
        // SAFETY: the mapping is readable and never written again.
        unsafe { std::slice::from_raw_parts(self.mapping.base, self.instructions) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn tables_are_not_executable_and_nothing_is_writable() {
        let mut memory = Writable::map(3 * PAGE - 100).expect("memory");
        memory.bytes()[..4].fill(0xC3);
        assert_eq!(memory.bytes().len(), 3 * PAGE);
        let memory = memory.protect(PAGE).expect("protection");
        assert_eq!(memory.instructions()[3], 0xC3);
        let base = memory.mapping.base as usize;
        let maps = std::fs::read_to_string("/proc/self/maps").expect("the mappings of this process");
        let access = |address: usize| {
            let line = maps.lines().find(|line| {
                let (from, to) = line.split(' ').next().and_then(|range| range.split_once('-')).expect("a range");
                let at = |text| usize::from_str_radix(text, 16).expect("an address");
                (at(from)..at(to)).contains(&address)
            });
            line.and_then(|line| line.split(' ').nth(1)).expect("access").to_string()
        };
        assert_eq!([0, PAGE, 2 * PAGE].map(|place| access(base + place)), ["r-xp", "r--p", "r--p"]);
    }
}
