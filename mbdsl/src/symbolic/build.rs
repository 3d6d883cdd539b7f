//! Constructors of expressions, which simplify: the only way into the pool.

mod conditions;

use super::pool::{BodyRef, ElementRef, ExprId, ExprPool, Fun, Fun2, Global, Node, Quantity, Reduction, Ty};

/// Leaves.
impl ExprPool {
    /// A number.
    pub fn num(&mut self, x: f64) -> ExprId {
        // One zero only: -0 would be another bit pattern with the same meaning.
        let x = if x == 0.0 { 0.0 } else { x };
        self.intern(Node::Num(x.to_bits()), Ty::Scalar)
    }

    /// A truth value.
    pub fn truth(&mut self, x: bool) -> ExprId {
        self.intern(Node::Truth(x), Ty::Bool)
    }

    /// A declared parameter.
    ///
    /// # Panics
    /// If the parameter was not declared.
    pub fn param(&mut self, k: u32) -> ExprId {
        let ty = self.params()[k as usize];
        self.intern(Node::Param(k), ty)
    }

    /// A declared structural constant.
    pub fn constant(&mut self, k: u32) -> ExprId {
        self.intern(Node::Const(k), Ty::Scalar)
    }

    /// A declared input.
    ///
    /// # Panics
    /// If the input was not declared.
    pub fn input(&mut self, k: u32) -> ExprId {
        let ty = self.inputs()[k as usize];
        self.intern(Node::Input(k), ty)
    }

    /// An index variable.
    pub fn index(&mut self, k: u32) -> ExprId {
        self.intern(Node::Index(k), Ty::Scalar)
    }

    /// Time.
    pub fn time(&mut self) -> ExprId {
        self.intern(Node::Time, Ty::Scalar)
    }

    /// A state quantity of a body.
    pub fn state(&mut self, what: Quantity, body: BodyRef) -> ExprId {
        let ty = if what == Quantity::R { Ty::Rot } else { Ty::Vec3 };
        self.intern(Node::State(what, body), ty)
    }

    /// Last accepted value of a continuous angle.
    pub fn memory(&mut self, element: ElementRef, site: u32) -> ExprId {
        self.intern(Node::Memory(element, site), Ty::Scalar)
    }

    /// Multipliers of a group of rows of a constraint element.
    pub fn lambda(&mut self, element: ElementRef, group: u32, ty: Ty) -> ExprId {
        self.intern(Node::Lambda(element, group, ty), ty)
    }

    /// A contraction symbol.
    pub fn symbol(&mut self, k: u32, ty: Ty) -> ExprId {
        self.intern(Node::Symbol(k, ty), ty)
    }

    /// A quantity of the whole model.
    pub fn global(&mut self, what: Global) -> ExprId {
        let ty = match what {
            Global::Energy | Global::Kinetic | Global::Potential => Ty::Scalar,
            Global::LinearMomentum | Global::AngularMomentum => Ty::Vec3,
        };
        self.intern(Node::Global(what), ty)
    }

    /// Value at the assembled start.
    pub fn start(&mut self, a: ExprId) -> ExprId {
        let ty = self.ty(a);
        self.intern(Node::Start(a), ty)
    }

    /// Value at a given time.
    pub fn at(&mut self, time: ExprId, a: ExprId) -> ExprId {
        let ty = self.ty(a);
        self.intern(Node::At(time, a), ty)
    }

    /// Value at the end of the run.
    pub fn final_value(&mut self, a: ExprId) -> ExprId {
        let ty = self.ty(a);
        self.intern(Node::Final(a), ty)
    }

    /// Reduction of a scalar over a range of an index variable.
    pub fn reduce(&mut self, how: Reduction, index: u32, lo: ExprId, hi: ExprId, body: ExprId) -> ExprId {
        self.intern(Node::Reduce { how, index, lo, hi, body }, Ty::Scalar)
    }

    /// The identity matrix.
    pub fn identity(&mut self) -> ExprId {
        self.intern(Node::Identity, Ty::Rot)
    }

    /// The zero of a type.
    pub fn zero(&mut self, ty: Ty) -> ExprId {
        match ty {
            Ty::Scalar => self.num(0.0),
            Ty::Vec3 => self.intern(Node::ZeroVec, Ty::Vec3),
            Ty::Mat3 | Ty::Rot => self.intern(Node::ZeroMat, Ty::Mat3),
            Ty::Bool => self.truth(false),
        }
    }

