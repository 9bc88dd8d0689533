//! Tests of rows, counted on the host, and their bounds at rates that were measured before.

use std::path::Path;
use std::time::Instant;

use crate::bounds::{Arcs, Bound, Rates};
use crate::tasks::task;
use crate::{Failure, Options, read};

/// The tests of all rows, printed and written to the file of results.
pub fn rows(options: &Options) -> Result<(), Failure> {
    let rates = Rates::parse(&options.rates).ok_or("--rates takes NAME=PER_SECOND,...")?;
    let mut rows = vec![];
    for path in &options.graphs {
        let file = Path::new(path).file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let name = file.split('.').next().unwrap_or_default();
        let arcs = Arcs::of(&read(Path::new(path), options.labels)?);
        for (label, task) in options.tasks.iter().filter_map(|t| Some((t, task(t)?))) {
            let begun = Instant::now();
            let Some(tests) = arcs.tests(&task, options.settings.strategy) else {
                println!("{name} {label}: no tests are counted");
                continue;
            };
            let Bound { ms, of } = Bound::of(&rates, 0, arcs.bytes(), &tests);
            println!(
                "{name} {label}: {ms:.3} ms at least ({of}); lists of {}, searches of {} steps, counters {} words apart; counted in {:.1} s: {}",
                tests.length(),
                tests.levels(),
                tests.gap(),
                begun.elapsed().as_secs_f64(),
                tests.json()
            );
            rows.push(format!(
                "  {{\"graph\": \"{name}\", \"task\": \"{label}\", \"bound_ms\": {ms:.4}, \"bound\": \"{of}\", \"tests\": {}}}",
                tests.json()
            ));
        }
    }
    let text = format!("{{\"rates\": {}, \"rows\": [\n{}\n]}}\n", rates.json(), rows.join(",\n"));
    std::fs::write(&options.results, text)?;
    Ok(())
}
