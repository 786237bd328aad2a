//! The bound on native recursion.
//!
//! Generated code recurses on the native stack, one frame per residual rule. An input may use [`CALLER_STACK`] of its
//! caller's stack, which fits the smallest usual thread stacks (512 KiB on macOS, 2 MiB for Rust threads). Beyond it, the
//! recursion goes on upon a helper thread with a stack of [`HELPER_STACK`] bytes, which the system maps as it is touched.
//! Where that ends too, or no thread can be had, the machine finishes: option 0 at every site, on the rest of the stack
//! that is kept for it.

/// How much of the caller's stack an input may use, in bytes.
pub(crate) const CALLER_STACK: usize = 192 << 10;

/// The stack of the helper thread, in bytes.
pub(crate) const HELPER_STACK: usize = 1 << 30;

/// What is kept of the helper's stack for finishing.
pub(crate) const HELPER_RESERVE: usize = 128 << 20;

/// The address of the current stack frame, nearly.
#[inline(always)]
pub(crate) fn stack_pointer() -> usize {
    let marker = 0u8;
    (&raw const marker) as usize
}

/// Where the machine stands on the native stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Caller,
    Helper,
    /// Finishing: no check can help any more.
    Last,
}
