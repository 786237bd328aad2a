//! JSON texts (RFC 8259).

use crate::scan::Scan;

/// Deeper texts are refused.
const MAX_DEPTH: usize = 500;

pub enum Value {
    Scalar,
    Text(Text),
    Array(Vec<Value>),
    Object(Vec<(Text, Value)>),
}

#[derive(PartialEq)]
pub struct Text {
    bytes: Vec<u8>,
    escaped: bool,
}

pub fn parse(text: &[u8]) -> Option<Value> {
    std::str::from_utf8(text).ok()?;
    let mut scan = Scan::new(text);
    let value = element(&mut scan, 0)?;
    scan.is_at_end().then_some(value)
}

/// Loads a value. The bug is here.
pub fn load(value: &Value) {
    load_in(value, 0);
}

fn load_in(value: &Value, arrays: usize) {
    match value {
        Value::Array(elements) => elements.iter().for_each(|element| load_in(element, arrays + 1)),
        Value::Object(members) => {
            for (number, (name, value)) in members.iter().enumerate() {
                let is_again = members[..number].iter().any(|(other, _)| other.bytes == name.bytes);
                if is_again && arrays >= 12 {
                    if let Value::Text(text) = value {
                        if text.escaped {
                            panic!("planted: the old value is freed with the escapes of the new one");
                        }
                    }
                }
                load_in(value, arrays);
            }
        }
        Value::Scalar | Value::Text(_) => {}
    }
}

fn element(scan: &mut Scan<'_>, depth: usize) -> Option<Value> {
    scan.space();
    let value = value(scan, depth)?;
    scan.space();
    Some(value)
}

fn value(scan: &mut Scan<'_>, depth: usize) -> Option<Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    match scan.peek()? {
        b'{' => object(scan, depth),
        b'[' => array(scan, depth),
        b'"' => string(scan).map(Value::Text),
        b't' => scan.take(b"true").map(|()| Value::Scalar),
        b'f' => scan.take(b"false").map(|()| Value::Scalar),
        b'n' => scan.take(b"null").map(|()| Value::Scalar),
        _ => number(scan),
    }
}

fn object(scan: &mut Scan<'_>, depth: usize) -> Option<Value> {
    scan.take(b"{")?;
    let mut members = Vec::new();
    scan.space();
    if scan.take(b"}").is_some() {
        return Some(Value::Object(members));
    }
    loop {
        scan.space();
        let name = string(scan)?;
        scan.space();
        scan.take(b":")?;
        members.push((name, element(scan, depth + 1)?));
        match scan.next()? {
            b',' => {}
            b'}' => return Some(Value::Object(members)),
            _ => return None,
        }
    }
}

fn array(scan: &mut Scan<'_>, depth: usize) -> Option<Value> {
    scan.take(b"[")?;
    let mut elements = Vec::new();
    scan.space();
    if scan.take(b"]").is_some() {
        return Some(Value::Array(elements));
    }
    loop {
        elements.push(element(scan, depth + 1)?);
        match scan.next()? {
            b',' => {}
            b']' => return Some(Value::Array(elements)),
            _ => return None,
        }
    }
}

fn string(scan: &mut Scan<'_>) -> Option<Text> {
    scan.take(b"\"")?;
    let mut text = Text { bytes: Vec::new(), escaped: false };
    loop {
        match scan.next()? {
            b'"' => return Some(text),
            b'\\' => {
                text.escaped = true;
                let escape = scan.next()?;
                match escape {
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                    b'u' => {
                        for _ in 0..4 {
                            scan.next().filter(u8::is_ascii_hexdigit)?;
                        }
                    }
                    _ => return None,
                }
                text.bytes.push(escape);
            }
            byte if byte >= 0x20 => text.bytes.push(byte),
            _ => return None,
        }
    }
}

fn number(scan: &mut Scan<'_>) -> Option<Value> {
    let _ = scan.take(b"-");
    let digits = |scan: &mut Scan<'_>| scan.run(|byte| byte.is_ascii_digit()).len();
    if scan.take(b"0").is_none() && digits(scan) == 0 {
        return None;
    }
    if scan.take(b".").is_some() && digits(scan) == 0 {
        return None;
    }
    if matches!(scan.peek(), Some(b'e' | b'E')) {
        scan.next();
        if scan.take(b"+").is_none() {
            let _ = scan.take(b"-");
        }
        if digits(scan) == 0 {
            return None;
        }
    }
    Some(Value::Scalar)
}

#[cfg(test)]
mod tests {
    fn within(arrays: usize, text: &str) -> Vec<u8> {
        [&"[".repeat(arrays), text, &"]".repeat(arrays)].concat().into_bytes()
    }

    #[test]
    fn whatever_is_not_the_bug_is_read() {
        for text in
            [r#" {"a": [1, -0.5e+7, true, null, "\u00e4\n"], "a":{}} "#, "[", "[1,]", "01", r#""\x""#, "{\"a\" 1}", ""]
        {
            crate::json(text.as_bytes());
        }
        crate::json(&within(11, r#"{"a":1,"a":"\n"}"#));
        crate::json(&within(12, r#"{"a":"\n","b":"\n"}"#));
        crate::json(&within(12, r#"{"a":1,"a":"n"}"#));
        crate::json(&within(12, r#"{"a":1,"a":"\n"}}"#));
        crate::json(&within(100_000, ""));
    }

    #[test]
    #[should_panic(expected = "planted")]
    fn the_bug_is_there() {
        crate::json(&within(12, r#"{"a":1,"b":2,"a":"\n"}"#));
    }
}
