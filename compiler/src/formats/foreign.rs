//! Notations that no format reads. Each is known by marks that the notations of the formats do not have.

use super::glance::{self, is_word};
use crate::diagnostics::{Code, Diagnostic};

/// A notation that no format reads.
pub(super) struct Foreign {
    /// Its name.
    name: &'static str,
    /// The format whose notation is nearest.
    nearest: &'static str,
    /// Advice that names a tool which makes a grammar that a format reads, if there is one.
    converter: Option<&'static str>,
    looks_like: fn(&Text<'_>) -> bool,
}

/// A text with its lines, which are looked at for each notation.
struct Text<'t> {
    whole: &'t str,
    lines: Vec<&'t str>,
}

impl<'t> Text<'t> {
    /// Returns the first lines, as [`glance::lines`] does.
    fn lines(&self) -> impl Iterator<Item = &'t str> {
        self.lines.iter().copied()
    }

    fn contains(&self, mark: &str) -> bool {
        self.whole.contains(mark)
    }
}

impl Foreign {
    /// Returns the error that a file in this notation is.
    pub(super) fn refusal(&self) -> Diagnostic {
        let message = format!("this looks like {}, which gramjet does not read", self.name);
        Diagnostic::error(Code::Notation, None, message).help(self.help())
    }

    /// Returns the warning that a file which looks like this notation is read as another one, as its name says.
    pub(super) fn doubt(&self, format: &str) -> Diagnostic {
        let name = self.name;
        let message =
            format!("this looks like {name}, which gramjet does not read; as its name says, it is read as `{format}`");
        Diagnostic::warning(Code::Notation, None, message).help(self.help())
    }

    fn help(&self) -> String {
        let tool = self.converter.map_or(String::new(), |tool| format!("; {tool}"));
        let nearest = self.nearest;
        format!("of what it reads, `{nearest}` is nearest{tool}; `--format NAME` reads the file as another notation")
    }
}

/// Returns the notation that a text looks like, if it is one of those that no format reads.
pub(super) fn find(text: &str) -> Option<&'static Foreign> {
    let text = Text { whole: text, lines: glance::lines(text).collect() };
    ALL.iter().find(|foreign| (foreign.looks_like)(&text))
}

