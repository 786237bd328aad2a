//! Figures of the bulk engine.
use gramjet::Limits;
use gramjet_compiler::{Options, SourceFile, compile};
use gramjet_engine::bulk::{Bulk, Effort, Framing};
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let file = SourceFile::new(&args[1], text);
    let (compiled, _) = compile(&file, &Options::default()).unwrap_or_else(|_| panic!("bad grammar"));
    let depth: u32 = args[2].parse().unwrap();
    let records: usize = args[3].parse().unwrap();
    let mib: usize = args[4].parse().unwrap();
    let limits = Limits::new().max_depth((depth > 0).then_some(depth));
    let started = Instant::now();
    let framing = Framing { before: 0, behind: if args.get(5).is_some() { b"\n".to_vec() } else { Vec::new() } };
    let mut bulk = Bulk::new(
        &compiled,
        limits,
        framing,
        Effort { records, rounds: std::env::var("PLAN").map_or(3, |r| r.parse().unwrap()) },
    )
    .unwrap();
    eprint!(
        "{} d{depth}: tables {:.1?} records {} bytes/step {:.2} mean {:.1} block {} ",
        args[1].rsplit('/').next().unwrap(),
        started.elapsed(),
        bulk.records(),
        bulk.mean_step(),
        bulk.mean_input(),
        bulk.block_inputs()
    );
    let mut best = f64::INFINITY;
    let mut stats = (0u64, 0u64);
    for _ in 0..std::env::var("ROUNDS").map_or(24, |r| r.parse().unwrap()) {
        let now = || {
            let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
            t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
        };
        let started = now();
        let (mut bytes, mut inputs) = (0, 0);
        while bytes < mib << 20 {
            let block = bulk.next_block();
            if args.get(5).is_some() {
                use std::io::Write;
                std::io::stdout().write_all(block.bytes).unwrap();
            }
            bytes += block.bytes.len();
            inputs += block.ends.len();
        }
        best = best.min((now() - started) / bytes as f64);
        stats = (stats.0 + bytes as u64, stats.1 + inputs as u64);
    }
    eprintln!(
        "mean {:.2} {:.0} MiB/s {:.2} ns/step",
        stats.0 as f64 / stats.1 as f64,
        1.0 / best / 1048576.0,
        best * 1e9 * bulk.mean_step()
    );
}
