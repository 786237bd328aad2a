//! The list form of F1 and the Fuzzing Book. It only has alternatives, so classes, groups and repetitions become rules.
//! Their sites are the same. But the new rules count as levels, which may change the order of options of equal length.

use super::{Names, Printer, has_weights, refuse, report_directives, start_first};
use crate::ast::{Expr, ExprKind, Grammar, Rounds, derived_text, value_text};
use crate::charset::CharSet;
use crate::derived::Derived;
use crate::diagnostics::Diagnostics;

/// The `fuzzingbook` notation.
pub(super) struct Json;

/// The most symbols of all rules together. Bounded repetitions and classes are written out.
const MAX_SYMBOLS: usize = 1 << 16;

impl Printer for Json {
    fn name(&self) -> &'static str {
        "fuzzingbook"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["json"]
    }

    fn print(&self, grammar: &Grammar, diagnostics: &mut Diagnostics) -> Option<String> {
        report_directives(grammar, "JSON", diagnostics);
        let rules = start_first(grammar);
        let start = rules.first()?.name.text.clone();
        // A rule `<start>` would be the start rule.
        let names = Names::new(grammar, |name| allowed(name, &start), str::to_string, &[]);
        let mut printer = Writer { names, rules: Vec::new(), symbols: 0, diagnostics };
        // The first rule is the start, so the new rules come after all others.
        let mut all = Vec::new();
        for rule in rules {
            let alternatives = format!("[{}]", printer.alternatives(&rule.body)?.join(", "));
            let parameters: Vec<String> = rule.parameters.iter().map(|name| quoted(&name.text)).collect();
            let value = match parameters.join(", ") {
                none if none.is_empty() => alternatives,
                names => format!("{{\"parameters\": [{names}], \"alternatives\": {alternatives}}}"),
            };
            all.push((printer.names.get(&rule.name.text).to_string(), value));
        }
        all.extend(printer.rules.drain(..).map(|(name, all)| (name, format!("[{}]", all.join(", ")))));
        let mut text = String::from("{\n");
        for (number, (name, value)) in all.iter().enumerate() {
            text += if number == 0 { "" } else { ",\n" };
            text += &format!("  {}: {value}", quoted(&format!("<{name}>")));
        }
        text += "\n}\n";
        Some(text)
    }
}

fn allowed(name: &str, start: &str) -> String {
    if name == "start" && name != start {
        return "start-rule".to_string();
    }
    let new: String = name.chars().map(|c| if matches!(c, '<' | '>' | ' ') { '-' } else { c }).collect();
    if new.is_empty() { "-".to_string() } else { new }
}

struct Writer<'d> {
    names: Names,
    /// Name and alternatives, as text, of the rules that were made from parts of other rules.
    rules: Vec<(String, Vec<String>)>,
    symbols: usize,
    diagnostics: &'d mut Diagnostics,
}

