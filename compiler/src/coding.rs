//! Codings: ways to write bytes as other bytes, such as base64 or zlib.
//!
//! A coding belongs to the choice map: the same bytes are written in the same way by every version. Other ways to
//! write them are read, too.

mod bases;
mod bytes;
mod deflate;
mod escapes;
mod framing;

pub use bytes::Bytes;

/// A way to write bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Coding {
    /// Pairs of hexadecimal digits, with capital letters (RFC 4648, section 8).
    Base16,
    /// Pairs of hexadecimal digits, with small letters.
    Base16Lower,
    /// Five bits in a character (RFC 4648, section 6).
    Base32,
    /// Six bits in a character (RFC 4648, section 4).
    Base64,
    /// Six bits in a character, with `-` and `_`, and without padding (RFC 4648, section 5).
    Base64Url,
    /// Percent signs and two digits for all but unreserved characters (RFC 3986, section 2).
    Percent,
    /// The inside of a string in JSON (RFC 8259, section 7).
    JsonString,
    /// Text and attributes in XML: `&lt;` and the like (XML 1.0, section 2.4).
    XmlText,
    /// The inside of a string in C (C17, section 6.4.5).
    CString,
    /// Quoted-printable, also for the ends of lines (RFC 2045, section 6.7).
    QuotedPrintable,
    /// Chunks of at most 64 bytes (RFC 9112, section 7.1).
    Chunked,
    /// A deflate stream (RFC 1951), compressed or only stored.
    Deflate(Level),
    /// A zlib stream (RFC 1950), compressed or only stored.
    Zlib(Level),
    /// A gzip member (RFC 1952), compressed or only stored.
    Gzip(Level),
}

/// Effort of a compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Bytes are stored as they are.
    Stored,
    /// Bytes that were there before are referred to.
    Compressed,
}

impl Coding {
    /// All codings.
    pub const ALL: [Coding; 17] = [
        Coding::Base16,
        Coding::Base16Lower,
        Coding::Base32,
        Coding::Base64,
        Coding::Base64Url,
        Coding::Percent,
        Coding::JsonString,
        Coding::XmlText,
        Coding::CString,
        Coding::QuotedPrintable,
        Coding::Chunked,
        Coding::Deflate(Level::Compressed),
        Coding::Deflate(Level::Stored),
        Coding::Zlib(Level::Compressed),
        Coding::Zlib(Level::Stored),
        Coding::Gzip(Level::Compressed),
        Coding::Gzip(Level::Stored),
    ];

