//! Free bodies by five rotations a step, one after another.

use super::{M3, V3};

/// One body: position, velocity, attitude, angular momentum in body axes.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    pub x: V3,
    pub v: V3,
    pub r: M3,
    pub p: V3,
}

/// Bodies with the same principal moments.
#[derive(Clone, Debug)]
pub struct Bodies {
    pub all: Vec<Body>,
    pub inverse: V3,
}

impl Bodies {
    pub fn step(&mut self, h: f64) {
        let turns = [(0, 0.5 * h), (1, 0.5 * h), (2, h), (1, 0.5 * h), (0, 0.5 * h)];
        let rates = turns.map(|(axis, h)| h * self.inverse[axis]);
        for Body { x, v, r, p } in &mut self.all {
            *x += *v * h;
            for ((axis, _), rate) in turns.into_iter().zip(rates) {
                let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
                let (s, c) = (rate * p[axis]).sin_cos();
                (p[j], p[k]) = (c * p[j] + s * p[k], c * p[k] - s * p[j]);
                for row in 0..3 {
                    let (a, b) = (r[(row, j)], r[(row, k)]);
                    (r[(row, j)], r[(row, k)]) = (c * a + s * b, c * b - s * a);
                }
            }
        }
    }
}
