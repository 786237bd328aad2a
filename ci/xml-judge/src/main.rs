//! Judges XML documents by quick-xml: `xml-judge` reads documents, each ended by a NUL, from standard input. It writes
//! `accepted N of M` and a line for each of the first documents that are refused.

use std::io::{Read, Write};
use std::process::ExitCode;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// More refused documents are not shown.
const SHOWN: usize = 5;

/// Reads the attributes of a tag, of which no two may have one name.
fn read_attributes(tag: &BytesStart<'_>) -> Result<(), String> {
    for attribute in tag.attributes() {
        attribute.map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Reads a document up to its end. Its tags must match.
fn read(document: &[u8]) -> Result<(), String> {
    let mut reader = Reader::from_reader(document);
    let config = reader.config_mut();
    (config.check_end_names, config.check_comments, config.allow_unmatched_ends) = (true, true, false);
    let mut open = 0u64;
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Event::Eof if open > 0 => return Err("a tag is not closed".to_string()),
            Event::Eof => return Ok(()),
            Event::Start(tag) => {
                open += 1;
                read_attributes(&tag)?;
            }
            Event::Empty(tag) => read_attributes(&tag)?,
            Event::End(_) => open -= 1,
            _ => {}
        }
    }
}

fn judge() -> Result<bool, String> {
    let mut documents = Vec::new();
    std::io::stdin().read_to_end(&mut documents).map_err(|error| error.to_string())?;
    let documents = documents.strip_suffix(b"\0").unwrap_or(&documents);
    let (mut count, mut refused) = (0usize, Vec::new());
    for document in documents.split(|&byte| byte == 0) {
        count += 1;
        if let Err(why) = read(document) {
            refused.push(format!("{why}: {}\n", document.escape_ascii()));
        }
    }
    let shown: String = refused.iter().take(SHOWN).map(String::as_str).collect();
    let report = format!("accepted {} of {count}\n{shown}", count - refused.len());
    std::io::stdout().write_all(report.as_bytes()).map_err(|error| error.to_string())?;
    Ok(refused.is_empty())
}

fn main() -> ExitCode {
    match judge() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("xml-judge: {problem}");
            ExitCode::FAILURE
        }
    }
}
