//! Makes the producers that are not checked in, for the feature `ahead-of-time`.

use std::io;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "ahead-of-time")]
    ahead_of_time::write()?;
    Ok(())
}

#[cfg(feature = "ahead-of-time")]
mod ahead_of_time {
    use std::path::Path;
    use std::{env, fs, io};

    use gramjet_compiler::backend::rust::{EmitOptions, emit};
    use gramjet_compiler::{Options, SourceFile, compile};

    /// The grammars; `src/lib.rs` names them, too.
    const GRAMMARS: [&str; 3] = ["css", "html", "xml"];

    /// Writes a file of modules, one for each grammar, and the modules.
    pub(super) fn write() -> io::Result<()> {
        let folder = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
        let folder = Path::new(&folder);
        let mut modules = String::new();
        for name in GRAMMARS {
            let shipped = gramjet_grammars::by_name(name);
            let shipped = shipped.ok_or_else(|| io::Error::other(format!("no grammar `{name}` ships")))?;
            let file = SourceFile::new(format!("{name}.ebnf"), shipped.text);
            let (compiled, _) = compile(&file, &Options::default())
                .map_err(|diagnostics| io::Error::other(diagnostics.to_plain_text(&file)))?;
            let path = folder.join(format!("{name}.rs"));
            fs::write(&path, emit(&compiled, &EmitOptions::default()))?;
            modules.push_str(&format!(
                "/// Producer of the shipped grammar `{name}`.\n#[path = {path:?}]\npub mod {name};\n"
            ));
        }
        fs::write(folder.join("modules.rs"), modules)
    }
}
