//! Names that parts give and take, in the reference interpreter.

use gramjet_compiler::limits::Limits;
use gramjet_compiler::{Diagnostics, SourceFile, formats, print};

use crate::labels::{check_mistakes, check_printed, check_read_back, text, told};

/// Grammars with all that can be said of names.
const WRITTEN: [&str; 5] = [
    "s ::= ($define(a, [xy]) '=' $use(a, '0'))*",
    "s ::= $scope(a, b, t*)  t ::= $unique(a, [xy]) (',' $define(b, [xy]{2})){1,2} | '(' $scope(b, t*) ')' $use(b, '0')",
    "s ::= (n:[xy]{1,2} '=' $use(a, '0') $declare(a, $n) ';')*",
    "s ::= l:$scope(a, ('<' $unique(a, ('x' | 'y' 'z')))*) $u8(len(l)) k:$define(b, 'x') $k",
    "s ::= $scope(a, ($unique(a, 'x' | 'z' @ 3) ' '){2}) | $use(b, $use(c, '0')) $define(b, 'b') $define(c, 'c') s",
];

#[test]
fn what_is_printed_means_as_much() {
    check_printed(&WRITTEN);
}

#[test]
fn an_ir_with_names_is_read_back() {
    check_read_back(&WRITTEN);
}

#[test]
fn notations_without_names_get_a_larger_language() {
    let grammar = "s ::= $scope(a, $unique(a, [xy]) n:'z' $declare(b, $n) $use(a, '0') $use(b, '1'))";
    let file = SourceFile::new("g.ebnf", grammar);
    let mut diagnostics = Diagnostics::default();
    let read = formats::by_name("ebnf").expect("there is one").parse(&file, &mut diagnostics);
    let printed = print::by_name("abnf").expect("there is one").print(&read, &mut diagnostics);
    assert_eq!(
        printed.expect("it can be written"),
        "s = (%x78-79 *%x30-39) %s\"z\" \"\" (any-a / \"0\") (any-b / \"1\")\nany-a = %x78-79\nany-b = %s\"z\"\n"
    );
    assert_eq!(diagnostics.iter().count(), 1, "{diagnostics:?}");
}

#[test]
fn mistakes_are_told_with_their_places() {
    let mistakes = [
        ("s ::= $use(a, 'x')", "undefined-kind", "a"),
        ("s ::= $scope(b, $define(a, 'x'))", "undefined-kind", "b"),
        ("s ::= $scope(a, $unique(a, 'x')) $define(a, 'y')", "mixed-kind", "a"),
        ("s ::= $define(a, n:'x' $n)", "dependent-name", "n:'x' $n"),
        ("s ::= $define(a, t)  t ::= 'x' $u8(len(n)) n:'y'", "dependent-name", "t"),
        ("s ::= $define(a, $use(a, 'x'))", "dependent-name", "$use(a, 'x')"),
        ("s ::= $define(a, 'y') n:$use(a, 'x') $declare(a, $n)", "dependent-name", "$n"),
        ("s ::= n:'x' $declare(a, 'x')", "dependent-name", "'x'"),
        ("s ::= $declare(a, $n) n:'x'", "late-label", "n"),
        ("s ::= $define(a, 'x'?)", "empty-name", "'x'?"),
        ("s ::= n:'x'* $declare(a, $n)", "empty-name", "$n"),
        ("s ::= $define(a, 'x') $use(a, 'y'*)", "empty-name", "'y'*"),
        ("s ::= $unique(a, 'x')", "unscoped-name", "$unique(a, 'x')"),
        ("s ::= t | $scope(a, t)  t ::= $unique(a, 'x')", "unscoped-name", "$unique(a, 'x')"),
        ("s ::= $scope(a, $u8(len(n)) n:$unique(a, 'x'))", "unscoped-name", "$unique(a, 'x')"),
        ("s ::= $define(a, 'x') $u8(len(n)) n:$use(a, 'yy')", "short-name", "n"),
        ("s ::= $dec(len(n)) n:$scope(a, $unique(a, 'x'){6})", "short-name", "n"),
        ("s ::= m:'x'* ($scope(a, $unique(a, 'x'){2})){count(m)}", "short-name", "($scope(a, $unique(a, 'x'){2}))"),
        ("s ::= n:'x' (';' | $declare(a, $n))* $use(a, '0')", "empty-name", "(';' | $declare(a, $n))"),
        ("s ::= $defin(a, 'x')", "syntax", "$defin"),
        ("s ::= $scope(a, b, a, $define(a, 'x') $define(b, 'x'))", "syntax", "a"),
        ("s ::= define:'x' $define", "syntax", "define"),
        ("s ::= $define('x')", "syntax", "("),
        ("s ::= $use(a, b, 'x')", "syntax", "b"),
        ("s ::= $scope(a, 'x'", "syntax", ""),
    ];
    check_mistakes(&mistakes);
}

