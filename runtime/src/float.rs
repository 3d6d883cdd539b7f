//! Functions that `core` lacks. IEEE 754 fixes every bit of their results, so that it does not matter where they come from.

/// Square root, correctly rounded.
#[inline]
#[must_use]
pub fn sqrt(a: f64) -> f64 {
    #[cfg(feature = "std")]
    return a.sqrt();
    #[cfg(not(feature = "std"))]
    return libm::sqrt(a);
}

/// Largest integer not above.
#[inline]
#[must_use]
pub fn floor(a: f64) -> f64 {
    #[cfg(feature = "std")]
    return a.floor();
    #[cfg(not(feature = "std"))]
    return libm::floor(a);
}

#[cfg(test)]
mod tests {
    #[test]
    fn both_sources_give_the_same_bits() {
        let mut x = 1e-308;
        while x < 1e308 {
            assert_eq!(libm::sqrt(x).to_bits(), x.sqrt().to_bits(), "{x:e}");
            for a in [x, -x, x.trunc(), -x.trunc()] {
                assert_eq!(libm::floor(a).to_bits(), a.floor().to_bits(), "{a:e}");
            }
            x *= 1.37;
        }
        for a in [0.0, -0.0, f64::INFINITY, 5e-324] {
            assert_eq!(libm::sqrt(a).to_bits(), a.sqrt().to_bits(), "{a:e}");
            assert_eq!(libm::floor(a).to_bits(), a.floor().to_bits(), "{a:e}");
        }
    }
}
