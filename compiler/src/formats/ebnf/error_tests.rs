//! Snapshots of the diagnostics for grammars with errors.

use expect_test::{Expect, expect};

use super::Ebnf;
use crate::formats::testing;

fn check_errors(text: &str, expected: Expect) {
    expected.assert_eq(&testing::errors(&Ebnf, text));
}

#[test]
fn several_errors_in_one_run() {
    check_errors(
        "a ::= 'x\nb ::= ( 'x' | 'y'\nc ::= 'ok'\nd ::= * 'x'\ne ::= 'x' )\nf = 'x'\ng ::= [z-a] [] '\\q' #xD800 #b100\nh ::= ]",
        expect![[r#"
            g:1:7: error[syntax]: this literal is not closed
              | a ::= 'x
              |       ^^
              help: close it with `'` on the same line; a line break is written `\n` or `#xA`
            g:2:7: error[syntax]: this group is not closed
              | b ::= ( 'x' | 'y'
              |       ^
              note: g:3:1: `)` is missing before this
              help: close it with `)`
            g:4:7: error[syntax]: there is nothing to repeat here
              | d ::= * 'x'
              |       ^
              help: a repetition mark follows an item; as text it is in quotes, such as `'*'`
            g:5:11: error[syntax]: unmatched `)`
              | e ::= 'x' )
              |           ^
              help: there is no `(` before it in this rule; as text it is `')'`
            g:7:8: error[syntax]: this range is reversed
              | g ::= [z-a] [] '\q' #xD800 #b100
              |        ^^^
              help: the smaller end comes first; a minus sign stands first, last, or as `\-`
            g:7:13: error[empty-class]: this class has no members
              | g ::= [z-a] [] '\q' #xD800 #b100
              |             ^^
              help: the empty string is `''`; a bracket inside a class is `\]`
            g:7:17: error[syntax]: unknown escape
              | g ::= [z-a] [] '\q' #xD800 #b100
              |                 ^^
              help: a backslash itself is written `\\`
            g:7:21: error[syntax]: this is not a Unicode scalar value
              | g ::= [z-a] [] '\q' #xD800 #b100
              |                     ^^^^^^
              help: code points are `#x0` to `#xD7FF` and `#xE000` to `#x10FFFF`; the sign `#` itself is `#x23`
            g:8:7: error[syntax]: unexpected character `]`
              | h ::= ]
              |       ^
              help: text that the rule should produce stands in quotes: `'...'` or `"..."`
        "#]],
    );
}

#[test]
fn errors_in_text() {
    check_errors(
        r"a ::= '\x80' '\xg' '\u41' '\u{110000}' '\u{}' '\'
b ::= [a\] [#xZ] [#b] #y [é#b80] [^a-
c ::= # [#x110000-#xFFFFFFFFFFFFFFFFFFFF] [\q] '\",
        expect![[r#"
            g:1:8: error[syntax]: `\x` reaches only to 7F
              | a ::= '\x80' '\xg' '\u41' '\u{110000}' '\u{}' '\'
              |        ^^^^
              help: the byte is written `#b80`, the character `\u{80}`
            g:1:15: error[syntax]: `\x` needs two hexadecimal digits
              | a ::= '\x80' '\xg' '\u41' '\u{110000}' '\u{}' '\'
              |               ^^
              help: such as `\x1B`
            g:1:21: error[syntax]: `\u` needs a hexadecimal number in braces
              | a ::= '\x80' '\xg' '\u41' '\u{110000}' '\u{}' '\'
              |                     ^^
              help: such as `\u{E9}`; code points are 0 to D7FF and E000 to 10FFFF
            g:1:28: error[syntax]: this is not a Unicode scalar value in braces
              | a ::= '\x80' '\xg' '\u41' '\u{110000}' '\u{}' '\'
              |                            ^^^^^^^^^^
              help: such as `\u{E9}`; code points are 0 to D7FF and E000 to 10FFFF
            g:1:41: error[syntax]: this is not a Unicode scalar value in braces
              | a ::= '\x80' '\xg' '\u41' '\u{110000}' '\u{}' '\'
              |                                         ^^^^
              help: such as `\u{E9}`; code points are 0 to D7FF and E000 to 10FFFF
            g:1:47: error[syntax]: this literal is not closed
              | a ::= '\x80' '\xg' '\u41' '\u{110000}' '\u{}' '\'
              |                                               ^^^
              help: `\'` does not close it; a backslash itself is written `\\`
            g:2:13: error[syntax]: `#x` without a hexadecimal number
              | b ::= [a\] [#xZ] [#b] #y [é#b80] [^a-
              |             ^^
              help: code points are `#x0` to `#xD7FF` and `#xE000` to `#x10FFFF`; the sign `#` itself is `#x23`
            g:2:19: error[syntax]: `#b` without a hexadecimal number
              | b ::= [a\] [#xZ] [#b] #y [é#b80] [^a-
              |                   ^^
              help: bytes are `#b00` to `#bFF`; the sign `#` itself is `#x23`
            g:2:23: error[syntax]: unexpected `#`
              | b ::= [a\] [#xZ] [#b] #y [é#b80] [^a-
              |                       ^
              help: a code point is `#x41`, a byte is `#b41`, the sign itself is `'#'`
            g:3:7: error[syntax]: unexpected `#`
              | c ::= # [#x110000-#xFFFFFFFFFFFFFFFFFFFF] [\q] '\
              |       ^
              help: a code point is `#x41`, a byte is `#b41`, the sign itself is `'#'`
        "#]],
    );
    check_errors(
        "%alphabet bytes\na ::= [^é]\n",
        expect![[r#"
        g:2:9: error[syntax]: a class of bytes cannot hold characters beyond ASCII
          | a ::= [^é]
          |         ^
          note: g:2:7: under `%alphabet bytes`, `[^...]` is a class of bytes
          help: write the bytes (`#bNN`), or use an alternation of two classes
    "#]],
    );
    check_errors(
        "%alphabet ascii\na ::= [^#x0-#x7F]\n",
        expect![[r#"
        g:2:7: error[empty-class]: this class has no members
          | a ::= [^#x0-#x7F]
          |       ^^^^^^^^^^^
          help: it excludes the whole alphabet (see `%alphabet`)
    "#]],
    );
}

#[test]
fn errors_in_repetitions() {
    check_errors(
        "a ::= 'x'{5,2}\nb ::= 'x'{}\nc ::= 'x'{,5}\nd ::= 'x'{2\ne ::= 'x'{4294967296}\nf ::= 'x'{1.5}\ng ::= ('x' | +)\nh ::= {2}",
        expect![[r#"
            g:1:11: error[syntax]: the bounds of this repetition are reversed
              | a ::= 'x'{5,2}
              |           ^^^
              help: the smaller bound comes first
            g:2:11: error[syntax]: a repetition needs a number
              | b ::= 'x'{}
              |           ^
              help: write `{3}`, `{2,}`, `{2,5}` or `{0,5}`
            g:3:11: error[syntax]: a repetition needs a number
              | c ::= 'x'{,5}
              |           ^
              help: write `{3}`, `{2,}`, `{2,5}` or `{0,5}`
            g:4:10: error[syntax]: this repetition is not closed
              | d ::= 'x'{2
              |          ^^
              help: write `{3}`, `{2,}` or `{2,5}`
            g:5:11: error[syntax]: this is not a number of rounds
              | e ::= 'x'{4294967296}
              |           ^^^^^^^^^^
              help: a bound is a whole number up to 4294967295
            g:6:11: error[syntax]: this is not a number of rounds
              | f ::= 'x'{1.5}
              |           ^^^
              help: a bound is a whole number up to 4294967295
            g:7:14: error[syntax]: there is nothing to repeat here
              | g ::= ('x' | +)
              |              ^
              help: a repetition mark follows an item; as text it is in quotes, such as `'*'`
            g:8:7: error[syntax]: there is nothing to repeat here
              | h ::= {2}
              |       ^
              help: a repetition mark follows an item; as text it is in quotes, such as `'*'`
        "#]],
    );
}

#[test]
fn errors_in_weights() {
    check_errors(
        "a ::= 'x' @ -1 | 'y'\nb ::= 'x' @ 1e999\nc ::= 'x' @ y\nd ::= 'x' @ 3 'y'\ne ::= 'x' @\nf ::= 'x' @ 3x",
        expect![[r#"
            g:1:13: error[syntax]: a weight cannot be negative
              | a ::= 'x' @ -1 | 'y'
              |             ^
              help: a weight is a number such as `@ 3` or `@ 0.25`, zero or more
            g:2:13: error[syntax]: this is not a weight
              | b ::= 'x' @ 1e999
              |             ^^^^^
              help: a weight is a number such as `@ 3` or `@ 0.25`, zero or more
            g:3:13: error[syntax]: this is not a weight
              | c ::= 'x' @ y
              |             ^
              help: a weight is a number such as `@ 3` or `@ 0.25`, zero or more
            g:4:15: error[syntax]: a weight ends its alternative
              | d ::= 'x' @ 3 'y'
              |               ^^^
              help: put the weight after the whole alternative
            g:5:11: error[syntax]: this is not a weight
              | e ::= 'x' @
              |           ^
              help: a weight is a number such as `@ 3` or `@ 0.25`, zero or more
            g:6:13: error[syntax]: this is not a weight
              | f ::= 'x' @ 3x
              |             ^^
              help: a weight is a number such as `@ 3` or `@ 0.25`, zero or more
        "#]],
    );
}

#[test]
fn errors_in_directives() {
    check_errors(
        "%begin a\n%start\n%max-depth x\n%max-len 99999999999999999999\n%alphabet latin\na ::= 'x' %start a\n%alphabet ascii\n%start a b\n",
        expect![[r#"
            g:1:1: error[unknown-directive]: unknown directive `%begin`
              | %begin a
              | ^^^^^^
              help: the directives are `%start`, `%max-depth`, `%max-len` and `%alphabet`
            g:2:1: error[unknown-directive]: `%start` needs a value
              | %start
              | ^^^^^^
              help: the name of a rule, such as `%start document`
            g:3:12: error[unknown-directive]: `%max-depth` does not understand this value
              | %max-depth x
              |            ^
              help: it takes a number of levels, such as `%max-depth 12`
            g:4:10: error[unknown-directive]: `%max-len` does not understand this value
              | %max-len 99999999999999999999
              |          ^^^^^^^^^^^^^^^^^^^^
              help: it takes a number of bytes, such as `%max-len 4096`
            g:5:11: error[unknown-directive]: `%alphabet` does not understand this value
              | %alphabet latin
              |           ^^^^^
              help: it takes `%alphabet char`, `ascii`, `unicode` or `bytes`
            g:6:11: error[syntax]: unexpected `%` inside a line
              | a ::= 'x' %start a
              |           ^^^^^^
              help: a directive such as `%start` stands at the beginning of its line; a percent sign is `'%'`
            g:7:1: error[unknown-directive]: `%alphabet` comes too late
              | %alphabet ascii
              | ^^^^^^^^^
              help: it stands before the first rule
            g:8:10: error[unknown-directive]: a directive has one value
              | %start a b
              |          ^
              help: the next thing begins on a new line
        "#]],
    );
}

#[test]
fn errors_in_differences() {
    check_errors(
        "a ::= Char - 'ab'\nb ::= Char - ''\nc ::= Char - x*\nd ::= 'a' 'b' - long\ne ::= Char - nothing Char - nothing\n\
         f ::= Char - loop\ng ::= Char - Char\nh ::= [é] - #b80\ni ::= Char - weighted\nj ::= Char - (a - 'x')\n\
         k ::= Char - ([é] | #b80)\nChar ::= [a-z]\nx ::= 'x'\nlong ::= middle\nmiddle ::= 'p' | 'q' x\nloop ::= 'a' | loop2\n\
         loop2 ::= loop\nweighted ::= 'a' @ 2 | 'b'\nl ::= - 'x'\nm ::= Char -",
        expect![[r#"
            g:1:14: error[class-difference]: this operand of a difference is not a class of single characters: it is a string of several characters
              | a ::= Char - 'ab'
              |              ^^^^
              help: both sides of `-` are classes, single characters, alternations of such, or rules that are
            g:2:14: error[class-difference]: this operand of a difference is not a class of single characters: it is the empty string
              | b ::= Char - ''
              |              ^^
              help: both sides of `-` are classes, single characters, alternations of such, or rules that are
            g:3:14: error[class-difference]: this operand of a difference is not a class of single characters: it is a repetition
              | c ::= Char - x*
              |              ^^
              help: both sides of `-` are classes, single characters, alternations of such, or rules that are
            g:4:17: error[class-difference]: this operand of a difference is not a class of single characters
              | d ::= 'a' 'b' - long
              |                 ^^^^
              note: g:15:18: because this is a sequence
              help: both sides of `-` are classes, single characters, alternations of such, or rules that are
            g:5:14: error[undefined-rule]: rule `nothing` is not defined
              | e ::= Char - nothing Char - nothing
              |              ^^^^^^^
            g:6:14: error[class-difference]: this operand of a difference is not a class of single characters
              | f ::= Char - loop
              |              ^^^^
              note: g:17:11: because this is a rule that refers to itself
              help: both sides of `-` are classes, single characters, alternations of such, or rules that are
            g:7:7: error[empty-class]: nothing is left of this class
              | g ::= Char - Char
              |       ^^^^^^^^^^^
              help: every member of the left side is also in the right side
            g:8:7: error[class-difference]: bytes are subtracted from characters, or the reverse
              | h ::= [é] - #b80
              |       ^^^^^^^^^^
              help: bytes and characters beyond ASCII do not mix; write both classes with `#bNN` or both without
            g:9:14: error[class-difference]: this operand of a difference is not a class of single characters
              | i ::= Char - weighted
              |              ^^^^^^^^
              note: g:18:20: because this is a weight, and classes have none
              help: both sides of `-` are classes, single characters, alternations of such, or rules that are
            g:11:14: error[class-difference]: this operand of a difference is not a class of single characters: it is a mixture of bytes and of characters beyond ASCII
              | k ::= Char - ([é] | #b80)
              |              ^^^^^^^^^^^^
              help: both sides of `-` are classes, single characters, alternations of such, or rules that are
            g:19:7: error[syntax]: expected an item, found `-`
              | l ::= - 'x'
              |       ^
              help: an item is a literal, a class, a code point such as `#x41`, a name, or a group in parentheses
            g:20:13: error[syntax]: expected an item, found the end of the file
              | m ::= Char -
              |             ^
              help: an item is a literal, a class, a code point such as `#x41`, a name, or a group in parentheses
        "#]],
    );
}
