//! Small languages: how near the inferred grammars come to them.

use gramjet_compiler::{Options as CompileOptions, SourceFile, compile, reference};
use gramjet_infer::{Options, infer};
use gramjet_parse::{Budget, Parser};

/// A recogniser: the place after what it has read.
struct Reader<'t> {
    text: &'t [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn eat(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == byte && self.at < self.text.len();
        self.at += usize::from(is_next);
        is_next
    }

    fn many(&mut self, is_part: impl Fn(u8) -> bool) -> usize {
        let start = self.at;
        while self.at < self.text.len() && is_part(self.peek()) {
            self.at += 1;
        }
        self.at - start
    }

    fn blanks(&mut self) {
        self.many(|byte| b" \t\n\r".contains(&byte));
    }

    fn word(&mut self, word: &[u8]) -> bool {
        let is_next = self.text[self.at..].starts_with(word);
        self.at += if is_next { word.len() } else { 0 };
        is_next
    }
}

fn accepts(text: &[u8], rule: fn(&mut Reader<'_>) -> bool) -> bool {
    let mut reader = Reader { text, at: 0 };
    rule(&mut reader) && reader.at == text.len()
}

fn expression(reader: &mut Reader<'_>) -> bool {
    loop {
        reader.blanks();
        reader.eat(b'-');
        let is_operand = match reader.peek() {
            b'(' => reader.eat(b'(') && expression(reader) && reader.eat(b')'),
            _ => reader.many(|byte| byte.is_ascii_digit()) > 0,
        };
        reader.blanks();
        if !(is_operand && b"+-*/".contains(&reader.peek()) && reader.at < reader.text.len()) {
            return is_operand;
        }
        reader.at += 1;
    }
}

fn csv(reader: &mut Reader<'_>) -> bool {
    loop {
        if reader.eat(b'"') {
            loop {
                reader.many(|byte| byte != b'"');
                if !reader.eat(b'"') {
                    return false;
                }
                if !reader.eat(b'"') {
                    break;
                }
            }
        } else {
            reader.many(|byte| byte.is_ascii_alphanumeric() || byte == b' ');
        }
        if !reader.eat(b',') && !reader.eat(b'\n') {
            return true;
        }
    }
}

fn form(reader: &mut Reader<'_>) -> bool {
    reader.blanks();
    let is_form = if reader.eat(b'(') {
        reader.blanks();
        while reader.peek() != b')' {
            if !form(reader) {
                return false;
            }
        }
        reader.eat(b')')
    } else {
        reader.many(|byte| byte.is_ascii_alphanumeric() || b"+-*/?".contains(&byte)) > 0
    };
    reader.blanks();
    is_form
}

fn string(reader: &mut Reader<'_>) -> bool {
    if !reader.eat(b'"') {
        return false;
    }
    loop {
        reader.many(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\');
        if reader.eat(b'"') {
            return std::str::from_utf8(reader.text).is_ok();
        }
        if !reader.eat(b'\\') {
            return false;
        }
        let is_number = reader.eat(b'u');
        if is_number {
            let digits = (0..4).filter(|_| {
                let is_digit = reader.peek().is_ascii_hexdigit();
                reader.at += usize::from(is_digit);
                is_digit
            });
            if digits.count() < 4 {
                return false;
            }
        } else if b"\"\\/bfnrt".contains(&reader.peek()) && reader.at < reader.text.len() {
            reader.at += 1;
        } else {
            return false;
        }
    }
}

fn number(reader: &mut Reader<'_>) -> bool {
    reader.eat(b'-');
    let starts_with_zero = reader.peek() == b'0';
    let digits = reader.many(|byte| byte.is_ascii_digit());
    if digits == 0 || starts_with_zero && digits > 1 {
        return false;
    }
    if reader.eat(b'.') && reader.many(|byte| byte.is_ascii_digit()) == 0 {
        return false;
    }
    if reader.eat(b'e') || reader.eat(b'E') {
        let _ = reader.eat(b'+') || reader.eat(b'-');
        return reader.many(|byte| byte.is_ascii_digit()) > 0;
    }
    true
}

fn members(reader: &mut Reader<'_>, close: u8, member: fn(&mut Reader<'_>) -> bool) -> bool {
    reader.at += 1;
    reader.blanks();
    if reader.eat(close) {
        return true;
    }
    loop {
        if !member(reader) {
            return false;
        }
        if reader.eat(close) {
            return true;
        }
        if !reader.eat(b',') {
            return false;
        }
    }
}

fn pair(reader: &mut Reader<'_>) -> bool {
    reader.blanks();
    let is_key = string(reader);
    reader.blanks();
    is_key && reader.eat(b':') && json(reader)
}

fn json(reader: &mut Reader<'_>) -> bool {
    reader.blanks();
    let is_value = match reader.peek() {
        b'{' => members(reader, b'}', pair),
        b'[' => members(reader, b']', json),
        b'"' => string(reader),
        b't' => reader.word(b"true"),
        b'f' => reader.word(b"false"),
        b'n' => reader.word(b"null"),
        _ => number(reader),
    };
    reader.blanks();
    is_value
}

/// Infers a grammar and returns its precision, on 300 inputs, and its recall.
fn check(name: &str, rule: fn(&mut Reader<'_>) -> bool, samples: &[&str], held_out: &[&str]) -> (f64, f64) {
    let samples: Vec<Vec<u8>> = samples.iter().map(|sample| sample.as_bytes().to_vec()).collect();
    let inferred = infer(&samples, &mut |text: &[u8]| accepts(text, rule), &Options::default()).unwrap();
    let again = infer(&samples, &mut |text: &[u8]| accepts(text, rule), &Options::default()).unwrap();
    assert_eq!(inferred.grammar, again.grammar);
    assert_eq!(inferred.exhausted, None, "{name}");
    let file = SourceFile::new("inferred.ebnf", inferred.grammar.as_str());
    let (compiled, _) = compile(&file, &CompileOptions::default()).unwrap_or_else(|_| panic!("{}", inferred.grammar));
    let limits = reference::Limits { max_depth: Some(12), ..reference::Limits::default() };
    let mut state = 1_u64;
    let mut rejected = Vec::new();
    for _ in 0..300 {
        let mut choices = Vec::new();
        for _ in 0..300 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            choices.push((state >> 56) as u8);
        }
        let output = reference::render(&compiled.lowered, &compiled.pools, limits, &choices).output;
        if !accepts(&output, rule) {
            rejected.push(String::from_utf8_lossy(&output).into_owned());
        }
    }
    let parser = Parser::new(&compiled.lowered);
    for sample in &samples {
        assert!(parser.parse(sample, &Budget::default()).is_ok(), "{name}: {}", String::from_utf8_lossy(sample));
    }
    assert_eq!(inferred.verbatim, 0, "{name}");
    let missed: Vec<&&str> =
        held_out.iter().filter(|text| parser.parse(text.as_bytes(), &Budget::default()).is_err()).collect();
    let precision = 1.0 - rejected.len() as f64 / 300.0;
    let recall = 1.0 - missed.len() as f64 / held_out.len() as f64;
    rejected.sort_by_key(String::len);
    rejected.truncate(6);
    println!(
        "{name}: precision {precision:.3}, recall {recall:.3}, {} calls, {} rules\n{}\nrejected {rejected:?}\nmissed {missed:?}\n",
        inferred.calls, inferred.rules, inferred.grammar
    );
    for text in held_out {
        assert!(accepts(text.as_bytes(), rule), "{text}");
    }
    (precision, recall)
}

fn assert_good((precision, recall): (f64, f64)) {
    assert!(precision >= 0.9 && recall >= 0.85, "precision {precision}, recall {recall}");
}

#[test]
fn arithmetic() {
    let samples = ["1", "1+2", "(1-2)*34", "-5*(6/7)", "((8))", "1 + 2 * (3 - 4)"];
    let held_out = ["7*7*7", "(1+2)*(3+4)", "-(2)", "12/(3-(4-5))", "1- -2", "0", "( 1 )", "99+1", "(((1)))-2", "5 /5"];
    assert_good(check("arithmetic", expression, &samples, &held_out));
}

#[test]
fn tables() {
    let samples = ["a,b,c\n1,2,3", "name,x1\n\"quoted, text\",12", "x", "\"a\"\"b\",c\n,\n"];
    let held_out = ["1,2", "a,b\nc,d\ne,f", "\"x\ny\",z", ",,,", "hello world,2", "\"\",q", "a\n\"b\"\nc\n", "k9,Z"];
    assert_good(check("tables", csv, &samples, &held_out));
}

#[test]
fn forms() {
    let samples = ["(define (f x) (+ x 1))", "x", "(list 1 2 (quote (a b)))", "()", "(f (g))", "(car (cdr (a 2)))"];
    let held_out =
        ["(a)", "((a) b)", "(+ 1 (- 2 3))", "42", "( a b )", "(())", "(let ((x 1) (y 2)) (+ x y))", "(a (b (c)))"];
    assert_good(check("forms", form, &samples, &held_out));
}

#[test]
fn values() {
    let samples = [
        r#"{"a": 1, "b": [true, false, null]}"#,
        r#"[1, 2.5, -3, 1e5, "x"]"#,
        r#"{"name": "Ann", "list": [], "nested": {"k": {}}}"#,
        "[[1, 2], [3], {}]",
        r#""text""#,
        "-1.5e-3",
        "0",
        "{\n  \"a\": {\"b\": [\"c\", 10]},\n  \"d\": null\n}",
    ];
    let held_out = [
        "true",
        "[]",
        "{}",
        "[{}, []]",
        r#"{"x": -0.5}"#,
        r#"[1,2,3]"#,
        r#"["a\n", "\u00e9"]"#,
        r#"{"a":{"b":{"c":[1e10]}}}"#,
        "[ null , [ [ ] ] ]",
        "3.25",
        "-7",
        r#"{"q": "", "r": [false, {"s": 1.0}], "t": 20}"#,
        "\n[1]\n",
    ];
    assert_good(check("values", json, &samples, &held_out));
}
