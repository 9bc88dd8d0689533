//! Activity of the warps of the strategy `wide` by the time of its slices (thesis, figures 6.2 and 6.6).

use gramer_engine::metrics::{DeviceMetrics, Value};

/// Activity of the warps of one search.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Activity {
    /// Launches.
    pub slices: u64,
    /// Launches of the load balancer.
    pub balances: u64,
    seconds: f64,
    active: f64,
    above: f64,
}

impl Activity {
    /// Adds a slice that took these seconds, with the share of warps with work at its begin and end. At `least` of them
    /// the load balancer has nothing to do.
    pub fn add(&mut self, seconds: f64, [begin, end]: [f64; 2], least: f64) {
        let share = f64::midpoint(begin, end);
        self.slices += 1;
        self.seconds += seconds;
        self.active += seconds * share;
        self.above += if share >= least { seconds } else { 0.0 };
    }

    /// Adds it to the metrics of a run.
    pub fn report(&self, metrics: &mut DeviceMetrics) {
        let share = |part| Value::Share { part, whole: self.seconds };
        metrics.detail("wide.slices", "", Value::Count(self.slices));
        metrics.detail("wide.balances", "", Value::Count(self.balances));
        metrics.detail("wide.active", "", share(self.active));
        metrics.detail("wide.above", "", share(self.above));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_count_by_their_time() {
        let mut activity = Activity::default();
        activity.add(3.0, [1.0, 0.8], 0.7);
        activity.add(1.0, [0.6, 0.2], 0.7);
        assert_eq!((activity.slices, activity.seconds, activity.above), (2, 4.0, 3.0));
        assert!((activity.active / activity.seconds - 0.775).abs() < 1e-12);
    }
}