    /// The unit vector of axis 0, 1 or 2.
    pub fn unit(&mut self, k: u8) -> ExprId {
        let e = [0, 1, 2].map(|j| self.num(if j == k { 1.0 } else { 0.0 }));
        self.vec(e[0], e[1], e[2])
    }

    /// Whether an expression is known to be zero.
    #[must_use]
    pub fn is_zero(&self, e: ExprId) -> bool {
        match self.node(e) {
            Node::Num(bits) => f64::from_bits(*bits) == 0.0,
            Node::ZeroVec | Node::ZeroMat => true,
            _ => false,
        }
    }

    fn is_num(&self, e: ExprId, x: f64) -> bool {
        self.literal(e).is_some_and(|y| y == x)
    }
}

/// Scalars and tensors alike.
impl ExprPool {
    fn sum_ty(&self, a: ExprId) -> Ty {
        // The sum of two rotations is no rotation.
        if self.ty(a) == Ty::Rot { Ty::Mat3 } else { self.ty(a) }
    }

    /// `-a`
    pub fn neg(&mut self, a: ExprId) -> ExprId {
        if let Some(x) = self.literal(a) {
            return self.num(-x);
        }
        if self.is_zero(a) {
            return a;
        }
        match *self.node(a) {
            Node::Neg(b) => b,
            Node::Sub(b, c) => self.sub(c, b),
            _ => {
                let ty = self.sum_ty(a);
                self.intern(Node::Neg(a), ty)
            }
        }
    }

    /// `a + b`
    pub fn add(&mut self, a: ExprId, b: ExprId) -> ExprId {
        if let (Some(x), Some(y)) = (self.literal(a), self.literal(b)) {
            return self.num(x + y);
        }
        if self.is_zero(a) {
            return b;
        }
        if self.is_zero(b) {
            return a;
        }
        if let Node::Neg(c) = *self.node(b) {
            return self.sub(a, c);
        }
        if let Node::Neg(c) = *self.node(a) {
            return self.sub(b, c);
        }
        let ty = self.sum_ty(a);
        self.intern(Node::Add(a, b), ty)
    }

    /// `a - b`
    pub fn sub(&mut self, a: ExprId, b: ExprId) -> ExprId {
        if let (Some(x), Some(y)) = (self.literal(a), self.literal(b)) {
            return self.num(x - y);
        }
        if a == b {
            let ty = self.ty(a);
            return self.zero(ty);
        }
        if self.is_zero(a) {
            return self.neg(b);
        }
        if self.is_zero(b) {
            return a;
        }
        if let Node::Neg(c) = *self.node(b) {
            return self.add(a, c);
        }
        let ty = self.sum_ty(a);
        self.intern(Node::Sub(a, b), ty)
    }

    /// `a b` of scalars
    pub fn mul(&mut self, a: ExprId, b: ExprId) -> ExprId {
        if let (Some(x), Some(y)) = (self.literal(a), self.literal(b)) {
            return self.num(x * y);
        }
        // Literals stand first.
        let (a, b) = if self.literal(b).is_some() { (b, a) } else { (a, b) };
        if self.is_zero(a) || self.is_num(a, 1.0) {
            return if self.is_zero(a) { a } else { b };
        }
        if self.is_num(a, -1.0) {
            return self.neg(b);
        }
        if let Node::Neg(c) = *self.node(b) {
            let p = self.mul(a, c);
            return self.neg(p);
        }
        if let Node::Neg(c) = *self.node(a) {
            let p = self.mul(c, b);
            return self.neg(p);
        }
        if a == b {
            return self.pow_int(a, 2);
        }
        // Two numbers in a product are one.
        if let (Some(x), Some(y)) = (self.number_in(a), self.number_in(b)) {
            let (p, q) = (self.without_number(a), self.without_number(b));
            let number = self.num(x * y);
            let p = self.mul(number, p);
            return self.mul(p, q);
        }
        if let (Some(_), &Node::Start(e)) = (self.literal(a), self.node(b)) {
            let product = self.mul(a, e);
            return self.start(product);
        }
        self.intern(Node::Mul(a, b), Ty::Scalar)
    }

