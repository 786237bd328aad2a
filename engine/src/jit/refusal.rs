//! Reasons why a grammar has no machine code.

/// Reason why a grammar has no machine code; the engine `vm` runs it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotCompiled {
    /// Code and tables would be larger than their budget.
    #[error("the machine code of this grammar would be larger than {} MiB", bytes >> 20)]
    TooLarge {
        /// The budget in bytes.
        bytes: usize,
    },
    /// Shortest derivations, or the grammar's expressions, nest too deeply.
    #[error("the derivations of this grammar nest too deeply for machine code")]
    TooDeep,
    /// The system gives no memory that can be made executable.
    #[error("the system gives no executable memory: {0}")]
    Memory(String),
    /// Machine code is made for x86-64 processors under Unix only.
    #[error("machine code is made for x86-64 under Unix only")]
    NotHere,
}
