//! The command line of the example.

use std::path::PathBuf;
use std::time::Duration;

/// The target of the fuzzer, and the way to fuzz it.
pub struct Arguments {
    pub name: String,
    /// The parser with the bug.
    pub parser: fn(&[u8]),
    pub inputs: Inputs,
    pub seeds: Option<PathBuf>,
    pub out: PathBuf,
    /// The cores, in LibAFL's notation, for the launcher; without them there is one fuzzer in this process.
    pub cores: Option<String>,
    pub port: u16,
    pub forkserver: bool,
    /// This process is what a forkserver runs.
    pub is_target: bool,
    pub seed: u64,
    pub time: Duration,
}

/// The kind of the fuzzer's inputs.
pub enum Inputs {
    /// Choice bytes of this grammar.
    Choices(PathBuf),
    /// Texts, with this dictionary.
    Bytes(Option<PathBuf>),
}

const USAGE: &str =
    "usage: planted json|xml|sql (--grammar FILE | --bytes) [--dictionary FILE] [--seeds DIR] [--out DIR]
               [--cores LIST [--port N]] [--forkserver] [--seed N] [--seconds N]";

impl Arguments {
    pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let name = words.next().ok_or(USAGE)?;
        let parser = gramjet_planted::by_name(&name).ok_or(USAGE)?;
        let (mut grammar, mut dictionary, mut bytes) = (None, None, false);
        let mut arguments = Arguments {
            name,
            parser,
            inputs: Inputs::Bytes(None),
            seeds: None,
            out: PathBuf::from("found"),
            cores: None,
            port: 1337,
            forkserver: false,
            is_target: false,
            seed: 1,
            time: Duration::from_secs(600),
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value\n{USAGE}"));
            let number = |text: String| text.parse::<u64>().map_err(|_| format!("`{text}` is no number"));
            match word.as_str() {
                "--grammar" => grammar = Some(PathBuf::from(value()?)),
                "--dictionary" => dictionary = Some(PathBuf::from(value()?)),
                "--bytes" => bytes = true,
                "--seeds" => arguments.seeds = Some(PathBuf::from(value()?)),
                "--out" => arguments.out = PathBuf::from(value()?),
                "--cores" => arguments.cores = Some(value()?),
                "--port" => arguments.port = number(value()?)? as u16,
                "--forkserver" => arguments.forkserver = true,
                "--target" => arguments.is_target = true,
                "--seed" => arguments.seed = number(value()?)?,
                "--seconds" => arguments.time = Duration::from_secs(number(value()?)?),
                _ => return Err(USAGE.to_string()),
            }
        }
        arguments.inputs = match grammar {
            Some(grammar) if !bytes => Inputs::Choices(grammar),
            None if bytes || arguments.is_target => Inputs::Bytes(dictionary),
            _ => return Err(USAGE.to_string()),
        };
        Ok(arguments)
    }
}
