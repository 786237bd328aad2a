//! Snapshots of expressions and diagnostics.

use expect_test::{Expect, expect};

use crate::formats::regex::Regex;
use crate::formats::testing;

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&testing::parsed(&Regex, text));
}

#[test]
fn expressions() {
    check("^a(b|cd)*[x-z]+?(?:q{2,3}|r?)\\.$\n", expect![[r#"
        regex ::= "a" ("b" | "cd")* [x-z]+ ("q"{2,3} | "r"?) "."
        g:1:1: warning[approximated]: a non-greedy repetition is read as a greedy one
          | ^a(b|cd)*[x-z]+?(?:q{2,3}|r?)\.$
          | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          help: what it draws may hold what ends it; write out what it must not hold
    "#]]);
    check(r"\d\w\s\D[\d.\W]\p{Greek}[^a-z]\u{1F600}\x41\/", expect![[r#"
        g:1:1: error[syntax]: this is no regular expression: invalid Unicode character class
          | \d\w\s\D[\d.\W]\p{Greek}[^a-z]\u{1F600}\x41\/
          | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          help: regular expressions are those of Rust's `regex`; a backslash makes a sign stand for itself
    "#]]);
    check(r"(?i)ab(?-i)c.(?s).[[a-e]&&[^b]](?-u:\xFF)", expect![[r#"
        regex ::= [Aa] [Bb] "c" [#x09#x20-~] [#x09#x0A#x20-~] [ac-e] #bFF
    "#]]);
}

#[test]
fn non_greedy_repetitions_do_not_hold_what_ends_them() {
    check(r"/\*(.|\n)*?\*/", expect![[r#"
        regex ::= "/*" ([#x09#x20-~] | "\n")* "*/"
        g:1:1: warning[approximated]: a non-greedy repetition is read as a greedy one
          | /\*(.|\n)*?\*/
          | ^^^^^^^^^^^^^^
          help: what it draws may hold what ends it; write out what it must not hold
    "#]]);
    check(r#"".*?"|<<.+?(?:>|!)x"#, expect![[r#"
        regex ::= "\"" [#x09#x20!#x23-~]* "\"" | "<<" [#x09#x20"-=?-~]+ [!>] "x"
    "#]]);
    check(r#""""[^a]*?""""#, expect![[r#"
        regex ::= "\"\"\"" ([#x09#x0A#x20!#x23-`b-~] | ["] [#x09#x0A#x20!#x23-`b-~])* "\"\"\""
    "#]]);
    check(r"(ab)*?c", expect![[r#"
        regex ::= "ab"* "c"
        g:1:1: warning[approximated]: a non-greedy repetition is read as a greedy one
          | (ab)*?c
          | ^^^^^^^
          help: what it draws may hold what ends it; write out what it must not hold
    "#]]);
}

#[test]
fn what_is_left_out_and_what_is_not_understood() {
    check(r"a(?!b[)]|(c))d\bx$y(?<=z)++", expect![[r#"
        regex ::= "ad" () "x" () "y"
        g:1:1: warning[approximated]: a look-ahead or look-behind is left out
          | a(?!b[)]|(c))d\bx$y(?<=z)++
          | ^^^^^^^^^^^^^^^^^^^^^^^^^^^
          help: a grammar cannot look ahead or behind; write out what it excludes
        g:1:1: warning[approximated]: a word boundary inside of a regular expression is left out
          | a(?!b[)]|(c))d\bx$y(?<=z)++
          | ^^^^^^^^^^^^^^^^^^^^^^^^^^^
          help: a grammar cannot ask what stands beside; write it out where it matters
        g:1:1: warning[approximated]: an anchor inside of a regular expression is left out
          | a(?!b[)]|(c))d\bx$y(?<=z)++
          | ^^^^^^^^^^^^^^^^^^^^^^^^^^^
          help: a grammar cannot ask what stands beside; write it out where it matters
    "#]]);
    check(r"(a)\1", expect![[r#"
        g:1:1: error[syntax]: this regular expression refers back to a group
          | (a)\1
          | ^^^^^
          help: a grammar cannot repeat what it has drawn; write the group again, or list the alternatives
    "#]]);
    check("(a", expect![[r#"
        g:1:1: error[syntax]: this is no regular expression: unclosed group
          | (a
          | ^^
          help: regular expressions are those of Rust's `regex`; a backslash makes a sign stand for itself
    "#]]);
    check(r"[^\s\S]", expect![[r#"
        g:1:1: error[empty-class]: this class has no members
          | [^\s\S]
          | ^^^^^^^
          help: add a member, or remove what needs one
    "#]]);
    check(r"a\qb", expect![[r#"
        g:1:1: error[syntax]: this regular expression has an unknown escape, `\q`
          | a\qb
          | ^^^^
          help: escapes of letters have meanings; a letter itself needs no backslash
    "#]]);
    check("a{1,2}{3}x{,}{}", expect![[r#"
        regex ::= "a"{1,2}{3} "x{,}{}"
    "#]]);
}
