//! Numbers of mappings and homomorphisms, of 64, 128 or 256 bits.
//!
//! An answer of up to 128 bits may follow from a larger number: an occurrence is as many mappings as the
//! pattern has automorphisms, and a pattern has more homomorphisms than mappings. So what counts them is
//! compiled for a narrow number and for [`U256`], and runs with the latter once the former overflows.

use ethnum::U256;

/// An unsigned integer.
pub(super) trait Number: Copy + Ord + Send + Sync + From<u64> + Into<U256> {
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The largest one. Saturated sums and products mean a number that is too large.
    const MAX: Self;

    /// The sum, or [`Number::MAX`].
    fn saturating_add(self, other: Self) -> Self;
    /// The product, or [`Number::MAX`]; fast for small numbers.
    fn saturating_mul(self, other: Self) -> Self;
    /// The sum without its upper bits, and whether it has any.
    fn overflowing_add(self, other: Self) -> (Self, bool);
    /// The product without its upper bits, and whether it has any.
    fn overflowing_mul(self, other: Self) -> (Self, bool);
    /// The number, or [`Number::MAX`].
    fn saturating_from(number: U256) -> Self;
}

macro_rules! number {
    ($type:ty, $one:expr, $product:expr) => {
        impl Number for $type {
            const ZERO: Self = <$type>::MIN;
            const ONE: Self = $one;
            const MAX: Self = <$type>::MAX;

            #[inline(always)]
            fn saturating_add(self, other: Self) -> Self {
                self.saturating_add(other)
            }

            #[inline(always)]
            fn saturating_mul(self, other: Self) -> Self {
                $product(self, other)
            }

            #[inline(always)]
            fn overflowing_add(self, other: Self) -> (Self, bool) {
                self.overflowing_add(other)
            }

            #[inline(always)]
            fn overflowing_mul(self, other: Self) -> (Self, bool) {
                self.overflowing_mul(other)
            }

            #[inline]
            fn saturating_from(number: U256) -> Self {
                <$type>::try_from(number).unwrap_or(<$type>::MAX)
            }
        }
    };
}
number!(u64, 1, u64::saturating_mul);
number!(u128, 1, product);
number!(U256, U256::ONE, U256::saturating_mul);

#[inline]
fn product(a: u128, b: u128) -> u128 {
    match (u32::try_from(a), u32::try_from(b)) {
        (Ok(a), Ok(b)) => u128::from(u64::from(a) * u64::from(b)),
        _ => a.saturating_mul(b),
    }
}

/// Number of 64-bit parts of the largest number.
pub(super) const PARTS: usize = 4;

/// The parts of a number, the lowest first. Sums of parts have room for those of many processes.
pub(super) fn parts(number: U256) -> [u128; PARTS] {
    std::array::from_fn(|at| (number >> (64 * at as u32)).as_u128() & u128::from(u64::MAX))
}

/// The number of which these are sums of parts; `None` if it needs more than 256 bits.
pub(super) fn whole(parts: [u128; PARTS]) -> Option<U256> {
    (0..PARTS).try_fold(U256::ZERO, |sum, at| {
        let part = U256::new(parts[at]).checked_mul(U256::ONE << (64 * at as u32))?;
        sum.checked_add(part)
    })
}

/// Ways to choose `members` of `n`; in any order they are one way if `ordered`. [`U256::MAX`] if there are more.
pub(super) fn choices(n: u64, members: u64, ordered: bool) -> U256 {
    let mut ways = U256::ONE;
    for i in 0..members {
        let left = U256::from(n.saturating_sub(i));
        // C(n, i) · (n − i) is C(n, i + 1) · (i + 1).
        match ways.checked_mul(left) {
            Some(product) if ordered => ways = product / U256::from(i + 1),
            Some(product) => ways = product,
            None => return U256::MAX,
        }
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_many_processes_add_up() {
        let number = (U256::MAX >> 3) - U256::from(12_345u64);
        let sums = parts(number).map(|part| 7 * part);
        assert_eq!(whole(sums), Some(number * U256::from(7u64)));
        assert_eq!(whole(parts(U256::MAX).map(|part| 2 * part)), None);
    }

    #[test]
    fn choices_are_divided_where_their_product_is_too_large_for_128_bits() {
        let eight: U256 = "63290226724219420000000000000000000000".parse().unwrap();
        let known = choices(200_000, 8, true);
        // Python: math.comb(200000, 8).
        assert!(known < U256::from(u128::MAX) && known > eight - eight / U256::from(100u64));
        assert_eq!(known * U256::from(40_320u64), choices(200_000, 8, false));
        assert_eq!(choices(2, 3, true), U256::ZERO);
        assert_eq!(choices(u64::MAX, 9, false), U256::MAX);
    }
}
