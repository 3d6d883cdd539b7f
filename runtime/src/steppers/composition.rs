//! Symmetric compositions: a symmetric step of order 2, repeated with parts of `h` that cancel its errors up to order 4, 6
//! or 8.
//!
//! Parts are palindromic and sum to 1; some are negative. They raise the order of any symmetric step, exact sub-flows or
//! not. Sources: Yoshida, Phys. Lett. A 150 (1990) 262; Suzuki, Phys. Lett. A 146 (1990) 319; Kahan and Li, Math. Comp. 66
//! (1997) 1089, as in Hairer, Lubich and Wanner, Geometric numerical integration, V.3.2; Sofroniou and Spaletta, Optim. Methods
//! Softw. 20 (2005) 597. The latter have more stages than the order needs, so that all parts are small: most error for the work.

/// A composition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Composition {
    /// The step itself: order 2.
    Single,
    /// Order 4, three stages.
    Yoshida4,
    /// Order 4, five stages, with a much smaller error than [`Composition::Yoshida4`].
    Suzuki4,
    /// Order 6, nine stages.
    KahanLi6,
    /// Order 8, seventeen stages.
    KahanLi8,
    /// Order 6, thirteen stages, none above two fifths of the step.
    SofroniouSpaletta6,
    /// Order 8, twenty-one stages, none above two fifths of the step.
    SofroniouSpaletta8,
}

/// `1/(2 - 2^(1/3))`
const Y: f64 = 1.351_207_191_959_657_6;

/// `1/(4 - 4^(1/3))`
const S: f64 = 0.414_490_771_794_375_74;

const YOSHIDA4: [f64; 3] = [Y, 1.0 - 2.0 * Y, Y];

const SUZUKI4: [f64; 5] = [S, S, 1.0 - 4.0 * S, S, S];

/// Parts of [`Composition::KahanLi6`].
pub(super) const KAHAN_LI6: [f64; 9] = mirrored([
    0.392_161_444_007_314_1,
    0.332_599_136_789_359_4,
    -0.706_246_172_557_639_4,
    0.082_213_596_293_550_8,
    0.798_543_990_934_829_9,
]);

/// Parts of [`Composition::KahanLi8`].
pub(super) const KAHAN_LI8: [f64; 17] = mirrored([
    0.130_202_483_088_890_1,
    0.561_162_981_775_108_4,
    -0.389_474_962_644_847_3,
    0.158_841_906_555_155_6,
    -0.395_903_894_133_237_6,
    0.184_539_640_978_315_7,
    0.258_374_387_686_322_06,
    0.295_011_723_609_310_3,
    -0.605_508_533_830_034_5,
]);

/// Parts of [`Composition::SofroniouSpaletta6`].
const SOFRONIOU_SPALETTA6: [f64; 13] = mirrored([
    0.138_619_308_540_516_95,
    0.133_465_628_510_747_6,
    0.130_705_310_114_492_25,
    0.129_618_937_569_070_35,
    -0.350_003_248_939_209,
    0.118_055_306_530_023_87,
    0.399_077_515_348_715_9,
]);

/// Parts of [`Composition::SofroniouSpaletta8`].
const SOFRONIOU_SPALETTA8: [f64; 21] = mirrored([
    0.106_477_289_845_500_32,
    0.108_374_086_458_357_26,
    0.353_378_210_526_543_4,
    -0.233_414_140_231_650_82,
    -0.244_452_667_915_288_4,
    0.113_178_484_357_556_33,
    0.118_929_056_250_003_5,
    0.126_039_123_218_259_88,
    0.125_817_187_361_760_42,
    0.116_991_350_192_176_42,
    -0.382_635_960_126_436_65,
]);

/// The first half with the middle, continued by its mirror image.
const fn mirrored<const N: usize, const M: usize>(half: [f64; N]) -> [f64; M] {
    let mut all = [0.0; M];
    let mut k = 0;
    while k < N {
        all[k] = half[k];
        all[M - 1 - k] = half[k];
        k += 1;
    }
    all
}

impl Composition {
    /// All.
    pub const ALL: [Self; 7] = [
        Self::Single,
        Self::Yoshida4,
        Self::Suzuki4,
        Self::KahanLi6,
        Self::KahanLi8,
        Self::SofroniouSpaletta6,
        Self::SofroniouSpaletta8,
    ];

    /// All of more than one stage.
    pub fn composed() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|composition| *composition != Self::Single)
    }

    /// What it appends to the name of a stepper.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Single => "",
            Self::Yoshida4 => "+yoshida4",
            Self::Suzuki4 => "+suzuki4",
            Self::KahanLi6 => "+kahan_li6",
            Self::KahanLi8 => "+kahan_li8",
            Self::SofroniouSpaletta6 => "+sofroniou_spaletta6",
            Self::SofroniouSpaletta8 => "+sofroniou_spaletta8",
        }
    }

    /// Sizes of the stages as parts of the step.
    #[must_use]
    pub const fn parts(self) -> &'static [f64] {
        match self {
            Self::Single => &[1.0],
            Self::Yoshida4 => &YOSHIDA4,
            Self::Suzuki4 => &SUZUKI4,
            Self::KahanLi6 => &KAHAN_LI6,
            Self::KahanLi8 => &KAHAN_LI8,
            Self::SofroniouSpaletta6 => &SOFRONIOU_SPALETTA6,
            Self::SofroniouSpaletta8 => &SOFRONIOU_SPALETTA8,
        }
    }

    /// Order, for a symmetric step of order 2.
    #[must_use]
    pub const fn order(self) -> u32 {
        match self {
            Self::Single => 2,
            Self::Yoshida4 | Self::Suzuki4 => 4,
            Self::KahanLi6 | Self::SofroniouSpaletta6 => 6,
            Self::KahanLi8 | Self::SofroniouSpaletta8 => 8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Necessary conditions: the parts sum to 1, their cubes to 0 from order 4, their fifth powers to 0 from order 6, their seventh
    /// from order 8.
    #[test]
    fn parts_fulfil_the_order_conditions() {
        for composition in Composition::ALL {
            let parts = composition.parts();
            let sum = |power: i32| parts.iter().map(|x| x.powi(power)).sum::<f64>();
            assert!((sum(1) - 1.0).abs() < 1e-15, "{composition:?}");
            for power in (3..composition.order() as i32).step_by(2) {
                assert!(sum(power).abs() < 2e-15, "{composition:?}: {power}");
            }
            assert!(parts.iter().eq(parts.iter().rev()));
        }
    }
}
