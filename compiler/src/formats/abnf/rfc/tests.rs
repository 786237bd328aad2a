//! Rules found in texts that have the form of an RFC.

use expect_test::{Expect, expect};

use crate::ast;
use crate::diagnostics::{Diagnostics, SourceFile};
use crate::formats::abnf::Abnf;
use crate::formats::{Format, Surroundings, recognise, testing};

/// Prose, rules over two pages, an example that is no rule, and rules that are written again at the end.
const MEMO: &str = "\
Some Group                                                      A. Author
Request for Comments: 9999                                   January 2030

1.  Words

   A greeting says hello = more than once, where
   n = 3 is usual.  Its form is

      greeting    = hello 1*( SP name )
                    [ mark /       ; one or
                      1*2DIGIT     ; a number

Author                     Standards Track                     [Page 1]
\u{C}
RFC 9999                       Greetings                    January 2030

                    ]
      name        = <name, see [RFC8888], Section 2>
                    / ALPHA
      name        =/ nick
      hello       = \"hello\" / <any word of
                      another language>

   For example, a program could set

      count = 0;
      letters = $2
      key=value

Appendix A.  Collected Rules

greeting = hello 1*( SP name ) [ mark / 1*2DIGIT ]
hello = \"hello\" / \"bye\"
list = 1#name
mark = %s\"!\"
nick =
  %i\"al\"
other = list host
";

fn read(text: &str, start: Option<&str>) -> String {
    let file = SourceFile::new("g", text);
    let mut diagnostics = Diagnostics::default();
    let surroundings = Surroundings { start, ..Surroundings::default() };
    let grammar = Abnf.parse_within(&file, &surroundings, &mut diagnostics);
    crate::check::check(&grammar, start, &mut diagnostics);
    diagnostics.sort();
    ast::dump(&grammar) + &diagnostics.to_plain_text(&file) + "\n"
}

fn check(text: &str, start: Option<&str>, expected: Expect) {
    expected.assert_eq(&read(text, start));
}