    /// A number, or the one that a product begins with.
    fn number_in(&self, a: ExprId) -> Option<f64> {
        let mut first = a;
        while let Node::Mul(b, _) = self.node(first) {
            first = *b;
        }
        self.literal(first)
    }

    /// What is left without [`ExprPool::number_in`].
    fn without_number(&mut self, a: ExprId) -> ExprId {
        match *self.node(a) {
            Node::Mul(b, c) if self.literal(b).is_some() => c,
            Node::Mul(b, c) => {
                let b = self.without_number(b);
                self.mul(b, c)
            }
            _ => self.num(1.0),
        }
    }

    /// `a / b` of scalars
    pub fn div(&mut self, a: ExprId, b: ExprId) -> ExprId {
        if let (Some(x), Some(y)) = (self.literal(a), self.literal(b))
            && y != 0.0
        {
            return self.num(x / y);
        }
        if self.is_num(b, 1.0) || (self.is_zero(a) && !self.is_zero(b)) {
            return a;
        }
        if let Node::Neg(c) = *self.node(a) {
            let p = self.div(c, b);
            return self.neg(p);
        }
        self.intern(Node::Div(a, b), Ty::Scalar)
    }

    /// `s a`, `a` of any type
    pub fn scale(&mut self, s: ExprId, a: ExprId) -> ExprId {
        if self.ty(a) == Ty::Scalar {
            return self.mul(s, a);
        }
        if self.is_zero(a) || self.is_num(s, 1.0) {
            return a;
        }
        if self.is_zero(s) {
            let ty = self.ty(a);
            return self.zero(ty);
        }
        if self.is_num(s, -1.0) {
            return self.neg(a);
        }
        match *self.node(a) {
            Node::Neg(b) => {
                let p = self.scale(s, b);
                return self.neg(p);
            }
            Node::Scale(r, b) => {
                let p = self.mul(s, r);
                return self.scale(p, b);
            }
            // What is known from the start on is scaled there.
            Node::Start(b) if self.literal(s).is_some() => {
                let p = self.scale(s, b);
                return self.start(p);
            }
            _ => {}
        }
        if let Node::Neg(r) = *self.node(s) {
            let p = self.scale(r, a);
            return self.neg(p);
        }
        let ty = self.sum_ty(a);
        self.intern(Node::Scale(s, a), ty)
    }

    /// `a^n` of a scalar
    pub fn pow_int(&mut self, a: ExprId, n: i32) -> ExprId {
        match n {
            0 => return self.num(1.0),
            1 => return a,
            _ => {}
        }
        if let Some(x) = self.literal(a) {
            // By products, as every back end computes it.
            if n > 0 && n <= 64 {
                return self.num((1..n).fold(x, |p, _| p * x));
            }
        }
        if let Node::PowInt(b, m) = *self.node(a)
            && let Some(k) = m.checked_mul(n)
        {
            return self.pow_int(b, k);
        }
        if let (Node::Neg(b), 0) = (self.node(a).clone(), n % 2) {
            return self.pow_int(b, n);
        }
        if let (Node::Fun(Fun::Sqrt, b), 2) = (self.node(a).clone(), n) {
            return b;
        }
        self.intern(Node::PowInt(a, n), Ty::Scalar)
    }

    /// A function of a scalar. Only correctly rounded ones are folded.
    pub fn fun(&mut self, f: Fun, a: ExprId) -> ExprId {
        if let Some(x) = self.literal(a) {
            match f {
                Fun::Sqrt if x >= 0.0 => return self.num(x.sqrt()),
                Fun::Abs => return self.num(x.abs()),
                Fun::Floor => return self.num(x.floor()),
                Fun::Sin | Fun::Tan | Fun::Asin if x == 0.0 => return a,
                Fun::Cos | Fun::Exp if x == 0.0 => return self.num(1.0),
                _ => {}
            }
        }
        self.intern(Node::Fun(f, a), Ty::Scalar)
    }

