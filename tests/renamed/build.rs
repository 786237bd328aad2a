//! Emits a producer that finds the library under another name.

fn main() -> Result<(), gramjet_build::Error> {
    gramjet_build::Grammar::new("sum.ebnf").library("::gj").max_depth(8).compile("sum.rs")
}
