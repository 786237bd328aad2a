//! The cost of a choice by the way it is made: `dispatch [N]...` prints nanoseconds a choice among N options, each of
//! which emits one to three bytes, for jump tables, comparisons that split off the rarest option, trees of comparisons,
//! conditional moves, and table lookups of the bytes.

#[cfg(all(target_arch = "x86_64", unix))]
fn main() {
    let counts: Vec<usize> = std::env::args().skip(1).map(|count| count.parse().expect("a count")).collect();
    let counts = if counts.is_empty() { vec![2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64] } else { counts };
    ways::report(&counts);
}

#[cfg(not(all(target_arch = "x86_64", unix)))]
fn main() {
    eprintln!("there is machine code for x86-64 under Unix only");
}

#[cfg(all(target_arch = "x86_64", unix))]
mod ways {
    use std::time::Instant;

    use dynasm::dynasm;
    use dynasmrt::{AssemblyOffset, DynamicLabel, DynasmApi, DynasmLabelApi, ExecutableBuffer, x64::Assembler};
    use gramjet::Choices;

    const WAYS: [&str; 5] =
        ["table of jumps", "compares, rare first", "tree of compares", "conditional moves", "look-up"];

    /// Choice bytes in all, too many to be learnt by a branch predictor, and of a run, which is over before the machine
    /// has other work.
    const LEN: usize = 1 << 22;
    const RUN: usize = 1 << 14;
    const ROUNDS: usize = 4;

    /// A site: where the bytes of each option begin.
    struct Site {
        bounds: Vec<i32>,
    }

    impl Site {
        fn uniform(count: usize) -> Site {
            Site { bounds: (0..=count).map(|option| (option * 256).div_ceil(count) as i32).collect() }
        }

        /// Returns a site of which half of the bytes lead to the last option.
        fn skewed(count: usize) -> Site {
            let others = count - 1;
            let bounds = (0..=others).map(|option| (option * 128).div_ceil(others) as i32).chain([256]);
            Site { bounds: bounds.collect() }
        }

        fn count(&self) -> usize {
            self.bounds.len() - 1
        }

        /// Returns up to three bytes, and their number in the highest byte.
        fn word(option: usize) -> i32 {
            let len = option % 3 + 1;
            let text = 0x0061_6161 + option as i32;
            (text & ((1 << (8 * len)) - 1)) | (len as i32) << 24
        }

        fn map(&self) -> Vec<u8> {
            (0..256).map(|byte| (self.bounds.iter().rposition(|&bound| bound <= byte)).unwrap_or(0) as u8).collect()
        }
    }

    /// A loop over choice bytes, and the tables that it reads.
    struct Code {
        buffer: ExecutableBuffer,
        entry: AssemblyOffset,
        _tables: (Vec<u8>, Vec<i32>),
    }

    impl Code {
        fn new(way: usize, site: &Site) -> Code {
            let mut ops = Assembler::new().expect("memory");
            let map = site.map();
            let mut table: Vec<i32> = (0..site.count()).map(Site::word).collect();
            let arms: Vec<DynamicLabel> = table.iter().map(|_| ops.new_dynamic_label()).collect();
            let (head, next) = (ops.new_dynamic_label(), ops.new_dynamic_label());
            let entry = ops.offset();
            // rdi: output, rsi: choice byte, rdx: their end, r8: map, r9: table, r10: where addresses of jumps count
            // from.
            dynasm!(ops
                ; .arch x64
                ; mov r8, QWORD map.as_ptr() as i64
                ; mov r9, QWORD table.as_ptr() as i64
                ; lea r10, [>base]
                ; jmp =>head
                ; .align 64
                ; base:
                ; =>head
                ; movzx eax, BYTE [rsi]
                ; inc rsi
            );
            match way {
                0 => dynasm!(ops
                    ; .arch x64
                    ; movzx eax, BYTE [r8 + rax]
                    ; movsxd rcx, DWORD [r9 + rax * 4]
                    ; add rcx, r10
                    ; jmp rcx
                ),
                1 => compares(&mut ops, site, &arms),
                2 => tree(&mut ops, &site.bounds, &arms),
                3 => {
                    dynasm!(ops ; .arch x64 ; mov ecx, table[0]);
                    for (option, &word) in table.iter().enumerate().skip(1) {
                        dynasm!(ops ; .arch x64 ; mov r11d, word ; cmp eax, site.bounds[option] ; cmovae ecx, r11d);
                    }
                }
                _ => dynasm!(ops ; .arch x64 ; movzx eax, BYTE [r8 + rax] ; mov ecx, [r9 + rax * 4]),
            }
            match way {
                0..=2 => {
                    for (option, &arm) in arms.iter().enumerate() {
                        let word = Site::word(option);
                        let (text, len) = (word & 0xFF_FFFF, word >> 24);
                        dynasm!(ops ; .arch x64 ; =>arm ; mov DWORD [rdi], text ; add rdi, len ; jmp =>next);
                    }
                }
                _ => dynasm!(ops ; .arch x64 ; mov [rdi], ecx ; shr ecx, 24 ; add rdi, rcx),
            }
            dynasm!(ops ; .arch x64 ; =>next ; cmp rsi, rdx ; jb =>head ; mov rax, rdi ; ret);
            ops.commit().expect("labels");
            if way == 0 {
                let labels = ops.labels();
                let place = |label| labels.resolve_dynamic(label).expect("a label").0 as i32;
                for (entry, &arm) in table.iter_mut().zip(&arms) {
                    *entry = place(arm) - place(head);
                }
            }
            Code { buffer: ops.finalize().expect("code"), entry, _tables: (map, table) }
        }

