//! Finds and reads the grammar that an argument names: a file, standard input, or a shipped grammar.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{self, Path};
use std::sync::Arc;

use gramjet_compiler::diagnostics::SourceFile;
use gramjet_compiler::files::{GrammarFile, Named, Unreadable, is_word, look_up};
use gramjet_compiler::formats::ebnf::Ebnf;
use gramjet_compiler::formats::{self, Format, Loader, NoFiles};
use gramjet_grammars::{SHIPPED, Shipped};

use crate::arguments::grammar::{GrammarArgs, HowArgs};
use crate::failure::{Failure, quoted, say};

/// At most this many suggestions are made.
const SUGGESTIONS: usize = 3;
/// Directory entries looked at for suggestions.
const ENTRIES: usize = 1000;

/// A grammar's text and where it is from.
pub struct Source {
    /// The text, under the name that diagnostics show.
    pub file: SourceFile,
    /// The shipped grammar, if the text is one.
    pub shipped: Option<&'static Shipped>,
    /// The loader of files next to the grammar.
    pub loader: Option<Arc<dyn Loader + Send + Sync>>,
}

impl Source {
    /// Returns the grammar that the arguments name. Options that are for other formats than its own are reported.
    pub fn load(args: &GrammarArgs) -> Result<Source, Failure> {
        let source = find(&args.grammar)?;
        let reading = &args.how.reading;
        let format = source.format(&args.how);
        let has_lexer = source.has_lexer(&args.how);
        let with_lexers = "grammars of ANTLR, and those of yacc with a file of lex";
        let options = [
            ("--separator-policy", reading.separator_policy.is_some() && !has_lexer, with_lexers),
            ("--alphabet", reading.alphabet.is_some() && !has_lexer, with_lexers),
            ("--indent", reading.indent.is_some() && !format.has_layout(), "grammars of ANTLR, Lark and tree-sitter"),
        ];
        for (option, is_idle, grammars) in options {
            if is_idle {
                let (name, format) = (source.file.name(), format.name());
                say!(
                    "gramjet: warning: `{option}` has no effect on {name}: it is for {grammars}; this one is read as {format}"
                );
            }
        }
        Ok(source)
    }

    fn from_file(file: GrammarFile) -> Source {
        Source { loader: file.loader(), file: file.source, shipped: None }
    }

    /// Returns the format that it is read in.
    pub fn format(&self, how: &HowArgs) -> &'static dyn Format {
        self.known_format(how).unwrap_or_else(|| formats::detect(&self.file))
    }

    /// Returns true if the grammar has a lexer, with the file of tokens that the arguments name.
    pub fn has_lexer(&self, how: &HowArgs) -> bool {
        let tokens = how.reading.tokens.as_ref().map(|path| path::absolute(path).unwrap_or_else(|_| path.clone()));
        let tokens = tokens.as_ref().map(|path| path.to_string_lossy());
        let loader: &dyn Loader = match &self.loader {
            Some(loader) => loader.as_ref(),
            None => &NoFiles,
        };
        self.format(how).has_lexer_with(tokens.as_deref(), loader)
    }

    /// Returns the format that the arguments name, or that of a shipped grammar. `None` if the text says what it is.
    pub fn known_format(&self, how: &HowArgs) -> Option<&'static dyn Format> {
        let shipped = || self.shipped.map(|_| &Ebnf as &'static dyn Format);
        how.format.as_deref().and_then(formats::by_name).or_else(shipped)
    }
}

fn find(name: &OsStr) -> Result<Source, Failure> {
    if name == "-" {
        return Ok(Source::from_file(GrammarFile::read_stream(io::stdin().lock(), "<stdin>")?));
    }
    match look_up(name, gramjet_grammars::by_name) {
        Named::File => Ok(Source::from_file(GrammarFile::read(Path::new(name))?)),
        Named::Shipped(shipped) => {
            let file = GrammarFile::text(format!("<{}>", shipped.name), shipped.text);
            Ok(Source { shipped: Some(shipped), ..Source::from_file(file) })
        }
        Named::Nothing => Err(Unreadable::new(Path::new(name).display().to_string(), not_found(name)).into()),
    }
}

/// Returns the message for a grammar that does not exist, with suggestions.
fn not_found(name: &OsStr) -> String {
    let shown = quoted(name);
    let wanted = name.to_string_lossy();
    if wanted.is_empty() {
        return "the name of the grammar is empty".to_string();
    }
    let mut candidates: Vec<String> = Vec::new();
    if is_word(&wanted) {
        candidates.extend(SHIPPED.iter().map(|grammar| grammar.name.to_string()));
    }
    let path = Path::new(name);
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Ok(entries) = fs::read_dir(folder.unwrap_or(Path::new("."))) {
        let names = entries.take(ENTRIES).flatten().map(|entry| entry.file_name());
        candidates.extend(names.map(|name| match folder {
            Some(folder) => folder.join(name).display().to_string(),
            None => name.display().to_string(),
        }));
    }
    let mut scored: Vec<(f64, String)> = candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&wanted, &candidate), candidate))
        .filter(|(score, _)| *score > 0.85)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let similar: Vec<String> = scored.into_iter().take(SUGGESTIONS).map(|(_, candidate)| quoted(candidate)).collect();
    let kind = if is_word(&wanted) { "neither a file nor a shipped grammar" } else { "no such file" };
    let mut message = format!("grammar {shown} not found: {kind}");
    if !similar.is_empty() {
        message += &format!("; did you mean {}?", similar.join(" or "));
    }
    if is_word(&wanted) {
        message += "\n`gramjet grammars` lists the shipped grammars";
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_grammars() {
        assert!(not_found(OsStr::new("./nowhere/x.ebnf")).contains("no such file"));
        assert!(not_found(OsStr::new("no-such-grammar")).contains("`gramjet grammars`"));
    }
}