impl Writer<'_> {
    /// Returns the alternatives of an expression, each as JSON.
    fn alternatives(&mut self, expr: &Expr) -> Option<Vec<String>> {
        if let Some(set) = expr.as_class() {
            return self.members(set, expr);
        }
        let Some(alternatives) = expr.as_choice() else { return Some(vec![self.expansion(expr)?]) };
        let weighted = has_weights(expr);
        let mut all = Vec::new();
        for alternative in alternatives {
            let expansion = self.expansion(&alternative.expr)?;
            all.push(match alternative.weight.filter(|_| weighted) {
                Some(weight) => format!("{{\"expansion\": {expansion}, \"weight\": {}}}", weight.value),
                None => expansion,
            });
        }
        Some(all)
    }

    fn members(&mut self, set: &CharSet, expr: &Expr) -> Option<Vec<String>> {
        if self.symbols.saturating_add(set.len() as usize) > MAX_SYMBOLS {
            self.too_large(expr);
            return None;
        }
        let mut all = Vec::new();
        for member in set.iter() {
            let mut symbols = Vec::new();
            self.text(set.encode(member).as_ref(), expr, &mut symbols)?;
            all.push(format!("[{}]", symbols.join(", ")));
        }
        Some(all)
    }

    fn expansion(&mut self, expr: &Expr) -> Option<String> {
        let mut symbols = Vec::new();
        self.symbols(expr, &mut symbols)?;
        Some(format!("[{}]", symbols.join(", ")))
    }

    fn symbols(&mut self, expr: &Expr, symbols: &mut Vec<String>) -> Option<()> {
        match &expr.kind {
            ExprKind::Bytes(bytes) => self.text(bytes, expr, symbols),
            ExprKind::Rule(name) => {
                let symbol = quoted(&format!("<{}>", self.names.get(name)));
                self.push(symbol, expr, symbols)
            }
            ExprKind::Seq(items) => items.iter().try_for_each(|item| {
                if item.as_seq().is_none() || !item.has_labels() {
                    return self.symbols(item, symbols);
                }
                // Labels are seen in their own list.
                let inner = self.expansion(item)?;
                self.push(format!("{{\"expansion\": {inner}}}"), item, symbols)
            }),
            // In a rule of its own, labels would not be seen.
            ExprKind::Choice(_) | ExprKind::Repeat { .. } if expr.has_labels() => {
                let members = self.members_of(expr)?;
                self.push(format!("{{{members}}}"), expr, symbols)
            }
            ExprKind::Times { .. } => {
                let members = self.members_of(expr)?;
                self.push(format!("{{{members}}}"), expr, symbols)
            }
            ExprKind::Label { label, item } if item.as_label().is_some() => {
                let inner = self.expansion(item)?;
                let label = quoted(&label.text);
                self.push(format!("{{\"label\": {label}, \"expansion\": {inner}}}"), expr, symbols)
            }
            ExprKind::Label { label, item } => {
                let members = self.members_of(item)?;
                self.push(format!("{{\"label\": {}, {members}}}", quoted(&label.text)), expr, symbols)
            }
            ExprKind::Derived(derived) => {
                let key = if matches!(derived, Derived::Copy(_)) { "copy" } else { "number" };
                self.push(format!("{{\"{key}\": {}}}", quoted(&derived_text(derived))), expr, symbols)
            }
            ExprKind::Call { arguments, item } => {
                let name = quoted(&format!("<{}>", self.names.get(item.as_rule().unwrap_or_default())));
                let with: Vec<String> = arguments.iter().map(|label| quoted(&label.text)).collect();
                let word = Expr::CALL;
                self.push(format!("{{\"{word}\": {name}, \"with\": [{}]}}", with.join(", ")), expr, symbols)
            }
            ExprKind::Coded { coding, item } => {
                let members = self.members_of(item)?;
                self.push(format!("{{\"coding\": \"{}\", {members}}}", coding.name()), expr, symbols)
            }
            ExprKind::Naming { naming, item } => {
                let kinds: Vec<String> = naming.kinds().iter().map(|kind| quoted(&kind.text)).collect();
                let kinds = if kinds.len() == 1 { kinds.concat() } else { format!("[{}]", kinds.join(", ")) };
                let members = self.members_of(item)?;
                self.push(format!("{{\"{}\": {kinds}, {members}}}", naming.word()), expr, symbols)
            }
            ExprKind::Choice(_) | ExprKind::Class(_) => {
                let name = self.names.fresh("group-");
                let alternatives = self.alternatives(expr)?;
                self.rules.push((name.clone(), alternatives));
                self.push(quoted(&format!("<{name}>")), expr, symbols)
            }
            ExprKind::Repeat { item, min, max } => {
                // A choice among several symbols becomes a rule, because it occurs more than once.
                let mut round = Vec::new();
                self.symbols(item, &mut round)?;
                if round.len() != 1 {
                    let name = self.names.fresh("round-");
                    self.rules.push((name.clone(), vec![format!("[{}]", round.join(", "))]));
                    round = vec![quoted(&format!("<{name}>"))];
                }
                for _ in 0..*min {
                    self.push(round[0].clone(), expr, symbols)?;
                }
                let more = match max {
                    None => {
                        let name = self.names.fresh("rounds-");
                        let own = quoted(&format!("<{name}>"));
                        self.rules.push((name, vec!["[]".to_string(), format!("[{}, {own}]", round[0])]));
                        Some(own)
                    }
                    Some(max) => {
                        let mut rest: Option<String> = None;
                        for _ in *min..*max {
                            let name = self.names.fresh("rounds-");
                            let tail = rest.map_or(String::new(), |rest| format!(", {rest}"));
                            let go_on = format!("[{}{tail}]", round[0]);
                            self.rules.push((name.clone(), vec!["[]".to_string(), go_on]));
                            let own = quoted(&format!("<{name}>"));
                            self.push(own.clone(), expr, &mut Vec::new())?;
                            rest = Some(own);
                        }
                        rest
                    }
                };
                match more {
                    Some(more) => self.push(more, expr, symbols),
                    None => Some(()),
                }
            }
        }
    }

    /// Returns the members of an object that is a part: a repetition, a choice, or another expansion.
    fn members_of(&mut self, expr: &Expr) -> Option<String> {
        if let Some(Rounds { item, min, max }) = expr.as_repeat() {
            let most = max.map_or(String::new(), |max| format!(", \"max\": {max}"));
            return Some(format!("\"expansion\": {}, \"min\": {min}{most}", self.expansion(item)?));
        }
        if let Some((label, item)) = expr.as_mirror() {
            let (word, label) = (Expr::MIRROR, quoted(&label.text));
            return Some(format!("\"{word}\": {label}, \"expansion\": {}", self.expansion(item)?));
        }
        if let Some((item, rounds)) = expr.as_times() {
            let rounds = quoted(&value_text(rounds));
            return Some(format!("\"expansion\": {}, \"times\": {rounds}", self.expansion(item)?));
        }
        if expr.as_choice().is_some() {
            return Some(format!("\"choice\": [{}]", self.alternatives(expr)?.join(", ")));
        }
        Some(format!("\"expansion\": {}", self.expansion(expr)?))
    }

    fn push(&mut self, symbol: String, expr: &Expr, symbols: &mut Vec<String>) -> Option<()> {
        self.symbols += 1;
        if self.symbols > MAX_SYMBOLS {
            self.too_large(expr);
            return None;
        }
        symbols.push(symbol);
        Some(())
    }

    fn too_large(&mut self, expr: &Expr) {
        let message = "JSON has no classes and no bounded repetitions, and written out this grammar is too large";
        refuse(
            expr.span,
            message,
            "make the class or the bounds smaller, or convert to another notation",
            self.diagnostics,
        );
    }

    /// Returns a literal. A text like `<name>` would be a reference, so it is cut in two.
    fn text(&mut self, bytes: &[u8], expr: &Expr, symbols: &mut Vec<String>) -> Option<()> {
        let Ok(text) = std::str::from_utf8(bytes) else {
            let help = "JSON is text: a byte that is no UTF-8 cannot be written; convert to the EBNF";
            refuse(expr.span, "JSON cannot say these bytes", help, self.diagnostics);
            return None;
        };
        if text.is_empty() {
            return Some(());
        }
        if text.starts_with('<') && text.ends_with('>') && text.len() > 1 {
            self.push(quoted("<"), expr, symbols)?;
            return self.push(quoted(&text[1..]), expr, symbols);
        }
        self.push(quoted(text), expr, symbols)
    }
}

/// Returns a JSON string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted += "\\n",
            '\r' => quoted += "\\r",
            '\t' => quoted += "\\t",
            '\0'..='\x1F' | '\x7F' => quoted += &format!("\\u{:04X}", u32::from(character)),
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}