const fn foreign(name: &'static str, nearest: &'static str, looks_like: fn(&Text<'_>) -> bool) -> Foreign {
    Foreign { name, nearest, converter: None, looks_like }
}

const fn with_converter(foreign: Foreign, converter: &'static str) -> Foreign {
    Foreign { converter: Some(converter), ..foreign }
}

/// The notations, those with the clearest marks first.
const ALL: &[Foreign] = &[
    foreign("an XML Schema (XSD)", "jsonschema", |text| opens(text, &["xs:schema", "xsd:schema"])),
    foreign("RELAX NG", "ebnf", |text| opens(text, &["grammar", "rng:grammar", "element"]) && text.contains("relaxng")),
    foreign("a DTD", "ebnf", |text| begins(text, &["<!ELEMENT "])),
    with_converter(
        foreign("a grammar.js of tree-sitter", "tree-sitter", |text| {
            text.contains("grammar(") && (text.contains("module.exports") || text.contains("export default"))
        }),
        "`tree-sitter generate` writes `src/grammar.json`, which it reads",
    ),
    with_converter(
        foreign("Protocol Buffers", "jsonschema", |text| {
            begins(text, &["syntax = \"proto", "syntax=\"proto", "edition = \""]) || line_of(text, &["message "], "{")
        }),
        "`protoc-gen-jsonschema` makes JSON Schemas of messages",
    ),
    foreign("ASN.1", "ebnf", |text| {
        let mut lines = text.lines();
        lines.any(|line| line.contains("DEFINITIONS")) && (text.contains("BEGIN") && text.contains("::="))
    }),
    foreign("Kaitai Struct", "ebnf", |text| {
        begins(text, &["meta:"]) && begins(text, &["seq:", "types:", "instances:"])
    }),
    foreign("JavaCC", "g4", |text| text.contains("PARSER_BEGIN(") || text.contains("PARSER_END(")),
    foreign("Coco/R", "iso-ebnf", |text| begins(text, &["COMPILER "]) && begins(text, &["PRODUCTIONS"])),
    foreign("SableCC", "ebnf", |text| begins(text, &["Productions"]) && begins(text, &["Tokens"])),
    foreign("Xtext", "g4", |text| line_of(text, &["grammar "], " with ") || begins(text, &["generate "])),
    foreign("LALRPOP", "yacc", |text| begins(text, &["grammar;", "grammar<", "grammar("])),
    foreign("Langium", "g4", |text| {
        text.lines().any(|line| line.strip_prefix("grammar ").is_some_and(is_word)) || begins(text, &["entry "])
    }),
    foreign("nearley", "bnf", |text| {
        let has_arrow = text.lines().any(|line| line.contains("->"));
        has_arrow && (text.contains("{%") || begins(text, &["@builtin ", "@lexer ", "@preprocessor ", "@include "]))
    }),
    foreign("lemon", "yacc", |text| {
        text.lines().any(|line| line.contains("::=") && (line.ends_with('.') || line.contains(". {")))
            && !text.contains("\"")
            && (text.contains("(")
                || begins(text, &["%token", "%left", "%right", "%start_symbol", "%type", "%include"]))
    }),
    foreign("jison", "yacc", |text| begins(text, &["%lex"]) && begins(text, &["/lex"])),
    with_converter(foreign("lex or flex", "yacc", is_lex), "`--tokens` reads it beside a grammar of yacc"),
    foreign("Menhir", "yacc", |text| {
        let has_rules = text.lines().any(|line| line.contains("%%"));
        has_rules
            && (begins(text, &["%start <", "%inline ", "%public "])
                || text.lines().any(|line| {
                    line.starts_with("%token <") && text.contains("{ ") && text.contains(" = ") && !text.contains("$$")
                }))
    }),
    foreign("TatSu", "iso-ebnf", |text| begins(text, &["@@"])),
    foreign("a grammar of CPython's PEG generator", "peg", |text| {
        let is_typed =
            |line: &str| line.split_once('[').is_some_and(|(name, rest)| is_word(name) && rest.contains("]:"));
        text.lines().any(is_typed)
    }),
    foreign("Ohm", "peg", |text| {
        let is_grammar = |line: &str| {
            let name = line.strip_suffix('{').map(|line| line.split("<:").next().unwrap_or(line));
            name.is_some_and(|name| is_word(name) && name.starts_with(|c: char| c.is_ascii_uppercase()))
        };
        text.lines().find(|line| !line.is_empty()).is_some_and(is_grammar) && text.contains("=")
    }),
    foreign("Fandango", "bnf", |text| {
        begins(text, &["where "]) && text.lines().any(|line| line.starts_with('<') && line.contains("::="))
    }),
    foreign("a TextMate grammar", "regex", |text| {
        text.contains("\"scopeName\"") && text.contains("\"patterns\"") && text.whole.trim_start().starts_with('{')
    }),
];

/// Returns true if a line begins with one of these. A line on which a rule of this name begins does not count.
fn begins(text: &Text<'_>, marks: &[&str]) -> bool {
    text.lines().any(|line| {
        marks.iter().any(|mark| line.strip_prefix(mark).is_some_and(|rest| !mark.ends_with(' ') || !defines(rest)))
    })
}

/// Returns true if what follows a name defines it.
fn defines(rest: &str) -> bool {
    let rest = rest.trim_start();
    ["=", ":", "->", "<-"].iter().any(|mark| rest.starts_with(mark))
}

/// Returns true if a line begins with one of `marks` and contains `inside`.
fn line_of(text: &Text<'_>, marks: &[&str], inside: &str) -> bool {
    let has_mark = |line: &str| marks.iter().any(|mark| line.strip_prefix(mark).is_some_and(|rest| !defines(rest)));
    text.lines().any(|line| has_mark(line) && line.contains(inside))
}

/// Returns true if the text is XML whose outer element has one of these names.
fn opens(text: &Text<'_>, names: &[&str]) -> bool {
    let elements = text.whole.match_indices('<').map(|(at, _)| &text.whole[at + 1..]);
    let mut elements = elements.take(20).filter(|rest| !rest.starts_with(['?', '!']));
    let is_it = |rest: &str| {
        names.iter().any(|name| {
            rest.strip_prefix(name).is_some_and(|rest| rest.starts_with(|c: char| c.is_whitespace() || c == '>'))
        })
    };
    elements.next().is_some_and(is_it)
}

/// Looks for rules after `%%` that are patterns with code, and for the options of flex.
fn is_lex(text: &Text<'_>) -> bool {
    let mut all = text.lines();
    let has_options =
        |line: &str| ["%option ", "%x ", "%s ", "%pointer", "%array"].iter().any(|mark| line.starts_with(mark));
    let mut is_lex = false;
    let mut has_tokens = false;
    let is_divided = all.any(|line| {
        is_lex |= has_options(line);
        has_tokens |= line.starts_with("%token") || line.starts_with("%start");
        line.starts_with("%%")
    });
    let is_pattern =
        |line: &str| line.starts_with(['"', '[', '<', '{', '.', '^', '\\']) && line.ends_with(['}', ';', '|']);
    is_divided && !has_tokens && (is_lex || all.filter(|line| is_pattern(line)).count() >= 2)
}

#[cfg(test)]
mod tests;
