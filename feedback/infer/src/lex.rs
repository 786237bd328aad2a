//! Tokens by their look: numbers, words, texts in quotation marks, marks and white space.

use std::ops::Range;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum TokenKind {
    Number,
    /// A word, or a text that was found to be one token.
    Word,
    /// A text in quotation marks of this kind.
    Quoted(u8),
    /// Punctuation: a single character, or an operator of several.
    Mark,
    /// Text of any characters.
    Text,
    /// White space, also with line ends within brackets.
    Space,
    /// White space with the end of a line, outside of brackets.
    Line,
}

impl TokenKind {
    pub fn is_blank(self) -> bool {
        matches!(self, TokenKind::Space | TokenKind::Line)
    }
}

/// A token, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub span: Range<usize>,
}

/// Operators of several characters, the longest first.
pub(crate) const OPERATORS: [&[u8]; 26] = [
    b"...", b"===", b"!==", b"<->", b"<<=", b">>=", b"==", b"!=", b"<=", b">=", b"~=", b"&&", b"||", b"->", b"=>",
    b"::", b"..", b":=", b"**", b"<<", b">>", b"+=", b"-=", b"*=", b"/=", b"//",
];

/// Returns the bracket that closes.
pub(crate) fn closing(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        _ => b'}',
    }
}

/// Returns true if two such characters side by side belong to one word.
pub(crate) fn is_wordish(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Returns true if the parts would become one word.
pub(crate) fn join(before: &[u8], after: &[u8]) -> bool {
    let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| is_wordish(*byte));
    is_part(before.last()) && is_part(after.first())
}

/// Marks that texts can stand between.
pub(crate) const QUOTES: &[u8] = b"\"'";

/// Returns the tokens of a text. All bytes are in one. Texts stand between these quotation marks.
pub(crate) fn tokens(text: &[u8], quotes: &[u8]) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    let mut follows_operand = false;
    while at < text.len() {
        let (kind, end) = next(text, at, follows_operand, quotes);
        if !kind.is_blank() {
            follows_operand = kind != TokenKind::Mark || b")]}".contains(&text[at]);
        }
        tokens.push(Token { kind, span: at..end });
        at = end;
    }
    let partners = partners(text, &tokens);
    let mut depth = 0;
    for (number, token) in tokens.iter_mut().enumerate() {
        match partners[number] {
            Some(partner) if partner > number => depth += 1,
            Some(_) => depth -= 1,
            None if token.kind == TokenKind::Space && depth == 0 && text[token.span.clone()].contains(&b'\n') => {
                token.kind = TokenKind::Line;
            }
            None => {}
        }
    }
    tokens
}

fn next(text: &[u8], at: usize, follows_operand: bool, quotes: &[u8]) -> (TokenKind, usize) {
    let byte = text[at];
    let is_sign = matches!(byte, b'-' | b'+') && !follows_operand;
    if byte.is_ascii_whitespace() {
        return (TokenKind::Space, run(text, at, u8::is_ascii_whitespace));
    }
    let is_number = byte.is_ascii_digit() || is_sign && text.get(at + 1).is_some_and(u8::is_ascii_digit);
    if is_number && let Some(end) = end_of_number(text, at + usize::from(is_sign)) {
        return (TokenKind::Number, end);
    }
    if is_wordish(byte) {
        return (TokenKind::Word, run(text, at, |&byte| is_wordish(byte)));
    }
    if quotes.contains(&byte)
        && let Some(end) = end_of_quoted(text, at)
    {
        return (TokenKind::Quoted(byte), end);
    }
    let operator = OPERATORS.iter().find(|operator| text[at..].starts_with(operator));
    (TokenKind::Mark, at + operator.map_or(1, |operator| operator.len()))
}

fn run(text: &[u8], start: usize, is_part: impl Fn(&u8) -> bool) -> usize {
    start + text[start..].iter().take_while(|byte| is_part(byte)).count()
}

