//! The engines against the reference (E1), and their behaviour on hostile grammars (E6).

#[cfg(all(target_arch = "x86_64", unix))]
mod deep;
mod example;
mod hostile;
mod kit;
mod replay;
