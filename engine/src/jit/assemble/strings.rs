//! Sites that emit one of several strings: data, not branches.

use dynasmrt::{DynasmApi, DynasmLabelApi};
use gramjet_compiler::analysis::form::Strings;
use gramjet_compiler::ir::RuleId;

use super::literals::MAX_LITERAL;
use super::narrow::Narrowed;
use super::picks::Decision;
use super::{Assembler, asm};
use crate::jit::context::Doors;
use crate::jit::sites;

/// Strings as the pool of a rule.
#[derive(Clone, Copy)]
pub(super) struct OfPool<'s> {
    pub rule: RuleId,
    /// Emitted where no string is offered.
    pub shortest: Option<&'s [u8]>,
}

/// A site whose options are strings; the pool that they are, if they are one.
#[derive(Clone, Copy)]
struct Site<'s> {
    strings: &'s Strings<'s>,
    pool: Option<OfPool<'s>>,
}

impl Site<'_> {
    fn shortest(&self) -> &[u8] {
        self.pool.and_then(|pool| pool.shortest).unwrap_or_default()
    }

    fn rule(&self) -> Option<RuleId> {
        self.pool.map(|pool| pool.rule)
    }
}

/// Strings up to this length stand in rows of their table.
const MAX_ROW: usize = 63;

/// Up to this length strings are copied by moves of 16 bytes, as many as the longest needs.
const MAX_MOVED: usize = 128;

