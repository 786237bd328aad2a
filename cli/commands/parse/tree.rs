//! The tree of a text, written without recursion: as lines, as JSON, and as SVG.

use std::fmt::Write as _;

use gramjet_compiler::Compiled;
use gramjet_compiler::ir::RuleId;
use gramjet_compiler::reference::{Instance, Trace};

use crate::draw::{Text, picture};

/// At most this number of bytes of an instance's text is shown.
const SHOWN: usize = 60;
/// Lines are indented by at most this number of columns; deeper ones show their depth as a number.
const INDENTED: usize = 60;

fn name<'c>(compiled: &'c Compiled, instance: &Instance) -> &'c str {
    compiled.told(instance.rule)
}

/// Returns the instances of rules that the user knows: parts hold nothing but parts.
fn known<'t>(compiled: &'t Compiled, trace: &'t Trace) -> impl Iterator<Item = &'t Instance> {
    trace.instances.iter().filter(|instance| !compiled.is_part(instance.rule))
}

/// Returns a line for each instance: `rule 3..17 "text"`, indented by its depth.
pub fn lines(compiled: &Compiled, trace: &Trace, text: &[u8]) -> Vec<u8> {
    let mut lines = String::new();
    for instance in known(compiled, trace) {
        let range = instance.output.start as usize..instance.output.end as usize;
        let part = &text[range.clone()];
        let cut = &part[..part.len().min(SHOWN)];
        let dots = if part.len() > SHOWN { "..." } else { "" };
        let indent = match 2 * instance.depth as usize {
            indent if indent > INDENTED => format!("{:INDENTED$}({}) ", "", instance.depth),
            indent => " ".repeat(indent),
        };
        let shown = String::from_utf8_lossy(cut);
        let _ = writeln!(
            lines,
            "{indent}{} {}..{} \"{}\"{dots}",
            name(compiled, instance),
            range.start,
            range.end,
            shown.escape_debug()
        );
    }
    lines.into_bytes()
}

/// Returns `{"rule": ..., "start": ..., "end": ..., "choices": [start, end], "children": [...]}`; offsets in bytes.
pub fn json(compiled: &Compiled, trace: &Trace) -> Vec<u8> {
    let mut json = String::new();
    let mut depth = None;
    for instance in known(compiled, trace) {
        match depth {
            Some(before) if before >= instance.depth => {
                (0..=before - instance.depth).for_each(|_| json.push_str("]}"));
                json.push(',');
            }
            _ => {}
        }
        depth = Some(instance.depth);
        let (output, choices) = (&instance.output, &instance.choices);
        let _ = write!(
            json,
            "\n{{\"rule\":{},\"start\":{},\"end\":{},\"choices\":[{},{}],\"children\":[",
            quoted(name(compiled, instance)),
            output.start,
            output.end,
            choices.start,
            choices.end
        );
    }
    depth.into_iter().for_each(|depth| (0..=depth).for_each(|_| json.push_str("]}")));
    json.push('\n');
    json.trim_start().as_bytes().to_vec()
}

/// Returns the tree as a picture.
pub fn svg(compiled: &Compiled, trace: Trace, text: Vec<u8>) -> Vec<u8> {
    let name = |rule| compiled.told(RuleId::new(rule)).to_string();
    picture(Text::new(compiled, text, trace), None, &name).into_bytes()
}

/// Returns a JSON string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            character if u32::from(character) < 0x20 => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(character));
            }
            character => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}
