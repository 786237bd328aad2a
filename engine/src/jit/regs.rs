//! The register plan of machine code, written down once: each of these registers holds the same thing all through a
//! run, so that rule bodies call each other with bare `call` and `ret`.
//!
//! | register | name | holds |
//! |---|---|---|
//! | rsi | `choice` | the next choice byte |
//! | rbx | `choice_limit` | the last place of `choice` at which a stretch may begin |
//! | rdi | `output` | the next output byte |
//! | rbp | `output_limit` | the last place of `output` at which a stretch may begin |
//! | r12 | `depth` | the levels left below the innermost function or loop (code for a depth limit) |
//! | r13 | `slack` | bound - (emitted + minimum of all that is pending) (code for a length limit) |
//! | r14 | `tables` | the constant tables |
//! | r15 | `context` | the [`Context`](super::context::Context) of the run |
//!
//! rax, rcx, rdx, r8 to r11 and xmm0 are free between any two nodes.

/// Assembles instructions; the registers have their names of the plan.
macro_rules! asm {
    ($ops:ident $($instructions:tt)*) => {
        ::dynasm::dynasm!($ops
            ; .arch x64
            ; .alias choice, rsi
            ; .alias choice_limit, rbx
            ; .alias output, rdi
            ; .alias output_limit, rbp
            ; .alias depth, r12
            ; .alias slack, r13
            ; .alias tables, r14
            ; .alias context, r15
            $($instructions)*
        )
    };
}

pub(super) use asm;
