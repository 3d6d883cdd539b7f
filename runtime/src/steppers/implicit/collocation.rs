//! Collocation methods by their nodes, and all that a step needs of the polynomials through them.
//!
//! With `l_j` the polynomial that is 1 at the node `c_j` and 0 at the others:
//!
//! ```text
//! a_ij = integral of l_j from 0 to c_i         b_j = integral of l_j from 0 to 1
//! w = a^-1:  w_ij = m_j'(c_i),  m_j(c) = c l_j(c) / c_j       m_j also vanishes at 0
//! l_j(1 + c_i)                                 slopes of the next step, from those of this one
//! ```
//!
//! Source: E. Hairer and G. Wanner, Solving Ordinary Differential Equations II, 2nd ed. (1996), sections IV.5 and IV.8.

/// Most stages of a method.
pub(super) const MOST: usize = 4;

/// A square of numbers by stages; those beyond the stages of a method are zero.
pub(super) type Square = [[f64; MOST]; MOST];

/// The methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Collocation {
    /// Radau IIA with two stages.
    Radau3,
    /// Radau IIA with three stages.
    Radau5,
    /// Radau IIA with four stages.
    Radau7,
    /// Gauss with one stage, the implicit midpoint rule.
    Gauss2,
    /// Gauss with two stages.
    Gauss4,
    /// Gauss with three stages.
    Gauss6,
}

/// sqrt(3)
const ROOT_3: f64 = 1.732_050_807_568_877_2;
/// sqrt(6)
const ROOT_6: f64 = 2.449_489_742_783_178;
/// sqrt(15)
const ROOT_15: f64 = 3.872_983_346_207_417;

impl Collocation {
    /// All methods.
    pub const ALL: [Self; 6] = [Self::Radau3, Self::Radau5, Self::Radau7, Self::Gauss2, Self::Gauss4, Self::Gauss6];

    /// Name as in model files and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Radau3 => "radau3",
            Self::Radau5 => "radau5",
            Self::Radau7 => "radau7",
            Self::Gauss2 => "gauss2",
            Self::Gauss4 => "gauss4",
            Self::Gauss6 => "gauss6",
        }
    }

    /// Order of positions, velocities, accelerations and multipliers.
    #[must_use]
    pub const fn order(self) -> u32 {
        match self {
            Self::Gauss2 => 2,
            Self::Radau3 => 3,
            Self::Gauss4 => 4,
            Self::Radau5 => 5,
            Self::Gauss6 => 6,
            Self::Radau7 => 7,
        }
    }

    /// Times of the stages in parts of a step: the last zeros of shifted Legendre polynomials (Gauss), or with 1 among them (Radau).
    #[must_use]
    pub const fn nodes(self) -> &'static [f64] {
        match self {
            Self::Radau3 => &[1.0 / 3.0, 1.0],
            Self::Radau5 => &[(4.0 - ROOT_6) / 10.0, (4.0 + ROOT_6) / 10.0, 1.0],
            Self::Radau7 => &[0.088_587_959_512_703_95, 0.409_466_864_440_734_7, 0.787_659_461_760_847_1, 1.0],
            Self::Gauss2 => &[0.5],
            Self::Gauss4 => &[0.5 - ROOT_3 / 6.0, 0.5 + ROOT_3 / 6.0],
            Self::Gauss6 => &[0.5 - ROOT_15 / 10.0, 0.5, 0.5 + ROOT_15 / 10.0],
        }
    }
}

/// What a step needs of a method.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coefficients {
    pub(super) stages: usize,
    /// Stages from slopes.
    pub(super) a: Square,
    /// The end from slopes.
    pub(super) b: [f64; MOST],
    /// Slopes from stages, `a^-1`.
    pub(super) w: Square,
    /// The polynomials, by their powers.
    lagrange: Square,
}

impl Coefficients {
    pub(super) fn new(method: Collocation) -> Self {
        let nodes = method.nodes();
        let zero = [[0.0; MOST]; MOST];
        let mut all = Self { stages: nodes.len(), a: zero, b: [0.0; MOST], w: zero, lagrange: zero };
        for (j, &node) in nodes.iter().enumerate() {
            let l = Polynomial::of_node(nodes, j);
            all.b[j] = l.integral(1.0);
            for (i, &c) in nodes.iter().enumerate() {
                all.a[i][j] = l.integral(c);
                all.w[i][j] = (l.at(c) + c * l.slope(c)) / node;
            }
            all.lagrange[j] = l.0;
        }
        all
    }

