//! Well-known predicates: those of the helper classes that the public collection grammars-v4 shares between its
//! grammars, and plain questions about the next token. One table gives their meaning, as far as a grammar can express
//! it. Other predicates are reported and left out.

use super::asked;
use super::conditions::{ADAPTOR, Condition, Special, TokenName};
use super::escapes;

/// The tokens of XPath 4 and XQuery 4 that name no function.
const XPATH_WORDS: &[&str] = &[
    "KW_ARRAY",
    "KW_ATTRIBUTE",
    "KW_COMMENT",
    "KW_DOCUMENT_NODE",
    "KW_ELEMENT",
    "KW_EMPTY_SEQUENCE",
    "KW_FN",
    "KW_FUNCTION",
    "KW_GNODE",
    "KW_IF",
    "KW_ITEM",
    "KW_JNODE",
    "KW_MAP",
    "KW_NAMESPACE_NODE",
    "KW_NODE",
    "KW_PROCESSING_INSTRUCTION",
    "KW_RECORD",
    "KW_SCHEMA_ATTRIBUTE",
    "KW_SCHEMA_ELEMENT",
    "KW_SWITCH",
    "KW_TEXT",
    "KW_TYPESWITCH",
];

/// The words that begin a type or a declaration in C, ...
const C_SPECIFIERS: &[&str] = &[
    "__declspec",
    "__extension__",
    "__m128",
    "__m128d",
    "__m128i",
    "__stdcall",
    "_Atomic",
    "_Complex",
    "_Noreturn",
    "auto",
    "char",
    "const",
    "constexpr",
    "double",
    "enum",
    "extern",
    "float",
    "int",
    "long",
    "register",
    "short",
    "signed",
    "static",
    "struct",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
];
/// ... and the tokens of several such words.
const C_SPECIFIER_NAMES: &[&str] = &["Bool", "Inline", "ThreadLocal", "Typeof", "Typeof_unqual"];

/// Returns the condition of a predicate in a parser rule, given its code without braces.
pub(super) fn of_parser(code: &str) -> Option<Condition> {
    let code = normal(code);
    match code.as_str() {
        "notLineTerminator()" | "!here(LineTerminator)" | "!lineTerminatorAhead()" => Some(Condition::NoLineBreak),
        // BCPL: it checks a token that is not a line break.
        "isNotNl()" => Some(Condition::Always),
        "lineTerminatorAhead()" | "here(LineTerminator)" | "isNl()" => Some(Condition::LineBreak),
        "closeBrace()" => Some(next(&["}"], false)),
        "closingBracket()" => Some(next(&[")", "}"], true)),
        "notOpenBraceAndNotFunction()" => Some(not_next(0, &["{", "function"])),
        // Go: a `chan` without `<-` after it.
        "isNotReceive()" => Some(not_next(1, &["<-"])),
        // Go: names of built-in functions are drawn only by chance.
        "isTypeArgument()" => Some(Condition::Never),
        "isExpressionArgument()" => Some(Condition::Always),
        "isConversion()" => Some(named(true, "IDENTIFIER")),
        // Go: `a.b` is a method expression, unless `a` is an import.
        "isOperand()" => Some(Condition::NotPair { skip: 0, first: name("IDENTIFIER"), seconds: texts(&["."]) }),
        "isMethodExpr()" => {
            Some(Condition::Next { skip: 0, tokens: vec![text("*"), name("IDENTIFIER")], end: false, negated: false })
        }
        // XPath and XQuery: words that are not function names before `(`.
        "isFuncCall()" => Some(not_named(XPATH_WORDS)),
        // C: type names are drawn only by chance, so only the words of the language begin a type.
        "isTypedefName()" => Some(Condition::Never),
        "isDeclarationSpecifier()" | "isTypeSpecifierQualifier()" => Some(next_of(0, c_specifiers(), false)),
        "isDeclaration()" => Some(next_of(0, c_declarations(), false)),
        "isStatement()" => Some(next_of(0, c_declarations(), true)),
        "isSomethingOfTypeName()" => Some(next_of(2, c_specifiers(), false)),
        "!isSomethingOfTypeName()" => Some(Condition::NotPair { skip: 1, first: text("("), seconds: c_specifiers() }),
        "isCast()" | "isInitDeclaratorList()" | "isNullStructDeclarationListExtension()" => Some(Condition::Always),
        // JSX: a grammar cannot say that a closing tag has the name of the opening one.
        _ if code.starts_with("popHtmlTagName(") => Some(Condition::Never),
        _ => asked_text(&code).or_else(|| asked::condition(&code)).or_else(|| neighbours(&code)),
    }
}

/// Returns the condition of a predicate in a lexer rule.
pub(super) fn of_lexer(code: &str) -> Option<Condition> {
    let code = normal(code);
    match code.as_str() {
        // JavaScript: texts begin in non-strict mode, ECMAScript texts in strict mode. Directives are drawn only by
        // chance.
        "isStrictMode()" | "!strictMode" => Some(Condition::Never),
        "!isStrictMode()" | "strictMode" => Some(Condition::Always),
        // JSX: `<` after an operand is an operator. Only that is drawn.
        "isJsxPossible()" => Some(Condition::Never),
        "isStartOfFile()" | "isLine1Col0()" => Some(Condition::Never),
        _ => java_identifier(&code),
    }
}

/// An action of the lexer that stands for a command.
pub(super) struct Helper {
    pub(super) name: &'static str,
    pub(super) argument: Option<&'static str>,
    pub(super) special: Option<Special>,
}

