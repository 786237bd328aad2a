//! Chains: rounds of single bytes that are written out, which is what an unfolded depth limit makes of a recursion. One
//! look at the choice bytes decides up to four rounds.

use dynasmrt::x64::Rq;
use dynasmrt::{DynasmApi, DynasmLabelApi};
use gramjet_compiler::analysis::runs::{ByteItem, Chain, ChainEnd};
use gramjet_compiler::ir::NodeId;

use super::looks::{Look, ROUNDS, STOPS};
use super::{Assembler, asm};

// A look has as many rounds as a chain.
const _: () = assert!(Chain::MAX_ROUNDS == ROUNDS as usize);

/// From this number of rounds on, rounds with the same members are emitted at once if there is a way.
const MIN_AT_ONCE: usize = 3;

impl<'g> Assembler<'g> {
    /// Emits a chain up to the round that stops: without a branch, unless there are more rounds than one look covers.
    pub(super) fn chain(&mut self, chain: Chain, offset: i32) {
        let rounds = chain.rounds.len() as i32;
        self.need(2 * rounds + 1, rounds + 1);
        self.bound_displacements();
        match (rounds, &chain.end) {
            (_, &ChainEnd::Node(rest)) => self.open_chain(chain, rest, offset),
            (1, _) => self.one_round(&chain),
            _ => self.closed_chain(&chain),
        }
    }

    /// Emits one round, which a bit of its choice byte decides.
    fn one_round(&mut self, chain: &Chain) {
        let at = self.flow.choice as i8;
        let ops = &mut self.ops;
        asm!(ops ; movzx ecx, BYTE [BYTE choice + at]);
        self.put_chain(chain);
        let ops = &mut self.ops;
        asm!(ops ; shr ecx, 7);
        self.leave_chain(chain, Rq::RCX);
    }

    /// Emits several rounds, after which the chain ends.
    fn closed_chain(&mut self, chain: &Chain) {
        let rounds = chain.rounds.len() as i8;
        self.find_stops(chain);
        // Where all rounds go on there is no further site: one choice byte less than if another round stopped. The bit
        // for this is eight places before the bit of such a round.
        let ops = &mut self.ops;
        asm!(ops ; bts rcx, BYTE 16 * rounds - 8);
        self.find_first();
        self.put_chain(chain);
        let ops = &mut self.ops;
        asm!(ops ; lea r8d, [rcx + 8] ; shr ecx, 3 ; shr r8d, 4);
        self.leave_chain(chain, Rq::R8);
    }

    /// Emits rounds after which there may be more.
    fn open_chain(&mut self, chain: Chain, rest: NodeId, offset: i32) {
        let (more, back, before) = (self.label(), self.label(), self.flow);
        self.find_stops(&chain);
        let ops = &mut self.ops;
        asm!(ops ; jz =>more);
        self.find_first();
        self.put_chain(&chain);
        let ops = &mut self.ops;
        asm!(ops ; mov r8d, ecx ; shr ecx, 3 ; shr r8d, 4);
        self.leave_chain(&chain, Rq::R8);
        let after = self.flow;
        self.cold_at(more, before, move |assembler| {
            assembler.put_chain(&chain);
            assembler.flow.choice += 2 * chain.rounds.len() as i32;
            assembler.flow.output += chain.rounds.len() as i32;
            assembler.node(rest, offset);
            assembler.resume(back, after);
        });
        self.place(back);
    }

    /// Leaves a bit in rcx for each round that stops, at 7 more than 16 times its number; the zero flag says whether
    /// there is none.
    fn find_stops(&mut self, chain: &Chain) {
        let stops = STOPS & (u64::MAX >> (64 - 16 * chain.rounds.len()));
        let stops = self.data.tables.add(stops.to_le_bytes().to_vec(), 8);
        let at = self.flow.choice as i8;
        let bmi1 = self.features.bmi1;
        let ops = &mut self.ops;
        asm!(ops ; mov rcx, [BYTE choice + at]);
        if bmi1 { asm!(ops ; andn rcx, rcx, [tables + stops]) } else { asm!(ops ; not rcx ; and rcx, [tables + stops]) }
    }

    /// Finds the place of the lowest bit of rcx, which is not 0.
    fn find_first(&mut self) {
        let bmi1 = self.features.bmi1;
        let ops = &mut self.ops;
        if bmi1 { asm!(ops ; tzcnt rcx, rcx) } else { asm!(ops ; bsf rcx, rcx) }
    }

    /// Emits the members of all rounds, and the byte that follows them. Keeps rcx.
    fn put_chain(&mut self, chain: &Chain) {
        let rounds = chain.rounds.len();
        self.used(2 * rounds as i32 + 1, rounds as i32 + 1);
        let (at, to) = (self.flow.choice as i8, self.flow.output as i8);
        let alike = chain.rounds.iter().take_while(|&round| *round == chain.rounds[0]).count();
        let item = ByteItem { table: chain.rounds[0], bound: 256, layers: 0, max_cost: 0 };
        let look = Look::at(&item, self.features);
        let at_once = alike >= MIN_AT_ONCE && look.is_at_once();
        if at_once {
            self.put_members_at(&look, at, to);
        }
        for (round, table) in chain.rounds.iter().enumerate().skip(if at_once { alike } else { 0 }) {
            let round = round as i8;
            self.put_byte_of(table, at + 2 * round + 1, to + round);
        }
        if let ChainEnd::Byte(table) = &chain.end {
            self.put_byte_of(table, at + 2 * rounds as i8, to + rounds as i8);
        }
    }

    /// Emits the table's entry for the choice byte at a displacement, at a displacement of the output.
    fn put_byte_of(&mut self, table: &[u8; 256], at: i8, to: i8) {
        let table = self.data.tables.add(table.to_vec(), 1);
        let ops = &mut self.ops;
        asm!(ops
            ; movzx edx, BYTE [BYTE choice + at]
            ; movzx edx, BYTE [tables + rdx + table]
            ; mov BYTE [BYTE output + to], dl
        );
    }

    /// Moves the pointers past a chain: rcx has the number of choice bytes up to the site that stopped, less one, and
    /// `rounds` the number of rounds that went on.
    // The assembler's macro converts a value that is a byte already.
    #[allow(clippy::useless_conversion)]
    fn leave_chain(&mut self, chain: &Chain, rounds: Rq) {
        let further = i8::from(chain.plus);
        let (at, to) = (self.flow.choice as i8 + 1 + further, self.flow.output as i8 + further);
        let rounds = rounds as u8;
        let ops = &mut self.ops;
        asm!(ops ; lea choice, [BYTE choice + rcx + at] ; lea output, [BYTE output + Rq(rounds) + to]);
        (self.flow.choice, self.flow.output) = (0, 0);
    }
}
