//! Safe machine.
