//! Writes `include/gramjet.h` from the sources of the C interface. With `--check`, fails if it is not the one that is
//! checked in.

use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let interface = own.parent().ok_or("the crate has no parent folder")?;
    let header = header(own, interface)?;
    let path = interface.join("include/gramjet.h");
    if !std::env::args().any(|argument| argument == "--check") {
        return Ok(fs::write(&path, header)?);
    }
    if fs::read_to_string(&path)? == header {
        Ok(())
    } else {
        Err("integrations/c/include/gramjet.h is stale; run ci/c-header".into())
    }
}

fn header(own: &Path, interface: &Path) -> Result<String, Box<dyn Error>> {
    let mut builder = cbindgen::Builder::new().with_config(cbindgen::Config::from_file(own.join("cbindgen.toml"))?);
    for module in ["calls", "bytes", "grammar", "session"] {
        builder = builder.with_src(interface.join(format!("src/{module}.rs")));
    }
    let mut header = Vec::new();
    builder.generate()?.write(&mut header);
    Ok(without_safety(&String::from_utf8(header)?))
}

/// Returns the header without the sections about safety, and without the line before each: C takes for granted what
/// Rust documents of unsafe functions.
fn without_safety(header: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut is_within = false;
    for line in header.lines() {
        if line == "// # Safety" {
            is_within = true;
            kept.pop();
        }
        is_within &= line.starts_with("//");
        if !is_within {
            kept.push(line);
        }
    }
    kept.join("\n") + "\n"
}
