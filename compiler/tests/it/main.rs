//! Integration tests of the compiler: the equalities of the design page, on random grammars and on the suite.

mod analyses;
mod children;
mod codings;
mod convert;
mod distribution;
mod explanations;
mod formats;
mod generated;
mod hostile;
mod hostile_formats;
mod hostile_g4;
mod hostile_labels;
mod labels;
mod limits;
mod mirrors;
mod names;
mod openapi;
mod oracle;
mod outline;
mod parameters;
mod passes;
mod ranges;
mod stages;
mod suite;