        fn run(&self, choices: &[u8], output: &mut [u8]) -> usize {
            assert!(output.len() >= 3 * choices.len() + 4);
            // SAFETY: the code reads the choice bytes and writes at most three bytes for each, and one after them.
            unsafe {
                type Loop = unsafe extern "sysv64" fn(*mut u8, *const u8, *const u8) -> *mut u8;
                let entry: Loop = std::mem::transmute(self.buffer.ptr(self.entry));
                let choices = choices.as_ptr_range();
                entry(output.as_mut_ptr(), choices.start, choices.end).offset_from_unsigned(output.as_ptr())
            }
        }
    }

    /// Splits off the less probable of the two outer options until one is left.
    fn compares(ops: &mut Assembler, site: &Site, arms: &[DynamicLabel]) {
        let (mut first, mut last) = (0, arms.len() - 1);
        let weight = |option: usize| site.bounds[option + 1] - site.bounds[option];
        while first < last {
            if weight(first) <= weight(last) {
                dynasm!(ops ; .arch x64 ; cmp eax, site.bounds[first + 1] ; jb =>arms[first]);
                first += 1;
            } else {
                dynasm!(ops ; .arch x64 ; cmp eax, site.bounds[last] ; jae =>arms[last]);
                last -= 1;
            }
        }
        dynasm!(ops ; .arch x64 ; jmp =>arms[first]);
    }

    /// Halves the options by probability until one is left.
    fn tree(ops: &mut Assembler, bounds: &[i32], arms: &[DynamicLabel]) {
        if let [arm] = arms {
            dynasm!(ops ; .arch x64 ; jmp =>*arm);
            return;
        }
        let middle = (bounds[0] + bounds[arms.len()]) / 2;
        let split = (1..arms.len()).min_by_key(|&split| (bounds[split] - middle).abs()).unwrap_or(1);
        let above = ops.new_dynamic_label();
        dynasm!(ops ; .arch x64 ; cmp eax, bounds[split] ; jae =>above);
        tree(ops, &bounds[..=split], &arms[..split]);
        dynasm!(ops ; .arch x64 ; =>above);
        tree(ops, &bounds[split..], &arms[split..]);
    }

    pub fn report(counts: &[usize]) {
        let mut choices = vec![0; LEN];
        let mut random = Choices::random(1);
        choices.iter_mut().for_each(|byte| *byte = random.next_byte().unwrap_or(0));
        let mut output = vec![0; 3 * RUN + 16];
        for (name, site) in
            [("equally probable", Site::uniform as fn(usize) -> Site), ("one of them half", Site::skewed)]
        {
            println!("\n| options, {name} | {} |", counts.iter().map(usize::to_string).collect::<Vec<_>>().join(" | "));
            println!("|---|{}", "---|".repeat(counts.len()));
            let columns: Vec<[f64; WAYS.len()]> =
                counts.iter().map(|&count| measure(&site(count), &choices, &mut output)).collect();
            for (way, name) in WAYS.iter().enumerate() {
                let row: Vec<String> = columns.iter().map(|column| format!("{:.2}", column[way])).collect();
                println!("| {name} | {} |", row.join(" | "));
            }
        }
    }

    /// Returns the nanoseconds a choice, the least of all rounds, in which the ways take turns.
    fn measure(site: &Site, choices: &[u8], output: &mut [u8]) -> [f64; WAYS.len()] {
        let codes: [Code; WAYS.len()] = std::array::from_fn(|way| Code::new(way, site));
        let mut best = [f64::INFINITY; WAYS.len()];
        for run in (0..ROUNDS).flat_map(|_| choices.chunks(RUN)) {
            let len = codes[0].run(run, output);
            let expected = output[..len].to_vec();
            for (code, best) in codes.iter().zip(&mut best) {
                let start = Instant::now();
                let len = code.run(run, output);
                *best = best.min(start.elapsed().as_secs_f64() * 1e9 / RUN as f64);
                assert!(output[..len] == expected);
            }
        }
        best
    }
}
