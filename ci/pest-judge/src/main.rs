//! Judges texts by a grammar of pest: `pest-judge GRAMMAR RULE` reads texts, each ended by a NUL, from standard input.
//! Written are `accepted N of M` and a line for each of the first texts that are refused.

use std::io::{Read, Write};
use std::process::ExitCode;

use pest_meta::{optimizer, parser, validator};
use pest_vm::Vm;

/// More refused texts are not shown.
const SHOWN: usize = 5;

fn judge() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let (Some(path), Some(rule)) = (arguments.next(), arguments.next()) else {
        return Err("usage: pest-judge GRAMMAR RULE <TEXTS".to_string());
    };
    let grammar = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let pairs = parser::parse(parser::Rule::grammar_rules, &grammar).map_err(|error| format!("{path}: {error}"))?;
    validator::validate_pairs(pairs.clone()).map_err(|errors| format!("{path}: {errors:?}"))?;
    let rules = parser::consume_rules(pairs).map_err(|errors| format!("{path}: {errors:?}"))?;
    let vm = Vm::new(optimizer::optimize(rules));
    let mut texts = Vec::new();
    std::io::stdin().read_to_end(&mut texts).map_err(|error| error.to_string())?;
    let texts = texts.strip_suffix(b"\0").unwrap_or(&texts);
    let (mut count, mut accepted, mut refused) = (0, 0, String::new());
    for text in texts.split(|&byte| byte == 0) {
        count += 1;
        let why = match std::str::from_utf8(text) {
            Err(error) => error.to_string(),
            Ok(text) => match vm.parse(&rule, text) {
                Err(error) => error.variant.message().into_owned(),
                // A rule without `EOI` may leave something over.
                Ok(pairs) => match pairs.map(|pair| pair.as_span().end()).max().unwrap_or(0) {
                    end if end < text.len() => format!("it ends at byte {end}"),
                    _ => {
                        accepted += 1;
                        continue;
                    }
                },
            },
        };
        if count - accepted <= SHOWN {
            refused += &format!("{:?}: {why}\n", String::from_utf8_lossy(text));
        }
    }
    let mut out = std::io::stdout().lock();
    write!(out, "accepted {accepted} of {count}\n{refused}").map_err(|error| error.to_string())
}

fn main() -> ExitCode {
    match judge() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("pest-judge: {problem}");
            ExitCode::FAILURE
        }
    }
}
