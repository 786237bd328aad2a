//! Programs: readers by recursive descent.

/// A text that is read from its beginning.
struct Text<'t>(&'t [u8]);

impl Text<'_> {
    fn take(&mut self, wanted: &[u8]) -> bool {
        let found = self.0.strip_prefix(wanted);
        self.0 = found.unwrap_or(self.0);
        found.is_some()
    }

    fn any_of(&mut self, wanted: &[u8]) -> bool {
        let is_there = self.0.first().is_some_and(|byte| wanted.contains(byte));
        self.0 = &self.0[usize::from(is_there)..];
        is_there
    }

    fn digits(&mut self) -> bool {
        let mut are_there = false;
        while self.any_of(b"0123456789") {
            are_there = true;
        }
        are_there
    }

    fn sum(&mut self, depth: u32) -> bool {
        self.product(depth)
            && loop {
                if !self.any_of(b"+-") {
                    break true;
                }
                if !self.product(depth) {
                    break false;
                }
            }
    }

    fn product(&mut self, depth: u32) -> bool {
        self.factor(depth)
            && loop {
                if !self.any_of(b"*/") {
                    break true;
                }
                if !self.factor(depth) {
                    break false;
                }
            }
    }

    /// Reads a number, or groups one after the other.
    fn factor(&mut self, depth: u32) -> bool {
        let mut has_group = false;
        while self.take(b"(") {
            if depth > 200 || !self.sum(depth + 1) || !self.take(b")") {
                return false;
            }
            has_group = true;
        }
        has_group || self.digits()
    }

    fn value(&mut self, depth: u32) -> bool {
        if depth > 200 {
            return false;
        }
        match self.0.first() {
            Some(b'[') => self.list(b"[", b"]", |text| text.value(depth + 1)),
            Some(b'{') => self.list(b"{", b"}", |text| text.string() && text.take(b":") && text.value(depth + 1)),
            Some(b'"') => self.string(),
            Some(b't') => self.take(b"true"),
            Some(b'f') => self.take(b"false"),
            Some(b'n') => self.take(b"null"),
            _ => self.number(),
        }
    }

    fn list(&mut self, open: &[u8], close: &[u8], item: impl Fn(&mut Self) -> bool) -> bool {
        self.take(open)
            && (self.take(close)
                || loop {
                    if !item(self) {
                        break false;
                    }
                    if self.take(close) {
                        break true;
                    }
                    if !self.take(b",") {
                        break false;
                    }
                })
    }

    fn string(&mut self) -> bool {
        let plain = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,:;!?";
        if !self.take(b"\"") {
            return false;
        }
        while self.any_of(plain) {}
        self.take(b"\"")
    }

    fn number(&mut self) -> bool {
        self.take(b"-");
        let is_zero = self.take(b"0");
        if !is_zero && !self.any_of(b"123456789") {
            return false;
        }
        if !is_zero {
            self.digits();
        }
        if self.take(b".") && !self.digits() {
            return false;
        }
        if !self.any_of(b"eE") {
            return true;
        }
        self.any_of(b"+-");
        self.digits()
    }
}

/// Returns true if the calculator takes a text: `(2+3)(4*5)(9-12)` is a product.
pub fn calculates(text: &[u8]) -> bool {
    let mut text = Text(text);
    text.sum(0) && text.0.is_empty()
}

/// Returns true if a text is JSON without blanks and escapes.
pub fn is_json(text: &[u8]) -> bool {
    let mut text = Text(text);
    text.value(0) && text.0.is_empty()
}