    /// The weights of the slopes in the polynomial through them, at the part `c` of the step.
    pub(super) fn slopes_at(&self, c: f64) -> [f64; MOST] {
        self.lagrange.map(|l| Polynomial(l).at(c))
    }

    /// `L` of `a = L U` with a unit diagonal of `U`, by Crout's elimination.
    pub(super) fn lower(&self) -> Square {
        let (a, count) = (&self.a, self.stages);
        let (mut l, mut u) = ([[0.0; MOST]; MOST], [[0.0; MOST]; MOST]);
        for k in 0..count {
            for i in k..count {
                l[i][k] = a[i][k] - (0..k).map(|m| l[i][m] * u[m][k]).sum::<f64>();
            }
            for j in k + 1..count {
                u[k][j] = (a[k][j] - (0..k).map(|m| l[k][m] * u[m][j]).sum::<f64>()) / l[k][k];
            }
        }
        l
    }

    /// The last diagonal entry of `L`.
    pub(super) fn last_pivot(&self) -> f64 {
        self.lower()[self.stages - 1][self.stages - 1]
    }
}

/// `sum of p_k c^k`
struct Polynomial([f64; MOST]);

impl Polynomial {
    /// The polynomial that is 1 at node `j` and 0 at the others.
    fn of_node(nodes: &[f64], j: usize) -> Self {
        let mut p = [0.0; MOST];
        p[0] = 1.0;
        for (_, node) in nodes.iter().enumerate().filter(|(m, _)| *m != j) {
            let scale = nodes[j] - node;
            for k in (0..MOST).rev() {
                let below = if k == 0 { 0.0 } else { p[k - 1] };
                p[k] = (below - node * p[k]) / scale;
            }
        }
        Self(p)
    }

    fn at(&self, c: f64) -> f64 {
        self.0.iter().rev().fold(0.0, |sum, p| sum * c + p)
    }

    fn slope(&self, c: f64) -> f64 {
        (1..MOST).rev().fold(0.0, |sum, k| sum * c + k as f64 * self.0[k])
    }

    /// From 0 to `c`.
    fn integral(&self, c: f64) -> f64 {
        (0..MOST).rev().fold(0.0, |sum, k| sum * c + self.0[k] / (k + 1) as f64) * c
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounding errors of sums of a few terms of size one to ten.
    const ROUNDOFF: f64 = 64.0 * f64::EPSILON;

    /// `sum b c^(k-1) = 1/k` up to the order and not beyond, and `a` integrates polynomials of as many terms as there are stages.
    #[test]
    fn quadrature_has_the_order() {
        for method in Collocation::ALL {
            let (c, all) = (method.nodes(), Coefficients::new(method));
            let power = |c: f64, k: u32| (1..k).fold(1.0, |product, _| product * c);
            for k in 1..=method.order() + 1 {
                let sum: f64 = c.iter().zip(&all.b).map(|(&c, b)| b * power(c, k)).sum();
                let error = (sum - 1.0 / f64::from(k)).abs();
                assert_eq!(error < ROUNDOFF, k <= method.order(), "{method:?}, power {k}: {error:e}");
            }
            for (&end, row) in c.iter().zip(&all.a) {
                for k in (1..).take(c.len()) {
                    let sum: f64 = c.iter().zip(row).map(|(&c, a)| a * power(c, k)).sum();
                    assert!((sum - power(end, k) * end / f64::from(k)).abs() < ROUNDOFF, "{method:?} at {end}");
                }
            }
        }
    }

    #[test]
    fn stages_give_back_slopes_and_slopes_go_on() {
        for method in Collocation::ALL {
            let (c, all) = (method.nodes(), Coefficients::new(method));
            let stages = c.len();
            for i in 0..stages {
                for j in 0..stages {
                    let product: f64 = (0..stages).map(|k| all.w[i][k] * all.a[k][j]).sum();
                    let unit = if i == j { 1.0 } else { 0.0 };
                    assert!((product - unit).abs() < ROUNDOFF, "{method:?}: {product}");
                }
                // The highest power that so many stages carry.
                let power = |c: f64| (1..stages).fold(1.0, |product, _| product * c);
                let sum: f64 = c.iter().zip(&all.slopes_at(1.0 + c[i])).map(|(&c, x)| x * power(c)).sum();
                let size: f64 = all.slopes_at(1.0 + c[i]).iter().map(|x| x.abs()).sum();
                assert!((sum - power(1.0 + c[i])).abs() < ROUNDOFF * size, "{method:?}: {sum}");
            }
        }
    }
}
