//! The terminals that `%import common.NAME` brings, defined anew in Lark's notation.

/// Name and definition of each; they refer to no others than these.
const TERMINALS: &[(&str, &str)] = &[
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

/// The definition of the terminal `name` of Lark's `common`.
pub(super) fn by_name(name: &str) -> Option<&'static str> {
    TERMINALS.iter().find(|(known, _)| *known == name).map(|(_, definition)| *definition)
}
