//! A cursor over bytes.

/// The rest of a text to read.
pub struct Scan<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Scan<'t> {
    pub fn new(text: &'t [u8]) -> Scan<'t> {
        Scan { text, at: 0 }
    }

    pub fn rest(&self) -> &'t [u8] {
        &self.text[self.at..]
    }

    pub fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    pub fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    pub fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// Passes over `literal`, if it comes next.
    pub fn take(&mut self, literal: &[u8]) -> Option<()> {
        self.rest().starts_with(literal).then(|| self.at += literal.len())
    }

    /// Passes over bytes as long as `is_in` holds, and returns them.
    pub fn run(&mut self, is_in: impl Fn(u8) -> bool) -> &'t [u8] {
        let rest = self.rest();
        let len = rest.iter().position(|&byte| !is_in(byte)).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    /// Passes over all up to `end`, and over that; returns what is before it.
    pub fn until(&mut self, end: &[u8]) -> Option<&'t [u8]> {
        let rest = self.rest();
        let len = rest.windows(end.len()).position(|window| window == end)?;
        self.at += len + end.len();
        Some(&rest[..len])
    }

    pub fn space(&mut self) -> usize {
        self.run(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).len()
    }
}
