//! Makes texts shorter without a grammar: stretches of bytes are cut out, long ones first (Zeller & Hildebrandt,
//! *Simplifying and Isolating Failure-Inducing Input*, TSE 2002, without its tests of the stretches alone).

use gramjet_session::Trim;

/// Proposes shorter texts one by one, for callers that run the test themselves.
#[derive(Clone, Debug)]
pub struct Cut {
    best: Vec<u8>,
    proposed: Vec<u8>,
    /// The length of the stretches that are cut out, and where the next one begins.
    len: usize,
    at: usize,
    /// A stretch of one byte was cut out since all of them were tried.
    has_cut: bool,
}

impl Cut {
    /// Returns a search for shorter texts than this one.
    pub fn new(text: &[u8]) -> Cut {
        let len = text.len().div_ceil(2).max(1);
        Cut { best: text.to_vec(), proposed: Vec::new(), len, at: 0, has_cut: false }
    }

    /// Returns the next text to be tested; `None` at the end.
    pub fn propose(&mut self) -> Option<&[u8]> {
        if self.at >= self.best.len() {
            if self.len == 1 && !std::mem::take(&mut self.has_cut) || self.best.is_empty() {
                return None;
            }
            (self.len, self.at) = (self.len.div_ceil(2).min(self.best.len()), 0);
        }
        self.proposed.clear();
        self.proposed.extend_from_slice(&self.best[..self.at]);
        self.proposed.extend_from_slice(&self.best[self.best.len().min(self.at + self.len)..]);
        Some(&self.proposed)
    }

    /// Says whether the last proposal passes the test.
    pub fn judge(&mut self, holds: bool) {
        if holds {
            std::mem::swap(&mut self.best, &mut self.proposed);
            self.has_cut |= self.len == 1;
        } else {
            self.at += self.len;
        }
    }

    /// Returns the shortest text that passes the test.
    pub fn text(&self) -> &[u8] {
        &self.best
    }
}

/// A text that is made shorter: by its derivation, or where it has none by its bytes.
#[derive(Debug)]
pub enum Shorter {
    /// By its derivation.
    Parts(Box<Trim>),
    /// By its bytes.
    Bytes(Cut),
}

impl Shorter {
    /// Returns a search by the parts of the text, if it has some.
    pub fn new(parts: Option<Trim>, text: &[u8]) -> Shorter {
        parts.map_or_else(|| Shorter::Bytes(Cut::new(text)), |trim| Shorter::Parts(Box::new(trim)))
    }

    /// Returns the next text to be tested; `None` at the end.
    pub fn propose(&mut self) -> Option<&[u8]> {
        match self {
            Shorter::Parts(trim) => trim.propose(),
            Shorter::Bytes(cut) => cut.propose(),
        }
    }

    /// Says whether the last proposal passes the test.
    pub fn judge(&mut self, holds: bool) {
        match self {
            Shorter::Parts(trim) => trim.judge(holds),
            Shorter::Bytes(cut) => cut.judge(holds),
        }
    }

    /// Returns the simplest text that passes the test.
    pub fn text(&self) -> &[u8] {
        match self {
            Shorter::Parts(trim) => trim.text(),
            Shorter::Bytes(cut) => cut.text(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_test_does_not_need_is_cut_out() {
        let shortest = |text: &[u8], test: &dyn Fn(&[u8]) -> bool| {
            let (mut cut, mut tests) = (Cut::new(text), 0);
            while let Some(text) = cut.propose() {
                let holds = test(text);
                cut.judge(holds);
                tests += 1;
            }
            assert!(tests < 10 * text.len() + 10, "{tests}");
            cut.text().to_vec()
        };
        let count = |text: &[u8], wanted: u8| text.iter().filter(|&&byte| byte == wanted).count();
        let text = b"a long text with some brackets [ in ( it ] and more";
        assert_eq!(shortest(text, &|text| count(text, b'[') + count(text, b'(') == 2), b"[(");
        assert_eq!(shortest(text, &|_| true), b"");
        assert_eq!(shortest(text, &|_| false), text);
        assert_eq!(shortest(b"", &|_| true), b"");
        // A second pass over single bytes removes what the first one could not.
        assert_eq!(shortest(b"xy", &|text| text == b"x" || text.is_empty()), b"");
    }
}
