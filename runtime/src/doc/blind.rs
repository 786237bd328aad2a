//! The structure of choice bytes as far as it can be found out without the grammar: by running a producer on parts of
//! them.

use crate::choices::{ChoiceSource, Choices, Site, Span, SpanKind, Trace, Tracer};
use crate::limits::{Limits, LimitsError};
use crate::producer::Producer;

/// A producer as a tracer. After any number of choice bytes zeros complete the input; their number shows how much is
/// still to come. A part that begins at one choice byte therefore ends at the first place where less is to come.
#[derive(Clone, Debug)]
pub(super) struct Blind<P>(pub(super) P);

/// The structure of inputs that need more zeros to be completed is not found.
const MAX_ZEROS: usize = 1 << 12;
/// The structure of inputs with more choice bytes is not found: it would take too many runs.
const MAX_CHOICES: usize = 1 << 13;

impl<P: Producer> Producer for Blind<P> {
    fn min_len(&self) -> u64 {
        self.0.min_len()
    }

    fn limits(&self) -> Limits {
        self.0.limits()
    }

    fn set_limits(&mut self, limits: Limits) -> Result<(), LimitsError> {
        self.0.set_limits(limits)
    }

    fn produce(&mut self, choices: &mut Choices<'_>, output: &mut Vec<u8>) -> u64 {
        self.0.produce(choices, output)
    }
}

/// The facts about the input at a choice byte.
#[derive(Clone, Copy)]
struct Known {
    /// Number of zeros that complete it there.
    zeros: usize,
    /// Number of output bytes that are certain there: at least the part emitted so far.
    emitted: usize,
}

impl<P: Producer> Blind<P> {
    /// Returns the facts at each choice byte, and at the end.
    fn places(&mut self, choices: &[u8], output: &[u8]) -> Vec<Known> {
        let mut bytes = vec![0; choices.len() + MAX_ZEROS];
        let mut other = Vec::new();
        let mut places: Vec<Known> = Vec::with_capacity(choices.len() + 1);
        for at in 0..=choices.len() {
            let mut emitted = output.len();
            let mut zeros = 0;
            for next in [0xFF, 0] {
                bytes[at] = next;
                other.clear();
                let read = self.0.produce(&mut Choices::replay(&bytes), &mut other) as usize;
                zeros = read.saturating_sub(at);
                if at < choices.len() {
                    emitted = emitted.min(output.iter().zip(&other).take_while(|(a, b)| a == b).count());
                }
            }
            places.push(Known { zeros, emitted });
            bytes[at] = choices.get(at).copied().unwrap_or(0);
        }
        // Emitted output stays: what is certain at one place is certain at all later ones.
        let mut least = output.len();
        for place in places.iter_mut().rev() {
            least = least.min(place.emitted);
            place.emitted = least;
        }
        places
    }
}

impl<P: Producer> Tracer for Blind<P> {
    fn trace(&mut self, choices: &[u8], output: &mut Vec<u8>, trace: &mut Trace) -> u64 {
        trace.clear();
        let base = output.len();
        let read = self.0.produce(&mut Choices::replay(choices), output);
        let choices = &choices[..choices.len().min(usize::try_from(read).unwrap_or(usize::MAX))];
        trace.read = choices.len() as u32;
        trace.sites.extend((0..).zip(choices).map(|(at, &byte)| Site {
            at,
            width: 1,
            option: byte.into(),
            offered: 256,
        }));
        if choices.len() > MAX_CHOICES {
            return read;
        }
        let places = self.places(choices, &output[base..]);
        let ends = ends(&places);
        for (at, end) in (0..).zip(ends) {
            // The depth says how many zeros stand for the shortest part: of its symbol nothing is known.
            let (from, to) = (places[at], places[end]);
            let zeros = from.zeros.saturating_sub(to.zeros) as u32;
            trace.spans.push(Span {
                kind: SpanKind::Rule,
                symbol: 0,
                depth: zeros,
                choices: (at as u32, end as u32),
                output: (from.emitted as u32, to.emitted as u32),
                // One span begins at each choice byte.
                next: end as u32,
            });
        }
        read
    }

    fn draw(
        &mut self,
        _symbol: u32,
        depth: u32,
        _max_len: u64,
        _source: &mut dyn ChoiceSource,
        _most: usize,
        choices: &mut Vec<u8>,
    ) -> Option<u64> {
        choices.resize(choices.len() + depth as usize, 0);
        Some(0)
    }

    fn shortest(&mut self, _symbol: u32, depth: u32) -> usize {
        depth as usize
    }

    fn rule_name(&self, _symbol: u32) -> Option<&str> {
        None
    }
}

/// Returns for each choice byte the first later place where less is to come.
fn ends(places: &[Known]) -> Vec<usize> {
    let last = places.len() - 1;
    let mut ends = vec![last; last];
    let mut open: Vec<usize> = Vec::new();
    for (at, place) in places.iter().enumerate() {
        while open.last().is_some_and(|&from| places[from].zeros > place.zeros) {
            ends[open.pop().unwrap_or_default()] = at;
        }
        if at < last {
            open.push(at);
        }
    }
    ends
}
