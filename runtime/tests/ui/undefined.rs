//! An undefined rule is reported with its place.
gramjet::grammar! {
    mod broken = ebnf "list ::= '[' items ']'  item ::= [a-z]";
}

fn main() {}
