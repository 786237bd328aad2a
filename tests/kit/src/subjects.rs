//! Subjects of searches: functions that count something in a text, with what they execute as edges and their counts.

/// Brackets that nest, with letters between them.
pub const BRACKETS: &str = "s ::= '' | '(' s ')' s | [a-d] s";

/// Words of letters with spaces between them.
pub const WORDS: &str = "s ::= w (' ' w)*  w ::= [a-z]+";

/// An edge and how often it was executed.
type Edge = (u32, u64);

/// Returns a subject that costs as much as brackets nest. Each level is an edge, executed once for each bracket that
/// opens it.
pub fn nesting(text: &[u8]) -> (u64, Vec<Edge>) {
    let (mut levels, mut depth) = (Vec::new(), 0usize);
    for byte in text {
        match byte {
            b'(' => {
                if depth == levels.len() {
                    levels.push(0);
                }
                levels[depth] += 1;
                depth += 1;
            }
            b')' => depth -= 1,
            _ => {}
        }
    }
    (levels.len() as u64, (0..).zip(levels).collect())
}

/// Returns a subject that costs as much as a byte is often in the text. Each byte value is an edge.
pub fn count_of(wanted: u8) -> impl Fn(&[u8]) -> (u64, Vec<Edge>) {
    move |text| {
        let mut counts = [0; 256];
        for &byte in text {
            counts[usize::from(byte)] += 1;
        }
        let edges = (0..).zip(counts).filter(|edge| edge.1 > 0).collect();
        (counts[usize::from(wanted)], edges)
    }
}
