//! Sequences: the end of a part bounds the beginning of the next one, and a predicate bounds the part after it.

use super::super::edges::Fact;
use super::super::tree::{Kind, Peg};
use super::super::words::{Guard, Names, shape};
use super::{Around, Bits, MAX_SHAPE, MAX_SIZE, Translator, Walked};
use crate::diagnostics::Span;

impl<'r> Translator<'r, '_, '_> {
    pub(super) fn sequence(&mut self, parts: &'r [Peg], around: Around, span: Span) -> Walked {
        let facts: Vec<Fact> = parts.iter().map(|part| self.edges.fact(part)).collect();
        if !around.is_full || facts.iter().any(|fact| !fact.nullable) {
            return self.joined(parts, &facts, None, around, span);
        }
        // One of the parts is not empty.
        let mut found = Vec::new();
        for full in (0..parts.len()).filter(|&part| facts[part].first != 0).take(4) {
            found.extend(self.joined(parts, &facts, Some(full), around, span)?);
        }
        self.any(found, span)
    }

    /// Returns the parts in a row. Those before the `full` one are left out, and that one is not empty.
    fn joined(&mut self, parts: &'r [Peg], facts: &[Fact], full: Option<usize>, around: Around, span: Span) -> Walked {
        let mut before = around.before;
        let mut guard = Guard::default();
        let mut done = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            if matches!(part.kind, Kind::Not(_) | Kind::And(_)) {
                guard.add(part, &mut self.edges);
                continue;
            }
            let is_empty = matches!(&part.kind, Kind::Seq(parts) if parts.is_empty());
            if is_empty || full.is_some_and(|full| number < full) {
                continue;
            }
            let behind = &facts[number + 1..];
            let is_open = around.is_open && behind.iter().all(|fact| fact.nullable);
            let own = Around { before, next: self.next(behind, around.next), is_open, is_full: full == Some(number) };
            let Some((inside, after)) = self.guarded(part, facts[number], std::mem::take(&mut guard), own)? else {
                return Ok(None);
            };
            done.push(inside);
            before = after;
        }
        let last = parts.last().map_or(span, |part| part.span);
        before |= self.honoured(&guard, last) | guard.beginnings();
        Ok(Some((self.builder.seq(done, span)?, before)))
    }

    /// Returns the characters that may come next: those of these parts and, if they may be empty, those behind.
    fn next(&self, facts: &[Fact], behind: Bits) -> Bits {
        let mut next = 0;
        for fact in facts {
            next |= fact.first;
            if !fact.nullable {
                return next;
            }
        }
        next | behind
    }

    /// Returns the characters that the predicates exclude, and reports those that ask for more than a character.
    fn honoured(&mut self, guard: &Guard, span: Span) -> Bits {
        if self.is_loose {
            return 0;
        }
        if guard.is_loose {
            self.left_out(span);
        }
        guard.hard | guard.soft
    }

    fn left_out(&mut self, span: Span) {
        let help =
            "a predicate is honoured by the first characters of what it names, and by whole words in front of a name";
        self.builder.approximate(span, "a predicate is left out", help);
    }

    /// Returns a part with predicates in front of it.
    fn guarded(&mut self, part: &'r Peg, fact: Fact, guard: Guard, around: Around) -> Walked {
        if self.is_loose {
            return self.walk(part, around);
        }
        let hard = Around { before: around.before | guard.hard, ..around };
        if !guard.words.is_empty() && guard.beginnings() & fact.first != 0 {
            let before = hard.before | self.honoured(&guard, part.span);
            if self.builder.expressions() <= MAX_SIZE
                && let Some(shape) = shape(part, &mut self.chars, &self.edges, MAX_SHAPE)
            {
                let mut names = Names { shape, span: part.span, last: self.chars.last, builder: self.builder };
                return names.without(&guard.words, before);
            }
        }
        let soft = self.honoured(&guard, part.span) | guard.beginnings();
        let tight = Around { before: hard.before | soft, ..hard };
        if let Some(found) = self.apart(part, fact, tight)? {
            return Ok(Some(found));
        }
        if soft & !hard.before == 0 {
            return Ok(None);
        }
        let found = self.apart(part, fact, hard)?;
        if found.is_some() {
            self.left_out(part.span);
        }
        Ok(found)
    }

    /// Returns a part that is not empty if what stands around it would run together.
    fn apart(&mut self, part: &'r Peg, fact: Fact, around: Around) -> Walked {
        let next = around.next & !fact.first;
        let (is_close, is_apart) = (around.before & next != 0, fact.after & next == 0);
        if fact.nullable && is_close && is_apart && !around.is_full {
            let found = self.walk(part, Around { is_full: true, ..around })?;
            if found.is_some() {
                return Ok(found);
            }
        }
        self.walk(part, around)
    }
}
