//! Functions of the C library of mathematics, which would be loaded at each start for these few alone (figures:
//! `docs/cpu.md`).

/// Defines what that library has under the same names, which the linker takes from here then.
macro_rules! functions {
    ($($number:ty: $($name:ident($($x:ident),*)),*;)*) => {$($(
        // SAFETY: the function has the C library's name, arguments and meaning.
        #[unsafe(no_mangle)]
        extern "C" fn $name($($x: $number),*) -> $number {
            libm::$name($($x),*)
        }
    )*)*};
}

functions! {
    f64: atan2(y, x), exp(x), hypot(x, y), log10(x), log2(x), pow(x, y);
    f32: hypotf(x, y);
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn sincos(x: f64, sine: &mut f64, cosine: &mut f64) {
    (*sine, *cosine) = libm::sincos(x);
}