#[test]
fn rules_are_found_amid_prose_and_pages() {
    check(
        MEMO,
        None,
        expect![[r#"
            %start greeting
            name ::= ALPHA | nick
            greeting ::= hello (SP name)+ (mark | DIGIT{1,2})?
            hello ::= [Hh] [Ee] [Ll] [Ll] [Oo] | [Bb] [Yy] [Ee]
            list ::= name ([#x09#x20]* "," [#x09#x20]* name)*
            mark ::= "!"
            nick ::= [Aa] [Ll]
            SP ::= " "
            DIGIT ::= [0-9]
            ALPHA ::= [A-Z] | [a-z]
            g:7:4: warning[notation]: 7 rules are taken from the text of an RFC, and the prose is left out, with what looks like rules in lines 7, 26 and 27; the start is `greeting`, which reaches most rules
              |    n = 3 is usual.  Its form is
              |    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
              help: `--start NAME` takes another start; a rule in a line that is left out can be copied to a file
            g:18:21: warning[not-context-free]: what needs rules of other documents, or prose, is left out: `<name, see [RFC8888], Section 2>`
              |       name        = <name, see [RFC8888], Section 2>
              |                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
              help: the rules of another RFC can stand in the same file: put its text in front, or write the rule yourself as `name = elements`
            g:21:7: warning[duplicate-rule]: definitions of one rule differ, and that of the second line is taken: `hello` (lines 21 and 33)
              |       hello       = "hello" / <any word of
              |       ^^^^^
              help: an appendix often collects the rules again; delete the definition that you do not want
        "#]],
    );
}

#[test]
fn a_start_that_needs_another_document_is_an_error() {
    check(
        MEMO,
        Some("other"),
        expect![[r#"
            g:7:4: warning[notation]: 7 rules are taken from the text of an RFC, and the prose is left out, with what looks like rules in lines 7, 26 and 27
              |    n = 3 is usual.  Its form is
              |    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
              help: `--start NAME` takes another start; a rule in a line that is left out can be copied to a file
            g:18:21: error[undefined-rule]: the start rule `other` needs rules of other documents, or prose: `<name, see [RFC8888], Section 2>` and `host`
              |       name        = <name, see [RFC8888], Section 2>
              |                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
              help: the rules of another RFC can stand in the same file: put its text in front, or write the rule yourself as `name = elements`; `--start NAME` takes another rule as the start
            g:21:7: warning[duplicate-rule]: definitions of one rule differ, and that of the second line is taken: `hello` (lines 21 and 33)
              |       hello       = "hello" / <any word of
              |       ^^^^^
              help: an appendix often collects the rules again; delete the definition that you do not want
        "#]],
    );
}

#[test]
fn a_text_without_rules_is_an_error() {
    let top = "Request for Comments: 9999\n\n   Prose is\n   no = rule\n\n";
    check(
        top,
        None,
        expect![[r#"
        g:4:4: error[no-rules]: the text of this RFC has no rule of ABNF that can be read
          |    no = rule
          |    ^^^^^^^^^
          help: what looks like rules but is not read begins in line 4; alternatives are separated by `/`, not by the `|` of older RFCs
    "#]],
    );
    check(
        &format!("{top}   a = b | c\n"),
        None,
        expect![[r#"
        g:4:4: error[no-rules]: the text of this RFC has no rule of ABNF that can be read
          |    no = rule
          |    ^^^^^^^^^
          help: what looks like rules but is not read begins in lines 4 and 6; alternatives are separated by `/`, not by the `|` of older RFCs
    "#]],
    );
}

#[test]
fn rules_that_the_start_does_not_reach_may_need_others() {
    check(
        "Internet-Draft\n\n  a = \"x\" [b]\n  b = c / d\n  c = a \"y\" a\n  e = f / a\n",
        Some("a"),
        expect![[r#"
            a ::= [Xx] b?
            b ::= c
            c ::= a [Yy] a
            e ::= a
            g:4:11: warning[not-context-free]: what needs rules of other documents, or prose, is left out: `d`
              |   b = c / d
              |           ^
              help: the rules of another RFC can stand in the same file: put its text in front, or write the rule yourself as `name = elements`
            g: warning[notation]: 4 rules are taken from the text of an RFC, and the prose is left out
              help: `--start NAME` takes another start; a rule in a line that is left out can be copied to a file
        "#]],
    );
}

#[test]
fn a_rule_may_go_on_without_indentation() {
    let text =
        "Internet-Draft\n\n  a = b [ c ]\n  d\n\n  b = *\"x\"\n  is what was\n  said of it.\n\n  c = \"y\"\n  d = c\n";
    check(
        text,
        None,
        expect![[r#"
            %start a
            a ::= b c? d
            b ::= [Xx]*
            c ::= [Yy]
            d ::= c
            g: warning[notation]: 4 rules are taken from the text of an RFC, and the prose is left out; the start is `a`, which reaches most rules
              help: `--start NAME` takes another start; a rule in a line that is left out can be copied to a file
        "#]],
    );
}

#[test]
fn rules_of_another_document_may_be_extended() {
    check(
        "Internet-Draft\n\n  a =/ \"x\" b\n  B = \"y\"\n\nAuthor  [Page ii]\n",
        None,
        expect![[r#"
        %start a
        a ::= [Xx] B
        B ::= [Yy]
        g: warning[notation]: 2 rules are taken from the text of an RFC, and the prose is left out; the start is `a`, which reaches most rules
          help: `--start NAME` takes another start; a rule in a line that is left out can be copied to a file
    "#]],
    );
}

#[test]
fn the_text_of_an_rfc_is_recognised() {
    let format = |name: &str, text: &str| recognise(&SourceFile::new(name, text));
    let found = format("rfc9999.txt", MEMO);
    assert_eq!((found.format.name(), found.finding.is_none()), ("abnf", true));
    // A grammar that speaks of an RFC is no RFC.
    let found = format("g.abnf", "; from RFC 9999 [Page 3]\na = \"x\" b\nb = %x41\n");
    assert_eq!(found.format.name(), "abnf");
    let none = "Request for Comments: 9999\n\n<a> ::= <b>\n<b> ::= \"x\"\n";
    assert_ne!(format("rfc9999.txt", none).format.name(), "abnf");
    assert!(!testing::parsed(&Abnf, "; from RFC 9999 [Page 3]\na = \"x\"\n").contains("RFC"));
}

/// Returns the start and the number of rules of a file without the form of an RFC or with it.
fn summary(name: &str, text: &str) -> (String, String, usize) {
    let file = SourceFile::new(name, text);
    let format = recognise(&file).format;
    let mut diagnostics = Diagnostics::default();
    let grammar = format.parse_within(&file, &Surroundings::default(), &mut diagnostics);
    let start = grammar.start.or(grammar.rules.first().map(|rule| rule.name.clone()));
    (format.name().to_string(), start.map(|name| name.text).unwrap_or_default(), grammar.rules.len())
}

#[test]
fn other_files_are_no_rfcs() {
    let comment = "a = \"x\" b ; see [Page 3]\nb = \"y\" / c\nc = \"z\"\n";
    assert_eq!(summary("g.abnf", comment), ("abnf".into(), "a".into(), 3));
    let indented = "a = \"x\" b\n   ; RFC 9999 [Page 3]\nb = \"y\"\n";
    assert_eq!(summary("g.abnf", indented), ("abnf".into(), "a".into(), 2));
    let named = "doc = 1*internet-draft-name\ninternet-draft-name = \"draft-\"\nother = \"q\" doc\n";
    assert_eq!(summary("g.abnf", named).1, "doc");
    let iso = "(* from the report\n  of a group [Page 3]\n*)\nlist = item, { \",\", item };\nitem = \"a\" | \"b\";\n";
    assert_eq!(summary("g.txt", iso).0, "iso-ebnf");
}

/// The top of the text of an RFC.
const TOP: &str = "Request for Comments: 9999                                   January 2030\n\n";

#[test]
fn rules_that_refer_back_to_the_start() {
    let text =
        format!("{TOP}uri = scheme \":\" path\n\nscheme = \"a\"\n\npath = \"/\" [ \"(\" uri \")\" ]\n\nnote = \"n\"\n");
    assert_eq!(summary("g.txt", &text).1, "uri");
}

#[test]
fn prose_replaces_no_rule() {
    let text = format!(
        "{TOP}length = 1*DIGIT\n\nmessage = length \"x\"\n\nIn the text\n\nlength = the number of octets\n\n\
         message = century\n"
    );
    let read = read(&text, None);
    assert!(read.contains("%start message") && read.contains("length ::= DIGIT+"), "{read}");
}

#[test]
fn a_rule_that_a_paragraph_follows_is_named() {
    let text = format!("{TOP}doc = head body\nA paragraph follows here.\n\nhead = \"h\" body\n\nbody = \"b\"\n");
    let read = read(&text, None);
    assert!(read.contains("with what looks like rules in line 3"), "{read}");
}

#[test]
fn lines_of_prose_directly_below_are_no_elements() {
    let text = format!("{TOP}   message = \"x\" body\n   where body is\n\n   body = \"b\"\n");
    let read = read(&text, None);
    assert!(read.contains("message ::= [Xx] body\n"), "{read}");
}

#[test]
fn an_rfc_without_rules_is_told_as_one() {
    let text = format!("{TOP}   Request = a | b\n\n   name = length\n");
    assert_eq!(summary("g.txt", &text).0, "abnf");
}

#[test]
fn an_extension_may_stand_before_its_definition() {
    check(
        "Internet-Draft\n\n  a =/ \"x\"\n  DIGIT =/ \"y\"\n\n  a = b DIGIT / \"z\"\n  b =/ \"c\"\n",
        Some("a"),
        expect![[r#"
            a ::= b DIGIT | [Zz] | [Xx]
            DIGIT ::= [0-9] | [Yy]
            b ::= [Cc]
            g: warning[notation]: 3 rules are taken from the text of an RFC, and the prose is left out
              help: `--start NAME` takes another start; a rule in a line that is left out can be copied to a file
        "#]],
    );
}

#[test]
fn rules_need_no_blanks_beside_the_sign_if_they_have_signs_of_abnf() {
    check(
        "Internet-Draft\n\n  a=%x41-5A\n  b=a / a b\n  c=1*a\n\n  name=\"value\"\n  name=value\n  url=%zz\n  text=*2\n",
        Some("c"),
        expect![[r#"
            a ::= [A-Z]
            b ::= a | a b
            c ::= a+
            g: warning[notation]: 3 rules are taken from the text of an RFC, and the prose is left out
              help: `--start NAME` takes another start; a rule in a line that is left out can be copied to a file
        "#]],
    );
}

#[test]
fn a_rule_goes_on_after_the_end_of_a_page() {
    let text = "Internet-Draft\n\n   a    = b c\n          c\n\nAuthor                    Informational                   [Page 1]\n\
                \u{C}\nInternet-Draft                 Letters                  January 2030\n\n          b \"d\"\n\n      \
                Prose is less deep.\n   b    = \"b\"\n\nAuthor                    Informational                   [Page 2]\n\
                \u{C}\nInternet-Draft                 Letters                  January 2030\n\n          c c\n   c = \"c\"\n";
    check(
        text,
        Some("a"),
        expect![[r#"
        a ::= b c c b [Dd]
        b ::= [Bb] c c
        c ::= [Cc]
        g: warning[notation]: 3 rules are taken from the text of an RFC, and the prose is left out
          help: `--start NAME` takes another start; a rule in a line that is left out can be copied to a file
    "#]],
    );
}

#[test]
fn rules_that_never_end_are_one_warning() {
    check(
        "Internet-Draft\n\n  a = \"x\" / b \"y\"\n  b = b \"z\"\n  c = \"(\" c \")\"\n  d = c / b\n  e = \"e\" d\n",
        Some("a"),
        expect![[r#"
            a ::= [Xx]
            g:4:3: warning[unproductive-rule]: rules that never end are left out, as all their alternatives need such a rule: `b`, `c`, `d` and 1 more
              |   b = b "z"
              |   ^
              help: an example may have been read as a rule; `--start` with one of these names shows why
            g: warning[notation]: 5 rules are taken from the text of an RFC, and the prose is left out
              help: `--start NAME` takes another start; a rule in a line that is left out can be copied to a file
        "#]],
    );
    check(
        "Internet-Draft\n\n  a = \"x\" a\n  b = \"y\"\n",
        Some("a"),
        expect![[r#"
        a ::= [Xx] a
        b ::= [Yy]
        g:3:3: error[unproductive-rule]: rule `a` derives no finite string
          |   a = "x" a
          |   ^
          note: g:3:11: it needs itself here
          help: add an alternative that does not refer back to the rule
        g: warning[notation]: 2 rules are taken from the text of an RFC, and the prose is left out
          help: `--start NAME` takes another start; a rule in a line that is left out can be copied to a file
    "#]],
    );
}
