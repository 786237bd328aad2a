//! Producers of valid inputs, compiled from context-free grammars: the runtime library and the grammar! macro.
