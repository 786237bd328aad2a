//! Prints the throughput of an engine on a grammar file: `speed FILE [DEPTH]... [--len BYTES] [--count-levels]
//! [--reference | --jit | --bulk [--records N] [--work N]]`.

use std::time::Instant;

use gramjet::{Inputs, Limits, Producer};
use gramjet_compiler::{Compiled, Options, SourceFile, compile};
use gramjet_engine::bulk::{Bulk, Effort, Framing};
use gramjet_engine::jit::Jit;
use gramjet_engine::reference::Reference;
use gramjet_engine::vm::Vm;

fn main() {
    let mut args = std::env::args().skip(1);
    let path = args
        .next()
        .expect("usage: speed FILE [DEPTH]... [--len BYTES] [--count-levels] [--reference | --jit | --bulk [--records N] [--work N]]");
    let (mut effort, mut counts_levels) = (Effort::default(), false);
    let (mut depths, mut length, mut reference, mut jit, mut bulk) = (Vec::new(), None, false, false, false);
    while let Some(argument) = args.next() {
        match argument.as_str() {
            "--len" => length = args.next().and_then(|bytes| bytes.parse().ok()),
            "--count-levels" => counts_levels = true,
            "--reference" => reference = true,
            "--jit" => jit = true,
            "--bulk" => bulk = true,
            "--work" => effort.work = args.next().and_then(|count| count.parse().ok()).expect("work"),
            "--records" => effort.records = args.next().and_then(|records| records.parse().ok()).expect("records"),
            "none" => depths.push(None),
            depth => depths.push(Some(depth.parse().expect("a depth"))),
        }
    }
    let text = std::fs::read_to_string(&path).expect("a readable file");
    let (compiled, _) = compile(&SourceFile::new(path, text), &Options::default()).expect("a valid grammar");
    if bulk {
        depths.into_iter().for_each(|depth| measure_bulk(&compiled, Limits::new().max_depth(depth), effort));
        return;
    }
    let start = Instant::now();
    let vm = if counts_levels { Vm::without_unfolding(&compiled) } else { Vm::new(&compiled) };
    println!("built in {:?}: {vm:?}", start.elapsed());
    let start = Instant::now();
    let native = if counts_levels { Jit::without_unfolding(&compiled) } else { Jit::new(&compiled) };
    let native = native.expect("machine code");
    println!("compiled in {:?}: {native:?}", start.elapsed());
    for depth in depths {
        let limits = Limits::new().max_depth(depth).max_len(length);
        match (reference, jit) {
            (true, _) => measure(Reference::new(&compiled), limits),
            (_, true) => {
                let mut native = native.clone();
                native.set_limits(limits).expect("limits that can be kept");
                if std::env::var_os("GRAMJET_PERF_MAP").is_some() {
                    native.write_perf_map().expect("a map for perf");
                }
                measure(native, limits);
            }
            _ => measure(vm.clone(), limits),
        }
    }
}

/// Returns the seconds of CPU time of this thread, so that other work on the machine counts less; elsewhere than on
/// Linux, wall-clock time.
fn seconds(start: Instant) -> f64 {
    let on_cpu = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = on_cpu.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.map_or(start.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}

fn measure(mut producer: impl Producer, limits: Limits) {
    producer.set_limits(limits).expect("limits that can be kept");
    let mut inputs = Inputs::new(producer, 1);
    let mut output = Vec::new();
    // The best of several runs: the machine has other work.
    let mut best = (f64::INFINITY, 0.0, 0.0);
    let start = Instant::now();
    for _ in 0..7 {
        let (mut bytes, mut choices, mut count) = (0usize, 0u64, 0u32);
        let begin = seconds(start);
        while seconds(start) - begin < 0.2 {
            for _ in 0..16 {
                while output.len() < 1 << 16 {
                    choices += inputs.append_to(&mut output);
                    count += 1;
                }
                bytes += output.len();
                output.clear();
            }
        }
        let seconds = seconds(start) - begin;
        if seconds / (bytes as f64) < best.0 {
            best = (seconds / bytes as f64, seconds / choices as f64, bytes as f64 / f64::from(count));
        }
    }
    let (per_byte, per_choice, mean) = best;
    println!(
        "depth {:?} length {:?}: {:.0} MiB/s, {:.2} ns a choice byte, {mean:.0} bytes an input",
        limits.depth(),
        limits.length(),
        1.0 / per_byte / f64::from(1 << 20),
        per_choice * 1e9,
    );
}

fn measure_bulk(compiled: &Compiled, limits: Limits, effort: Effort) {
    let start = Instant::now();
    let mut bulk = match Bulk::new(compiled, limits, Framing::default(), effort) {
        Ok(bulk) => bulk,
        Err(reason) => return println!("depth {:?}: {reason}", limits.depth()),
    };
    let built = start.elapsed();
    let mut best = f64::INFINITY;
    for _ in 0..7 {
        let (mut bytes, begin) = (0usize, seconds(start));
        while seconds(start) - begin < 0.2 {
            for _ in 0..16 {
                bytes += bulk.next_block().bytes.len();
            }
        }
        best = best.min((seconds(start) - begin) / bytes as f64);
    }
    println!(
        "depth {:?}: {:.0} MiB/s, {:.2} ns and {:.2} bytes a step, {} records, {} KiB of tables, made in {built:.0?}, blocks of {}",
        limits.depth(),
        1.0 / best / f64::from(1 << 20),
        best * bulk.mean_step() * 1e9,
        bulk.mean_step(),
        bulk.records(),
        bulk.table_bytes() >> 10,
        bulk.block_inputs(),
    );
}