/// Returns the end of a number that begins with a digit: with a fraction and an exponent. Returns `None` if letters
/// follow, as in `2nd`.
fn end_of_number(text: &[u8], start: usize) -> Option<usize> {
    let digits = |at: usize| run(text, at, u8::is_ascii_digit);
    let whole = digits(start);
    let mut end = whole;
    if text.get(end) == Some(&b'.') && digits(end + 1) > end + 1 {
        end = digits(end + 1);
        // Three numbers with points between them are a version or an address.
        if text.get(end) == Some(&b'.') && digits(end + 1) > end + 1 || start > 1 && is_part_of_address(text, start) {
            end = whole;
        }
    }
    if let Some(b'e' | b'E') = text.get(end) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'-' | b'+')));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    let is_end = !text.get(end).is_some_and(|byte| is_wordish(*byte));
    is_end.then_some(end)
}

/// Returns true if a number before this one ends with a point.
fn is_part_of_address(text: &[u8], start: usize) -> bool {
    text[start - 1] == b'.' && text[start - 2].is_ascii_digit()
}

/// Returns the end of a text in quotation marks. One that begins with `"` may have line ends. Two marks in a row stand
/// for one.
fn end_of_quoted(text: &[u8], start: usize) -> Option<usize> {
    let quote = text[start];
    let mut at = start + 1;
    while at < text.len() && (quote == b'"' || text[at] != b'\n') {
        match text[at] {
            b'\\' => at += 2,
            byte if byte == quote && text.get(at + 1) == Some(&quote) && at > start + 1 => at += 2,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

/// Returns the number of the partner for each token that is a bracket with a partner.
pub(crate) fn partners(text: &[u8], tokens: &[Token]) -> Vec<Option<usize>> {
    let mut partners = vec![None; tokens.len()];
    let mut open: Vec<usize> = Vec::new();
    for (number, token) in tokens.iter().enumerate() {
        let byte = text[token.span.start];
        match (token.kind, byte) {
            (TokenKind::Mark, b'(' | b'[' | b'{') => open.push(number),
            (TokenKind::Mark, b')' | b']' | b'}') => {
                let matching = open.iter().rposition(|&at| closing(text[tokens[at].span.start]) == byte);
                if let Some(at) = matching {
                    partners[open[at]] = Some(number);
                    partners[number] = Some(open[at]);
                    open.truncate(at);
                }
            }
            _ => {}
        }
    }
    partners
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<(TokenKind, &str)> {
        tokens(text.as_bytes(), QUOTES).into_iter().map(|token| (token.kind, &text[token.span])).collect()
    }

    #[test]
    fn numbers_have_signs_fractions_and_exponents() {
        let of_kind = |kind, text| -> Vec<&str> {
            shown(text).into_iter().filter(|token| token.0 == kind).map(|token| token.1).collect()
        };
        assert_eq!(of_kind(TokenKind::Number, "-1.5e-3+2-3*-4"), ["-1.5e-3", "2", "3", "-4"]);
        assert_eq!(of_kind(TokenKind::Number, "10.0.0.7"), ["10", "0", "0", "7"]);
        assert_eq!(of_kind(TokenKind::Word, "2nd x_1 0x1F 1"), ["2nd", "x_1", "0x1F"]);
    }

    #[test]
    fn lines_end_outside_of_brackets_only() {
        let kinds: Vec<TokenKind> = shown("a\n(b\nc)").into_iter().map(|token| token.0).collect();
        assert_eq!(
            kinds,
            [
                TokenKind::Word,
                TokenKind::Line,
                TokenKind::Mark,
                TokenKind::Word,
                TokenKind::Space,
                TokenKind::Word,
                TokenKind::Mark
            ]
        );
    }

    #[test]
    fn quotation_marks_pair() {
        assert_eq!(shown("\"a\"\"b\n\""), [(TokenKind::Quoted(b'"'), "\"a\"\"b\n\"")]);
        assert_eq!(
            shown(r#"'\'' """#),
            [(TokenKind::Quoted(b'\''), r"'\''"), (TokenKind::Space, " "), (TokenKind::Quoted(b'"'), "\"\"")]
        );
        assert_eq!(shown("'a")[0], (TokenKind::Mark, "'"));
    }
}
