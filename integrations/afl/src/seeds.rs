//! Number of the seeds that conform: a seed that does not is hardly used, so its user should know before hours have
//! passed.

use std::fs;
use std::path::{Path, PathBuf};

use gramjet_session::ParseError;

/// The file next to the queue that the report goes to: AFL++'s status screen covers the terminal.
const FILE: &str = "gramjet_seeds";

/// Returns `OUT/INSTANCE` of a queue entry, `OUT/INSTANCE/queue/id:...`.
pub fn instance(entry: &Path) -> Option<&Path> {
    entry.parent().filter(|queue| queue.ends_with("queue")).and_then(Path::parent)
}

/// The results of parsing the seeds.
#[derive(Debug, Default)]
pub struct Seeds {
    all: u64,
    conforming: u64,
    /// The first one that does not conform, and why.
    first_wrong: Option<String>,
    is_reported: bool,
}

impl Seeds {
    /// Returns true if entries that come now are seeds: none has been fuzzed yet.
    pub fn are_coming(&self) -> bool {
        !self.is_reported
    }

    /// Records a seed, and the reason if it does not conform.
    pub fn add(&mut self, seed: &Path, text: &[u8], error: Option<&ParseError>) {
        self.all += 1;
        let Some(error) = error else {
            self.conforming += 1;
            return;
        };
        self.first_wrong.get_or_insert_with(|| {
            let place = error.place(text).map_or_else(String::new, |(line, column)| format!("{line}:{column}: "));
            format!("{}: {place}{error}", seed.display().to_string().escape_debug())
        });
    }

    /// Reports how many conform, on standard error and in a file next to the queue, when the first entry is about to be
    /// fuzzed.
    pub fn report(&mut self, entry: &Path) {
        if std::mem::replace(&mut self.is_reported, true) || self.all == 0 {
            return;
        }
        let report = self.text();
        eprint!("{report}");
        let path: Option<PathBuf> = instance(entry).map(|instance| instance.join(FILE));
        // The report is on standard error already.
        let _ = path.map(|path| fs::write(path, report));
    }

    fn text(&self) -> String {
        let Seeds { all, conforming, .. } = self;
        let mut text = match (conforming, &self.first_wrong) {
            (0, _) => {
                format!("[!] gramjet: no seed of {all} conforms to the grammar; all mutants are random inputs\n")
            }
            (_, None) => format!("[+] gramjet: all seeds conform to the grammar ({all} of {all})\n"),
            _ => {
                format!("[!] gramjet: {conforming} of {all} seeds conform to the grammar; the others are hardly used\n")
            }
        };
        if let Some(wrong) = &self.first_wrong {
            text += &format!("[!] gramjet: the first that does not: {wrong}\n");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use gramjet_session::{Language, Settings};

    use super::*;

    fn report(seeds: &[&str]) -> String {
        let language = Language::load("json".as_ref(), &Settings::default()).expect("json ships");
        let mut all = Seeds::default();
        for (number, seed) in seeds.iter().enumerate() {
            let error = language.parse(seed.as_bytes()).err();
            all.add(Path::new(&format!("in/{number}")), seed.as_bytes(), error.as_ref());
        }
        all.text()
    }

    #[test]
    fn seeds_are_counted_and_the_first_wrong_one_is_located() {
        assert_eq!(report(&["[]", "1"]), "[+] gramjet: all seeds conform to the grammar (2 of 2)\n");
        let some = report(&["[]", "{\n  \"a\": x}", "]"]);
        let (first, second) = some.split_once('\n').expect("two lines");
        assert_eq!(first, "[!] gramjet: 1 of 3 seeds conform to the grammar; the others are hardly used");
        assert!(second.starts_with("[!] gramjet: the first that does not: in/1: 2:8: byte 9: expected "), "{second}");
        assert!(report(&["["]).starts_with("[!] gramjet: no seed of 1 conforms to the grammar; "), "{some}");
    }
}
