//! Cuts a file of lex into its definitions, its rules and its code.

use super::code;
use super::patterns::end_of_pattern;
use crate::diagnostics::Span;
use crate::formats::builder::Builder;
use crate::formats::scanner::Scanner;
use crate::ordered::Map;

/// The greatest number of groups of rules within one another.
const MAX_GROUPS: usize = 100;
/// The greatest number of start conditions.
const MAX_STATES: usize = 256;

/// A file of lex.
pub(super) struct File<'t> {
    /// Whether letters stand for both cases.
    pub(super) ignores_case: bool,
    /// The start conditions, of which the first is `INITIAL`.
    pub(super) states: Vec<State<'t>>,
    pub(super) definitions: Vec<Text<'t>>,
    pub(super) rules: Vec<Rule<'t>>,
    /// Code before and after the rules.
    pub(super) code: Vec<&'t str>,
}

/// A start condition.
pub(super) struct State<'t> {
    pub(super) name: &'t str,
    /// Whether rules without a start condition do not apply in it.
    pub(super) is_exclusive: bool,
}

/// A pattern with its name, which is empty in rules.
#[derive(Clone, Copy)]
pub(super) struct Text<'t> {
    pub(super) name: &'t str,
    pub(super) text: &'t str,
    /// The place of the text in the file.
    pub(super) start: usize,
}

/// A rule: what it matches, and what it does.
pub(super) struct Rule<'t> {
    /// The start conditions in which it applies.
    pub(super) states: Vec<usize>,
    pub(super) pattern: Text<'t>,
    /// The code of its action. `None` if it is that of the next rule.
    pub(super) action: Option<&'t str>,
}

/// Reads a whole file.
pub(super) fn read<'t>(text: &'t str, builder: &mut Builder<'_>) -> File<'t> {
    let initial = State { name: "INITIAL", is_exclusive: false };
    let file = File {
        ignores_case: false,
        states: vec![initial],
        definitions: Vec::new(),
        rules: Vec::new(),
        code: Vec::new(),
    };
    let mut reader = Reader { scan: Scanner::new(text), file, groups: Vec::new(), has_errors: false, builder };
    if reader.definitions() {
        reader.rules();
        reader.file.code.push(reader.scan.rest());
    }
    reader.file
}

fn is_blank(c: char) -> bool {
    c == ' ' || c == '\t'
}

struct Reader<'t, 'b, 'd> {
    scan: Scanner<'t>,
    file: File<'t>,
    /// The start conditions of the groups of rules that are open.
    groups: Vec<Vec<usize>>,
    has_errors: bool,
    builder: &'b mut Builder<'d>,
}

impl<'t> Reader<'t, '_, '_> {
    /// Reads everything up to `%%`. Returns false if there is none.
    fn definitions(&mut self) -> bool {
        while !self.builder.gives_up() && self.scan.peek().is_some() {
            if self.scan.eat("%%") {
                self.skip_line();
                return true;
            }
            if !self.code_or_comment() {
                match self.scan.peek() {
                    Some('%') => self.directive(),
                    Some(c) if c.is_alphabetic() || c == '_' => self.definition(),
                    _ => self.skip_line(),
                }
            }
        }
        // An error may have taken the rest of the file, or ended the search.
        if !self.has_errors && !self.builder.gives_up() {
            let help = "a file of lex has definitions, then `%%`, then rules `pattern { return TOKEN; }`";
            self.error(self.scan.here(), "there is no `%%`, so there are no rules", help);
        }
        false
    }

    fn error(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.has_errors = true;
        self.builder.error(span, message, help);
    }

    fn skip_line(&mut self) {
        self.scan.take_line();
        self.scan.eat("\n");
    }

    /// Takes code in `%{` and `%}` or `%top{` and `}`, a comment, or an empty line. Returns false if there is none.
    fn code_or_comment(&mut self) -> bool {
        let start = self.scan.position;
        let indent = self.scan.take_while(char::is_whitespace);
        let is_line_start = indent.is_empty() || indent.ends_with('\n');
        let close = match () {
            () if self.scan.sees("%{") => "\n%}",
            () if self.scan.sees("%top") => "\n}",
            () if self.scan.sees("/*") => "*/",
            () if self.scan.sees("//") && is_line_start => "\n",
            () => {
                self.scan.position = start + indent.rfind('\n').map_or(0, |at| at + 1);
                return self.scan.position > start;
            }
        };
        let open = self.scan.here();
        let inside = self.scan.take_past(close);
        if inside.is_none() && close != "\n" {
            self.error(open, "this is not closed", format!("close it with `{}`", close.trim_start()));
        }
        let inside = inside.unwrap_or_else(|| {
            let rest = self.scan.rest();
            self.scan.position = self.scan.text.len();
            rest
        });
        if close.contains('}') {
            self.file.code.push(inside.trim_start_matches("%{"));
            self.skip_line();
        }
        true
    }

    /// Reads a line that begins with `%`.
    fn directive(&mut self) {
        let word = self.scan.take_while(|c| c == '%' || c.is_ascii_alphabetic());
        let start = self.scan.position;
        let line = self.scan.take_line();
        self.scan.eat("\n");
        match word {
            "%option" => {
                let ignores = |option: &str| matches!(option, "case-insensitive" | "caseless" | "icase");
                self.file.ignores_case |= line.split_whitespace().any(ignores);
            }
            "%x" | "%X" | "%xstate" => self.states(line, start, true),
            "%s" | "%S" | "%start" | "%Start" | "%START" | "%state" => self.states(line, start, false),
            _ => {}
        }
    }