    /// A function of two scalars.
    pub fn fun2(&mut self, f: Fun2, a: ExprId, b: ExprId) -> ExprId {
        if let (Some(x), Some(y)) = (self.literal(a), self.literal(b)) {
            match f {
                Fun2::Min => return self.num(if x < y { x } else { y }),
                Fun2::Max => return self.num(if x > y { x } else { y }),
                Fun2::Mod if y != 0.0 => return self.num(x - y * (x / y).floor()),
                Fun2::Mod | Fun2::Atan2 | Fun2::Pow | Fun2::Unwrap => {}
            }
        }
        if a == b && matches!(f, Fun2::Min | Fun2::Max) {
            return a;
        }
        self.intern(Node::Fun2(f, a, b), Ty::Scalar)
    }
}

/// Vectors and matrices.
impl ExprPool {
    /// `[a, b, c]`
    pub fn vec(&mut self, a: ExprId, b: ExprId, c: ExprId) -> ExprId {
        if self.is_zero(a) && self.is_zero(b) && self.is_zero(c) {
            return self.zero(Ty::Vec3);
        }
        if let (Node::Comp(p, 0), Node::Comp(q, 1), Node::Comp(r, 2)) = (self.node(a), self.node(b), self.node(c))
            && p == q
            && q == r
        {
            return *p;
        }
        self.intern(Node::Vec(a, b, c), Ty::Vec3)
    }

    /// Component of a vector.
    pub fn comp(&mut self, a: ExprId, k: u8) -> ExprId {
        match *self.node(a) {
            Node::ZeroVec => self.num(0.0),
            Node::Vec(x, y, z) => [x, y, z][k as usize],
            Node::Neg(b) => {
                let c = self.comp(b, k);
                self.neg(c)
            }
            Node::Scale(s, b) => {
                let c = self.comp(b, k);
                self.mul(s, c)
            }
            _ => self.intern(Node::Comp(a, k), Ty::Scalar),
        }
    }

    /// `a . b`
    pub fn dot(&mut self, a: ExprId, b: ExprId) -> ExprId {
        if self.is_zero(a) || self.is_zero(b) {
            return self.num(0.0);
        }
        if let Node::Neg(c) = *self.node(a) {
            let p = self.dot(c, b);
            return self.neg(p);
        }
        if let Node::Neg(c) = *self.node(b) {
            let p = self.dot(a, c);
            return self.neg(p);
        }
        if let Node::Scale(s, c) = *self.node(a) {
            let p = self.dot(c, b);
            return self.mul(s, p);
        }
        if let Node::Scale(s, c) = *self.node(b) {
            let p = self.dot(a, c);
            return self.mul(s, p);
        }
        // Commutative: one order.
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        self.intern(Node::Dot(a, b), Ty::Scalar)
    }

    /// `a x b`
    pub fn cross(&mut self, a: ExprId, b: ExprId) -> ExprId {
        if a == b || self.is_zero(a) || self.is_zero(b) {
            return self.zero(Ty::Vec3);
        }
        if let Node::Neg(c) = *self.node(a) {
            let p = self.cross(c, b);
            return self.neg(p);
        }
        if let Node::Neg(c) = *self.node(b) {
            let p = self.cross(a, c);
            return self.neg(p);
        }
        if let Node::Scale(s, c) = *self.node(a) {
            let p = self.cross(c, b);
            return self.scale(s, p);
        }
        if let Node::Scale(s, c) = *self.node(b) {
            let p = self.cross(a, c);
            return self.scale(s, p);
        }
        self.intern(Node::Cross(a, b), Ty::Vec3)
    }

    /// `m a`, with the product nested to the right.
    pub fn mat_vec(&mut self, m: ExprId, a: ExprId) -> ExprId {
        if self.is_zero(a) {
            return a;
        }
        if let Some(known) = self.known_product(m, a) {
            return known;
        }
        let result = self.mat_vec_anew(m, a);
        self.remember_product(m, a, result);
        result
    }

