//! Words of a dictionary in the format of AFL: a word a line, in quotation marks.

use std::fs;
use std::path::Path;

use crate::failure::Failure;

/// Reads the words of a file.
pub fn read(file: &Path) -> Result<Vec<Vec<u8>>, Failure> {
    let text = fs::read(file).map_err(|source| Failure::Read { what: format!("`{}`", file.display()), source })?;
    words(&text).map_err(|(line, what)| Failure::Usage(format!("{}:{line}: {what}", file.display())))
}

/// Returns the words of a dictionary, or the number of a line and what is wrong there. Names before words, and the
/// levels of AFL, mean nothing here.
fn words(text: &[u8]) -> Result<Vec<Vec<u8>>, (usize, &'static str)> {
    let lines = (1..).zip(text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with(b"#"));
    lines.map(|(number, line)| word(line).map_err(|what| (number, what))).collect()
}

fn word(line: &[u8]) -> Result<Vec<u8>, &'static str> {
    let begin = line.iter().position(|&byte| byte == b'"').ok_or("a word stands in quotation marks: name=\"word\"")?;
    let quoted = line[begin + 1..].strip_suffix(b"\"").ok_or("the quotation mark at the end of the line is missing")?;
    let (mut word, mut rest) = (Vec::new(), quoted);
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'\\' {
            word.push(first);
            continue;
        }
        match rest {
            [escaped @ (b'\\' | b'"'), after @ ..] => {
                word.push(*escaped);
                rest = after;
            }
            [b'x', high, low, after @ ..] => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let (high, low) = digit(*high).zip(digit(*low)).ok_or("two hexadecimal digits follow \\x")?;
                word.push((16 * high + low) as u8);
                rest = after;
            }
            _ => return Err("after a backslash comes \\, \" or x with two hexadecimal digits"),
        }
    }
    if word.is_empty() { Err("the word is empty") } else { Ok(word) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_afl_reads_them() {
        let text = b"# numbers\nnull=\"null\"\r\n\n  \"a\\\\b\\\"\\x00\\xfF\"\nkw@2=\"x=\\\"y\\\"\"\n";
        assert_eq!(words(text), Ok(vec![b"null".to_vec(), b"a\\b\"\0\xFF".to_vec(), b"x=\"y\"".to_vec()]));
        let wrong = |text: &str| words(text.as_bytes()).expect_err("it is wrong").0;
        assert_eq!(wrong("\"a\"\nb"), 2);
        assert_eq!(wrong("\"a"), 1);
        assert_eq!(wrong("\n\n\"\\q\""), 3);
        assert_eq!(wrong("\"\\x1\""), 1);
        assert_eq!(wrong("\"\""), 1);
    }
}
