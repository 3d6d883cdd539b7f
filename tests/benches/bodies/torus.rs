//! Spheres on elastic bonds above an elastic wall: kick, drift by rescaled Rodrigues parameters, kick, in inertial axes.

use super::{M3, V3};

/// Stiffness of stretch, shear and rotation of a bond, and of the wall.
const KN: f64 = 200.0;
const KS: f64 = 200.0;
const KR: f64 = 10.0;
const KW: f64 = 500.0;

/// Radius of a sphere, m, and its moment of inertia for a mass of 1 kg.
const RHO: f64 = 0.35;
const J: f64 = 0.4 * RHO * RHO;

/// A bond at rest in the start: its length, and its middle in the coordinates of the first sphere, of which the second has minus that.
#[derive(Clone, Copy, Debug)]
struct Bond {
    ends: [usize; 2],
    length: f64,
    arm: V3,
}

/// Positions, velocities, attitudes, angular momenta, and what acts on them.
#[derive(Clone, Debug)]
pub struct Torus {
    pub x: Vec<V3>,
    v: Vec<V3>,
    r: Vec<M3>,
    l: Vec<V3>,
    force: Vec<V3>,
    torque: Vec<V3>,
    bonds: Vec<Bond>,
}

impl Torus {
    /// From positions, velocities and angular velocities, all attitudes being those of the inertial axes.
    pub fn new(x: Vec<V3>, v: Vec<V3>, omega: &[V3], ends: impl Iterator<Item = [usize; 2]>) -> Self {
        let bond = |ends: [usize; 2]| {
            let between = x[ends[1]] - x[ends[0]];
            Bond { ends, length: between.norm(), arm: between / 2.0 }
        };
        let n = x.len();
        let mut new = Self {
            bonds: ends.map(bond).collect(),
            r: vec![M3::identity(); n],
            l: omega.iter().map(|omega| omega * J).collect(),
            force: vec![V3::zeros(); n],
            torque: vec![V3::zeros(); n],
            x,
            v,
        };
        new.act();
        new
    }

    fn act(&mut self) {
        let Self { x, r, force, torque, bonds, .. } = self;
        for ((x, force), torque) in x.iter().zip(&mut *force).zip(&mut *torque) {
            let depth = (RHO - x.z).max(0.0);
            *force = V3::new(0.0, 0.0, KW * depth * depth.sqrt());
            *torque = V3::zeros();
        }
        for &Bond { ends: [i, j], length, arm } in &*bonds {
            let between = x[j] - x[i];
            let distance = between.norm();
            let (from, to) = (r[i] * arm, r[j] * arm);
            let shear = (between - to - from) * KS;
            let pull = between * (KN * (distance - length) / distance) + shear;
            force[i] += pull;
            force[j] -= pull;
            // Twice the axis of R_j R_i^T times the sine of its angle: the rows of both crossed.
            let turn = (0..3).fold(V3::zeros(), |sum, k| sum + r[i].column(k).cross(&r[j].column(k))) * (0.5 * KR);
            torque[i] += from.cross(&shear) + turn;
            torque[j] += to.cross(&shear) - turn;
        }
    }

    fn kick(&mut self, h: f64) {
        for k in 0..self.x.len() {
            self.v[k] += self.force[k] * h;
            self.l[k] += self.torque[k] * h;
        }
    }

    pub fn step(&mut self, h: f64) {
        self.kick(0.5 * h);
        for k in 0..self.x.len() {
            self.x[k] += self.v[k] * h;
            let scaled = self.l[k] * (h / J);
            let a = scaled.norm();
            // x (1 + x^2/4) = a, from its series.
            let square = a * a;
            let mut x = a * (1.0 - 0.25 * square * (1.0 - 0.75 * square));
            for _ in 0..2 {
                x -= (x * (1.0 + 0.25 * x * x) - a) / (1.0 + 0.75 * x * x);
            }
            let xi = scaled / (1.0 + 0.25 * x * x);
            let factor = 4.0 / (4.0 + xi.norm_squared());
            for column in 0..3 {
                let axis = V3::from(self.r[k].column(column));
                let across = xi.cross(&axis);
                self.r[k].set_column(column, &(axis + (across + xi.cross(&across) * 0.5) * factor));
            }
        }
        self.act();
        self.kick(0.5 * h);
    }
}