    fn mat_vec_anew(&mut self, m: ExprId, a: ExprId) -> ExprId {
        match *self.node(m) {
            Node::Identity => return a,
            Node::ZeroMat => return self.zero(Ty::Vec3),
            Node::Neg(n) => {
                let p = self.mat_vec(n, a);
                return self.neg(p);
            }
            Node::Scale(s, n) => {
                let p = self.mat_vec(n, a);
                return self.scale(s, p);
            }
            Node::MatMul(p, q) => {
                let b = self.mat_vec(q, a);
                return self.mat_vec(p, b);
            }
            Node::Add(p, q) => {
                let (b, c) = (self.mat_vec(p, a), self.mat_vec(q, a));
                return self.add(b, c);
            }
            Node::Sub(p, q) => {
                let (b, c) = (self.mat_vec(p, a), self.mat_vec(q, a));
                return self.sub(b, c);
            }
            Node::Skew(b) => return self.cross(b, a),
            Node::Outer(b, c) => {
                let d = self.dot(c, a);
                return self.scale(d, b);
            }
            _ => {}
        }
        if let Node::Neg(b) = *self.node(a) {
            let p = self.mat_vec(m, b);
            return self.neg(p);
        }
        if let Node::Scale(s, b) = *self.node(a) {
            let p = self.mat_vec(m, b);
            return self.scale(s, p);
        }
        if self.ty(m) == Ty::Rot
            && let Node::MatVec(n, b) = *self.node(a)
            && self.inverse_rotations(m, n)
        {
            return b;
        }
        self.intern(Node::MatVec(m, a), Ty::Vec3)
    }

    fn inverse_rotations(&self, m: ExprId, n: ExprId) -> bool {
        let rot = self.ty(m) == Ty::Rot && self.ty(n) == Ty::Rot;
        let opposite = |a: ExprId, b: ExprId| {
            let negated = *self.node(b) == Node::Neg(a) || *self.node(a) == Node::Neg(b);
            negated || self.literal(a).zip(self.literal(b)).is_some_and(|(x, y)| x == -y)
        };
        let turned_back = match (self.node(m), self.node(n)) {
            (&Node::Transpose(a), _) if a == n => true,
            (_, &Node::Transpose(b)) if b == m => true,
            (&Node::About(a, s), &Node::About(b, t)) => a == b && opposite(s, t),
            _ => false,
        };
        rot && turned_back
    }

    /// `m n`
    pub fn mat_mul(&mut self, m: ExprId, n: ExprId) -> ExprId {
        if self.is_zero(m) || self.is_zero(n) {
            return self.zero(Ty::Mat3);
        }
        if *self.node(m) == Node::Identity {
            return n;
        }
        if *self.node(n) == Node::Identity {
            return m;
        }
        if self.inverse_rotations(m, n) {
            return self.identity();
        }
        match *self.node(m) {
            Node::Neg(p) => {
                let q = self.mat_mul(p, n);
                return self.neg(q);
            }
            Node::Scale(s, p) => {
                let q = self.mat_mul(p, n);
                return self.scale(s, q);
            }
            Node::MatMul(p, q) => {
                let r = self.mat_mul(q, n);
                return self.mat_mul(p, r);
            }
            Node::Outer(a, b) => {
                let nt = self.transpose(n);
                let c = self.mat_vec(nt, b);
                return self.outer(a, c);
            }
            _ => {}
        }
        match *self.node(n) {
            Node::Neg(p) => {
                let q = self.mat_mul(m, p);
                return self.neg(q);
            }
            Node::Scale(s, p) => {
                let q = self.mat_mul(m, p);
                return self.scale(s, q);
            }
            Node::Outer(a, b) => {
                let c = self.mat_vec(m, a);
                return self.outer(c, b);
            }
            Node::MatMul(p, q) if self.inverse_rotations(m, p) => return q,
            _ => {}
        }
        let ty = if self.ty(m) == Ty::Rot && self.ty(n) == Ty::Rot { Ty::Rot } else { Ty::Mat3 };
        self.intern(Node::MatMul(m, n), ty)
    }

    /// Transpose of a matrix, pushed to the leaves.
    pub fn transpose(&mut self, m: ExprId) -> ExprId {
        if let Some(known) = self.known_transpose(m) {
            return known;
        }
        let result = self.transpose_anew(m);
        self.remember_transpose(m, result);
        result
    }

