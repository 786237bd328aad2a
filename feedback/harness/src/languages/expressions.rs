//! Regular expressions of a function's code, which its worker tells when it has loaded it
//! (`workers/expressions.py`, `workers/expressions.js`). What a worker tells is not trusted.

/// At most this many expressions of at most this many bytes are taken.
const MOST: usize = 1024;
const LONGEST: usize = 4096;

/// A regular expression in the syntax of the language that it is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegularExpression {
    /// The expression itself, without delimiters.
    pub pattern: String,
    /// The letters of its flags, such as `i` and `x`, as JavaScript and Python name them.
    pub flags: String,
}

/// Adds the expression of a worker's message: its flags, a solidus, and the pattern.
pub(super) fn add(body: &[u8], known: &mut Vec<RegularExpression>) {
    let text = std::str::from_utf8(body).ok();
    let Some((flags, pattern)) = text.and_then(|text| text.split_once('/')) else { return };
    let is_flag = |letter: char| letter.is_ascii_lowercase();
    let is_meant = known.len() < MOST && !pattern.is_empty() && pattern.len() <= LONGEST && flags.chars().all(is_flag);
    if is_meant {
        known.push(RegularExpression { pattern: pattern.into(), flags: flags.into() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_worker_tells_is_bounded() {
        let mut known = Vec::new();
        for body in [&b"ix/a/b*"[..], b"/x", b"x", b"I/x", b"/\xff", b"i/"] {
            add(body, &mut known);
        }
        let expected = [("a/b*", "ix"), ("x", "")];
        assert_eq!(
            known,
            expected.map(|(pattern, flags)| RegularExpression { pattern: pattern.into(), flags: flags.into() })
        );
        add(&[b'/'; LONGEST + 2], &mut known);
        assert_eq!(known.len(), 2);
        (0..2 * MOST).for_each(|_| add(b"/x", &mut known));
        assert_eq!(known.len(), MOST);
    }
}
