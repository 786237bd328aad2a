//! Hostile files: work is bounded by counts.

use std::cell::Cell;
use std::fmt::Write;

use gramjet_testkit::amount::part;

use crate::diagnostics::{Diagnostics, SourceFile};
use crate::formats::testing::{ends, parsed_with};
use crate::formats::yacc::Yacc;
use crate::formats::{Format, Loader, Surroundings};

const GRAMMAR: &str = "%token A\n%%\na: A | '+';\n";

fn survives(lexer: &str, expected: &str) {
    let found = ends(expected, || parsed_with(&Yacc, GRAMMAR, &[("tokens.l", lexer)]));
    assert!(found.contains(expected), "{expected}: {}", &found[..found.len().min(2000)]);
}

fn fill(unit: &str) -> String {
    unit.repeat(part(1_000_000) as usize / unit.len())
}

#[test]
fn definitions_that_refer_to_others_again_and_again() {
    survives("A {A}|{A}|{A}|{A}\n%%\n{A} return yytext[0];\n", "no rule of `tokens.l` makes these tokens");
    let chain: String = (0..60).fold(String::new(), |mut chain, at| {
        let next = at + 1;
        writeln!(chain, "A{at} {{A{next}}}|{{A{next}}}").expect("a string");
        chain
    });
    survives(&format!("{chain}A60 [+]\n%%\n{{A0}} return yytext[0];\n"), "\"+\"");
}

#[test]
fn start_conditions_that_are_listed_again_and_again() {
    let names: String = (0..255).map(|at| format!(" S{at}")).collect();
    survives(&format!("%x{names}\n%%\n<{}S1>a return A;\n", fill("*,")), "a ::= \"a\"");
    survives(&format!("%x S\n%%\n<{}S>a return A;\n", fill("S,")), "no text of the lexer's tokens");
}

#[test]
fn brackets_and_quotes_that_are_not_closed() {
    survives(&format!("%%\n{}\n", fill("[:")), "this class is not closed");
    survives(&format!("%%\n{}\n", fill("[")), "this class is not closed");
    survives(&format!("%%\n{}\n", fill("[\\\n")), "this class is not closed");
    survives(&format!("%%\n[{}\n", fill("[:alpha:")), "this class is not closed");
    survives(&format!("%%\n{}\n", fill("\"\\")), "");
    survives(&format!("%%\nx {}\na return A;\n", fill("\\\"")), "a ::= \"a\"");
    survives(&format!("%%\nx {}\na return A;\n", fill("\"")), "a ::= \"a\"");
    survives(&format!("%%\nx {}\n", fill("{")), "this action is not closed");
}

#[test]
fn repetitions_of_repetitions() {
    survives(&format!("%%\na{} return A;\n", fill("*+?")), "[a]*");
    survives(&format!("%%\na{} return A;\n", fill("{2}")), "too-deep");
    let union = format!("{{+}}[{}]", (0x400..0x600).filter_map(char::from_u32).step_by(2).collect::<String>());
    survives(&format!("%%\n[^a]{} return A;\n", union.repeat(part(2_000) as usize)), "");
}

#[test]
fn code_that_says_the_same_again_and_again() {
    let third = |code: String| format!("%%\na return A;\n%%\n{code}");
    for unit in ["a(", "a(){", "a(){a(", "#if 1\n", "#define A A\n", "\"a\", A, ", "{ ", "( "] {
        survives(&third(fill(unit)), "a ::= \"a\"");
    }
    for unit in ["{a", "{a(", "A(T);", "f ", "if (", "=", "#", "BEGIN(B); ", "a ? "] {
        let action = format!("b {{ {} }}\n", fill(unit).replace('{', "{ }"));
        survives(&format!("%%\n{action}a return A;\n%%\nint f() {{ {} }}", fill("g(); ")), "a ::= \"a\"");
    }
    survives(&format!("%%\nb {}\na return A;\n", fill("{a")), "this action is not closed");
    let name = fill("_");
    survives(&third(format!("int f() {{ return {name}; }}")), "a ::= \"a\"");
    let actions = "b return f(yytext);\n".repeat(part(50_000) as usize);
    survives(&format!("%%\n{actions}a return A;\n%%\nint f() {{ {} }}", fill("g(A); return A; ")), "");
}

#[test]
fn words_of_every_rule() {
    let count = part(10_000) as usize;
    let letters = |mut number: usize| {
        let mut word = String::new();
        while number > 0 || word.is_empty() {
            word.push(char::from(b'a' + (number % 26) as u8));
            number /= 26;
        }
        word
    };
    let table: String = (0..count).map(|at| format!("{{ \"w{}\", A }},\n", letters(at))).collect();
    let code = format!("%{{\nstruct word words[] = {{ {table} }};\n%}}\n");
    let function = "%%\nint look(char *text) { return words[0].token; }\n";
    let rules = "[a-z]+ return look(yytext);\n".repeat(count);
    survives(&format!("{code}%%\n{rules}{function}"), "more than 32768 rules");
    let names: String = (0..255).map(|at| format!(" S{at}")).collect();
    survives(&format!("{code}%s{names}\n%%\n[a-z]+ return look(yytext);\n{function}"), "more than 32768 rules");
    // Words that no rule matches cost steps, of which there are so many.
    let long = format!("{{ \"{}\", A }},\n", "w".repeat(1000)).repeat(100);
    let rules = "(((w*)*)*)*v return look(yytext);\n".repeat(1000);
    survives(&format!("%{{\nstruct word words[] = {{ {long} }};\n%}}\n%%\n{rules}a return A;\n{function}"), "decides");
}

#[test]
fn a_file_beside_the_grammar_is_looked_for_once() {
    struct Counting(Cell<usize>);
    impl Loader for Counting {
        fn load(&self, _: &str) -> Result<SourceFile, String> {
            panic!("no file is read");
        }

        fn has(&self, name: &str) -> bool {
            self.0.set(self.0.get() + 1);
            name == "g.lex"
        }
    }
    let names: String = (0..1000).map(|at| format!(" t{at}")).collect();
    let file = SourceFile::new("g.y", format!("%token X \"an identifier\"\n%%\na: X {names};\n"));
    let loader = Counting(Cell::new(0));
    let mut diagnostics = Diagnostics::default();
    Yacc.parse_within(&file, &Surroundings { loader: &loader, ..Surroundings::default() }, &mut diagnostics);
    assert!(diagnostics.to_plain_text(&file).contains("`g.lex` beside it"));
    assert!(loader.0.get() <= super::super::EXTENSIONS.len(), "{}", loader.0.get());
}
