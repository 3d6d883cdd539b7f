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
    /// Weights of the error estimates. The first is of the order of the method in `h`, less one; the second, where there is one, is of a lower
    /// order and tells how far the first can be believed.
    pub errors: &'static [&'static [f64]],
    /// The motion between start and end.
    pub dense: Dense,
}

/// An interpolant: a polynomial through start and end of a step, with their slopes, and with further terms by the weights `terms` of all slopes, those
/// of the stages, that of the end, and those of further stages like the others.
#[derive(Clone, Copy, Debug)]
pub struct Dense {
    /// Coefficients of the further stages.
    pub a: &'static [&'static [f64]],
    /// Times of the further stages.
    pub c: &'static [f64],
    /// Weights of the terms.
    pub terms: &'static [&'static [f64]],
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

    /// Steps times rates of decay above this are unstable.
    #[must_use]
    pub const fn stability(self) -> f64 {
        match self {
            Self::Dopri5 => 3.25,
            Self::Dop853 => 6.1,
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
    errors: &[&[
        71.0 / 57_600.0,
        0.0,
        -71.0 / 16_695.0,
        71.0 / 1920.0,
        -17_253.0 / 339_200.0,
        22.0 / 525.0,
        -1.0 / 40.0,
    ]],
    dense: Dense {
        a: &[],
        c: &[],
        terms: &[&[
            -12_715_105_075.0 / 11_282_082_432.0,
            0.0,
            87_487_479_700.0 / 32_700_410_799.0,
            -10_690_763_975.0 / 1_880_347_072.0,
            701_980_252_875.0 / 199_316_789_632.0,
            -1_453_857_185.0 / 822_651_844.0,
            69_997_945.0 / 29_380_423.0,
        ]],
    },
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
    errors: &[
        &[
            0.013_120_044_994_194_88,
            0.0,
            0.0,
            0.0,
            0.0,
            -1.225_156_446_376_204_4,
            -0.495_758_949_657_250_2,
            1.664_377_182_454_986_4,
            -0.350_328_848_749_973_66,
            0.334_179_118_713_017_5,
            0.081_923_206_485_115_71,
            -0.022_355_307_863_886_294,
        ],
        &[
            -0.189_800_754_072_407_62,
            0.0,
            0.0,
            0.0,
            0.0,
            4.450_312_892_752_409,
            1.891_517_899_314_500_3,
            -5.801_203_960_010_585,
            -0.422_682_321_323_791_9,
            -0.152_160_949_662_516_1,
            0.201_365_400_804_030_34,
            0.022_651_792_198_360_82,
        ],
    ],
    dense: Dense {
        a: &[
            &[
                0.056_167_502_283_047_954,
                0.0,
                0.0,
                0.0,
                0.0,
                0.0,
                0.253_500_210_216_624_83,
                -0.246_239_037_470_802_5,
                -0.124_191_423_263_816_37,
                0.153_291_798_278_765_68,
                0.008_201_052_295_634_69,
                0.007_567_897_660_545_699,
                -0.008_298,
            ],
            &[
                0.031_834_648_163_502_14,
                0.0,
                0.0,
                0.0,
                0.0,
                0.028_300_909_672_366_776,
                0.053_541_988_307_438_566,
                -0.054_923_748_571_390_99,
                0.0,
                0.0,
                -0.000_108_347_328_697_249_32,
                0.000_382_571_090_835_658_4,
                -0.000_340_465_008_687_404_56,
                0.141_312_443_674_632_5,
            ],
            &[
                -0.428_896_301_583_791_94,
                0.0,
                0.0,
                0.0,
                0.0,
                -4.697_621_415_361_164,
                7.683_421_196_062_599,
                4.068_989_818_397_11,
                0.356_727_187_455_281_1,
                0.0,
                0.0,
                0.0,
                -0.001_399_024_165_159_014_5,
                2.947_514_789_152_772_4,
                -9.150_958_472_179_87,
            ],
        ],
        c: &[0.1, 0.2, 0.777_777_777_777_777_8],
        terms: &[
            &[
                -8.428_938_276_109_013,
                0.0,
                0.0,
                0.0,
                0.0,
                0.566_714_953_519_377_7,
                -3.068_949_945_949_891_7,
                2.384_667_656_512_07,
                2.117_034_582_445_028,
                -0.871_391_583_777_973,
                2.240_437_430_260_788_3,
                0.631_578_778_769_468_8,
                -0.088_990_336_451_333_31,
                18.148_505_520_854_727,
                -9.194_632_392_478_356,
                -4.436_036_387_594_894,
            ],
            &[
                10.427_508_642_579_134,
                0.0,
                0.0,
                0.0,
                0.0,
                242.283_491_775_258_17,
                165.200_451_717_270_28,
                -374.546_754_722_690_2,
                -22.113_666_853_125_306,
                7.733_432_668_472_264,
                -30.674_084_731_089_398,
                -9.332_130_526_430_229,
                15.697_238_121_770_845,
                -31.139_403_219_565_178,
                -9.352_924_358_844_48,
                35.816_841_486_394_08,
            ],
            &[
                19.985_053_242_002_433,
                0.0,
                0.0,
                0.0,
                0.0,
                -387.037_308_749_351_8,
                -189.178_138_195_167_58,
                527.808_159_205_423_6,
                -11.573_902_539_959_63,
                6.881_232_694_696_3,
                -1.000_605_096_691_083_8,
                0.777_713_779_805_344_3,
                -2.778_205_752_353_508,
                -60.196_695_231_264_12,
                84.320_405_506_677_16,
                11.992_291_136_182_79,
            ],
            &[
                -25.693_933_462_703_75,
                0.0,
                0.0,
                0.0,
                0.0,
                -154.189_748_690_236_43,
                -231.529_379_176_045_5,
                357.639_117_910_614_1,
                93.405_324_183_624_32,
                -37.458_323_136_451_63,
                104.099_649_508_962_3,
                29.840_293_426_660_5,
                -43.533_456_590_011_14,
                96.324_553_959_188_28,
                -39.177_261_675_615_44,
                -149.726_836_257_985_64,
            ],
        ],
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Conditions of quadrature, and that stages are at their times: `sum b c^(k-1) = 1/k` up to the order, `sum_j a_ij = c_i`.
    #[test]
    fn quadrature_and_row_sums() {
        for pair in Pair::ALL {
            let Tableau { a, b, c, .. } = pair.tableau();
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
    /// Error estimates vanish for a constant slope; further stages are at their times, and terms of the interpolant vanish at both ends for
    /// whatever is a polynomial of low degree: `sum d = 0`.
    #[test]
    fn sums_of_estimates_and_of_the_interpolant() {
        let is_zero = |row: &[f64]| {
            let size: f64 = row.iter().map(|x| x.abs()).sum();
            row.iter().sum::<f64>().abs() < 4.0 * f64::EPSILON * size
        };
        for pair in Pair::ALL {
            let Tableau { b, errors, dense, .. } = pair.tableau();
            assert!(errors.iter().chain(dense.terms).all(|row| is_zero(row)), "{pair:?}");
            assert_eq!(dense.a.len(), dense.c.len());
            for (k, (row, c)) in dense.a.iter().zip(dense.c).enumerate() {
                assert_eq!(row.len(), b.len() + 1 + k);
                let size: f64 = row.iter().map(|x| x.abs()).sum();
                assert!((row.iter().sum::<f64>() - c).abs() < 4.0 * f64::EPSILON * size, "{pair:?}, stage at {c}");
            }
            assert!(dense.terms.iter().all(|row| row.len() == b.len() + 1 + dense.a.len()));
        }
    }
}
