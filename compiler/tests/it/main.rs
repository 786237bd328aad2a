//! The compiler's tests from outside: the equalities of the design page, held on random grammars and on the suite.

mod generated;
mod analyses;
mod distribution;
mod hostile;
mod limits;
mod oracle;
mod passes;
mod stages;
mod suite;
