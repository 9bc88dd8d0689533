//! AXI4-Stream of a core, checked.

use anyhow::{Result, ensure};

use crate::model::Pins;

/// Checker of an AXI4-Stream sent by a core: TDATA and TLAST are stable from TVALID to TREADY, and nothing
/// follows the last beat.
#[derive(Debug, Default)]
pub struct StreamChecker {
    waiting: Option<([u8; 64], u8)>,
    ended: bool,
}

impl StreamChecker {
    /// Checks a clock; returns whether a beat was transferred.
    ///
    /// # Errors
    /// If the core breaks a rule; the message names `now`.
    pub fn sample(&mut self, now: u64, pins: &Pins) -> Result<bool> {
        let valid = pins.out_tvalid == 1;
        if let Some((data, last)) = self.waiting {
            ensure!(valid, "out-stream, cycle {now}: TVALID falls before TREADY");
            ensure!(
                data == pins.out_tdata,
                "out-stream, cycle {now}: TDATA changes while it waits"
            );
            ensure!(
                last == pins.out_tlast,
                "out-stream, cycle {now}: TLAST changes while it waits"
            );
        }
        ensure!(!(valid && self.ended), "out-stream, cycle {now}: a beat after the last one");
        let taken = valid && pins.out_tready == 1;
        self.waiting = (valid && !taken).then_some((pins.out_tdata, pins.out_tlast));
        self.ended |= taken && pins.out_tlast == 1;
        Ok(taken)
    }

    /// Whether the beat with TLAST has been taken.
    pub fn ended(&self) -> bool {
        self.ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_s_beat_stays_until_it_is_taken() {
        let beat = |data: u8, last: u8| {
            let mut pins = Pins::new();
            (pins.out_tvalid, pins.out_tdata, pins.out_tlast) = (1, [data; 64], last);
            pins
        };
        let changes: [(&str, Box<Pins>); 3] = [
            ("TDATA changes", beat(8, 0)),
            ("TLAST changes", beat(7, 1)),
            ("TVALID falls", Pins::new()),
        ];
        for (part, change) in changes {
            let mut checker = StreamChecker::default();
            assert!(!checker.sample(0, &beat(7, 0)).unwrap());
            assert!(!checker.sample(1, &beat(7, 0)).unwrap());
            let message = checker.sample(2, &change).unwrap_err().to_string();
            assert!(message.contains(part) && message.contains("cycle 2"), "{message}");
        }
        let mut checker = StreamChecker::default();
        let mut taken = beat(7, 0);
        taken.out_tready = 1;
        assert!(checker.sample(0, &taken).unwrap());
        (taken.out_tdata, taken.out_tlast) = ([9; 64], 1);
        assert!(checker.sample(1, &taken).unwrap() && checker.ended());
        assert!(!checker.sample(2, &Pins::new()).unwrap());
        let message = checker.sample(3, &taken).unwrap_err().to_string();
        assert!(message.contains("after the last one"), "{message}");
    }
}
