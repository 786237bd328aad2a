//! Rewrites regular expressions of other languages for `regex-syntax`. A feature that it lacks is replaced, left out
//! with a report, or an error.

use super::Flags;
use crate::diagnostics::Span;
use crate::formats::builder::{Builder, Reported};
use crate::formats::scanner::Scanner;

/// Returns the pattern, rewritten in Rust's syntax.
pub(super) fn rewrite(pattern: &str, flags: Flags, span: Span, builder: &mut Builder<'_>) -> Result<String, Reported> {
    let mut rewriter =
        Rewriter { scan: Scanner { text: pattern, position: 0 }, flags, span, builder, looks: 0, out: String::new() };
    rewriter.run()?;
    Ok(rewriter.out)
}

/// The meaning of the next hyphen in a class of Python or JavaScript.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hyphen {
    /// A member: the hyphen is first, or follows a range or a class.
    Member,
    /// The sign of a range.
    Range,
    /// A member that ends a range.
    Bound,
}

struct Rewriter<'t, 'b, 'd> {
    scan: Scanner<'t>,
    flags: Flags,
    span: Span,
    builder: &'b mut Builder<'d>,
    /// The number of look-aheads and look-behinds so far.
    looks: u32,
    out: String,
}

impl Rewriter<'_, '_, '_> {
    fn run(&mut self) -> Result<(), Reported> {
        while let Some(next) = self.scan.peek() {
            match next {
                '\\' => self.escape(false)?,
                '[' => self.class()?,
                '(' => {
                    let looks = [("(?=", "ahead"), ("(?!", "not_ahead"), ("(?<=", "behind"), ("(?<!", "not_behind")];
                    if let Some((_, kind)) = looks.into_iter().find(|(mark, _)| self.scan.eat(mark)) {
                        self.looks += 1;
                        self.out += &format!("{}{kind}.{}>", super::LOOK, self.looks);
                    } else if self.scan.eat("(?>") {
                        self.out.push_str("(?:");
                    } else if self.scan.sees("(?P=") {
                        return Err(self.back_reference());
                    } else {
                        self.scan.next();
                        self.out.push('(');
                    }
                }
                '*' | '+' | '?' | '}' => {
                    self.scan.next();
                    self.out.push(next);
                    if next != '}' || self.ends_count() {
                        // `a++` is possessive in other languages. The same texts are drawn.
                        self.scan.eat("+");
                    }
                }
                '{' if !self.begins_count() => {
                    self.scan.next();
                    self.out.push_str("\\{");
                }
                '{' if self.scan.sees("{,") => {
                    self.scan.next();
                    self.out.push_str("{0");
                }
                _ => {
                    self.scan.next();
                    self.out.push(next);
                }
            }
        }
        Ok(())
    }

    /// Returns true if the `{` here begins `{2}`, `{2,}`, `{,5}` or `{2,5}`.
    fn begins_count(&self) -> bool {
        const MAX_LENGTH: usize = 24;
        let rest = &self.scan.rest()[1..];
        let Some(length) = rest.bytes().take(MAX_LENGTH).position(|byte| byte == b'}') else { return false };
        let inside = &rest[..length];
        let (low, high) = inside.split_once(',').unwrap_or((inside, "0"));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        is_number(low) && is_number(high) && !(low.is_empty() && (high.is_empty() || !inside.contains(',')))
    }

    /// Returns true if the text written last ends with a count such as `{2}`.
    fn ends_count(&self) -> bool {
        let mut before = self.out.bytes().rev().skip(1).skip_while(|byte| byte.is_ascii_digit() || *byte == b',');
        before.next() == Some(b'{')
    }

    fn back_reference(&mut self) -> Reported {
        let help = "a grammar cannot repeat what it has drawn; write the group again, or list the alternatives";
        self.builder.error(self.span, "this regular expression refers back to a group", help)
    }

    /// Rewrites an escape, outside or inside a class.
    fn escape(&mut self, in_class: bool) -> Result<(), Reported> {
        self.scan.next();
        let Some(letter) = self.scan.next() else {
            self.out.push('\\');
            return Ok(());
        };
        let class = match letter {
            'd' => "0-9",
            'w' => "0-9A-Za-z_",
            's' => " \\t\\n\\r\\f\\x0B",
            'D' => "^0-9",
            'W' => "^0-9A-Za-z_",
            'S' => "^ \\t\\n\\r\\f\\x0B",
            _ => "",
        };
        match letter {
            // A plain blank has no meaning in extended patterns.
            'd' | 'w' | 's' if in_class => self.out.push_str(&class.replace(' ', "\\x20")),
            'd' | 'w' | 's' | 'D' | 'W' | 'S' => {
                self.out.push('[');
                self.out.push_str(&class.replace(' ', "\\x20"));
                self.out.push(']');
            }
            'b' if in_class => self.out.push_str("\\x08"),
            'Z' => self.out.push_str("\\z"),
            '1'..='9' if !in_class => return Err(self.back_reference()),
            'k' if !in_class && self.scan.sees("<") => return Err(self.back_reference()),
            '0' => self.out.push_str("\\x00"),
            'e' => self.out.push_str("\\x1B"),
            'p' | 'P' | 'x' | 'u' | 'U' | 'n' | 'r' | 't' | 'f' | 'v' | 'a' | 'b' | 'B' | 'A' | 'z' => {
                self.out.push('\\');
                self.out.push(letter);
                // `\p{Greek}`, `\x{1F}`, `\u{1F600}`.
                if matches!(letter, 'p' | 'P' | 'x' | 'u' | 'U') && self.scan.sees("{") {
                    let inside = self.scan.take_while(|c| c != '}' && c != '\\');
                    self.out.push_str(inside);
                    self.out.push_str(if self.scan.eat("}") { "}" } else { "" });
                }
            }
            _ if letter.is_ascii_alphanumeric() => {
                let help = "escapes of letters have meanings; a letter itself needs no backslash";
                return Err(self.builder.error(
                    self.span,
                    format!("this regular expression has an unknown escape, `\\{letter}`"),
                    help,
                ));
            }
            _ if letter.is_ascii() && !letter.is_ascii_control() && letter != '<' && letter != '>' => {
                self.out.push('\\');
                self.out.push(letter);
            }
            _ => self.out.push(letter),
        }
        Ok(())
    }

    fn class(&mut self) -> Result<(), Reported> {
        let mut open = 0u32;
        let mut hyphen = Hyphen::Member;
        loop {
            let Some(next) = self.scan.peek() else { return Ok(()) };
            let is_plain = self.flags.plain_classes && open > 0;
            let is_begun = is_plain && hyphen != Hyphen::Bound;
            let before = std::mem::replace(&mut hyphen, if is_begun { Hyphen::Range } else { Hyphen::Member });
            match next {
                // A hyphen between two members makes a range of them. Any other hyphen is a member itself.
                '-' if is_plain => {
                    self.scan.next();
                    if before == Hyphen::Range && !self.scan.sees("]") {
                        self.out.push('-');
                        hyphen = Hyphen::Bound;
                    } else {
                        self.out.push_str("\\-");
                        hyphen = if before == Hyphen::Bound { Hyphen::Member } else { Hyphen::Range };
                    }
                }
                '[' if open == 0 || !self.flags.plain_classes => {
                    open += 1;
                    hyphen = Hyphen::Member;
                    self.scan.next();
                    self.out.push('[');
                    if self.scan.eat("^") {
                        self.out.push('^');
                    }
                    if self.scan.sees("]") && open == 1 {
                        self.scan.next();
                        self.out.push_str("\\]");
                        hyphen = Hyphen::Range;
                    }
                }
                '[' => {
                    self.scan.next();
                    self.out.push_str("\\[");
                }
                ']' => {
                    self.scan.next();
                    self.out.push(']');
                    open -= 1;
                    if open == 0 {
                        return Ok(());
                    }
                }
                '\\' => {
                    let is_class =
                        ["\\d", "\\w", "\\s", "\\D", "\\W", "\\S", "\\p", "\\P"].iter().any(|c| self.scan.sees(c));
                    if is_class {
                        hyphen = Hyphen::Member;
                    }
                    self.escape(true)?;
                }
                '&' | '~' if self.flags.plain_classes => {
                    self.scan.next();
                    self.out.push('\\');
                    self.out.push(next);
                }
                _ => {
                    self.scan.next();
                    self.out.push(next);
                }
            }
        }
    }
}
