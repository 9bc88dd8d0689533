//! The mathematical functions that libraries of this program call, so that it needs no shared library for them: one is searched
//! for, mapped and bound at each start, in 4 % of the time of a run on a small graph (docs/cpu.md, small runs). Our own code
//! calls those of [`libm`] itself, by which it draws and plans the same on every system.

/// Functions of one number, by their names in the C library.
macro_rules! of_one {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name(x: f64) -> f64 {
            libm::$name(x)
        }
    )*};
}

/// Functions of two numbers.
macro_rules! of_two {
    ($($name:ident: $number:ty;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name(x: $number, y: $number) -> $number {
            libm::$name(x, y)
        }
    )*};
}

of_one! { cos exp log log10 log2 sin }
of_two! { atan2: f64; hypot: f64; hypotf: f32; pow: f64; }

/// What a compiler makes of a sine and a cosine of one angle.
///
/// # Safety
/// Both pointers are to numbers that may be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn sincos(x: f64, sin: *mut f64, cos: *mut f64) {
    let both = libm::sincos(x);
    // SAFETY: the caller passes pointers to writable numbers.
    unsafe { (*sin, *cos) = both }
}
