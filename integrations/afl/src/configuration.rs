//! The settings in the environment: variables named like AFL++'s own.

use std::ffi::OsString;
use std::str::FromStr;

use gramjet_session::{Bound, FormatOptions, Settings};

/// The settings in the environment.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// A file, or the name of a shipped grammar.
    pub grammar: OsString,
    /// Settings with which it is read and run.
    pub settings: Settings,
    /// This number of mutants is made of a queue entry at each visit.
    pub fuzz_count: u32,
    /// At most this number of executions is spent on trimming an entry; 0 for none.
    pub trim_count: u32,
    /// Messages about settings that were not understood.
    pub warnings: Vec<String>,
}

/// The variables that are read.
const KNOWN: [&str; 11] = [
    "GRAMJET_GRAMMAR",
    "GRAMJET_FORMAT",
    "GRAMJET_START",
    "GRAMJET_MAX_DEPTH",
    "GRAMJET_MAX_LEN",
    "GRAMJET_ENGINE",
    "GRAMJET_SHAPE",
    "GRAMJET_INDENT",
    "GRAMJET_TOKENS",
    "GRAMJET_FUZZ_COUNT",
    "GRAMJET_TRIM_COUNT",
];

impl Configuration {
    /// The default number of mutants of a queue entry at each visit.
    pub const FUZZ_COUNT: u32 = 512;
    /// The default number of executions for trimming an entry.
    pub const TRIM_COUNT: u32 = 256;

    /// Reads variables; only names that begin with `GRAMJET_` matter.
    ///
    /// # Errors
    ///
    /// If one has no usable value, or if there is no grammar.
    pub fn new(variables: impl Iterator<Item = (OsString, OsString)>) -> Result<Configuration, String> {
        let mut configuration = Configuration {
            grammar: OsString::new(),
            // Seeds are texts that others have made.
            settings: Settings { reading: FormatOptions::of_others(), ..Settings::default() },
            fuzz_count: Configuration::FUZZ_COUNT,
            trim_count: Configuration::TRIM_COUNT,
            warnings: Vec::new(),
        };
        let settings = &mut configuration.settings;
        for (name, value) in variables {
            let Some(name) = name.to_str().filter(|name| name.starts_with("GRAMJET_")) else { continue };
            if !KNOWN.contains(&name) {
                configuration.warnings.push(format!("{name} is ignored (known: {})", KNOWN.join(", ")));
                continue;
            }
            if name == "GRAMJET_GRAMMAR" {
                configuration.grammar = value;
                continue;
            }
            let value = value.to_str().ok_or_else(|| format!("{name} is not UTF-8 text"))?;
            match name {
                "GRAMJET_FORMAT" => settings.format = Some(value.to_string()),
                "GRAMJET_START" => settings.start = Some(value.to_string()),
                "GRAMJET_MAX_DEPTH" => settings.max_depth = bound(name, value)?,
                "GRAMJET_MAX_LEN" => settings.max_len = bound(name, value)?,
                "GRAMJET_ENGINE" => settings.engine = value.parse().map_err(|error| format!("{name}: {error}"))?,
                "GRAMJET_SHAPE" => {
                    settings.shape = Some(value.parse().map_err(|error| format!("{name}: {error}"))?);
                }
                "GRAMJET_INDENT" => {
                    settings.reading.indent = value.parse().map_err(|error| format!("{name}: {error}"))?;
                }
                "GRAMJET_TOKENS" => settings.tokens = Some(value.to_string()),
                "GRAMJET_FUZZ_COUNT" => configuration.fuzz_count = number(name, value)?,
                _ => configuration.trim_count = number(name, value)?,
            }
        }
        if configuration.grammar.is_empty() {
            return Err("GRAMJET_GRAMMAR is not set: give it the path of a grammar, or the name of a shipped one, \
                        such as json"
                .to_string());
        }
        if configuration.fuzz_count == 0 {
            return Err("GRAMJET_FUZZ_COUNT is 0: no mutant would be made".to_string());
        }
        Ok(configuration)
    }
}

fn number<N: FromStr>(name: &str, value: &str) -> Result<N, String> {
    value.parse().map_err(|_| format!("{name}: `{}` is no number, or too large", value.escape_debug()))
}

fn bound(name: &str, value: &str) -> Result<Bound, String> {
    match value {
        "none" => Ok(Bound::Unlimited),
        _ => number(name, value).map(Bound::At).map_err(|error| format!("{error}; a number or `none` is expected")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramjet_session::{EngineKind, Shape};

    fn read(variables: &[(&str, &str)]) -> Result<Configuration, String> {
        Configuration::new(variables.iter().map(|&(name, value)| (name.into(), value.into())))
    }

    #[test]
    fn variables_are_read() {
        let all = [
            ("HOME", "/"),
            ("GRAMJET_GRAMMAR", "json"),
            ("GRAMJET_FORMAT", "ebnf"),
            ("GRAMJET_START", "value"),
            ("GRAMJET_MAX_DEPTH", "none"),
            ("GRAMJET_MAX_LEN", "300"),
            ("GRAMJET_ENGINE", "vm"),
            ("GRAMJET_SHAPE", "target-size=300"),
            ("GRAMJET_INDENT", "unit=2"),
            ("GRAMJET_TOKENS", "tokens.ebnf"),
            ("GRAMJET_FUZZ_COUNT", "7"),
            ("GRAMJET_TRIM_COUNT", "0"),
        ];
        let read = read(&all).expect("all are known");
        assert_eq!((&*read.grammar, read.fuzz_count, read.trim_count), ("json".as_ref(), 7, 0));
        let settings = read.settings;
        assert_eq!((settings.format.as_deref(), settings.start.as_deref()), (Some("ebnf"), Some("value")));
        assert_eq!((settings.max_depth, settings.max_len), (Bound::Unlimited, Bound::At(300)));
        assert_eq!((settings.engine, settings.shape), (EngineKind::Vm, Some(Shape::TargetSize(300))));
    }

    #[test]
    fn wrong_variables_are_told() {
        let said = |variables: &[(&str, &str)]| read(variables).expect_err("a refusal");
        assert!(said(&[]).contains("GRAMJET_GRAMMAR is not set"));
        let read = read(&[("GRAMJET_GRAMMAR", "json"), ("GRAMJET_MAX_LENGTH", "3")]).expect("a grammar");
        assert!(
            read.warnings.len() == 1 && read.warnings[0].starts_with("GRAMJET_MAX_LENGTH is ignored (known: GRAMJET_")
        );
        assert!(said(&[("GRAMJET_MAX_LEN", "4k")]).contains("GRAMJET_MAX_LEN: `4k` is no number"));
        assert!(said(&[("GRAMJET_SHAPE", "round")]).contains("GRAMJET_SHAPE: a shape is uniform, balanced"));
        assert!(said(&[("GRAMJET_INDENT", "wide")]).contains("GRAMJET_INDENT: `wide` says nothing about indentation"));
        assert!(said(&[("GRAMJET_ENGINE", "turbo")]).contains("GRAMJET_ENGINE: unknown engine `turbo`"));
        assert!(said(&[("GRAMJET_GRAMMAR", "json"), ("GRAMJET_FUZZ_COUNT", "0")]).contains("no mutant"));
    }
}
