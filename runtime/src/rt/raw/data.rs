//! Steps that do different things by their data alone, for interpreters: the same instructions run whatever they do.

use super::{Machine, State};

impl Machine<'_, '_> {
    /// Decides a site by a table of its 256 choice bytes, if `reads` is 1. With 0 there is no site: the next choice
    /// byte is looked up but not read.
    ///
    /// # Safety
    ///
    /// One choice byte must be reserved, and `reads` be 0 or 1.
    #[inline(always)]
    pub unsafe fn look_up(&self, s: &mut State, options: &[u8; 256], reads: usize) -> usize {
        debug_assert!(reads <= 1);
        self.check(*s, 1, 0);
        // SAFETY: one byte is reserved.
        unsafe {
            let option = options[usize::from(*s.c)];
            s.c = s.c.add(reads);
            usize::from(option)
        }
    }
}
