//! Fuzzers for the planted bugs, in the process of the parser or with a forkserver, on one core or on many by LibAFL's
//! launcher: on choice bytes with gramjet's mutator, or on bytes with LibAFL's own mutations and a dictionary. They end
//! when the bug is found.

use std::env;
use std::fs;
use std::time::Duration;

use gramjet_libafl::Grammar;
use libafl::corpus::Corpus;
use libafl::events::{EventConfig, Launcher, SimpleEventManager};
use libafl::monitors::{MultiMonitor, NopMonitor};
use libafl_bolts::core_affinity::Cores;
use libafl_bolts::shmem::{ShMemProvider, StdShMemProvider};

#[path = "planted/arguments.rs"]
mod arguments;
#[path = "planted/forkserver.rs"]
mod forkserver;
#[path = "planted/in_process.rs"]
mod in_process;

use arguments::{Arguments, Inputs};

fn main() {
    let arguments = match Arguments::parse(env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("{message}");
            std::process::exit(2);
        }
    };
    let ended = match &arguments.cores {
        _ if arguments.is_target => forkserver::serve(arguments.parser),
        None => alone(&arguments),
        Some(cores) => on_cores(&arguments, cores),
    };
    match ended {
        Ok(()) | Err(libafl::Error::ShuttingDown) => {}
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    }
}

/// Runs one fuzzer in this process.
fn alone(arguments: &Arguments) -> Result<(), libafl::Error> {
    let mut manager = SimpleEventManager::new(NopMonitor::new());
    if arguments.forkserver {
        forkserver::fuzz(arguments, None, &mut manager)
    } else {
        in_process::fuzz(arguments, None, &mut manager)
    }
}

/// Runs one fuzzer on each of these cores; they report their findings to each other (LLMP).
fn on_cores(arguments: &Arguments, cores: &str) -> Result<(), libafl::Error> {
    let cores = Cores::from_cmdline(cores)?;
    Launcher::builder()
        .shmem_provider(StdShMemProvider::new()?)
        .configuration(EventConfig::from_name("planted"))
        .monitor(MultiMonitor::new(|line| println!("{line}")))
        .run_client(|state, mut manager, _client| {
            if arguments.forkserver {
                forkserver::fuzz(arguments, state, &mut manager)
            } else {
                in_process::fuzz(arguments, state, &mut manager)
            }
        })
        .cores(&cores)
        .broker_port(arguments.port)
        .build()
        .launch()
}