/// Returns the effect of a lexer's action, given the lexer's superclass: the actions of ANTLR's own grammars.
pub(super) fn command(superclass: &str, code: &str) -> Option<Helper> {
    if superclass != ADAPTOR {
        return None;
    }
    let (name, argument, special) = match normal(code).trim_end_matches(';') {
        "handleEndAction()" => ("popMode", None, Some(Special::Nested("ACTION_CONTENT"))),
        "handleEndArgument()" => ("popMode", None, Some(Special::Nested("ARGUMENT_CONTENT"))),
        "handleBeginArgument()" => ("pushMode", Some("Argument"), Some(Special::Argument)),
        "handleOptionsLBrace()" => ("type", Some("LBRACE"), None),
        _ => return None,
    };
    Some(Helper { name, argument, special })
}

/// Returns the code in the form of the table: without blanks outside of quotes, and without the language's prefix of
/// the name, which begins with a small letter.
fn normal(code: &str) -> String {
    let mut quote = None;
    let is_kept = |character: &char| {
        if matches!(character, '"' | '\'') && quote.is_none_or(|open| open == *character) {
            quote = if quote.is_none() { Some(*character) } else { None };
        }
        quote.is_some() || !character.is_whitespace()
    };
    let text: String = code.chars().filter(is_kept).collect();
    let (negation, name) = match text.strip_prefix('!') {
        Some(rest) => ("!", rest),
        None => ("", text.as_str()),
    };
    let name =
        ["this.", "self.", "base.", "$this->", "this->"].iter().find_map(|own| name.strip_prefix(own)).unwrap_or(name);
    let mut characters = name.chars();
    let first: String = characters.next().map(|first| first.to_lowercase().collect()).unwrap_or_default();
    format!("{negation}{first}{}", characters.as_str())
}

fn text(text: &str) -> TokenName {
    TokenName::Text(text.to_string())
}

fn name(name: &str) -> TokenName {
    TokenName::Name(name.to_string())
}

fn texts(texts: &[&str]) -> Vec<TokenName> {
    texts.iter().copied().map(text).collect()
}

fn next(tokens: &[&str], end: bool) -> Condition {
    Condition::Next { skip: 0, tokens: texts(tokens), end, negated: false }
}

fn not_next(skip: usize, tokens: &[&str]) -> Condition {
    Condition::Next { skip, tokens: texts(tokens), end: false, negated: true }
}

fn next_of(skip: usize, tokens: Vec<TokenName>, negated: bool) -> Condition {
    Condition::Next { skip, tokens, end: false, negated }
}

/// Returns the tokens that begin a type or a storage class. Tokens with other spellings that the grammar's superclass
/// does not know are left out.
fn c_specifiers() -> Vec<TokenName> {
    texts(C_SPECIFIERS).into_iter().chain(C_SPECIFIER_NAMES.iter().copied().map(name)).collect()
}

/// Returns the tokens that begin a declaration.
fn c_declarations() -> Vec<TokenName> {
    c_specifiers().into_iter().chain(texts(&["[", "_Static_assert"])).collect()
}

fn named(negated: bool, name: &str) -> Condition {
    Condition::Next { skip: 0, tokens: vec![self::name(name)], end: false, negated }
}

fn not_named(names: &[&str]) -> Condition {
    let tokens = names.iter().copied().map(name).collect();
    Condition::Next { skip: 0, tokens, end: false, negated: true }
}

/// Returns the condition `next("get")` and `prev("of")`. An identifier is a certain word only by chance.
fn asked_text(code: &str) -> Option<Condition> {
    let (which, text) = code.strip_suffix("\")")?.split_once("(\"")?;
    if text.contains('"') {
        return None;
    }
    match which {
        "n" | "next" => Some(next(&[text], false)),
        "p" | "prev" => Some(Condition::Never),
        _ => None,
    }
}

/// Returns the condition `$first.index + 1 == $second.index`: nothing stands between two tokens. Separators stand only
/// where they are needed.
fn neighbours(code: &str) -> Option<Condition> {
    let label = |text: &str| {
        let name = text.strip_prefix('$')?.strip_suffix(".index")?;
        name.chars().all(|character| character == '_' || character.is_alphanumeric()).then_some(())
    };
    let (first, second) = code.split_once("==")?;
    label(first.strip_suffix("+1")?)?;
    label(second)?;
    Some(Condition::Always)
}

/// Returns the condition `Character.isJavaIdentifierStart(_input.LA(-1))` and similar calls. The lexer sees a surrogate
/// pair as one character.
fn java_identifier(code: &str) -> Option<Condition> {
    let asked = code.strip_prefix("character.")?.strip_suffix(')')?;
    let (which, of) = asked.split_once('(')?;
    let set = match which {
        "isJavaIdentifierStart" => r"[\p{L}\p{Nl}\p{Sc}\p{Pc}]",
        "isJavaIdentifierPart" => {
            r"[\p{L}\p{Nl}\p{Sc}\p{Pc}\p{Nd}\p{Mn}\p{Mc}\p{Cf}\u0000-\u0008\u000E-\u001B\u007F-\u009F]"
        }
        _ => return None,
    };
    match of {
        "_input.LA(-1)" => escapes::set(set, &mut escapes::Properties::new()).0.ok().map(Condition::Previous),
        "Character.toCodePoint((char)_input.LA(-2),(char)_input.LA(-1))" => Some(Condition::Never),
        _ => None,
    }
}