    fn states(&mut self, line: &'t str, start: usize, is_exclusive: bool) {
        let line = line.split("/*").next().unwrap_or(line);
        for name in line.split(|c: char| c.is_whitespace() || c == ',').filter(|name| !name.is_empty()) {
            if self.file.states.len() == MAX_STATES {
                let message = format!("there are more than {MAX_STATES} start conditions");
                self.error(Span::new(start, start + line.len()), message, "use fewer of them");
                return;
            }
            self.file.states.push(State { name, is_exclusive });
        }
    }

    fn definition(&mut self) {
        let name = self.scan.take_while(|c| c.is_alphanumeric() || c == '_' || c == '-');
        self.scan.take_while(is_blank);
        let start = self.scan.position;
        let text = self.scan.take_line().trim_end();
        self.scan.eat("\n");
        self.file.definitions.push(Text { name, text, start });
    }

    /// Reads everything up to the second `%%`.
    fn rules(&mut self) {
        let names: Map<&str, usize> =
            self.file.states.iter().enumerate().map(|(number, state)| (state.name, number)).collect();
        // Indented lines before the first rule are code.
        let mut is_first = true;
        while !self.builder.gives_up() && self.scan.peek().is_some() {
            if self.scan.eat("%%") {
                self.skip_line();
                return;
            }
            if self.code_or_comment() {
                continue;
            }
            if !self.scan.take_while(is_blank).is_empty() && is_first {
                self.skip_line();
                continue;
            }
            is_first = false;
            if !self.groups.is_empty() && self.scan.eat("}") {
                self.groups.pop();
                self.skip_line();
                continue;
            }
            if self.rule(&names).is_none() {
                self.skip_line();
            }
        }
    }

    /// Reads a rule, or the beginning of a group of rules. `None` if it has errors.
    fn rule(&mut self, names: &Map<&str, usize>) -> Option<()> {
        let conditions = self.conditions(names);
        let is_known = conditions.is_some();
        let states = conditions.unwrap_or_default();
        // The brace may stand on a line of its own.
        let rest = self.scan.rest();
        let brace = rest.trim_start();
        let is_group = brace.strip_prefix('{').is_some_and(|rest| rest.starts_with(char::is_whitespace));
        if is_group && self.groups.len() < MAX_GROUPS {
            self.scan.position += rest.len() - brace.len();
            self.groups.push(states);
            self.skip_line();
            return Some(());
        }
        let start = self.scan.position;
        let text = &self.scan.rest()[..end_of_pattern(self.scan.rest())];
        self.scan.position += text.len();
        if text.is_empty() {
            if is_known {
                self.error(self.scan.here(), "there is no pattern here", "a rule is written `pattern action`");
            }
            return None;
        }
        if self.builder.count(1 + states.len(), Span::new(start, start + text.len())).is_err() {
            return None;
        }
        self.scan.take_while(is_blank);
        let action = self.action();
        if is_known {
            self.file.rules.push(Rule { states, pattern: Text { name: "", text, start }, action });
        }
        Some(())
    }

    /// Returns the start conditions of the next rule: those of its groups, and those in front of it. `None` if they
    /// have errors. Then the rule is read, and left out.
    fn conditions(&mut self, names: &Map<&str, usize>) -> Option<Vec<usize>> {
        let start = self.scan.position;
        let group = self.groups.last();
        if self.scan.sees("<<EOF>>") || !self.scan.eat("<") {
            let usual = || (0..self.file.states.len()).filter(|&number| !self.file.states[number].is_exclusive);
            return Some(group.cloned().unwrap_or_else(|| usual().collect()));
        }
        let mut applies = vec![false; self.file.states.len()];
        group.into_iter().flatten().for_each(|&number| applies[number] = true);
        let Some(listed) = self.scan.take_past(">") else {
            let span = self.scan.span_from(start);
            self.error(span, "these start conditions are not closed", "close them with `>`");
            return None;
        };
        let mut unknown = None;
        for name in listed.split(',').map(str::trim) {
            match names.get(name) {
                Some(&number) => applies[number] = true,
                None if name == "*" => applies.fill(true),
                None => unknown = Some(name),
            }
        }
        if let Some(name) = unknown {
            let shown: String = name.chars().take(40).collect::<String>().escape_debug().to_string();
            let message = format!("the start condition `{shown}` is not declared");
            self.error(self.scan.span_from(start), message, "declare it with `%x` or `%s`");
            return None;
        }
        Some((0..applies.len()).filter(|&number| applies[number]).collect())
    }

    /// Reads an action. `None` if it is that of the next rule.
    fn action(&mut self) -> Option<&'t str> {
        let rest = self.scan.rest();
        if rest.starts_with('|') && rest[1..].split('\n').next().is_some_and(|line| line.trim().is_empty()) {
            self.skip_line();
            return None;
        }
        if self.scan.sees("%{") {
            let open = self.scan.here();
            self.scan.eat("%{");
            let Some(code) = self.scan.take_past("%}") else {
                self.error(open, "this code is not closed", "close it with `%}`");
                self.scan.position = self.scan.text.len();
                return Some("");
            };
            self.skip_line();
            return Some(code);
        }
        let end = code::end_of_action(rest);
        if let Some(open) = end.unclosed {
            let place = self.scan.position + open;
            self.error(Span::new(place, place + 1), "this action is not closed", "close it with `}`");
        }
        let code = &rest[..end.length];
        self.scan.position += code.len();
        self.scan.eat("\n");
        Some(code)
    }
}
