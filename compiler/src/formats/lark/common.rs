//! The terminals of the modules that come with Lark, such as `common`, rewritten in Lark's notation.

/// Name and definition of each terminal of `common`. They refer only to each other.
const COMMON: &[(&str, &str)] = &[
    ("DIGIT", "\"0\"..\"9\""),
    ("HEXDIGIT", "/[0-9a-fA-F]/"),
    ("INT", "/[0-9]+/"),
    ("SIGNED_INT", "/[+-]?[0-9]+/"),
    ("DECIMAL", "/[0-9]+\\.[0-9]*|\\.[0-9]+/"),
    ("_EXP", "/[eE][+-]?[0-9]+/"),
    ("FLOAT", "INT _EXP | DECIMAL _EXP?"),
    ("SIGNED_FLOAT", "/[+-]?/ FLOAT"),
    ("NUMBER", "FLOAT | INT"),
    ("SIGNED_NUMBER", "/[+-]?/ NUMBER"),
    ("ESCAPED_STRING", "/\"([^\"\\\\\\n]|\\\\[^\\n])*\"/"),
    ("LCASE_LETTER", "\"a\"..\"z\""),
    ("UCASE_LETTER", "\"A\"..\"Z\""),
    ("LETTER", "/[A-Za-z]/"),
    ("WORD", "/[A-Za-z]+/"),
    ("CNAME", "/[A-Za-z_][A-Za-z_0-9]*/"),
    ("WS_INLINE", "/[ \\t]+/"),
    ("WS", "/[ \\t\\f\\r\\n]+/"),
    ("CR", "/\\r/"),
    ("LF", "/\\n/"),
    ("NEWLINE", "/(\\r?\\n)+/"),
    ("SH_COMMENT", "/#[^\\n]*/"),
    ("CPP_COMMENT", "/\\/\\/[^\\n]*/"),
    ("C_COMMENT", "/\\/\\*([^*]|\\*[^*\\/])*\\*\\//"),
    ("SQL_COMMENT", "/--[^\\n]*/"),
];

/// Name and definition of each terminal of `unicode`.
const UNICODE: &[(&str, &str)] = &[("WS_INLINE", "/[ \\t\\xa0]+/"), ("WS", "/[ \\t\\xa0\\f\\r\\n]/+")];

/// Returns the text of a module that comes with Lark.
pub(super) fn module(name: &str) -> Option<String> {
    let terminals = match name {
        "common" => COMMON,
        "unicode" => UNICODE,
        _ => return None,
    };
    Some(terminals.iter().map(|(name, body)| format!("{name}: {body}\n")).collect())
}
