//! Snapshots of grammars and diagnostics.
