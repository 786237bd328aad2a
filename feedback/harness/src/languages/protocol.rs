//! The protocol between the harness and a worker process.
//!
//! The harness puts an input into shared memory and says its length in 4 bytes. The worker answers by messages: a
//! letter, the length of what follows in 4 bytes, and that. Numbers are in the machine's byte order, text is UTF-8.
//!
//! | letter | meaning | what follows |
//! |---|---|---|
//! | `R` | the function is loaded | nothing |
//! | `X` | the function cannot be loaded | the reason |
//! | `W` | constants that the function's code compares, if they were asked for; before `R` | the length of each, 1 byte, and the word |
//! | `P` | a regular expression of the function's code, if they were asked for; before `R` | letters of flags, `/`, and the pattern |
//! | `E` | a counter has got an edge | its number and the line, 4 bytes each; file, function, mark, with zero bytes between |
//! | `D` | the run has ended | how and whether the process is spent, 1 byte each; status, 4 bytes; microseconds of processor time in user mode and in the kernel, 8 bytes each; of an exception its class, its frame, and the classes that it descends from, with zero bytes between |

use std::time::Duration;

use crate::run::{Exception, Outcome};

/// The file descriptor of the input.
pub(super) const INPUT: i32 = 195;
/// The file descriptor of the counters, of 64 bits each: numbers of JavaScript in Node, else unsigned integers.
pub(super) const COUNTERS: i32 = 196;
/// The file descriptor from which a worker reads; it answers by the next one.
pub(super) const REQUESTS: i32 = 198;
pub(super) const ANSWERS: i32 = 199;

/// A message of a worker.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Message<'m> {
    Ready,
    Refused(String),
    Words(&'m [u8]),
    Expression(&'m [u8]),
    Edge { counter: u32, line: u32, key: &'m [u8] },
    Done { outcome: Outcome, is_spent: bool, cpu: (Duration, Duration) },
}

/// The longest message that is one.
const LONGEST: usize = 1 << 16;

/// Returns the first message, and its length; `Ok(None)` if it is not whole yet, an error if there is no such message.
pub(super) fn message(bytes: &[u8]) -> Result<Option<(Message<'_>, usize)>, ()> {
    let Some((&letter, rest)) = bytes.split_first() else { return Ok(None) };
    let Some((len, rest)) = rest.split_first_chunk::<4>() else { return Ok(None) };
    let len = u32::from_ne_bytes(*len) as usize;
    if len > LONGEST {
        return Err(());
    }
    let Some(body) = rest.get(..len) else { return Ok(None) };
    let parsed = match letter {
        b'R' => Some(Message::Ready),
        b'X' => Some(Message::Refused(String::from_utf8_lossy(body).into_owned())),
        b'W' => Some(Message::Words(body)),
        b'P' => Some(Message::Expression(body)),
        b'E' => edge(body),
        b'D' => done(body),
        _ => None,
    };
    parsed.map(|parsed| Some((parsed, len + 5))).ok_or(())
}

fn edge(body: &[u8]) -> Option<Message<'_>> {
    let (counter, body) = body.split_first_chunk()?;
    let (line, key) = body.split_first_chunk()?;
    Some(Message::Edge { counter: u32::from_ne_bytes(*counter), line: u32::from_ne_bytes(*line), key })
}

fn done(body: &[u8]) -> Option<Message<'_>> {
    let (&[how, is_spent], body) = body.split_first_chunk()?;
    let (status, body) = body.split_first_chunk()?;
    let (user, body) = body.split_first_chunk()?;
    let (system, body) = body.split_first_chunk()?;
    let outcome = match how {
        0 | 1 => Outcome::Exit(i32::from_ne_bytes(*status)),
        2 => {
            let text = String::from_utf8_lossy(body);
            let mut parts = text.split('\0');
            let (class, frame) = (parts.next()?.to_string(), parts.next()?);
            let frame = (!frame.is_empty()).then(|| frame.to_string());
            Outcome::Exception(Exception { class, frame, parents: parts.map(str::to_string).collect() })
        }
        3 => Outcome::Memory,
        _ => return None,
    };
    let time = |bytes: &[u8; 8]| Duration::from_micros(u64::from_ne_bytes(*bytes));
    Some(Message::Done { outcome, is_spent: is_spent != 0, cpu: (time(user), time(system)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(letter: u8, body: &[u8]) -> Vec<u8> {
        [&[letter][..], &(body.len() as u32).to_ne_bytes(), body].concat()
    }

    #[test]
    fn messages_are_read_one_by_one() {
        let done =
            [&[2, 1][..], &0i32.to_ne_bytes(), &5u64.to_ne_bytes(), &7u64.to_ne_bytes(), b"E\0a:1 (f)\0B\0A"].concat();
        let both = [framed(b'R', b""), framed(b'D', &done)].concat();
        assert_eq!(message(&both), Ok(Some((Message::Ready, 5))));
        let exception =
            Exception { class: "E".into(), frame: Some("a:1 (f)".into()), parents: vec!["B".into(), "A".into()] };
        let cpu = (Duration::from_micros(5), Duration::from_micros(7));
        let expected = Message::Done { outcome: Outcome::Exception(exception), is_spent: true, cpu };
        assert_eq!(message(&both[5..]), Ok(Some((expected, both.len() - 5))));
        assert_eq!(message(&both[5..both.len() - 1]), Ok(None));
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        for wrong in [framed(b'?', b""), framed(b'E', b"1"), framed(b'D', &[9; 30]), vec![b'R', 255, 255, 255, 255]] {
            assert_eq!(message(&wrong), Err(()), "{wrong:?}");
        }
    }
}
