//! Steps that do different things by their data alone, for interpreters: the same instructions run whatever they do.

use super::{Machine, State};

impl Machine<'_, '_> {
    /// Decides a site by a table of its 256 choice bytes, if `reads` is 1. With 0 there is no site: the next choice byte
    /// is looked up but not read.
    ///
    /// # Safety
    ///
    /// One choice byte must be reserved, `reads` be 0 or 1, and the table have 256 bytes.
    #[inline(always)]
    pub unsafe fn look_up(&self, s: &mut State, options: &[u8], reads: usize) -> usize {
        debug_assert!(reads <= 1 && options.len() == 256);
        self.check(*s, 1, 0);
        // SAFETY: one byte is reserved, and no byte is beyond the table.
        unsafe {
            let option = *options.get_unchecked(usize::from(*s.c));
            s.c = s.c.add(reads);
            usize::from(option)
        }
    }

    /// Emits the first `len` bytes of a block.
    ///
    /// # Safety
    ///
    /// They must be reserved, and `len` at most 16.
    #[inline(always)]
    pub unsafe fn put_block(&self, s: &mut State, block: &[u8; 16], len: usize) {
        debug_assert!(len <= block.len());
        self.check(*s, 0, len);
        // SAFETY: `len` bytes are reserved, and storing all of the block is within the slop.
        unsafe {
            s.o.cast::<[u8; 16]>().write_unaligned(*block);
            s.o = s.o.add(len);
        }
    }
}
