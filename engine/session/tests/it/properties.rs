//! Properties of texts, with the smallest text of each: a measure for searches for small counterexamples.

/// A property of texts of a grammar that ships.
pub struct Property {
    /// The grammar.
    pub grammar: &'static str,
    /// A description.
    pub name: &'static str,
    /// A text of the least length for which it holds.
    pub smallest: &'static str,
    /// Test of whether it holds for a text.
    pub holds: fn(&[u8]) -> bool,
}

const fn property(
    grammar: &'static str,
    name: &'static str,
    smallest: &'static str,
    holds: fn(&[u8]) -> bool,
) -> Property {
    Property { grammar, name, smallest, holds }
}

/// Six for each of five grammars.
pub const PROPERTIES: &[Property] = &[
    property("json", "depth of 4", "[[[[]]]]", |text| json_depth(text) >= 4),
    property("json", "object in array in object", r#"{"":[{}]}"#, |text| json_paths(text).any(|path| path == "{[{")),
    property("json", "a number with a 7", "7", |text| json_numbers(text).any(|number| number.contains(&b'7'))),
    property("json", "two equal keys in an object", r#"{"":0,"":0}"#, equal_keys),
    property("json", "three commas", "[0,0,0,0]", |text| json_marks(text).filter(|&mark| mark == b',').count() >= 3),
    property("json", "true and a negative number", "[true,-0]", |text| {
        has(text, "true") && json_numbers(text).any(|number| number[0] == b'-')
    }),
    property("expr", "depth of 3", "(((0)))", |text| depth(text, b"(", b")") >= 3),
    property("expr", "a division by a group", "0/(0)", |text| has(text, "/(")),
    property("expr", "a fraction of three digits", "0.000", |text| {
        has_run(text, |rest| rest[0] == b'.' && rest.len() > 3 && rest[1..4].iter().all(u8::is_ascii_digit))
    }),
    property("expr", "four operators of two kinds", "0*0*0/0/0", |text| count(text, "*") >= 2 && count(text, "/") >= 2),
    property("expr", "a 42", "42", |text| has(text, "42")),
    property("expr", "a sign before a group in a group", "(-(0))", |text| {
        has_run(text, |rest| rest.starts_with(b"-(")) && depth(text, b"(", b")") >= 2 && signs_in_groups(text)
    }),
    property("xml", "an element of depth 3", "<list><li><A/></li></list>", |text| xml_depth(text) >= 3),
    property("xml", "two comments", "<!-->--><A/>", |text| count(text, "-->") >= 2),
    property("xml", "a character reference", "<?A &#?><A/>", |text| has(text, "&#")),
    property("xml", "an attribute of an empty element", r#"<A A=""/>"#, |text| has(text, "\"/>")),
    property("xml", "CDATA in an element", "<note><![CDATA[]]></note>", |text| {
        without(text, "<!--", "-->").windows(9).any(|part| part == b"<![CDATA[") && has(text, "]]></")
    }),
    property("xml", "a processing instruction behind the root", "<A/><?A?>", |text| {
        text.windows(2).rposition(|two| two == b"<?") > text.windows(2).rposition(|two| two == b"</" || two == b"/>")
    }),
    property("css", "four rules with a block", "a{}a{}a{}a{}", |text| count(&css(text), "{") >= 4),
    property("css", "a media rule", "@media all{a{}}a{}a{}", |text| has(&css(text), "@media")),
    property("css", "an important declaration", "*{top:0!important}a{}a{}", |text| has(&css(text), "!important")),
    property("css", "a url", "a{--A-:url(\"\")}a{}a{}", |text| has(&css(text), "url(")),
    property("css", "two classes", ".A-{}.A-{}a{}", |text| {
        css(text).windows(2).filter(|two| two[0] == b'.' && two[1].is_ascii_alphabetic()).count() >= 2
    }),
    property("css", "a colour by components", "a{--A-:rgb(0,0,0)}a{}a{}", |text| has(&css(text), "rgb(")),
    property("lua", "a loop in a function", "function x() while x do x()\nend\nend\n--\n\n", |text| {
        let code = String::from_utf8_lossy(&lua(text)).into_owned();
        let words = code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        let mut marks = words.filter(|word| matches!(*word, "function" | "while" | "end"));
        let mut before = "";
        marks.any(|word| std::mem::replace(&mut before, word) == "function" && word == "while")
    }),
    property("lua", "a table in a table", "x { {} }\n--\n\n", |text| depth(&lua(text), b"{", b"}") >= 2),
    property("lua", "a goto", "do goto skip\n:: skip :: end\n--\n\n", |text| has(&lua(text), "goto")),
    property("lua", "two locals", "local x\nlocal x\n", |text| count(&lua(text), "local ") >= 2),
    property("lua", "a float", "x(0.0)\n--\n\n", |text| {
        let is_float = |three: &[u8]| three[0].is_ascii_digit() && three[1] == b'.' && three[2].is_ascii_digit();
        lua(text).windows(3).any(is_float)
    }),
    property("lua", "an if with an else", "if x then else end\n--\n\n", |text| {
        let code = lua(text);
        has(&code, "then") && has(&code, "else ")
    }),
];

fn has(text: &[u8], part: &str) -> bool {
    text.windows(part.len()).any(|window| window == part.as_bytes())
}

fn count(text: &[u8], part: &str) -> usize {
    text.windows(part.len()).filter(|window| *window == part.as_bytes()).count()
}

/// Returns a text without the parts between two marks, and without the marks.
fn without(text: &[u8], from: &str, to: &str) -> Vec<u8> {
    let (mut rest, mut kept) = (text, Vec::new());
    while let Some(at) = rest.windows(from.len()).position(|window| window == from.as_bytes()) {
        kept.extend_from_slice(&rest[..at]);
        rest = &rest[at + from.len()..];
        let end = rest.windows(to.len()).position(|window| window == to.as_bytes());
        rest = end.map_or(&[][..], |end| &rest[end + to.len()..]);
    }
    kept.extend_from_slice(rest);
    kept
}

/// Returns a style sheet without its comments and the contents of its strings.
fn css(text: &[u8]) -> Vec<u8> {
    without_strings(&without(text, "/*", "*/"))
}

/// Returns a chunk without its comments of one line and the contents of its strings.
fn lua(text: &[u8]) -> Vec<u8> {
    without_strings(&without(&without(text, "--", "\n"), "[[", "]]"))
}

/// Returns a text without its quoted parts; the quotes stay.
fn without_strings(text: &[u8]) -> Vec<u8> {
    let (mut kept, mut quote, mut escaped) = (Vec::new(), None, false);
    for &byte in text {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if byte == b'\\' => escaped = true,
            Some(open) if byte != open => {}
            _ => {
                if matches!(byte, b'"' | b'\'') {
                    quote = if quote.is_none() { Some(byte) } else { None };
                }
                kept.push(byte);
            }
        }
    }
    kept
}

fn has_run(text: &[u8], holds: fn(&[u8]) -> bool) -> bool {
    (0..text.len()).any(|at| holds(&text[at..]))
}

fn depth(text: &[u8], open: &[u8], close: &[u8]) -> usize {
    let (mut depth, mut most) = (0_usize, 0);
    for byte in text {
        if open.contains(byte) {
            depth += 1;
            most = most.max(depth);
        } else if close.contains(byte) {
            depth = depth.saturating_sub(1);
        }
    }
    most
}

/// Returns true if a sign stands before a group that is within a group.
fn signs_in_groups(text: &[u8]) -> bool {
    let mut depth = 0;
    text.windows(2).any(|two| {
        match two[0] {
            b'(' => depth += 1,
            b')' => depth -= 1,
            b'-' if two[1] == b'(' && depth > 0 => return true,
            _ => {}
        }
        false
    })
}

/// Returns the bytes of a JSON text outside of its strings, with the place of each.
fn json_outside(text: &[u8]) -> Vec<(usize, u8)> {
    let (mut marks, mut in_string, mut escaped) = (Vec::new(), false, false);
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if !in_string => marks.push((at, byte)),
            _ => {}
        }
    }
    marks
}

