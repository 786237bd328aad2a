//! A listing of code, with names.

use std::collections::BTreeMap;
use std::fmt::Write as _;

mod decoded;

use super::code::Code;
pub(super) use decoded::decoded;

/// Returns the instructions of `code`, with labels.
pub(super) fn listing(code: &Code) -> String {
    let instructions = decoded(code.instructions());
    let names: BTreeMap<u64, &str> =
        code.symbols.iter().map(|symbol| (symbol.at as u64, symbol.name.as_str())).collect();
    let mut labels: BTreeMap<u64, String> = BTreeMap::new();
    for target in instructions.iter().filter_map(|instruction| instruction.target) {
        labels.entry(target).or_insert_with(|| match names.get(&target) {
            Some(name) => format!("<{}>", name.escape_debug()),
            None => format!("L{target:x}"),
        });
    }
    let mut text = format!(
        "; {} bytes of instructions, {} of tables after them\n",
        code.instructions().len(),
        code.len() - code.instructions().len()
    );
    for instruction in &instructions {
        let at = instruction.at as u64;
        // Writing to a string cannot fail.
        match (names.get(&at), labels.get(&at)) {
            (Some(name), _) => {
                let _ = writeln!(text, "\n<{}>:", name.escape_debug());
            }
            (None, Some(label)) => {
                let _ = writeln!(text, "{label}:");
            }
            (None, None) => {}
        }
        let label = instruction.target.and_then(|target| labels.get(&target));
        let operands = label.unwrap_or(&instruction.operands);
        let line = format!("  {at:6x}  {} {operands}", instruction.mnemonic);
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}
