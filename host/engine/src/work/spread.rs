//! Numbers in an order that is even from its beginning.

/// The numbers below a limit, each once, in an order whose every prefix is spread over the range. It begins in the
/// middle, since the first vertices of an ordered graph are unlike the rest.
///
/// ```
/// use gramer_engine::work::Spread;
///
/// let spread = Spread::of(10);
/// let order: Vec<usize> = (0..10).map(|place| spread.at(place)).collect();
/// assert_eq!(order, [5, 2, 9, 6, 3, 0, 7, 4, 1, 8]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Spread {
    len: usize,
    /// Distance of two numbers that follow each other, modulo `len`; they have no common divisor.
    stride: usize,
}

impl Spread {
    /// Orders the numbers below `len`.
    pub fn of(len: usize) -> Self {
        /// Multiples of the golden ratio modulo 1 leave the smallest gaps.
        const GOLDEN: f64 = 0.618_033_988_749_895;
        let nearest = (GOLDEN * len as f64).round() as usize;
        let stride = (nearest..len).find(|&stride| divisor(stride, len) == 1);
        Spread { len, stride: stride.unwrap_or(1) }
    }

    /// The number at a place below `len`.
    #[inline]
    pub fn at(self, place: usize) -> usize {
        let (place, stride, len) = (place as u128, self.stride as u128, self.len as u128);
        ((place * stride + len / 2) % len.max(1)) as usize
    }
}

/// The greatest common divisor.
fn divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_comes_once_and_any_beginning_is_even() {
        for len in (0..200).chain([1 << 20]) {
            let spread = Spread::of(len);
            let mut seen = vec![false; len];
            (0..len).for_each(|place| seen[spread.at(place)] = true);
            assert!(seen.iter().all(|&seen| seen), "{len}");
            // A tenth of the numbers has about a tenth of each quarter.
            let tenth = len / 10;
            let mut quarters = [0; 4];
            (0..tenth).for_each(|place| quarters[4 * spread.at(place) / len] += 1);
            assert!(
                quarters.iter().all(|&n: &usize| n.abs_diff(tenth / 4) <= 4 + tenth / 1000),
                "{len} {quarters:?}"
            );
        }
    }
}
