//! Warnings about a grammar are shown, and can be silenced.
#![deny(deprecated)]

gramjet::grammar! {
    mod shown = ebnf "list ::= '[' item ']'  item ::= [a-z]  other ::= 'x'";

    #[allow(deprecated)]
    mod silenced = ebnf "list ::= '[' item ']'  item ::= [a-z]  other ::= 'x'";

    mod with_another_start = ebnf "list ::= '[' item ']'  item ::= [a-z]  other ::= 'x'" { start: "item" };
}

fn main() {
    let _ = shown::generate(1);
    let _ = silenced::generate(1);
    let _ = with_another_start::generate(1);
}
