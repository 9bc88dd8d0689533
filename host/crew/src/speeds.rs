//! Relative speeds of devices of several kinds.
//!
//! Two GPUs of a host can be given half each at once; a CPU beside an emulated accelerator, which is a
//! thousand times slower, can't. So devices of several kinds begin with a portion each. From then on a
//! device gets work by its speed: its finished portions per second, and until it has finished one, the
//! speed that it would have if its first run ended now.

use std::time::Duration;

/// A device gets its part of the remaining work divided by this, since estimates are uncertain.
const CAREFUL: f64 = 2.0;
/// What a device takes grows by this at most: its first portions may have been light.
const GROWTH: usize = 8;

/// Record of a device.
#[derive(Debug, Default)]
struct Speed {
    portions: usize,
    busy: Duration,
    /// The most that it took at once.
    most: usize,
    /// Since when its present run lasts, and of how many portions it is.
    since: Option<(Duration, usize)>,
    gone: bool,
}

impl Speed {
    /// Portions per second; without any run the most that there can be.
    fn rate(&self, now: Duration) -> f64 {
        if self.gone {
            return 0.0;
        }
        match (self.portions, self.since) {
            (0, None) => f64::INFINITY,
            (0, Some((since, portions))) => {
                portions as f64 / now.saturating_sub(since).as_secs_f64().max(1e-9)
            }
            (portions, _) => portions as f64 / self.busy.as_secs_f64().max(1e-9),
        }
    }
}

/// The speeds of all devices of a run. Times count from the run's beginning.
#[derive(Debug)]
pub struct Speeds(Vec<Speed>);

impl Speeds {
    /// For this many devices without a measurement.
    pub fn new(devices: usize) -> Self {
        Speeds((0..devices).map(|_| Speed::default()).collect())
    }

    /// Portions per second that a device has finished; 0 without any.
    pub fn known(&self, device: usize, now: Duration) -> f64 {
        let own = &self.0[device];
        if own.portions == 0 { 0.0 } else { own.rate(now) }
    }

    /// The most portions that a device should take of those that are left, at least one.
    pub fn most(&self, device: usize, left: usize, now: Duration) -> usize {
        let own = &self.0[device];
        if own.portions == 0 {
            return 1;
        }
        let all: f64 = self.0.iter().map(|speed| speed.rate(now)).sum();
        let part = left as f64 * own.rate(now) / all / CAREFUL;
        (part as usize).clamp(1, GROWTH * own.most)
    }

    /// Records that a device begins a run of this many portions.
    pub fn begins(&mut self, device: usize, portions: usize, now: Duration) {
        let own = &mut self.0[device];
        own.since = Some((now, portions));
        own.most = own.most.max(portions);
    }

    /// A device ends its run, and is done for if it failed; one that was stopped isn't `whole`.
    pub fn ends(&mut self, device: usize, now: Duration, failed: bool, whole: bool) {
        let own = &mut self.0[device];
        own.gone |= failed;
        if let Some((since, portions)) = own.since.take()
            && whole
        {
            own.portions += portions;
            own.busy += now.saturating_sub(since);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(number: u64) -> Duration {
        Duration::from_millis(number)
    }

    #[test]
    fn a_slow_device_gets_little() {
        let mut speeds = Speeds::new(2);
        assert_eq!((speeds.most(0, 128, ms(0)), speeds.most(1, 128, ms(0))), (1, 1));
        speeds.begins(0, 1, ms(0));
        speeds.begins(1, 1, ms(0));
        speeds.ends(0, ms(10), false, true);
        // As long as nothing is heard of the other, it may be as fast: half of the half, but no more than
        // eight times as many as before.
        assert_eq!(speeds.most(0, 126, ms(10)), 8);
        assert_eq!(speeds.most(0, 20, ms(10)), 5);
        speeds.begins(0, 8, ms(10));
        speeds.ends(0, ms(90), false, true);
        // It can't be: a ninth of the speed at most.
        assert_eq!(speeds.most(0, 100, ms(90)), 45);
        speeds.ends(1, ms(1000), false, true);
        assert_eq!((speeds.most(0, 101, ms(1000)), speeds.most(1, 101, ms(1000))), (50, 1));
    }

    #[test]
    fn equal_devices_get_as_much_and_a_lost_one_counts_no_more() {
        let mut speeds = Speeds::new(2);
        for device in 0..2 {
            speeds.begins(device, 10, ms(0));
            speeds.ends(device, ms(100), false, true);
        }
        assert_eq!((speeds.most(0, 40, ms(100)), speeds.most(1, 40, ms(100))), (10, 10));
        speeds.begins(1, 1, ms(100));
        speeds.ends(1, ms(110), true, true);
        assert_eq!(speeds.most(0, 40, ms(110)), 20);
    }
}
