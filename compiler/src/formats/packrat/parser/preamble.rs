//! The part of a file before its rules: code, imports, and what parser generators of C and Go put there.

use super::{Parser, name_at};
use crate::diagnostics::Span;

impl Parser<'_, '_, '_> {
    /// Skips everything before the first rule.
    pub(super) fn skip_preamble(&mut self) {
        loop {
            self.skip_blanks();
            if self.scan.sees("%{") {
                self.skip_declarations();
            } else if self.scan.sees("{") {
                if self.code().is_err() {
                    return;
                }
            } else if !self.skip_statement() {
                return;
            }
        }
    }

    /// Skips `%{ ... %}`.
    fn skip_declarations(&mut self) {
        let start = self.scan.position;
        if self.scan.take_past("%}").is_none() {
            let span = Span::new(start, start + 2);
            self.builder.error(span, "this code is not closed", "close it with `%}`");
            self.scan.position = self.scan.text.len();
        }
    }

    /// Skips `import ...`, which is reported in Peggy, and `package NAME` and `type NAME Peg { ... }` of Go.
    fn skip_statement(&mut self) -> bool {
        let start = self.scan.position;
        if self.begins_rule() {
            return false;
        }
        let mut ahead = self.scan.clone();
        match name_at(&mut ahead) {
            Some("import") => {
                let line = ahead.take_line();
                self.scan = ahead;
                if line.trim_end().ends_with('(') {
                    self.scan.take_past(")");
                } else if line.contains(" from ") {
                    let help = "copy the rules that it brings into this file";
                    let span = Span::new(start, self.scan.position);
                    self.builder.error(span, "`import` of other grammars is not read", help);
                }
                true
            }
            Some("package") => {
                ahead.take_line();
                self.scan = ahead;
                true
            }
            Some("type") if self.scan.take_line().contains(" Peg {") => self.code_from(start),
            _ => {
                self.scan.position = start;
                false
            }
        }
    }

    /// Takes the code that begins with the first brace after byte `start`.
    fn code_from(&mut self, start: usize) -> bool {
        self.scan.position = start;
        self.scan.take_while(|c| c != '{');
        self.code().is_ok()
    }
}