    fn transpose_anew(&mut self, m: ExprId) -> ExprId {
        match *self.node(m) {
            Node::Identity | Node::ZeroMat | Node::Diag(_) => m,
            Node::Transpose(n) => n,
            Node::Neg(n) => {
                let p = self.transpose(n);
                self.neg(p)
            }
            Node::Scale(s, n) => {
                let p = self.transpose(n);
                self.scale(s, p)
            }
            Node::Add(a, b) => {
                let (a, b) = (self.transpose(a), self.transpose(b));
                self.add(a, b)
            }
            Node::Sub(a, b) => {
                let (a, b) = (self.transpose(a), self.transpose(b));
                self.sub(a, b)
            }
            Node::MatMul(a, b) => {
                let (a, b) = (self.transpose(a), self.transpose(b));
                self.mat_mul(b, a)
            }
            Node::Skew(_) => self.neg(m),
            Node::Outer(a, b) => self.outer(b, a),
            Node::About(axis, angle) => {
                let back = self.neg(angle);
                self.about(axis, back)
            }
            _ => {
                let ty = self.ty(m);
                self.intern(Node::Transpose(m), ty)
            }
        }
    }

    /// `skew(a)`
    pub fn skew(&mut self, a: ExprId) -> ExprId {
        if self.is_zero(a) {
            return self.zero(Ty::Mat3);
        }
        match *self.node(a) {
            Node::Neg(b) => {
                let s = self.skew(b);
                self.neg(s)
            }
            Node::Scale(s, b) => {
                let k = self.skew(b);
                self.scale(s, k)
            }
            _ => self.intern(Node::Skew(a), Ty::Mat3),
        }
    }

    /// `a b^T`
    pub fn outer(&mut self, a: ExprId, b: ExprId) -> ExprId {
        if self.is_zero(a) || self.is_zero(b) {
            return self.zero(Ty::Mat3);
        }
        self.intern(Node::Outer(a, b), Ty::Mat3)
    }

    /// Diagonal matrix.
    pub fn diag(&mut self, a: ExprId) -> ExprId {
        if self.is_zero(a) {
            return self.zero(Ty::Mat3);
        }
        self.intern(Node::Diag(a), Ty::Mat3)
    }

    /// Matrix of three rows.
    pub fn rows(&mut self, a: ExprId, b: ExprId, c: ExprId) -> ExprId {
        if self.is_zero(a) && self.is_zero(b) && self.is_zero(c) {
            return self.zero(Ty::Mat3);
        }
        self.intern(Node::Rows(a, b, c), Ty::Mat3)
    }

    /// Row of a matrix: `m^T e_k`.
    pub fn row(&mut self, m: ExprId, k: u8) -> ExprId {
        match *self.node(m) {
            Node::Identity => self.unit(k),
            Node::ZeroMat => self.zero(Ty::Vec3),
            Node::Rows(a, b, c) => [a, b, c][k as usize],
            _ => self.intern(Node::Row(m, k), Ty::Vec3),
        }
    }

    /// Sum of the diagonal, by `e_k . m e_k`, so that it can be differentiated as vectors are.
    pub fn trace(&mut self, m: ExprId) -> ExprId {
        let mut sum = self.num(0.0);
        for k in 0..3 {
            let e = self.unit(k);
            let c = self.mat_vec(m, e);
            let d = self.comp(c, k);
            sum = self.add(sum, d);
        }
        sum
    }

    /// Rotation by an angle about an axis.
    pub fn about(&mut self, axis: ExprId, angle: ExprId) -> ExprId {
        if self.is_zero(angle) {
            return self.identity();
        }
        self.intern(Node::About(axis, angle), Ty::Rot)
    }

    /// Rotation of a rotation vector.
    pub fn exp_so3(&mut self, a: ExprId) -> ExprId {
        if self.is_zero(a) {
            return self.identity();
        }
        self.intern(Node::ExpSo3(a), Ty::Rot)
    }

    /// Rotation vector of a rotation.
    pub fn log_so3(&mut self, m: ExprId) -> ExprId {
        if *self.node(m) == Node::Identity {
            return self.zero(Ty::Vec3);
        }
        self.intern(Node::LogSo3(m), Ty::Vec3)
    }

    /// `perp1(a)`
    pub fn perp1(&mut self, a: ExprId) -> ExprId {
        self.intern(Node::Perp1(a), Ty::Vec3)
    }

    /// `perp2(a)`
    pub fn perp2(&mut self, a: ExprId) -> ExprId {
        self.intern(Node::Perp2(a), Ty::Vec3)
    }

    /// `|a|`
    pub fn norm(&mut self, a: ExprId) -> ExprId {
        let d = self.dot(a, a);
        self.fun(Fun::Sqrt, d)
    }
}
