use super::*;

const PAPER: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../accelerator.yaml"));

fn point(settings: &[&str], vertices: usize, entries: usize) -> Result<Point> {
    let (offsets, neighbours) = (vec![0; vertices + 1], vec![0; entries]);
    let view =
        View { offsets: &offsets, neighbours: &neighbours, vertex_labels: None, edge_labels: None };
    let base = Accelerator::parse(PAPER, Path::new("accelerator.yaml")).unwrap();
    let settings = settings
        .iter()
        .map(|s| Ok(Variation::parse(s)?.values.remove(0)))
        .collect::<Result<Vec<_>>>()?;
    Point::new(&base, view, &settings)
}

fn usage(settings: &[&str]) -> String {
    point(settings, 100, 400).unwrap_err().to_string()
}

#[test]
fn switches_leave_the_machine_alone() {
    let base = point(&[], 100, 400).unwrap();
    let p = point(
        &["slots=2", "stealing=off", "lambda=0.5", "latency=200", "order=ascending"],
        100,
        400,
    )
    .unwrap();
    assert_eq!(p.machine, base.machine);
    let expected =
        ["--slots", "2", "--latency", "200", "--lambda", "0.5", "--no-stealing", "--ascending"];
    assert_eq!(p.options, expected);
    assert_eq!(point(&["tau=5%"], 100, 400).unwrap().options, ["--tau", "0.05"]);
    assert!(base.options.is_empty());
}

#[test]
fn the_structure_is_another_machine_with_the_same_memory() {
    let p = point(&["partitions=2", "processing_units=4", "slots=32"], 100, 400).unwrap();
    assert_eq!(p.machine.machine.processing_units, 4);
    assert_eq!(p.machine.machine.slots, 32);
    assert_eq!((p.machine.machine.partitions, p.machine.memory.ddr_banks), (2, 2));
    assert_eq!(on_chip_bytes(&p.machine), 6 << 20);
    let p = point(&["memory=9M"], 100, 400).unwrap();
    assert_eq!((on_chip_bytes(&p.machine), p.options[1].as_str()), (12 << 20, "0.75"));
    let p = point(&["memory=64K"], 100, 400).unwrap();
    assert_eq!(on_chip_bytes(&p.machine), 6 << 20);
    assert_eq!(p.options[1].parse::<f64>().unwrap(), 1.0 / 96.0);
    assert_eq!(p.room, [1024 / 3, 2 * 1024 / 3]);
}

#[test]
fn the_check_is_of_the_machine() {
    let base = point(&[], 100, 400).unwrap();
    assert_eq!(point(&["check=embedding"], 100, 400).unwrap().machine, base.machine);
    let p = point(&["check=candidate"], 100, 400).unwrap();
    assert_eq!((p.machine.machine.check, p.options.len()), (Check::Candidate, 0));
    assert_eq!(usage(&["check=both"]), "check is \"both\", but takes embedding, candidate");
}

#[test]
fn all_layouts_hold_equally_many_lines() {
    // p2p-gnutella08: 6301 records in 1576 lines, 41554 entries in 2598 lines.
    let p = point(&["on_chip=10%", "policy=locality"], 6301, 41554).unwrap();
    assert_eq!(p.options, ["--on-chip", "64,128,2,4"]);
    assert_eq!(p.room, [64 + 2 * 32, 128 + 4 * 32]);
    let u = point(&["on_chip=10%", "policy=uniform-lru"], 6301, 41554).unwrap();
    assert_eq!(u.options, ["--on-chip", "0,0,4,8", "--lru"]);
    assert_eq!(u.room, p.room);
    assert_eq!(u.machine.memory.layout, Layout::Uniform);
}

#[test]
fn tau_with_caches_of_its_size() {
    let p = point(&["tau=5%", "caches=tau"], 6301, 41554).unwrap();
    assert_eq!(p.options, ["--on-chip", "79,130,2,4"]);
    let p = point(&["tau=0.5", "caches=tau"], 6301, 41554).unwrap();
    assert_eq!(p.options, ["--on-chip", "788,1299,25,41"]);
}

#[test]
fn what_is_refused_says_why() {
    for (settings, said) in [
        (&["slot=2"][..], "did you mean slots?"),
        (&["slots=x"], "takes 1 to 32"),
        (&["slots=0"], "takes 1 to 32"),
        (&["lambda=0.3"], "steps of 1/8"),
        (&["stealing=maybe"], "takes on, off"),
        (&["slots"], "NAME=VALUE"),
        (&["processing_units=3"], "power of two"),
        (&["tau=0.1", "on_chip=0.1"], "give one of"),
        (&["caches=tau"], "needs tau"),
        (&["slots=1", "slots=2"], "set twice"),
    ] {
        let message = usage(settings);
        assert!(message.contains(said), "{settings:?}: {message}");
    }
    assert!(Variation::parse("slots=1,1").is_err());
}

#[test]
fn lambda_takes_what_the_machine_does() {
    assert_eq!(Parameter::Lambda.takes(), gramer_machine::lambda_range());
}

#[test]
fn combinations_go_through_all_values() {
    let variations = ["slots=1,2", "stealing=on,off"].map(|v| Variation::parse(v).unwrap());
    let all = combinations(&variations);
    let texts: Vec<Vec<&str>> =
        all.iter().map(|s| s.iter().map(|s| s.text.as_str()).collect()).collect();
    assert_eq!(texts, [["1", "on"], ["1", "off"], ["2", "on"], ["2", "off"]]);
}
