//! Sets of vertices: sorted lists, and bitmaps for those that are read often.
//!
//! Two sorted lists are intersected or subtracted in blocks of as many elements as a vector
//! register holds (Schlegel, Willhalm and Lehner, *Fast Sorted-Set Intersection using SIMD
//! Instructions*, 2011): every element of a block is compared with every element of the other
//! list's block at once, and the block with the smaller last element is left behind. AVX-512 or
//! AVX2 is chosen at run time, NEON is part of every 64-bit Arm processor, and any other gets the
//! scalar merge. Lists of very different length are searched rather than walked, and a list that
//! is met again and again can be made a [`Bitmap`].
//!
//! All functions take lists in strictly ascending order and give lists in that order.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod bitmap;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod blocks;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
#[cfg(test)]
mod tests;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::{has as has_avx512, leading as leading_avx512, pairs as pairs_avx512};
pub(crate) use bitmap::{Bitmap, Bits};
pub(crate) use scalar::{below, gallop, subtract};

/// From this ratio of lengths on, the longer list is searched rather than walked.
const GALLOP: usize = 32;

/// Below this length of the shorter list its elements are looked up one after the other.
const BLOCKS: usize = 16;

/// Room that a kernel may write behind its result.
const PAD: usize = 16;

/// Which instructions walk two lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kernel {
    /// One element at a time.
    Scalar,
    /// 8 elements at a time.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 16 elements at a time.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// 4 elements at a time.
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Kernel {
    /// The best one that this processor has.
    #[inline]
    fn best() -> Kernel {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("popcnt") {
            return Kernel::Avx512;
        } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
            return Kernel::Avx2;
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            return Kernel::Neon;
        }
        Kernel::Scalar
    }

    /// Returns the kernels that this processor supports, fastest first, the scalar one last.
    #[cfg(test)]
    fn all() -> Vec<Kernel> {
        let mut all = vec![Kernel::best()];
        #[cfg(target_arch = "x86_64")]
        if all[0] == Kernel::Avx512 {
            all.push(Kernel::Avx2);
        }
        if all[0] != Kernel::Scalar {
            all.push(Kernel::Scalar);
        }
        all
    }

    /// Writes a ∩ b to `out`, which has room for the shorter of both and [`PAD`] more; returns
    /// how many elements it wrote.
    #[inline]
    fn intersect(self, a: &[u32], b: &[u32], out: &mut [Uninit]) -> usize {
        assert!(out.len() >= a.len().min(b.len()) + PAD);
        match self {
            Kernel::Scalar => scalar::intersect(a, b, out),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `best` found the processor to have the features.
            Kernel::Avx2 => unsafe { avx2::intersect(a, b, out) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `best` found the processor to have the features.
            Kernel::Avx512 => unsafe { avx512::intersect(a, b, out) },
            #[cfg(target_arch = "aarch64")]
            // SAFETY: `best` found the processor to have the features.
            Kernel::Neon => unsafe { neon::intersect(a, b, out) },
        }
    }

    /// As [`Kernel::intersect`], for a short list first.
    #[inline]
    fn intersect_few(self, short: &[u32], long: &[u32], out: &mut [Uninit]) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `best` found the processor to have the features.
            Kernel::Avx512 => unsafe { avx512::intersect_few(short, long, out) },
            _ => scalar::intersect(short, long, out),
        }
    }

    /// |short ∩ long|.
    #[inline]
    fn intersection_size_few(self, short: &[u32], long: &[u32]) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `best` found the processor to have the features.
            Kernel::Avx512 => unsafe { avx512::intersection_size_few(short, long) },
            _ => scalar::intersection_size(short, long),
        }
    }

    /// |a ∩ b|.
    #[inline]
    fn intersection_size(self, a: &[u32], b: &[u32]) -> usize {
        match self {
            Kernel::Scalar => scalar::intersection_size(a, b),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `best` found the processor to have the features.
            Kernel::Avx2 => unsafe { avx2::intersection_size(a, b) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `best` found the processor to have the features.
            Kernel::Avx512 => unsafe { avx512::intersection_size(a, b) },
            #[cfg(target_arch = "aarch64")]
            // SAFETY: `best` found the processor to have the features.
            Kernel::Neon => unsafe { neon::intersection_size(a, b) },
        }
    }

    /// Calls the kernel's function of this name.
    #[inline]
    fn positions(self, a: &[u32], b: &[u32], bits: &mut [u64]) {
        match self {
            Kernel::Scalar => scalar::positions(a, b, 0, bits),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `best` found the processor to have the features.
            Kernel::Avx2 => unsafe { avx2::positions(a, b, bits) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `best` found the processor to have the features.
            Kernel::Avx512 => unsafe { avx512::positions(a, b, bits) },
            #[cfg(target_arch = "aarch64")]
            // SAFETY: `best` found the processor to have the features.
            Kernel::Neon => unsafe { neon::positions(a, b, bits) },
        }
    }

    /// Writes a \ b to `out`, which has room for a and [`PAD`] more; returns how many elements it
    /// wrote.
    #[inline]
    fn difference(self, a: &[u32], b: &[u32], out: &mut [Uninit]) -> usize {
        assert!(out.len() >= a.len() + PAD);
        match self {
            Kernel::Scalar => scalar::difference(a, b, out),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `best` found the processor to have the features.
            Kernel::Avx2 => unsafe { avx2::difference(a, b, out) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `best` found the processor to have the features.
            Kernel::Avx512 => unsafe { avx512::difference(a, b, out) },
            #[cfg(target_arch = "aarch64")]
            // SAFETY: `best` found the processor to have the features.
            Kernel::Neon => unsafe { neon::difference(a, b, out) },
        }
    }
}

/// An element that a kernel has not written yet.
type Uninit = std::mem::MaybeUninit<u32>;

/// Runs `write` on `room` elements of room behind an emptied `out`; what it says it wrote is then
/// the content.
#[inline]
fn fill(out: &mut Vec<u32>, room: usize, write: impl FnOnce(&mut [Uninit]) -> usize) {
    out.clear();
    out.reserve(room);
    let written = write(&mut out.spare_capacity_mut()[..room]);
    assert!(written <= room);
    // SAFETY: the kernels write every element up to the number that they return, which is at most
    // the room that was reserved.
    unsafe { out.set_len(written) };
}

/// Writes a ∩ b to `out`, which is emptied first.
pub(crate) fn intersect(a: &[u32], b: &[u32], out: &mut Vec<u32>) {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    fill(out, short.len() + PAD, |out| {
        if short.len() * GALLOP < long.len() {
            scalar::search(short, long, out)
        } else if short.len() < BLOCKS {
            Kernel::best().intersect_few(short, long, out)
        } else {
            Kernel::best().intersect(short, long, out)
        }
    });
}

/// |a ∩ b|.
pub(crate) fn intersection_size(a: &[u32], b: &[u32]) -> usize {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short.len() * GALLOP < long.len() {
        scalar::search_size(short, long)
    } else if short.len() < BLOCKS {
        Kernel::best().intersection_size_few(short, long)
    } else {
        Kernel::best().intersection_size(short, long)
    }
}

/// Sets bit i of `bits` for every element a\[i\] that is in b; `bits` has a bit for each.
pub(crate) fn positions(a: &[u32], b: &[u32], bits: &mut [u64]) {
    assert!(bits.len() >= a.len().div_ceil(64));
    if a.len().min(b.len()) < BLOCKS {
        scalar::positions(a, b, 0, bits);
    } else {
        Kernel::best().positions(a, b, bits);
    }
}

/// Writes a \ b to `out`, which is emptied first. For |a \ b| take |a| − |a ∩ b|.
pub(crate) fn difference(a: &[u32], b: &[u32], out: &mut Vec<u32>) {
    fill(out, a.len() + PAD, |out| {
        if a.len() * GALLOP < b.len() {
            scalar::search_difference(a, b, out)
        } else if a.len().min(b.len()) < BLOCKS {
            scalar::difference(a, b, out)
        } else {
            Kernel::best().difference(a, b, out)
        }
    });
}
