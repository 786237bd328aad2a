//! A grammar file that is not there is reported with its path.
gramjet::grammar! {
    mod nowhere = "grammars/nowhere.ebnf";
}

fn main() {}
