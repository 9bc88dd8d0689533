//! Real graphs on the paper's machine, the runs that take minutes: `make check-rtl`, or
//! `cargo test --release -p gramer-sim --test real_long`. Not among the package's default tests.

mod support;

use support::real::{ASTRO, CITESEER, P2P_04, P2P_08, check, check_asserting};

/// Runs of some length with the assertions of the design, which the others leave out to be faster.
#[test]
fn with_assertions() {
    check_asserting(CITESEER.0, CITESEER.1, true, 3);
    check_asserting(CITESEER.0, CITESEER.1, false, 3);
    check_asserting(CITESEER.0, CITESEER.1, false, 4);
    check_asserting(P2P_04.0, P2P_04.1, true, 3);
    check_asserting(P2P_08.0, P2P_08.1, false, 3);
    check_asserting(ASTRO.0, ASTRO.1, true, 3);
}

#[test]
fn long_runs() {
    check(CITESEER.0, CITESEER.1, false, 5, None);
    check(P2P_04.0, P2P_04.1, false, 3, None);
    check(P2P_08.0, P2P_08.1, false, 3, None);
    check(P2P_04.0, P2P_04.1, false, 4, Some(12_400_000));
    check(P2P_08.0, P2P_08.1, false, 4, Some(12_400_000));
    check(ASTRO.0, ASTRO.1, true, 3, Some(3_600_000));
    check(ASTRO.0, ASTRO.1, true, 4, Some(52_000_000));
    check(ASTRO.0, ASTRO.1, false, 3, Some(15_800_000));
}
