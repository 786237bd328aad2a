//! The engines against the reference (E1), and their behaviour on hostile grammars (E6).

mod deep;
mod hostile;
mod kit;
mod replay;