fn json_marks(text: &[u8]) -> impl Iterator<Item = u8> {
    json_outside(text).into_iter().map(|(_, byte)| byte)
}

fn json_depth(text: &[u8]) -> usize {
    depth(&json_marks(text).collect::<Vec<_>>(), b"[{", b"]}")
}

/// Returns for each bracket that opens the last three that are open.
fn json_paths(text: &[u8]) -> impl Iterator<Item = String> {
    let mut open = Vec::new();
    json_marks(text).filter_map(move |mark| {
        match mark {
            b'[' | b'{' => open.push(mark),
            b']' | b'}' => drop(open.pop()),
            _ => return None,
        }
        let last = open[open.len().saturating_sub(3)..].iter();
        matches!(mark, b'[' | b'{').then(|| last.map(|&mark| char::from(mark)).collect())
    })
}

fn json_numbers(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_number = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    let outside = json_outside(text);
    let runs = outside.chunk_by(move |a, b| a.0 + 1 == b.0 && is_number(a.1) == is_number(b.1));
    let ranges: Vec<(usize, usize)> = runs.map(|run| (run[0].0, run[0].0 + run.len())).collect();
    ranges.into_iter().map(|(from, to)| &text[from..to]).filter(|run| run[0] == b'-' || run[0].is_ascii_digit())
}

fn equal_keys(text: &[u8]) -> bool {
    let outside = json_outside(text);
    let mut objects: Vec<Vec<&[u8]>> = Vec::new();
    for pair in outside.windows(2) {
        let (before, (at, mark)) = (pair[0], pair[1]);
        let _ = before;
        match mark {
            b'{' | b'[' => objects.push(Vec::new()),
            b'}' | b']' => drop(objects.pop()),
            b':' => {
                // The string that ends before the colon.
                let Some(end) = text[..at].iter().rposition(|&byte| byte == b'"') else { continue };
                let begin = outside.iter().rev().map(|&(at, _)| at).find(|&at| at < end).map_or(0, |at| at + 1);
                let key = &text[begin..=end];
                if objects.is_empty() {
                    objects.push(Vec::new());
                }
                let Some(keys) = objects.last_mut() else { continue };
                if keys.contains(&key) {
                    return true;
                }
                keys.push(key);
            }
            _ => {}
        }
    }
    false
}

fn xml_depth(text: &[u8]) -> usize {
    let text = &without(&without(text, "<!--", "-->"), "<?", "?>")[..];
    let (mut depth, mut most) = (0_usize, 0);
    for at in 0..text.len() {
        let rest = &text[at..];
        if rest.starts_with(b"</") {
            depth = depth.saturating_sub(1);
        } else if rest.len() > 1
            && rest[0] == b'<'
            && (rest[1].is_ascii_alphabetic() || rest[1] == b'_' || rest[1] > 127)
        {
            let end = rest.iter().position(|&byte| byte == b'>').unwrap_or(rest.len());
            most = most.max(depth + 1);
            depth += usize::from(rest[end.saturating_sub(1)] != b'/');
        }
    }
    most
}
