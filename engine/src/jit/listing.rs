//! A listing of code, with names.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use iced_x86::{Decoder, DecoderOptions, Formatter, Instruction, NasmFormatter, OpKind};

use super::code::Code;

/// The instructions of `code`, with labels.
pub(super) fn listing(code: &Code) -> String {
    let instructions: Vec<Instruction> =
        Decoder::with_ip(64, code.instructions(), 0, DecoderOptions::NONE).iter().collect();
    let names: BTreeMap<u64, &str> =
        code.symbols.iter().map(|symbol| (symbol.at as u64, symbol.name.as_str())).collect();
    let mut labels: BTreeMap<u64, String> = BTreeMap::new();
    for target in instructions.iter().filter_map(target) {
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
    let mut formatter = NasmFormatter::new();
    let mut line = String::new();
    for instruction in &instructions {
        let at = instruction.ip();
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
        line.clear();
        match target(instruction).and_then(|target| labels.get(&target)) {
            Some(label) => {
                let _ = write!(line, "{:?} {label}", instruction.mnemonic());
                line[..1].make_ascii_lowercase();
            }
            _ => formatter.format(instruction, &mut line),
        }
        let _ = writeln!(text, "  {at:6x}  {line}");
    }
    text
}

/// Where a jump or call leads.
fn target(instruction: &Instruction) -> Option<u64> {
    (instruction.op_count() > 0 && instruction.op0_kind() == OpKind::NearBranch64)
        .then(|| instruction.near_branch_target())
}
