//! Directives, which say something of the whole grammar.

use super::lexer::{Alphabet, Kind, Token};
use super::parser::{Parser, Reported};
use crate::ast::Name;
use crate::diagnostics::{Code, Diagnostic, Span};

impl Parser<'_, '_> {
    pub(super) fn directive(&mut self) -> Result<(), Reported> {
        let Token { kind: Kind::Directive(directive), span, .. } = self.take() else { return Err(Reported) };
        let values = match directive {
            "start" => "the name of a rule, such as `%start document`",
            "max-depth" => "a number of levels, such as `%max-depth 12`",
            "max-len" => "a number of bytes, such as `%max-len 4096`",
            "alphabet" => "`%alphabet char`, `ascii`, `unicode` or `bytes`",
            _ => {
                let message = format!("unknown directive `%{directive}`");
                let help = "the directives are `%start`, `%max-depth`, `%max-len` and `%alphabet`";
                return Err(self.bad_directive(span, message, help));
            }
        };
        if self.peek(0).starts_line || self.peek(0).kind == Kind::End {
            return Err(self.bad_directive(span, format!("`%{directive}` needs a value"), values));
        }
        let value = self.take();
        let understood = match (directive, &value.kind) {
            ("start", Kind::Name(name)) => {
                self.grammar.start = Some(Name { text: name.to_string(), span: value.span });
                true
            }
            ("max-depth", Kind::Number(digits)) => {
                self.grammar.max_depth = digits.parse().ok();
                self.grammar.max_depth.is_some()
            }
            ("max-len", Kind::Number(digits)) => {
                self.grammar.max_len = digits.parse().ok();
                self.grammar.max_len.is_some()
            }
            ("alphabet", Kind::Name(name)) => match Alphabet::by_name(name) {
                Some(_) if !self.grammar.rules.is_empty() => {
                    let message = "`%alphabet` comes too late";
                    return Err(self.bad_directive(span, message, "it stands before the first rule"));
                }
                Some(alphabet) => {
                    self.lexer.alphabet = alphabet;
                    true
                }
                None => false,
            },
            _ => false,
        };
        if !understood {
            let message = format!("`%{directive}` does not understand this value");
            return Err(self.bad_directive(value.span, message, format!("it takes {values}")));
        }
        let behind = self.peek(0);
        if !behind.starts_line && behind.kind != Kind::End {
            let span = behind.span;
            return Err(self.bad_directive(span, "a directive has one value", "the next thing begins on a new line"));
        }
        Ok(())
    }

    fn bad_directive(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) -> Reported {
        self.lexer.report(Diagnostic::error(Code::UnknownDirective, span, message).help(help));
        Reported
    }
}
