//! The engines against the reference (E1), and their behaviour on hostile grammars (E6).

mod auto;
mod bulk;
mod decisions;
#[cfg(all(target_arch = "x86_64", unix))]
mod deep;
mod example;
mod hostile;
mod kit;
mod labels;
mod mutants;
mod replay;
mod tracer;
