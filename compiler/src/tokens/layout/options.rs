//! The user's options for indentation.

use std::fmt;
use std::str::FromStr;

/// The tokens for the layout of lines, if any, and the indentation of blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Indent {
    /// Treats layout tokens as any other tokens.
    pub off: bool,
    /// The layout tokens. `None` takes those with usual names.
    pub names: Option<TokenNames>,
    /// The indentation of blocks.
    pub indentation: Indentation,
}

/// The tokens for the end of a line, and for the beginning and the end of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenNames {
    /// The end of a line, if there is a token for it.
    pub newline: Option<TokenName>,
    /// The beginning of a block.
    pub indent: TokenName,
    /// The end of a block.
    pub dedent: TokenName,
}

/// The name of a token, of at most [`TokenName::MAX`] bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TokenName {
    bytes: [u8; TokenName::MAX],
    len: u8,
}

impl TokenName {
    /// The greatest number of bytes.
    pub const MAX: usize = 63;

    /// Returns the name of a token. `None` if the name is too long, or empty.
    pub fn new(name: &str) -> Option<TokenName> {
        let mut bytes = [0; TokenName::MAX];
        bytes.get_mut(..name.len())?.copy_from_slice(name.as_bytes());
        (!name.is_empty()).then_some(TokenName { bytes, len: name.len() as u8 })
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.len)]).unwrap_or_default()
    }
}

impl fmt::Debug for TokenName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl Indent {
    /// The syntax of the option.
    pub const HELP: &'static str = "write `auto`, `none`, or some of `unit=4`, `unit=tab`, `levels=8`, \
                                    `tokens=NEWLINE/INDENT/DEDENT` with commas between";
}

/// Writes the option in its syntax.
impl fmt::Display for Indent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Indent { off, names, indentation: Indentation { levels, unit } } = self;
        if *off || *self == Indent::default() {
            return f.write_str(if *off { "none" } else { "auto" });
        }
        match unit {
            Unit::Spaces(count) => write!(f, "unit={count},levels={levels}")?,
            Unit::Tab => write!(f, "unit=tab,levels={levels}")?,
        }
        match names {
            Some(TokenNames { newline, indent, dedent }) => {
                let newline = newline.as_ref().map_or("", TokenName::as_str);
                write!(f, ",tokens={newline}/{}/{}", indent.as_str(), dedent.as_str())
            }
            None => Ok(()),
        }
    }
}

impl FromStr for Indent {
    type Err = String;

    fn from_str(text: &str) -> Result<Indent, String> {
        let mut indent = Indent::default();
        match text {
            "auto" => return Ok(indent),
            "none" => return Ok(Indent { off: true, ..indent }),
            _ => {}
        }
        for part in text.split(',') {
            match part.trim().split_once('=') {
                Some(("unit", unit)) => indent.indentation.unit = unit.parse()?,
                Some(("levels", levels)) => indent.indentation.levels = self::levels(levels)?,
                Some(("tokens", names)) => indent.names = Some(names.parse()?),
                _ => return Err(format!("`{}` says nothing about indentation: {}", part.escape_debug(), Indent::HELP)),
            }
        }
        Ok(indent)
    }
}

fn levels(text: &str) -> Result<u8, String> {
    let max = Indentation::MAX_LEVELS;
    let levels = text.parse().ok().filter(|levels| (1..=max).contains(levels));
    levels.ok_or_else(|| format!("there are 1 to {max} levels of indentation, not `{}`", text.escape_debug()))
}

impl FromStr for TokenNames {
    type Err = String;

    fn from_str(text: &str) -> Result<TokenNames, String> {
        let problem = || {
            format!(
                "three names with `/` between say the tokens, such as `NEWLINE/INDENT/DEDENT` (the first may be empty, each has at \
                 most {} bytes), not `{}`",
                TokenName::MAX,
                text.escape_debug()
            )
        };
        let [newline, indent, dedent] =
            <[&str; 3]>::try_from(text.split('/').collect::<Vec<&str>>()).map_err(|_| problem())?;
        let newline = if newline.is_empty() { None } else { Some(TokenName::new(newline).ok_or_else(problem)?) };
        let [indent, dedent] = [indent, dedent].map(TokenName::new);
        Ok(TokenNames { newline, indent: indent.ok_or_else(problem)?, dedent: dedent.ok_or_else(problem)? })
    }
}

/// The indentation of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Indentation {
    /// The deepest nesting of blocks.
    pub levels: u8,
    /// The blanks of a level.
    pub unit: Unit,
}

/// The blanks of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// This many spaces, at least one.
    Spaces(u8),
    /// A tabulator.
    Tab,
}

impl Indentation {
    /// The greatest number of levels.
    pub const MAX_LEVELS: u8 = 100;
    /// The widest level, in spaces.
    pub const MAX_SPACES: u8 = 16;

    /// Returns the blanks of a level.
    pub(super) fn blanks(&self, level: u8) -> Vec<u8> {
        let (blank, count) = match self.unit {
            Unit::Spaces(count) => (b' ', usize::from(count)),
            Unit::Tab => (b'\t', 1),
        };
        vec![blank; count * usize::from(level)]
    }
}

impl Default for Indentation {
    fn default() -> Self {
        Indentation { levels: 8, unit: Unit::Spaces(4) }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unit::Spaces(1) => f.write_str("1 space"),
            Unit::Spaces(count) => write!(f, "{count} spaces"),
            Unit::Tab => f.write_str("a tabulator"),
        }
    }
}

impl FromStr for Unit {
    type Err = String;

    fn from_str(text: &str) -> Result<Unit, String> {
        if text == "tab" {
            return Ok(Unit::Tab);
        }
        let count = text.parse().ok().filter(|count| (1..=Indentation::MAX_SPACES).contains(count));
        count.map(Unit::Spaces).ok_or_else(|| {
            format!(
                "a level is indented by 1 to {} spaces or by `tab`, not `{}`",
                Indentation::MAX_SPACES,
                text.escape_debug()
            )
        })
    }
}
