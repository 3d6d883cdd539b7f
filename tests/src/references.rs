//! Ends of motions that programs in generalised coordinates have found: an order 8(5,3) pair at a tolerance of 1e-13, which agrees with a
//! Gauss method of order 16 in 80 bits to 4e-13 m.

/// Centre of mass of `heavy_top.mbd` at 1 s, m.
pub const TOP: [f64; 3] = [0.173_343_964_098_386_04, 0.640_088_592_070_568_8, -0.748_490_791_133_581_3];

/// Centres of mass of the rods of `double_pendulum.mbd` at 1 s, m.
pub const RODS: [f64; 6] = [
    0.097_115_616_407_317_97,
    -0.392_122_709_188_821_8,
    -0.294_632_547_402_412_1,
    0.396_099_548_293_922,
    -1.194_689_013_233_167,
    -0.791_218_650_472_514_2,
];
