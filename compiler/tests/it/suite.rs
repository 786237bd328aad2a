//! The suite on the reference interpreter, on the lowered and on the residual IR.

use gramjet_compiler::reference::render;
use gramjet_testkit::suite::{bless_suite, blessing, run_suite};

#[test]
fn the_reference_runs_the_suite() {
    if blessing() {
        bless_suite(&mut |case, limits, choices| {
            let run = render(&case.compiled.lowered, &case.compiled.pools, limits, choices);
            (run.output, run.consumed)
        });
    }
    run_suite(&mut |case, limits, choices| {
        let run = render(&case.compiled.lowered, &case.compiled.pools, limits, choices);
        (run.output, run.consumed)
    });
}

#[test]
fn the_reference_runs_the_suite_on_residual_ir() {
    run_suite(&mut |case, limits, choices| {
        let run = render(&case.compiled.residual, &case.compiled.pools, limits, choices);
        (run.output, run.consumed)
    });
}
