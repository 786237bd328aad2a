//! Options and formats that don't exist are reported with those that do.
gramjet::grammar! {
    mod fast = ebnf "a ::= 'x'" { speed: 9 };
}

gramjet::grammar! {
    mod deep = ebnf "a ::= 'x'" { max_deph: 9 };
}

gramjet::grammar! {
    mod odd = yaml "a: x";
}

gramjet::grammar! {
    mod even = larks "a: 'x'";
}

fn main() {}