impl Assembler<'_> {
    pub(super) fn strings(&mut self, strings: &Strings<'_>, pool: Option<OfPool<'_>>) {
        let (site, longest, costs) = (Site { strings, pool }, strings.longest(), strings.costs());
        // A site of one string is decided already, and yet a pool may have to give way to the shortest string.
        let is_limited = self.kept.length && costs.last().is_some_and(|&cost| cost > 0);
        if longest > MAX_LITERAL {
            return self.slow_strings(site, costs);
        }
        if let ([only], false) = (&strings.strings[..], is_limited) {
            return self.literal(only);
        }
        let decision = Decision { site: strings.site(), costs };
        self.need(3, longest as i32);
        if !is_limited {
            return self.put_decided(&decision, site);
        }
        self.flush();
        match &strings.strings[..] {
            [only] => self.string_within(only, site),
            _ => self.strings_within(&decision, site),
        }
    }

    /// Emits a string that is not offered where the slack is too small for it.
    fn string_within(&mut self, string: &[u8], site: Site<'_>) {
        let cost = string.len() as u64 - site.strings.min_len;
        let (back, after) = (self.label(), self.flow);
        let shortest = site.shortest().to_vec();
        let narrow = self.cold(move |assembler| {
            assembler.put_literal(&shortest);
            assembler.resume(back, after);
        });
        self.compare_slack(cost);
        let ops = &mut self.ops;
        asm!(ops ; jl =>narrow);
        self.pay_constant(cost);
        self.put_literal(string);
        self.flush();
        self.place(back);
    }

    /// Emits a choice among strings as far as the slack goes.
    fn strings_within(&mut self, decision: &Decision<'_>, site: Site<'_>) {
        let (decided, back) = (self.label(), self.label());
        let least = decision.costs[0];
        let narrow = match Narrowed::at(decision) {
            Some(narrowed) => {
                let shortest = (least > 0).then(|| site.shortest().to_vec());
                self.cold(move |assembler| {
                    if let Some(shortest) = shortest {
                        let after = assembler.flow;
                        let none = assembler.cold(move |assembler| {
                            assembler.put_literal(&shortest);
                            assembler.resume(back, after);
                        });
                        assembler.compare_slack(least);
                        let ops = &mut assembler.ops;
                        asm!(ops ; jl =>none);
                    }
                    assembler.decide_narrowed(&narrowed);
                    assembler.jump(decided);
                })
            }
            None => {
                let number = self.string_site(site, decision);
                self.cold(move |assembler| {
                    assembler.door(Doors::StringWithin, number);
                    assembler.jump(back);
                })
            }
        };
        self.compare_slack(decision.costs.last().copied().unwrap_or(0));
        let ops = &mut self.ops;
        asm!(ops ; jl =>narrow);
        let free = Decision { costs: Vec::new(), site: decision.site };
        let picked = self.decide(&free);
        self.leave_option(picked, &free);
        self.flush();
        let due = self.flow.due;
        self.place(decided);
        self.flow.due = due;
        self.pay(&decision.costs);
        self.put_indexed(&site.strings.slices(), site.rule());
        self.flush();
        self.place(back);
    }

    /// Emits strings of which some are long: a slow path copies them.
    fn slow_strings(&mut self, site: Site<'_>, costs: Vec<u64>) {
        let free = if self.kept.length { costs } else { vec![0; costs.len()] };
        let decision = Decision { site: site.strings.site(), costs: free };
        let number = self.string_site(site, &decision);
        self.need(3, 0);
        self.flush();
        self.door(Doors::StringWithin, number);
        self.begin_stretch();
    }

    fn string_site(&mut self, site: Site<'_>, decision: &Decision<'_>) -> i32 {
        if let Some(number) = site.rule().and_then(|rule| self.rules[rule.index()].pool_site) {
            return number;
        }
        let number = self.site(sites::Site {
            costs: decision.costs.clone(),
            copies: Vec::new(),
            slots: site.strings.slots.cloned(),
            strings: site.strings.strings.iter().map(|string| (**string).into()).collect(),
            shortest: site.pool.and_then(|pool| pool.shortest).map(Into::into),
        });
        if let Some(rule) = site.rule() {
            self.rules[rule.index()].pool_site = Some(number);
        }
        number
    }

    /// Decides a site that no limit narrows and emits its string. The bytes that it reads and writes are needed
    /// already.
    fn put_decided(&mut self, decision: &Decision<'_>, site: Site<'_>) {
        let picked = self.decide(decision);
        if let Some(table) = site.strings.bytes() {
            // The choice byte leads to the byte at once.
            return self.put_mapped(table.to_vec());
        }
        self.leave_option(picked, decision);
        self.put_indexed(&site.strings.slices(), site.rule());
    }

    /// Emits the byte that the choice byte in eax leads to.
    fn put_mapped(&mut self, table: Vec<u8>) {
        let table = self.data.tables.add(table, 1);
        self.bound_displacements();
        let at = self.flow.output as i8;
        let ops = &mut self.ops;
        asm!(ops ; movzx eax, BYTE [tables + rax + table] ; mov [BYTE output + at], al);
        self.flow.output += 1;
        self.used(0, 1);
    }

    /// Emits the string whose number is in eax; its bytes must be needed already. The table of a rule's pool is made
    /// once.
    pub(super) fn put_indexed(&mut self, strings: &[&[u8]], pool_of: Option<RuleId>) {
        let longest = strings.iter().map(|string| string.len()).max().unwrap_or(0);
        let equal = strings.iter().all(|string| string.len() == longest);
        self.bound_displacements();
        self.used(0, longest as i32);
        match longest {
            0 => {}
            _ if equal && longest <= 32 => self.put_row(strings, longest.next_power_of_two(), Some(longest), pool_of),
            1..=MAX_ROW => self.put_row(strings, (longest + 1).next_power_of_two().max(4), None, pool_of),
            _ => self.put_distant(strings, longest),
        }
    }

    /// Emits a string from a table of rows of `width` bytes; unless all have the same length, the last byte of a row
    /// holds it.
    fn put_row(&mut self, strings: &[&[u8]], width: usize, len: Option<usize>, pool_of: Option<RuleId>) {
        let known = pool_of.and_then(|rule| self.rules[rule.index()].pool_rows);
        let rows = known.unwrap_or_else(|| {
            let mut rows = vec![0; width * strings.len()];
            for (row, string) in rows.chunks_exact_mut(width).zip(strings) {
                row[..string.len()].copy_from_slice(string);
                if len.is_none() {
                    row[width - 1] = string.len() as u8;
                }
            }
            self.data.tables.add(rows, width.min(16))
        });
        if let Some(rule) = pool_of {
            self.rules[rule.index()].pool_rows = Some(rows);
        }
        let at = self.flow.output as i8;
        let last = rows + width as i32 - 1;
        let wide = self.flow.output;
        let ops = &mut self.ops;
        match (width, len) {
            (1, _) => asm!(ops ; movzx ecx, BYTE [tables + rax + rows] ; mov [BYTE output + at], cl),
            (2, _) => asm!(ops ; movzx ecx, WORD [tables + rax*2 + rows] ; mov [BYTE output + at], cx),
            (4, _) => asm!(ops ; mov ecx, [tables + rax*4 + rows] ; mov [BYTE output + at], ecx),
            (8, _) => asm!(ops ; mov rcx, [tables + rax*8 + rows] ; mov [BYTE output + at], rcx),
            _ => {
                asm!(ops ; shl eax, width.trailing_zeros() as i8);
                if len.is_none() {
                    asm!(ops ; movzx ecx, BYTE [tables + rax + last]);
                }
                for block in (0..width as i32).step_by(16) {
                    asm!(ops ; movups xmm0, [tables + rax + rows + block] ; movups [output + wide + block], xmm0);
                }
            }
        }
        match (width, len) {
            (_, Some(len)) => {
                self.flow.output += len as i32;
                return;
            }
            (4, _) => asm!(ops ; shr ecx, 24),
            (8, _) => asm!(ops ; shr rcx, 56),
            _ => {}
        }
        asm!(ops ; lea output, [BYTE output + rcx + at]);
        self.flow.output = 0;
    }

    /// Emits a string from a table of places and lengths.
    fn put_distant(&mut self, strings: &[&[u8]], longest: usize) {
        let mut data = Vec::new();
        let mut entries: Vec<(u32, u32)> = Vec::new();
        for string in strings {
            entries.push((data.len() as u32, string.len() as u32));
            data.extend_from_slice(string);
        }
        // The last move may read beyond the last string.
        data.extend([0; 16]);
        let data = self.data.tables.add(data, 16);
        let entries: Vec<u8> = entries
            .iter()
            .flat_map(|&(place, len)| [(place + data as u32).to_le_bytes(), len.to_le_bytes()].concat())
            .collect();
        let entries = self.data.tables.add(entries, 8);
        self.flush();
        let ops = &mut self.ops;
        asm!(ops ; mov edx, [tables + rax*8 + entries] ; mov ecx, [tables + rax*8 + entries + 4]);
        if longest <= MAX_MOVED {
            for block in (0..longest as i32).step_by(16) {
                asm!(ops ; movups xmm0, [tables + rdx + block] ; movups [output + block], xmm0);
            }
            asm!(ops ; add output, rcx);
        } else {
            // The output pointer is where this instruction wants it.
            asm!(ops ; mov r8, choice ; lea rsi, [tables + rdx] ; rep movsb ; mov choice, r8);
        }
    }
}