    /// Returns the name that a grammar calls it by.
    pub fn name(self) -> &'static str {
        match self {
            Coding::Base16 => "base16",
            Coding::Base16Lower => "base16lower",
            Coding::Base32 => "base32",
            Coding::Base64 => "base64",
            Coding::Base64Url => "base64url",
            Coding::Percent => "percent",
            Coding::JsonString => "jsonstring",
            Coding::XmlText => "xmltext",
            Coding::CString => "cstring",
            Coding::QuotedPrintable => "quotedprintable",
            Coding::Chunked => "chunked",
            Coding::Deflate(Level::Compressed) => "deflate",
            Coding::Deflate(Level::Stored) => "deflate0",
            Coding::Zlib(Level::Compressed) => "zlib",
            Coding::Zlib(Level::Stored) => "zlib0",
            Coding::Gzip(Level::Compressed) => "gzip",
            Coding::Gzip(Level::Stored) => "gzip0",
        }
    }

    /// Returns the coding with this name.
    pub fn by_name(name: &str) -> Option<Coding> {
        Coding::ALL.into_iter().find(|coding| coding.name() == name)
    }

    /// Returns the names of all codings.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Coding::ALL.into_iter().map(Coding::name)
    }

    /// Appends some bytes, coded.
    pub fn encode(self, bytes: &[u8], output: &mut Vec<u8>) {
        match self {
            Coding::Base16 => bases::base16(bytes, *b"0123456789ABCDEF", output),
            Coding::Base16Lower => bases::base16(bytes, *b"0123456789abcdef", output),
            Coding::Base32 => bases::base32(bytes, output),
            Coding::Base64 => bases::base64(bytes, bases::BASE64, true, output),
            Coding::Base64Url => bases::base64(bytes, bases::BASE64_URL, false, output),
            Coding::Percent | Coding::JsonString | Coding::XmlText | Coding::CString => {
                bytes.iter().for_each(|&byte| output.extend_from_slice(escapes::of(self, byte).as_bytes()));
            }
            Coding::QuotedPrintable => framing::quoted_printable(bytes, output),
            Coding::Chunked => framing::chunked(bytes, output),
            Coding::Deflate(level) => deflate::deflate(bytes, level, output),
            Coding::Zlib(level) => deflate::zlib(bytes, level, output),
            Coding::Gzip(level) => deflate::gzip(bytes, level, output),
        }
    }

    /// Returns the most bytes that a byte of this set is coded as. Codings whose length follows from the number of
    /// bytes alone need no set.
    pub fn growth(self, of: Bytes) -> u8 {
        match self {
            Coding::Percent | Coding::JsonString | Coding::XmlText | Coding::CString => {
                of.iter().map(|byte| escapes::of(self, byte).as_bytes().len() as u8).max().unwrap_or(1)
            }
            Coding::QuotedPrintable => {
                if of.iter().all(framing::is_plain) {
                    1
                } else {
                    3
                }
            }
            _ => 1,
        }
    }

    /// Returns the greatest length of the coding of `len` bytes, each coded as at most `growth` bytes; saturates. It
    /// grows with their number.
    pub fn longest(self, len: u64, growth: u8) -> u64 {
        let escaped = len.saturating_mul(growth.into());
        match self {
            Coding::Base16 | Coding::Base16Lower => len.saturating_mul(2),
            Coding::Base32 => len.div_ceil(5).saturating_mul(8),
            Coding::Base64 => len.div_ceil(3).saturating_mul(4),
            Coding::Base64Url => (len / 3).saturating_mul(4).saturating_add([0, 2, 3][(len % 3) as usize]),
            Coding::Percent | Coding::JsonString | Coding::XmlText | Coding::CString => escaped,
            Coding::QuotedPrintable => framing::longest_quoted(escaped),
            Coding::Chunked => framing::longest_chunked(len),
            Coding::Deflate(_) => deflate::longest(len),
            Coding::Zlib(_) => deflate::longest(len).saturating_add(deflate::AROUND_ZLIB),
            Coding::Gzip(_) => deflate::longest(len).saturating_add(deflate::AROUND_GZIP),
        }
    }

    /// Returns the greatest number of bytes whose coding has at most `most` bytes. `None` if not even none fit.
    pub fn most_within(self, most: u64, growth: u8) -> Option<u64> {
        if self.longest(0, growth) > most {
            return None;
        }
        // No coding is shorter than what it stands for, as far as its longest form goes.
        let (mut least, mut beyond) = (0, most.saturating_add(1));
        while beyond - least > 1 {
            let middle = least + (beyond - least) / 2;
            if self.longest(middle, growth) <= most {
                least = middle;
            } else {
                beyond = middle;
            }
        }
        Some(least)
    }

    /// Returns the bytes that there can be if those of a set are coded.
    pub fn alphabet(self, of: Bytes) -> Bytes {
        match self {
            Coding::Base16 => Bytes::of(b"0123456789ABCDEF"),
            Coding::Base16Lower => Bytes::of(b"0123456789abcdef"),
            Coding::Base32 => Bytes::of(bases::BASE32).with(Bytes::of(b"=")),
            Coding::Base64 => Bytes::of(bases::BASE64).with(Bytes::of(b"=")),
            Coding::Base64Url => Bytes::of(bases::BASE64_URL),
            Coding::Percent | Coding::JsonString | Coding::XmlText | Coding::CString => {
                let all = of.iter().map(|byte| Bytes::of(escapes::of(self, byte).as_bytes()));
                all.fold(Bytes::NONE, Bytes::with)
            }
            Coding::QuotedPrintable => of
                .and(Bytes::from_iter((0..=255).filter(|&byte| framing::is_plain(byte))))
                .with(Bytes::of(b"=\r\n\t 0123456789ABCDEF")),
            Coding::Chunked => of.with(Bytes::of(b"\r\n0123456789abcdef")),
            Coding::Deflate(_) | Coding::Zlib(_) | Coding::Gzip(_) => Bytes::ALL,
        }
    }
}
