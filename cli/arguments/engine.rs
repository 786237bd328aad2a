//! The engines that can run a grammar, as an argument.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use gramjet_engine::EngineKind;

/// The engine that the user asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineArgument {
    /// One that makes its code from the grammar and replays choice bytes.
    Listed(EngineKind),
    /// Code that was made ahead of time.
    Rust,
    /// Tables that do not replay.
    Bulk,
}

impl EngineArgument {
    /// The fastest.
    pub const AUTO: EngineArgument = EngineArgument::Listed(EngineKind::Auto);

    /// Returns the name that users write.
    pub const fn name(self) -> &'static str {
        match self {
            EngineArgument::Listed(kind) => kind.name(),
            EngineArgument::Rust => "rust",
            EngineArgument::Bulk => "bulk",
        }
    }

    const LISTED: usize = EngineKind::ALL.len();
    const ALL: [EngineArgument; EngineArgument::LISTED + 2] = {
        let mut all = [EngineArgument::Rust; EngineArgument::LISTED + 2];
        let mut index = 0;
        while index < EngineArgument::LISTED {
            all[index] = EngineArgument::Listed(EngineKind::ALL[index]);
            index += 1;
        }
        all[EngineArgument::LISTED + 1] = EngineArgument::Bulk;
        all
    };
}

impl ValueEnum for EngineArgument {
    fn value_variants<'a>() -> &'a [EngineArgument] {
        &EngineArgument::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let about = match self {
            EngineArgument::Listed(kind) => kind.about(),
            EngineArgument::Rust => {
                "Compiled ahead of time; for shipped grammars that have a compiled producer, named without a path, from their own \
                 start rule"
            }
            EngineArgument::Bulk => {
                "Tables for gigabytes, without a limit on the length. Its inputs are not those of the other engines. It draws with \
                 the grammar's own probabilities, which the others round to slots of 1/256; `auto` takes it without `--seed` where \
                 it was measured to be done first"
            }
        };
        Some(PossibleValue::new(self.name()).help(about))
    }
}
