//! Emits a producer that finds the library under another name.

fn main() -> Result<(), gramjet_compiler::build::Error> {
    gramjet_compiler::build::Grammar::new("sum.ebnf").library("::gj").max_depth(8).compile("sum.rs")
}
