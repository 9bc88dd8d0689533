//! Real graphs on the paper's machine, the runs that take seconds. `make check-rtl` runs the longer
//! ones (`real_long.rs`).

mod support;

use support::environment::{self, long};
use support::real::{CITESEER, P2P_04, P2P_08, check, check_on};

#[test]
fn short_runs() {
    check(CITESEER.0, CITESEER.1, true, 3, None);
    check(CITESEER.0, CITESEER.1, true, 4, None);
    check(CITESEER.0, CITESEER.1, true, 5, None);
    check(CITESEER.0, CITESEER.1, false, 3, None);
    check(CITESEER.0, CITESEER.1, false, 4, Some(1_600_000));
    for k in 3..=5 {
        check(P2P_04.0, P2P_04.1, true, k, None);
        check(P2P_08.0, P2P_08.1, true, k, None);
    }
}

/// The baseline of figure 12: counts do not depend on the memory. In long tests alone, since no other test needs its
/// model; `random_tasks_in_a_uniform_memory` has a small one.
#[test]
fn uniform_memory() {
    if !long() {
        return environment::skip_here("`make test-long` runs it");
    }
    check_on("machines/uniform.yaml", true, CITESEER.0, CITESEER.1, false, 4, None);
    check_on("machines/uniform.yaml", true, P2P_08.0, P2P_08.1, true, 3, None);
}
