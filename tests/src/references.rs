//! Ends of motions that programs in generalised coordinates have found: an order 8(5,3) pair at a tolerance of 1e-13, which agrees with a
//! Gauss method of order 16 in 80 bits to 4e-13 m.

use mbdsl_runtime::so3::{exp, log};
use mbdsl_runtime::state::State;
use nalgebra::Vector3;

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

/// Distance of all centres of mass from where they should be, m.
#[must_use]
pub fn distance_of_centres(state: &State, reference: &[f64]) -> f64 {
    let bodies = reference.as_chunks::<3>().0.iter().enumerate();
    let square = |(b, x): (usize, &[f64; 3])| (state.x(b) - Vector3::from(*x)).norm_squared();
    bodies.map(square).sum::<f64>().sqrt()
}

/// The seven angles of `andrews.mbd` at 30 ms, rad: crank, its arm, plate, and of each pair at the left the outer and the inner one. By an explicit method of order 8
/// with 80-bit numbers in these angles, 1500 and 3000 steps alike.
pub const SQUEEZER: [f64; 7] = [
    15.810_771_195_153_709,
    -15.756_371_058_411_842,
    0.040_822_240_119_645_824,
    -0.534_730_116_342_079_6,
    0.524_409_965_879_954,
    0.534_730_116_342_079_6,
    1.048_080_741_041_938,
];

/// How far the bodies of `andrews.mbd` are from [`SQUEEZER`], in parts of it; up to whole turns.
#[must_use]
pub fn distance_of_squeezer(state: &State) -> f64 {
    let [crank, arm, plate, inner_4, outer_4, inner_6, outer_6] = SQUEEZER;
    let turned = [crank, crank + arm, plate, inner_4 + outer_4, outer_4, inner_6 + outer_6, outer_6];
    let open: [f64; 7] =
        core::array::from_fn(|body| log(&(exp(&(turned[body] * Vector3::z())).transpose() * state.r(body))).z);
    let [crank, arm, plate, inner_4, outer_4, inner_6, outer_6] = open;
    let angles = [crank, arm - crank, plate, inner_4 - outer_4, outer_4, inner_6 - outer_6, outer_6];
    let norm = |angles: [f64; 7]| angles.iter().map(|x| x * x).sum::<f64>().sqrt();
    norm(angles) / norm(SQUEEZER)
}
