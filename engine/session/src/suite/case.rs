//! A text of a suite.

/// A text of a suite, with the reason why it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The name, in letters, digits, dots, hyphens and underscores.
    pub name: String,
    /// The text.
    pub text: Vec<u8>,
    /// Whether the text is in the language.
    pub is_valid: bool,
    /// The reason why it is in the suite.
    pub why: String,
    /// The names of what no text before it has.
    pub covers: Vec<String>,
    /// The rule that it is about, if it is about one.
    pub rule: Option<String>,
    /// The kind of change or of boundary, if it has one.
    pub kind: Option<&'static str>,
    /// The place of the change in the text, in bytes.
    pub at: Option<usize>,
}

impl Case {
    /// The most characters of a name.
    const LONGEST_NAME: usize = 80;

    /// Returns a text of the language.
    pub(super) fn valid(name: &str, text: Vec<u8>, why: String) -> Case {
        let (covers, rule, kind, at) = (Vec::new(), None, None, None);
        Case { name: as_name(name), text, is_valid: true, why, covers, rule, kind, at }
    }
}

/// Returns a text as a part of a file's name.
fn as_name(text: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
    let plain = text.chars().map(|character| if is_plain(character) { character } else { '_' });
    plain.take(Case::LONGEST_NAME).collect()
}
