use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::settings::Settings;
use crate::units::{Ranges, Runs};
use crate::xclbin::build::read_machine;
use gramer_engine::work::Units;
use gramer_graph::View;

/// Kernels may run on with buffers that must not be released then.
#[test]
fn after_a_panic_nothing_of_a_device_is_released() {
    let mut machine = read_machine(Some(Path::new("small"))).unwrap();
    // No description that is read is so; here it makes a pass panic.
    machine.streams.input.parts.clear();
    let (offsets, neighbours) = (vec![0, 1, 2], vec![1, 0]);
    let view =
        View { offsets: &offsets, neighbours: &neighbours, vertex_labels: None, edge_labels: None };
    let image = DeviceImage::new(view, &machine);
    let limits = Runs { depth: 3, ascending: false, runs: 1, compute_units: 1, most: 9 };
    let ranges = Ranges::new(view, Units::All, limits);
    let mut session = Session::of(machine.clone(), 200, vec![]);
    let dictionary = vec![];
    let pass = Pass {
        application: 0,
        k: 3,
        dictionary,
        patterns: 1,
        list: false,
        enough: None,
        filter: None,
        select: false,
    };
    let context = Context::default();
    let settings = Settings::default();
    let explored = catch_unwind(AssertUnwindSafe(|| {
        session.explore(&pass, &image, &settings, ranges, None, &context)
    }));
    assert!(explored.is_err());
    assert!(session.broken);
}
