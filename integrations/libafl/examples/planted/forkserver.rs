//! A fuzzer that sends texts to a forkserver, and the forkserver: this program with `--target`, as an example of a
//! program that speaks AFL++'s protocol.

use libafl::executors::StdChildArgs;
use libafl::executors::forkserver::ForkserverExecutor;
use libafl_bolts::StdTargetArgs;
use libafl_bolts::shmem::{ShMem, UnixShMemProvider};
use libafl_targets::{INPUT_LENGTH_PTR, INPUT_PTR, SHM_FUZZING};
use libafl_targets::{MaybePersistentForkserverParent, map_input_shared_memory, map_shared_memory, start_forkserver};

use super::in_process::*;
use super::*;

/// The size of the coverage map.
const MAP_SIZE: usize = 65536;

pub fn fuzz<M: Manager>(arguments: &Arguments, state: Option<State>, manager: &mut M) -> Result<(), Error> {
    let mut provider = UnixShMemProvider::new()?;
    let mut map = provider.new_shmem(MAP_SIZE)?;
    // SAFETY: no other thread of this process reads the environment.
    unsafe {
        map.write_to_env("__AFL_SHM_ID")?;
        env::set_var("AFL_MAP_SIZE", MAP_SIZE.to_string());
    }
    // SAFETY: the map lives until the end of this function, and only this observer looks at it.
    let edges = unsafe { StdMapObserver::from_mut_ptr("edges", map.as_mut_ptr(), MAP_SIZE) };
    let edges = HitcountsMapObserver::new(edges).track_indices();
    let program = env::current_exe()?;
    let grammar = grammar(arguments)?;
    fuzz_with!(arguments, grammar.as_ref(), state, manager, edges, fuzzer, state => ForkserverExecutor::builder()
        .program(&program)
        .args([&arguments.name, "--target"])
        .shmem_provider(&mut provider)
        .coverage_map_size(MAP_SIZE)
        .timeout(Duration::from_secs(5))
        .build(tuple_list!(edges)))
}

/// Runs the parser in a child of a forkserver for each text.
pub fn serve(parser: fn(&[u8])) -> Result<(), Error> {
    // A panic is a crash: the process ends by a signal.
    std::panic::set_hook(Box::new(|_| std::process::abort()));
    let mut provider = StdShMemProvider::new()?;
    map_shared_memory(&mut provider)?;
    // SAFETY: this process has one thread.
    unsafe { SHM_FUZZING = 1 };
    map_input_shared_memory(&mut provider)?;
    start_forkserver(&mut MaybePersistentForkserverParent::new())?;
    // SAFETY: the fuzzer has written an input of this length to the memory that was mapped.
    let text = unsafe { std::slice::from_raw_parts(INPUT_PTR, *INPUT_LENGTH_PTR as usize) };
    parser(text);
    Ok(())
}