#[test]
fn labels_of_one_name_are_declared_each_for_itself() {
    let grammar = "s ::= (n:[a-z] $declare(v, $n) ';' | n:('q' $use(v, '0')) '=' $n ';')+";
    assert_eq!(told(grammar), []);
    assert_eq!(told("s ::= $define (use, 'x') $use(use, 'y')"), []);
}

#[test]
fn names_are_given_taken_and_bounded() {
    let free = Limits::default();
    let most = |len| Limits { max_len: Some(len), ..free };
    let grammars: [(&str, Limits, &[u8], &[u8]); 10] = [
        // Two names are seen: the nearest one has the number 0, the part is the last option.
        ("s ::= $define(a, 'x') $define(a, 'yy') $use(a, '0')", free, &[0], b"xyyyy"),
        ("s ::= $define(a, 'x') $define(a, 'yy') $use(a, '0')", free, &[100], b"xyyx"),
        ("s ::= $define(a, 'x') $define(a, 'yy') $use(a, '0')", free, &[200], b"xyy0"),
        // No site where none is seen.
        ("s ::= $scope(a, $define(a, 'x')) $use(a, [01])", free, &[200], b"x1"),
        // A name for which there is no room.
        ("s ::= $define(a, 'yyy') $use(a, '0')", most(4), &[0], b"yyy0"),
        // Numbers make names unique, the least that are free.
        ("s ::= $scope(a, ($unique(a, 'x' | 'x1') ' ')*)", free, &[255, 0, 255, 255, 255, 0, 0], b"x x1 x2 "),
        ("s ::= $scope(a, ($unique(a, 'x') ' '){12})", free, &[], b"x x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 "),
        // A scope within that gives the same name does not make it free again.
        ("s ::= $scope(a, $unique(a, 'x') $scope(a, $unique(a, 'x')) $unique(a, 'x'))", free, &[], b"xxx1"),
        // Room is kept for the digits of names that must come.
        ("s ::= $scope(a, [y]* ($unique(a, 'x')){3})", most(6), &[255, 0, 255, 0], b"yxx1x2"),
        // A name is seen behind the value, not in it.
        ("s ::= (n:[xy] '=' $use(a, '0') $declare(a, $n))+", free, &[0, 255, 255, 0, 0], b"x=0y=x"),
    ];
    for (grammar, limits, choices, expected) in grammars {
        let found = text(grammar, limits, choices);
        assert_eq!(found, expected, "{grammar}: {}", found.escape_ascii());
    }
}

/// A name that is taken needs no room for the unique names that would stand in its place.
#[test]
fn a_name_that_is_taken_gives_room_back() {
    let grammar = "s ::= $scope(u, $define(d, 'aa') $use(d, 'b' $unique(u, 'c')) $unique(u, 'c') $unique(u, 'c') [x]*)";
    let short = Limits { max_len: Some(8), ..Limits::default() };
    assert_eq!(text(grammar, short, &[0, 255, 255, 255, 255]).escape_ascii().to_string(), "aaaacc1x");
}
