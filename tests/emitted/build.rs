//! Emits every grammar of [`gramjet_testkit::emitted`] twice, with and without `unsafe`, and a table of all.

use std::fmt::Write;
use std::path::Path;

use gramjet_compiler::backend::rust::{EmitOptions, emit};
use gramjet_testkit::emitted::subjects;

fn main() {
    println!("cargo::rerun-if-changed=../suite");
    println!("cargo::rerun-if-changed=build.rs");
    let folder = std::env::var("OUT_DIR").expect("cargo sets it for build scripts");
    let mut modules = String::new();
    let mut table = String::from("/// All emitted producers.\npub static ALL: &[Emitted] = &[\n");
    for (number, subject) in subjects().iter().enumerate() {
        for forbid_unsafe in [false, true] {
            let module = format!("{}{number}", if forbid_unsafe { "safe" } else { "raw" });
            let file = Path::new(&folder).join(format!("{module}.rs"));
            // The tests set other limits, too.
            let options = EmitOptions { forbid_unsafe, max_depth: subject.max_depth, ..EmitOptions::default() };
            std::fs::write(&file, emit(&subject.compiled, &options)).expect("OUT_DIR can be written");
            let lints = if forbid_unsafe { "#[forbid(unsafe_code)]\n" } else { "" };
            let _ = writeln!(modules, "{lints}#[path = {file:?}]\nmod {module};");
            let _ = writeln!(
                table,
                "    Emitted {{ name: {:?}, forbid_unsafe: {forbid_unsafe}, producer: || Box::new({module}::Producer::new()) }},",
                subject.name
            );
        }
    }
    std::fs::write(Path::new(&folder).join("table.rs"), format!("{modules}\n{table}];\n"))
        .expect("OUT_DIR can be written");
}
