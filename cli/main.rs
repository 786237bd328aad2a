//! The `gramjet` command.
fn main() {}
