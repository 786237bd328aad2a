//! Strategies and costs of a search: those that gramjet has, and those of a caller.

use std::fmt;
use std::sync::Arc;

use gramjet_harness::Run;
use gramjet_search::{Kind, Strategy};

/// The strategy of a search. Each worker makes one of its own.
#[derive(Clone)]
pub struct StrategyKind {
    name: String,
    is_paper: bool,
    make: Arc<dyn Fn() -> Box<dyn Strategy> + Send + Sync>,
}

impl StrategyKind {
    /// Returns the strategy of a caller. The name stands in logs and reports.
    pub fn new(name: impl Into<String>, make: impl Fn() -> Box<dyn Strategy> + Send + Sync + 'static) -> StrategyKind {
        StrategyKind { name: name.into(), is_paper: false, make: Arc::new(make) }
    }

    /// Returns a strategy of a list, such as [`gramjet_search::STRATEGIES`]; with the constants of its publication if
    /// `is_paper`.
    pub fn of(kind: &Kind, is_paper: bool) -> StrategyKind {
        let own = *kind;
        StrategyKind { is_paper, ..StrategyKind::new(kind.name, move || own.make(is_paper)) }
    }

    /// Says that the strategy has the constants of its publication.
    pub fn with_paper(self) -> StrategyKind {
        StrategyKind { is_paper: true, ..self }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns true if it has the constants of its publication, also where others are better.
    pub fn is_paper(&self) -> bool {
        self.is_paper
    }

    pub(crate) fn make(&self) -> Box<dyn Strategy> {
        (self.make)()
    }
}

impl fmt::Debug for StrategyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StrategyKind").field(&self.name).finish()
    }
}

/// A cost that a caller measures.
#[derive(Clone)]
pub struct Measure {
    name: &'static str,
    unit: &'static str,
    is_exact: bool,
    of: Arc<dyn Fn(&Run<'_>) -> u64 + Send + Sync>,
}

impl Measure {
    /// Returns a cost with its name, which stands in the folder of the search, and its unit, such as "tokens". It is
    /// exact if a text costs the same in each run; otherwise texts that seem to cost most are run again.
    pub fn new(
        name: &'static str,
        unit: &'static str,
        is_exact: bool,
        of: impl Fn(&Run<'_>) -> u64 + Send + Sync + 'static,
    ) -> Measure {
        Measure { name, unit, is_exact, of: Arc::new(of) }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn unit(&self) -> &'static str {
        self.unit
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.is_exact
    }

    pub(crate) fn of(&self, run: &Run<'_>) -> u64 {
        (self.of)(run)
    }
}

impl fmt::Debug for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Measure").field(&self.name).finish()
    }
}

impl PartialEq for Measure {
    fn eq(&self, other: &Measure) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.of, &other.of)
    }
}

impl Eq for Measure {}
