//! Coefficients of explicit Runge-Kutta methods.
//!
//! Sources: J. R. Dormand and P. J. Prince, A family of embedded Runge-Kutta formulae, J. Comput. Appl. Math. 6 (1980) 19;
//! E. Hairer, S. P. Norsett and G. Wanner, Solving Ordinary Differential Equations I, 2nd ed. (1993), section II.5 and code DOP853.

/// The methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pair {
    /// Order 5 with six stages.
    Dopri5,
    /// Order 8 with twelve stages.
    Dop853,
}

/// A method: stage `i` is at the time `c_i h`, from slopes before it by `a_i`; the end is by `b`.
#[derive(Clone, Copy, Debug)]
pub struct Tableau {
    /// Coefficients of the stages after the first.
    pub a: &'static [&'static [f64]],
    /// Weights of the end.
    pub b: &'static [f64],
    /// Times of the stages after the first.
    pub c: &'static [f64],
}

impl Pair {
    /// All methods.
    pub const ALL: [Self; 2] = [Self::Dopri5, Self::Dop853];

    /// Name as in model files and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dopri5 => "dopri5",
            Self::Dop853 => "dop853",
        }
    }

    /// Order of positions and velocities.
    #[must_use]
    pub const fn order(self) -> u32 {
        match self {
            Self::Dopri5 => 5,
            Self::Dop853 => 8,
        }
    }

    /// The coefficients.
    #[must_use]
    pub const fn tableau(self) -> Tableau {
        match self {
            Self::Dopri5 => DOPRI5,
            Self::Dop853 => DOP853,
        }
    }
}

const DOPRI5: Tableau = Tableau {
    a: &[
        &[1.0 / 5.0],
        &[3.0 / 40.0, 9.0 / 40.0],
        &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
        &[19_372.0 / 6561.0, -25_360.0 / 2187.0, 64_448.0 / 6561.0, -212.0 / 729.0],
        &[9017.0 / 3168.0, -355.0 / 33.0, 46_732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18_656.0],
    ],
    b: &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
    c: &[1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0],
};

const DOP853: Tableau = Tableau {
    a: &[
        &[0.052_600_151_958_767_73],
        &[0.019_725_056_984_537_9, 0.059_175_170_953_613_7],
        &[0.029_587_585_476_806_85, 0.0, 0.088_762_756_430_420_54],
        &[0.241_365_134_159_266_7, 0.0, -0.884_549_479_328_286_1, 0.924_834_003_261_792],
        &[0.037_037_037_037_037_035, 0.0, 0.0, 0.170_828_608_729_473_86, 0.125_467_687_566_822_42],
        &[0.037_109_375, 0.0, 0.0, 0.170_252_211_019_544_05, 0.060_216_538_980_455_96, -0.017_578_125],
        &[
            0.037_092_000_118_504_79,
            0.0,
            0.0,
            0.170_383_925_712_239_98,
            0.107_262_030_446_373_28,
            -0.015_319_437_748_624_402,
            0.008_273_789_163_814_023,
        ],
        &[
            0.624_110_958_716_075_7,
            0.0,
            0.0,
            -3.360_892_629_446_941_4,
            -0.868_219_346_841_726,
            27.592_099_699_446_71,
            20.154_067_550_477_894,
            -43.489_884_181_069_96,
        ],
        &[
            0.477_662_536_438_264_34,
            0.0,
            0.0,
            -2.488_114_619_971_667_7,
            -0.590_290_826_836_843,
            21.230_051_448_181_193,
            15.279_233_632_882_423,
            -33.288_210_968_984_86,
            -0.020_331_201_708_508_627,
        ],
        &[
            -0.937_142_430_085_987_3,
            0.0,
            0.0,
            5.186_372_428_844_064,
            1.091_437_348_996_729_5,
            -8.149_787_010_746_927,
            -18.520_065_659_996_96,
            22.739_487_099_350_505,
            2.493_605_552_679_652_3,
            -3.046_764_471_898_219_6,
        ],
        &[
            2.273_310_147_516_538,
            0.0,
            0.0,
            -10.534_495_466_737_25,
            -2.000_872_058_224_862_5,
            -17.958_931_863_118_8,
            27.948_884_529_419_96,
            -2.858_998_277_135_023_5,
            -8.872_856_933_530_63,
            12.360_567_175_794_303,
            0.643_392_746_015_763_6,
        ],
    ],
    b: &[
        0.054_293_734_116_568_765,
        0.0,
        0.0,
        0.0,
        0.0,
        4.450_312_892_752_409,
        1.891_517_899_314_500_3,
        -5.801_203_960_010_585,
        0.311_164_366_957_819_9,
        -0.152_160_949_662_516_1,
        0.201_365_400_804_030_34,
        0.044_710_615_727_772_59,
    ],
    c: &[
        0.052_600_151_958_767_73,
        0.078_900_227_938_151_6,
        0.118_350_341_907_227_4,
        0.281_649_658_092_772_6,
        0.333_333_333_333_333_3,
        0.25,
        0.307_692_307_692_307_7,
        0.651_282_051_282_051_3,
        0.6,
        0.857_142_857_142_857_1,
        1.0,
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Conditions of quadrature, and that stages are at their times: `sum b c^(k-1) = 1/k` up to the order, `sum_j a_ij = c_i`.
    #[test]
    fn quadrature_and_row_sums() {
        for pair in Pair::ALL {
            let Tableau { a, b, c } = pair.tableau();
            assert_eq!((a.len() + 1, c.len() + 1), (b.len(), b.len()));
            for (row, c) in a.iter().zip(c) {
                // Coefficients of opposite signs cancel to the times.
                let size: f64 = row.iter().map(|x| x.abs()).sum();
                assert!((row.iter().sum::<f64>() - c).abs() < 4.0 * f64::EPSILON * size, "{pair:?}, stage at {c}");
            }
            for k in 1..=pair.order() {
                let power = |c: f64| (1..k).fold(1.0, |product, _| product * c);
                let first = if k == 1 { b[0] } else { 0.0 };
                let sum = first + b[1..].iter().zip(c).map(|(b, &c)| b * power(c)).sum::<f64>();
                let size: f64 = b.iter().map(|x| x.abs()).sum();
                assert!((sum - 1.0 / f64::from(k)).abs() < 4.0 * f64::EPSILON * size, "{pair:?}, power {k}: {sum}");
            }
        }
    }
}
