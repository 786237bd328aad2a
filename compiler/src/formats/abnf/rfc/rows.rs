//! The lines of an RFC, and what stands between its pages.

/// A line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'t> {
    /// The number of the line, from 1.
    pub(super) line: usize,
    /// The offset of its first byte.
    pub(super) start: usize,
    /// Its text, without the end of the line.
    pub(super) text: &'t str,
    /// The column of its first character.
    pub(super) indent: usize,
    pub(super) kind: Kind,
}

/// The kinds of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Blank,
    /// The last line of a page, or the first.
    Furniture,
    /// A comment of ABNF.
    Comment,
    Text,
}

impl<'t> Row<'t> {
    fn new(line: usize, start: usize, text: &'t str) -> Row<'t> {
        let text = text.trim_end();
        let words = text.trim_start();
        let kind = match words.as_bytes().first() {
            None => Kind::Blank,
            Some(b';') => Kind::Comment,
            Some(_) => Kind::Text,
        };
        Row { line, start, text, indent: columns(&text[..text.len() - words.len()]), kind }
    }

    /// Returns the text without the blanks at its beginning.
    pub(super) fn words(&self) -> &'t str {
        self.text.trim_start()
    }
}

/// Returns the number of columns that blanks take.
fn columns(blanks: &str) -> usize {
    const TAB: usize = 8;
    blanks.chars().filter(|&c| c != '\u{C}').fold(0, |column, c| match c {
        '\t' => (column / TAB + 1) * TAB,
        _ => column + 1,
    })
}

/// Returns the lines of a text, one for several in succession that are blank. Those that only pages have are marked.
pub(super) fn rows(text: &str) -> Vec<Row<'_>> {
    let mut start = 0;
    let mut rows: Vec<Row<'_>> = Vec::new();
    let mut between_pages = false;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let mut row = Row::new(number + 1, start, line);
        start += line.len();
        between_pages |= line.contains('\u{C}');
        if is_footer(row.text) {
            row.kind = Kind::Furniture;
            between_pages = true;
        } else if row.kind != Kind::Blank && std::mem::take(&mut between_pages) && is_header(row.text) {
            row.kind = Kind::Furniture;
        }
        let is_further = row.kind == Kind::Blank && rows.last().is_some_and(|last| last.kind == Kind::Blank);
        rows.extend((!is_further).then_some(row));
    }
    rows
}

/// Returns true if a text has pages: the lines at their ends are followed by the beginning of the next page, or there
/// are several.
pub(super) fn has_pages(text: &str) -> bool {
    let mut ended = 0;
    for line in text.lines() {
        if ended > 0 && (line.contains('\u{C}') || is_header(line)) {
            return true;
        }
        ended += u32::from(is_footer(line));
        if ended > 1 {
            return true;
        }
    }
    false
}

/// Returns true if a line has a sign that the first and last lines of pages do not have.
fn has_sign(line: &str) -> bool {
    line.contains(['=', ';', '"', '|'])
}

/// Returns true if a line is the last one of a page, such as `Author      Standards Track      [Page 12]`.
pub(super) fn is_footer(line: &str) -> bool {
    if has_sign(line) {
        return false;
    }
    let number = line.trim_end().strip_suffix(']').and_then(|line| line.rsplit_once('['));
    let number = number.and_then(|(_, page)| page.strip_prefix("Page ").or_else(|| page.strip_prefix("page ")));
    number.is_some_and(|number| {
        let number = number.trim();
        // The pages before the first chapter have Roman numbers.
        !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || matches!(c, 'i' | 'v' | 'x'))
    })
}

/// Returns true if a line at the top of a page is its header, such as `RFC 1234      Title      January 2005`.
fn is_header(line: &str) -> bool {
    let line = line.trim_start_matches('\u{C}');
    let is_year = |word: &str| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    let ends_with_year = line.split_whitespace().last().is_some_and(is_year);
    let begins = line.starts_with("RFC ") || line.to_ascii_lowercase().starts_with("internet-draft");
    !has_sign(line) && (begins || ends_with_year && !line.starts_with(char::is_whitespace))
}
