//! A loop that every benchmark times, so that figures of two machines, or of two hours of one, can be compared.

use std::hint::black_box;
use std::time::Instant;

/// Steps of one turn, short enough to be left alone by other programs now and then, and number of turns.
const TURN: u32 = 500;
const TURNS: usize = 1000;

/// Prints the time of a splitting step of one free body by five rotations, by the fastest turn.
pub fn print() {
    let mut rotations = rotations();
    let mut fastest = f64::INFINITY;
    for _ in 0..TURNS {
        let begin = Instant::now();
        rotations();
        fastest = fastest.min(begin.elapsed().as_secs_f64());
    }
    println!("yardstick, a free body by five rotations: {:.1} ns a step\n", 1e9 * fastest / f64::from(TURN));
}

/// Steps of one free body: rotations about its axes 1, 2, 3, 2, 1 with the momentum turned back.
fn rotations() -> impl FnMut() {
    const H: f64 = 1e-3;
    const J: [f64; 3] = [0.4, 0.7, 0.9];
    let (mut p, mut r) = ([0.3, 0.5, -0.7], [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    move || {
        for _ in 0..TURN {
            for (axis, h) in [(0, 0.5 * H), (1, 0.5 * H), (2, H), (1, 0.5 * H), (0, 0.5 * H)] {
                let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
                let (s, c) = (h * p[axis] / J[axis]).sin_cos();
                (p[j], p[k]) = (c * p[j] + s * p[k], c * p[k] - s * p[j]);
                for row in r.chunks_exact_mut(3) {
                    (row[j], row[k]) = (c * row[j] + s * row[k], c * row[k] - s * row[j]);
                }
            }
        }
        black_box((&p, &r));
    }
}
