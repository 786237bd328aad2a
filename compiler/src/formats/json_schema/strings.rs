//! Strings: characters and escapes, patterns, formats, lengths.

use regex_syntax::hir::Hir;

use super::Reader;
use super::document::escaped;
use super::facts::{Count, Strings};
use super::language::{self, Part, Texts};
use super::make::Make;
use crate::ast::Expr;
use crate::charset::{CharSet, Unit};
use crate::formats::pattern;
use crate::ordered::Set;

/// The formats: the texts that are drawn, as a pattern, and those that are read if they are more.
const FORMATS: &[(&str, &str, &str)] = &[
    ("date", DATE, r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$"),
    (
        "time",
        r"^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$",
        r"^\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$",
    ),
    ("date-time", DATE_TIME, r"^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$"),
    (
        "duration",
        r"^P(\d{1,3}W|\d{1,2}Y(\d{1,2}M(\d{1,2}D)?)?|\d{1,2}M(\d{1,2}D)?|\d{1,3}D(T\d{1,2}H(\d{1,2}M)?)?|T\d{1,2}H(\d{1,2}M(\d{1,2}S)?)?|T\d{1,3}S)$",
        r"^P[0-9YMWDTHS]+$",
    ),
    (
        "email",
        r"^[a-z][a-z0-9]{0,9}([.+_-][a-z0-9]{1,8})?@[a-z][a-z0-9]{0,9}\.(com|org|net|example)$",
        r"^[^@]+@[^@]+$",
    ),
    ("idn-email", r"^[a-z][a-z0-9]{0,9}@[a-z][a-z0-9]{0,9}\.(com|org|net|example)$", r"^[^@]+@[^@]+$"),
    ("hostname", r"^[a-z]([a-z0-9]{0,8}[a-z0-9])?(\.[a-z]([a-z0-9]{0,8}[a-z0-9])?){1,3}$", r"^[A-Za-z0-9.-]+$"),
    ("idn-hostname", r"^[a-z]([a-z0-9]{0,8}[a-z0-9])?(\.[a-z]([a-z0-9]{0,8}[a-z0-9])?){1,3}$", r"^[^ /]+$"),
    ("ipv4", IPV4, ""),
    (
        "ipv6",
        r"^([0-9a-f]{1,4}(:[0-9a-f]{1,4}){7}|[0-9a-f]{1,4}(:[0-9a-f]{1,4}){0,4}::([0-9a-f]{1,4}(:[0-9a-f]{1,4})?)?|::1)$",
        r"^[0-9A-Fa-f:.]+$",
    ),
    ("uri", URI, r"^[A-Za-z][A-Za-z0-9+.-]*:.*$"),
    ("iri", URI, r"^[A-Za-z][A-Za-z0-9+.-]*:.*$"),
    (
        "uri-reference",
        r"^((https?://[a-z][a-z0-9]{0,8}\.(com|org|example))?(/[a-z0-9._~-]{1,8}){1,3}|[a-z][a-z0-9]{0,8}(/[a-z0-9]{1,8}){0,2})(\?[a-z]{1,4}=[a-z0-9]{0,4})?(#[a-z0-9]{1,6})?$",
        r"^.*$",
    ),
    ("iri-reference", r"^(/[a-z0-9._~-]{1,8}){1,3}(\?[a-z]{1,4}=[a-z0-9]{0,4})?(#[a-z0-9]{1,6})?$", r"^.*$"),
    ("uri-template", r"^(/[a-z0-9]{1,8}|/\{[a-z]{1,8}\}){1,4}$", r"^.*$"),
    (
        "uuid",
        r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
        r"^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$",
    ),
    ("json-pointer", r"^(/([a-z0-9]|~0|~1){0,6}){0,4}$", r"^(/([^/~]|~[01])*)*$"),
    ("relative-json-pointer", r"^(0|[1-9]\d?)(#|(/[a-z0-9]{1,6}){0,3})$", r"^\d+.*$"),
    ("regex", r"^\^?([a-z]|\[[a-z]-z\][*+?]?|\([a-z]{1,3}\|[a-z]{1,3}\)[*+?]?|\\d[+*]?){1,6}\$?$", r"^[\s\S]*$"),
    ("color", r"^#[0-9a-f]{6}$", r"^.*$"),
    (
        "byte",
        r"^([A-Za-z0-9+/]{4}){0,6}([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$",
        r"^[A-Za-z0-9+/=]*$",
    ),
    ("uri_reference", r"^(/[a-z0-9._~-]{1,8}){1,3}$", r"^.*$"),
    ("ip-address", IPV4, ""),
    ("host-name", r"^[a-z]([a-z0-9]{0,8}[a-z0-9])?(\.[a-z]([a-z0-9]{0,8}[a-z0-9])?){1,3}$", r"^[A-Za-z0-9.-]+$"),
];

const DATE: &str = r"^(19|20)\d\d-((0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)$";
const DATE_TIME: &str = r"^(19|20)\d\d-((0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$";
const IPV4: &str = r"^(\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])(\.(\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])){3}$";
const URI: &str = r"^(https?|ftp)://[a-z][a-z0-9]{0,8}(\.[a-z][a-z0-9]{0,5}){0,2}(:[1-9]\d{1,3})?(/[a-z0-9._~-]{1,8}){0,3}(\?[a-z]{1,4}=[a-z0-9]{0,4})?(#[a-z0-9]{1,6})?$";

/// The formats that are annotations: they say nothing of the text.
const ANNOTATIONS: [&str; 7] = ["password", "textarea", "string", "text", "markdown", "multiline", "binary"];

impl<'j> Reader<'j, '_> {
    /// Returns the strings that fulfil the facts and are none of the excluded ones. `None` if there is none.
    pub(super) fn string(&mut self, strings: &Strings<'j>, excluded: &Set<String>, make: Make) -> Option<Expr> {
        let texts = self.texts(strings, excluded, make)?;
        let inner = match texts {
            Some(texts) => self.encoded(&texts, make),
            None => {
                let Count { min, max } = strings.length;
                if (min, max) == (0, None) {
                    return Some(make.rule(self.shared("string")));
                }
                make.many(make.rule(self.shared("character")), min, max)
            }
        };
        Some(make.seq([make.text("\""), inner, make.text("\"")]))
    }

    /// Returns the texts that fulfil the facts. `Some(None)` if only their lengths matter, `None` if there is none.
    #[expect(clippy::option_option, reason = "no text differs from any text")]
    pub(super) fn texts(&mut self, strings: &Strings<'j>, excluded: &Set<String>, make: Make) -> Option<Option<Expr>> {
        let mut patterns: Vec<(Hir, bool)> = Vec::new();
        for fits in &strings.patterns {
            match pattern::ecma(fits.pattern) {
                Some(hir) => patterns.push((hir, fits.holds)),
                None => self.loose(fits.at, "is no regular expression that can be drawn"),
            }
        }
        let (drawn, read) = self.format(strings);
        let except: Vec<String> = excluded.iter().filter_map(|text| unquoted(text)).collect();
        let given = patterns.len();
        patterns.extend(drawn.map(|hir| (hir, true)));
        if patterns.is_empty() && except.is_empty() {
            return Some(None);
        }
        let whole = self.conjunction(&patterns, except.clone(), strings, make)?;
        patterns.truncate(given);
        // Texts of a format are many more than those that are drawn.
        let read = read.and_then(|hir| {
            patterns.push((hir, true));
            self.conjunction(&patterns, except, strings, make)
        });
        Some(whole.map(|whole| make.any_or_read([whole], read.flatten())))
    }

    /// Returns the pattern of the format, and that of the texts that are only read.
    fn format(&mut self, strings: &Strings<'j>) -> (Option<Hir>, Option<Hir>) {
        let Some((name, at)) = strings.format else { return (None, None) };
        let Some((_, drawn, read)) = FORMATS.iter().find(|(known, ..)| *known == name) else {
            if !ANNOTATIONS.contains(&name) {
                self.loose(at, &format!("names the format `{}`, which is not known", name.escape_debug()));
            }
            return (None, None);
        };
        (pattern::ecma(drawn), Some(*read).filter(|read| !read.is_empty()).and_then(pattern::ecma))
    }

    #[expect(clippy::option_option, reason = "no text differs from any text")]
    fn conjunction(
        &mut self,
        patterns: &[(Hir, bool)],
        except: Vec<String>,
        strings: &Strings<'j>,
        make: Make,
    ) -> Option<Option<Expr>> {
        let count = strings.length;
        if let ([(hir, true)], true) = (patterns, except.is_empty())
            && let Some(found) = language::found(hir, make.0)
        {
            let (min, max) = language::lengths(&found);
            if max.is_some_and(|max| max < count.min) || count.max.is_some_and(|most| min > most) {
                return None;
            }
            if let Some(texts) = language::of_length(&found, count) {
                return Some(Some(texts));
            }
        }
        let mut parts: Vec<Part<'_>> = patterns.iter().map(|(hir, holds)| Part::Found(hir, *holds)).collect();
        if !except.is_empty() {
            parts.push(Part::Except(except));
        }
        let is_bounded = (count.min, count.max) != (0, None);
        if is_bounded {
            parts.push(Part::Length(count));
        }
        match language::texts(&parts, make.0) {
            Texts::Some(texts) => return Some(Some(texts)),
            Texts::None => return None,
            Texts::Unknown => {}
        }
        // Without the lengths, which are put right as far as that is easy.
        parts.truncate(parts.len() - usize::from(is_bounded));
        if let Texts::Some(texts) = language::texts(&parts, make.0)
            && let Some(texts) = language::of_length(&texts, count)
        {
            return Some(Some(texts));
        }
        let at = strings.patterns.first().map(|fits| fits.at).or(strings.format.map(|(_, at)| at));
        self.loose(at.unwrap_or(self.current), "is too large beside the other conditions on this string");
        let first = patterns.iter().filter(|(_, holds)| *holds).find_map(|(hir, _)| language::found(hir, make.0));
        Some(first)
    }

    /// Returns an expression of texts as it stands in a string of JSON.
    pub(super) fn encoded(&mut self, texts: &Expr, make: Make) -> Expr {
        if let Some(bytes) = texts.as_bytes() {
            return make.text(String::from_utf8_lossy(bytes).chars().map(escaped).collect::<String>());
        }
        if let Some(set) = texts.as_class() {
            return self.encoded_class(set, make);
        }
        let mut whole = texts.clone();
        for child in whole.children_mut() {
            *child = self.encoded(child, make);
        }
        whole
    }

    fn encoded_class(&mut self, set: &CharSet, make: Make) -> Expr {
        let chars = |ranges: &[(u32, u32)]| CharSet::new(Unit::Char, ranges.iter().copied());
        let controls = chars(&[(0, 0x1F)]);
        let special = chars(&[(0, 0x1F), (0x22, 0x22), (0x5C, 0x5C)]);
        let plain = set.difference(&special);
        let shown = plain.intersection(&chars(&[language::PRINTABLE]));
        let escapes = set.intersection(&special);
        let has_controls = controls.difference(set).is_empty();
        let single = if has_controls { escapes.difference(&controls) } else { escapes };
        let mut others: Vec<Expr> = single.iter().filter_map(char::from_u32).map(|c| make.text(escaped(c))).collect();
        if has_controls {
            others.push(make.rule(self.shared("control")));
        }
        if shown.is_empty() {
            if !plain.is_empty() {
                others.insert(0, make.set(plain));
            }
            return make.any(others);
        }
        let rest = plain.difference(&shown);
        let rest = (!rest.is_empty()).then(|| make.set(rest));
        make.any_or_read([make.set(shown)], others.into_iter().chain(rest))
    }
}

/// Returns the text of a string of JSON as [`super::document::Document::canonical`] writes it.
fn unquoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut out = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        out.push(match (c, c == '\\') {
            (_, false) => c,
            _ => match chars.next()? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'b' => '\u{8}',
                'f' => '\u{C}',
                'u' => {
                    let code: String = chars.by_ref().take(4).collect();
                    char::from_u32(u32::from_str_radix(&code, 16).ok()?)?
                }
                other => other,
            },
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_formats_are_read() {
        for (name, drawn, read) in FORMATS {
            assert!(
                pattern::ecma(drawn).is_some_and(|hir| language::found(&hir, Default::default()).is_some()),
                "{name}"
            );
            assert!(read.is_empty() || pattern::ecma(read).is_some(), "{name}");
        }
    }
}
