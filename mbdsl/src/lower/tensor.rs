//! Tensor operations in scalars, component by component: entries that nothing reads are never computed.

use crate::ir::{Bin, Graph, Reg, Un};
use crate::symbolic::{Cmp, Fun, Fun2};

/// Components of a value: 1, 3 or 9 (row-major).
pub(super) type Components = Vec<Reg>;

/// Component by component.
pub(super) fn map(a: &[Reg], mut f: impl FnMut(Reg) -> Reg) -> Components {
    a.iter().map(|&x| f(x)).collect()
}

/// Component by component of two values.
pub(super) fn zip(a: &[Reg], b: &[Reg], mut f: impl FnMut(Reg, Reg) -> Reg) -> Components {
    a.iter().zip(b).map(|(&x, &y)| f(x, y)).collect()
}

/// `a . b`, summed in order.
pub(super) fn dot(g: &mut Graph, a: &[Reg], b: &[Reg]) -> Reg {
    let mut sum = g.num(0.0);
    for (&x, &y) in a.iter().zip(b) {
        let product = g.mul(x, y);
        sum = g.add(sum, product);
    }
    sum
}

/// `a x b`
pub(super) fn cross(g: &mut Graph, a: &[Reg], b: &[Reg]) -> Components {
    [(1, 2), (2, 0), (0, 1)]
        .map(|(i, j)| {
            let (p, q) = (g.mul(a[i], b[j]), g.mul(a[j], b[i]));
            g.sub(p, q)
        })
        .to_vec()
}

/// `m a`
pub(super) fn mat_vec(g: &mut Graph, m: &[Reg], a: &[Reg]) -> Components {
    m.chunks_exact(3).map(|row| dot(g, row, a)).collect()
}

/// `m n`
pub(super) fn mat_mul(g: &mut Graph, m: &[Reg], n: &[Reg]) -> Components {
    let columns = transpose(n);
    (0..9).map(|k| dot(g, &m[k / 3 * 3..][..3], &columns[k % 3 * 3..][..3])).collect()
}

/// `m^T`
pub(super) fn transpose(m: &[Reg]) -> Components {
    (0..9).map(|k| m[k % 3 * 3 + k / 3]).collect()
}

/// `skew(a)`
pub(super) fn skew(g: &mut Graph, a: &[Reg]) -> Components {
    let zero = g.num(0.0);
    let n = [0, 1, 2].map(|i| g.neg(a[i]));
    vec![zero, n[2], a[1], a[2], zero, n[0], n[1], a[0], zero]
}

/// `a b^T`
pub(super) fn outer(g: &mut Graph, a: &[Reg], b: &[Reg]) -> Components {
    (0..9).map(|k| g.mul(a[k / 3], b[k % 3])).collect()
}

/// The identity matrix.
pub(super) fn identity(g: &mut Graph) -> Components {
    let one = g.num(1.0);
    diag(g, &[one; 3])
}

/// Matrix with a diagonal.
pub(super) fn diag(g: &mut Graph, a: &[Reg]) -> Components {
    let zero = g.num(0.0);
    (0..9).map(|k| if k % 4 == 0 { a[k / 4] } else { zero }).collect()
}

/// A function of one scalar.
pub(super) fn fun(g: &mut Graph, f: Fun, a: Reg) -> Reg {
    let op = match f {
        Fun::Sqrt => Un::Sqrt,
        Fun::Sin => Un::Sin,
        Fun::Cos => Un::Cos,
        Fun::Tan => Un::Tan,
        Fun::Asin => Un::Asin,
        Fun::Acos => Un::Acos,
        Fun::Exp => Un::Exp,
        Fun::Ln => Un::Ln,
        Fun::Abs => Un::Abs,
        Fun::Sign => Un::Sign,
        Fun::Floor => Un::Floor,
        Fun::Stumpff(k) => Un::Stumpff(k),
        Fun::LogCoefficient(n) => Un::LogCoefficient(n),
    };
    g.un(op, a)
}

/// A function of two scalars.
pub(super) fn fun2(g: &mut Graph, f: Fun2, a: Reg, b: Reg) -> Reg {
    match f {
        Fun2::Atan2 => g.bin(Bin::Atan2, a, b),
        Fun2::Min => g.bin(Bin::Min, a, b),
        Fun2::Max => g.bin(Bin::Max, a, b),
        Fun2::Pow => g.pow(a, b),
        Fun2::Mod => g.bin(Bin::Mod, a, b),
        Fun2::Unwrap => g.bin(Bin::Unwrap, a, b),
    }
}

/// A comparison.
pub(super) fn cmp(g: &mut Graph, c: Cmp, a: Reg, b: Reg) -> Reg {
    match c {
        Cmp::Lt => g.bin(Bin::Lt, a, b),
        Cmp::Le => g.bin(Bin::Le, a, b),
        Cmp::Eq => g.bin(Bin::Eq, a, b),
        Cmp::Ne => {
            let equal = g.bin(Bin::Eq, a, b);
            g.un(Un::Not, equal)
        }
    }
}
