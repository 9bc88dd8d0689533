//! Timelines of an emulated device's PUs: the emulator writes a line for each run to a file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::PathBuf;

use gramer_engine::metrics::Timeline;
use serde::Deserialize;

use crate::launch;

/// The file, and where the lines of the current task begin. A card has none.
pub(super) struct Samples {
    file: Option<PathBuf>,
    begins: u64,
}

/// A line of the file.
#[derive(Deserialize)]
struct Line {
    /// Among the runtime's devices.
    device: usize,
    compute_unit: usize,
    #[serde(flatten)]
    timeline: Timeline,
}

impl Samples {
    /// Of the file that the environment names.
    pub(super) fn new() -> Self {
        let file = std::env::var_os(launch::TIMELINE).filter(|path| !path.is_empty());
        Samples { file: file.map(PathBuf::from), begins: 0 }
    }

    /// Begins a task and discards the samples of the previous one.
    pub(super) fn begin(&mut self) {
        let size = self.file.as_ref().and_then(|file| file.metadata().ok()).map(|data| data.len());
        self.begins = size.unwrap_or(0);
    }

    /// What came since, by device and compute unit; the runs of each follow each other. A picture alone
    /// needs it, so what can't be read is left out.
    pub(super) fn read(&self) -> BTreeMap<(usize, usize), Timeline> {
        let mut all: BTreeMap<(usize, usize), Timeline> = BTreeMap::new();
        let Some(mut file) = self.file.as_ref().and_then(|file| File::open(file).ok()) else {
            return all;
        };
        if file.seek(SeekFrom::Start(self.begins)).is_err() {
            return all;
        }
        let lines = BufReader::new(file).lines().map_while(Result::ok);
        for line in lines.filter_map(|line| serde_json::from_str::<Line>(&line).ok()) {
            let Line { device, compute_unit, timeline } = line;
            let place = (device, compute_unit);
            match all.get_mut(&place) {
                Some(known) => {
                    known.append(&timeline);
                }
                None if timeline.is_whole() => {
                    all.insert(place, timeline);
                }
                None => {}
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_task_has_its_own_lines_and_runs_follow_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("timeline");
        let mut samples = Samples { file: Some(path.clone()), begins: 0 };
        assert!(samples.read().is_empty());
        let line = |(device, unit): (usize, usize), busy: u64| {
            let text = format!(
                r#"{{"device":{device},"compute_unit":{unit},"states":["busy"],"windows":[256],"spent":[[[{busy}]]]}}"#
            );
            let mut file = File::options().create(true).append(true).open(&path).unwrap();
            writeln!(file, "{text}").unwrap();
        };
        line((0, 0), 200);
        samples.begin();
        assert!(samples.read().is_empty());
        line((0, 1), 1);
        line((0, 0), 2);
        writeln!(File::options().append(true).open(&path).unwrap(), "cut o").unwrap();
        line((1, 1), 4);
        line((0, 1), 3);
        let all = samples.read();
        assert_eq!(all[&(0, 0)].spent, [[[2]]]);
        assert_eq!(all[&(0, 1)].spent, [[[1, 3]]]);
        assert_eq!(all[&(0, 1)].windows, [256, 256]);
        // Number the devices that run at the same time.
        assert_eq!(all[&(1, 1)].spent, [[[4]]]);
    }
}
