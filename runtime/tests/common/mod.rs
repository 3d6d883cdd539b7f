//! Hand-written models: bodies under gravity, coupled by spherical joints, hinges, rods, linear spring-dampers and loads.

mod loads;
pub mod runs;

pub use loads::Load;

use mbdsl_runtime::so3::{exp, skew};
use mbdsl_runtime::state::State;
use mbdsl_runtime::system::{ConstraintDerivatives, ForceDerivatives, Jacobian, System};
use mbdsl_runtime::topology::{Body, BodyKind, Coupling, Element, Topology};
use nalgebra::{Matrix3, Vector3};

type V3 = Vector3<f64>;

/// A constraint element.
#[derive(Clone, Copy, Debug)]
pub enum Joint {
    /// `x_a + R_a X_a - P - D t = 0`, or `... - x_b - R_b X_b = 0`.
    Ball { a: (u32, V3), b: Option<(u32, V3)>, point: V3, drift: V3 },
    /// `(|x_a - x_b|^2 - l^2)/(2 l) = 0`, `b` a body or a fixed point.
    Rod { a: u32, b: Result<u32, V3>, length: f64 },
    /// `n . x_a - c = 0`.
    Plane { a: u32, normal: V3, offset: f64 },
    /// `(R_a u) . (R_b w) = 0`; without a body `b`, `w` is fixed. For steppers that need no second derivatives.
    Dot { a: (u32, V3), b: Option<u32>, w: V3 },
}

/// A spring-damper between two centres of mass with no length at rest.
#[derive(Clone, Copy, Debug)]
pub struct Spring {
    pub a: u32,
    pub b: u32,
    pub stiffness: f64,
    pub damping: f64,
}

/// A condition on one coordinate of a body: `x[axis] = value`, or `V[axis] = value`.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    pub body: u32,
    pub axis: usize,
    pub value: f64,
}

/// A model.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub topology: Topology,
    pub joints: Vec<Joint>,
    pub springs: Vec<Spring>,
    pub loads: Vec<Load>,
    pub gravity: V3,
    /// Whether somebody changes it between steps.
    pub is_changing: bool,
    pub at_position: Vec<Condition>,
    pub at_velocity: Vec<Condition>,
}

impl Model {
    pub fn new(gravity: f64) -> Self {
        let topology = Topology { dof: vec![0], ..Topology::default() };
        Self { topology, gravity: V3::new(0.0, 0.0, -gravity), ..Self::default() }
    }

    pub fn rigid(&mut self, mass: f64, inertia: [f64; 3]) {
        self.body(Body { kind: BodyKind::Rigid, mass, inertia: Matrix3::from_diagonal(&V3::from(inertia)) });
    }

    pub fn particle(&mut self, mass: f64) {
        self.body(Body { kind: BodyKind::Particle, mass, inertia: Matrix3::zeros() });
    }

    /// A body with any inertia.
    pub fn body(&mut self, body: Body) {
        self.topology.dof.push(self.topology.nv() + body.kind.dim());
        self.topology.bodies.push(body);
    }

    pub fn joint(&mut self, joint: Joint) {
        let (bodies, rows) = match joint {
            Joint::Ball { a, b, .. } => ([Some(a.0), b.map(|b| b.0)], 3),
            Joint::Rod { a, b, .. } => ([Some(a), b.ok()], 1),
            Joint::Plane { a, .. } => ([Some(a), None], 1),
            Joint::Dot { a, b, .. } => ([Some(a.0), b], 1),
        };
        let bodies: Vec<u32> = bodies.into_iter().flatten().collect();
        let couplings = self.couplings(&joint, &bodies);
        self.topology.constraints.push(&self.topology.bodies, &bodies, rows, &couplings);
        self.joints.push(joint);
    }

    /// Parts of `d(B^T lambda)/dq` that may be other than zero.
    fn couplings(&self, joint: &Joint, bodies: &[u32]) -> Vec<Coupling> {
        match joint {
            Joint::Ball { .. } => {
                let mut next = 0;
                let mut out = Vec::new();
                for &body in bodies {
                    let vectors = self.topology.bodies[body as usize].kind.dim() as u32 / 3;
                    next += vectors;
                    out.extend((vectors == 2).then_some([next - 1; 2]));
                }
                out
            }
            Joint::Rod { .. } => {
                let second = self.topology.bodies[bodies[0] as usize].kind.dim() as u32 / 3;
                let places: &[u32] = if bodies.len() == 2 { &[0, second] } else { &[0] };
                places.iter().flat_map(|&row| places.iter().map(move |&col| [row, col])).collect()
            }
            Joint::Plane { .. } | Joint::Dot { .. } => Vec::new(),
        }
    }

    pub fn ball(&mut self, a: (u32, [f64; 3]), b: Option<(u32, [f64; 3])>, point: [f64; 3]) {
        let on = |(body, x): (u32, [f64; 3])| (body, V3::from(x));
        self.joint(Joint::Ball { a: on(a), b: b.map(on), point: V3::from(point), drift: V3::zeros() });
    }

    /// A hinge about `axis`, the same in both bodies and in space where `b` is none, at a point of both.
    pub fn hinge(&mut self, a: (u32, [f64; 3]), b: Option<(u32, [f64; 3])>, point: [f64; 3], axis: V3) {
        self.ball(a, b, point);
        let first = axis.cross(&V3::new(0.3, -0.9, 0.2)).normalize();
        for u in [first, axis.cross(&first)] {
            self.joint(Joint::Dot { a: (a.0, u), b: b.map(|b| b.0), w: axis });
        }
    }

    /// A load; after all springs.
    pub fn load(&mut self, load: Load) {
        if let Load::Drag { body, .. } = load {
            let vectors = self.topology.bodies[body].kind.dim() as u32 / 3;
            let couplings: Vec<Coupling> = (0..vectors).map(|k| [k; 2]).collect();
            self.topology.forces.push(&self.topology.bodies, &[body as u32], 0, &couplings);
        }
        self.loads.push(load);
    }

    pub fn spring(&mut self, spring: Spring) {
        let second = self.topology.bodies[spring.a as usize].kind.dim() as u32 / 3;
        let couplings = [[0, 0], [0, second], [second, 0], [second; 2]];
        self.topology.forces.push(&self.topology.bodies, &[spring.a, spring.b], 0, &couplings);
        self.springs.push(spring);
    }

    pub fn hold_position(&mut self, condition: Condition, fixed: bool) {
        self.topology.position_conditions.push(&self.topology.bodies, &[condition.body], 1, &[]);
        self.topology.position_fixed.push(fixed);
        self.at_position.push(condition);
    }

    pub fn hold_velocity(&mut self, condition: Condition, fixed: bool) {
        self.topology.velocity_conditions.push(&self.topology.bodies, &[condition.body], 1, &[]);
        self.topology.velocity_fixed.push(fixed);
        self.at_velocity.push(condition);
    }

    fn each(&self) -> impl Iterator<Item = (&Joint, &Element)> {
        self.joints.iter().zip(&self.topology.constraints.elements)
    }

    fn is_rigid(&self, body: u32) -> bool {
        self.topology.bodies[body as usize].kind == BodyKind::Rigid
    }

    /// `(body, X, sign, first column)` of the slots of a ball joint.
    fn arms(&self, a: (u32, V3), b: Option<(u32, V3)>) -> impl Iterator<Item = (u32, V3, f64, usize)> + use<> {
        let dim = self.topology.bodies[a.0 as usize].kind.dim();
        [Some((a.0, a.1, 1.0, 0)), b.map(|b| (b.0, b.1, -1.0, dim))].into_iter().flatten()
    }
}

fn rod_vector(s: &State, a: u32, b: Result<u32, V3>) -> (V3, V3) {
    let (x, v) = b.map_or_else(|point| (point, V3::zeros()), |b| (s.x(b as usize), s.v(b as usize)));
    (s.x(a as usize) - x, s.v(a as usize) - v)
}

fn put(block: &mut [f64], stride: usize, row: usize, col: usize, m: &Matrix3<f64>) {
    for i in 0..3 {
        for j in 0..3 {
            block[(row + i) * stride + col + j] = m[(i, j)];
        }
    }
}

impl System for Model {
    fn topology(&self) -> &Topology {
        &self.topology
    }

    fn residual(&mut self, s: &State, phi: &mut [f64]) {
        for (joint, e) in self.each() {
            let out = &mut phi[e.row..e.row + e.rows];
            match *joint {
                Joint::Ball { a, b, point, drift } => {
                    let mut sum = -(point + drift * s.t);
                    for (body, x, sign, _) in self.arms(a, b) {
                        let body = body as usize;
                        sum += (s.x(body) + s.r(body) * x) * sign;
                    }
                    out.copy_from_slice(sum.as_slice());
                }
                Joint::Rod { a, b, length } => {
                    out[0] = (rod_vector(s, a, b).0.norm_squared() - length * length) / (2.0 * length);
                }
                Joint::Plane { a, normal, offset } => out[0] = normal.dot(&s.x(a as usize)) - offset,
                Joint::Dot { a, b, w } => {
                    out[0] = loads::dot_row(s, (a.0 as usize, a.1), b.map(|b| b as usize), &w).0;
                }
            }
        }
    }

    fn jacobian(&mut self, s: &State, out: &mut Jacobian) {
        let mut phi = core::mem::take(&mut out.phi);
        self.residual(s, &mut phi);
        out.phi = phi;
        out.phi_t.fill(0.0);
        out.b.fill(0.0);
        for (joint, e) in self.each() {
            let block = &mut out.b[e.jac..e.jac + e.rows * e.dim];
            match *joint {
                Joint::Ball { a, b, drift, .. } => {
                    out.phi_t[e.row..e.row + 3].copy_from_slice((-drift).as_slice());
                    for (body, x, sign, col) in self.arms(a, b) {
                        put(block, e.dim, 0, col, &(Matrix3::identity() * sign));
                        if self.is_rigid(body) {
                            put(block, e.dim, 0, col + 3, &(s.r(body as usize) * skew(&x) * -sign));
                        }
                    }
                }
                Joint::Rod { a, b, length } => {
                    let r = rod_vector(s, a, b).0 / length;
                    block[..3].copy_from_slice(r.as_slice());
                    if b.is_ok() {
                        block[e.dim - 3..].copy_from_slice((-r).as_slice());
                    }
                }
                Joint::Plane { normal, .. } => block[..3].copy_from_slice(normal.as_slice()),
                Joint::Dot { a, b, w } => {
                    let (_, of_a, of_b, _) = loads::dot_row(s, (a.0 as usize, a.1), b.map(|b| b as usize), &w);
                    block[3..6].copy_from_slice(of_a.as_slice());
                    if b.is_some() {
                        block[9..12].copy_from_slice(of_b.as_slice());
                    }
                }
            }
        }
    }

    fn constraint_newton(&mut self, s: &State, lam: &[f64], jac: &mut Jacobian, out: &mut ConstraintDerivatives) {
        self.jacobian(s, jac);
        out.bv_q.fill(0.0);
        for (joint, e) in self.each() {
            let bv_q = &mut out.bv_q[e.jac..e.jac + e.rows * e.dim];
            match *joint {
                Joint::Ball { a, b, .. } => {
                    for (body, x, sign, col) in self.arms(a, b) {
                        if self.is_rigid(body) {
                            let body = body as usize;
                            let turn = s.r(body) * skew(&s.omega(body).cross(&x)) * -sign;
                            put(bv_q, e.dim, 0, col + 3, &turn);
                        }
                    }
                }
                Joint::Rod { a, b, length } => {
                    let v = rod_vector(s, a, b).1 / length;
                    bv_q[..3].copy_from_slice(v.as_slice());
                    if b.is_ok() {
                        bv_q[e.dim - 3..].copy_from_slice((-v).as_slice());
                    }
                }
                Joint::Plane { .. } => {}
                Joint::Dot { .. } => panic!("second derivatives of this joint are not written down"),
            }
        }
        out.k_lam.fill(0.0);
        for (joint, e) in self.each() {
            let mut add = |row: usize, col: usize, k: &Matrix3<f64>| {
                let place = [row, col].map(|k| k as u32 / 3);
                let (_, at) = self.topology.constraints.parts(e).find(|part| part.0 == place).expect("a stored part");
                put(&mut out.k_lam[at..], 3, 0, 0, k);
            };
            match *joint {
                Joint::Ball { a, b, .. } => {
                    let l = V3::from_column_slice(&lam[e.row..e.row + 3]);
                    for (body, x, sign, col) in self.arms(a, b) {
                        if self.is_rigid(body) {
                            let k = skew(&x) * skew(&(s.r(body as usize).transpose() * l)) * sign;
                            add(col + 3, col + 3, &k);
                        }
                    }
                }
                Joint::Rod { b, length, .. } => {
                    let k = Matrix3::identity() * (lam[e.row] / length);
                    add(0, 0, &k);
                    if b.is_ok() {
                        let second = e.dim - 3;
                        add(0, second, &-k);
                        add(second, 0, &-k);
                        add(second, second, &k);
                    }
                }
                Joint::Plane { .. } | Joint::Dot { .. } => {}
            }
        }
    }

    fn convective(&mut self, s: &State, gamma: &mut [f64]) {
        for (joint, e) in self.each() {
            let out = &mut gamma[e.row..e.row + e.rows];
            match *joint {
                Joint::Ball { a, b, .. } => {
                    let mut sum = V3::zeros();
                    for (body, x, sign, _) in self.arms(a, b) {
                        let w = s.omega(body as usize);
                        sum += s.r(body as usize) * w.cross(&w.cross(&x)) * sign;
                    }
                    out.copy_from_slice(sum.as_slice());
                }
                Joint::Rod { a, b, length } => out[0] = rod_vector(s, a, b).1.norm_squared() / length,
                Joint::Plane { .. } => out[0] = 0.0,
                Joint::Dot { a, b, w } => {
                    out[0] = loads::dot_row(s, (a.0 as usize, a.1), b.map(|b| b as usize), &w).3;
                }
            }
        }
    }

    fn forces(&mut self, s: &State, q: &mut [f64]) {
        q.fill(0.0);
        let dof = &self.topology.dof;
        for (b, body) in self.topology.bodies.iter().enumerate() {
            q[dof[b]..dof[b] + 3].copy_from_slice((self.gravity * body.mass).as_slice());
        }
        for spring in &self.springs {
            let (a, b) = (spring.a as usize, spring.b as usize);
            let force = (s.x(a) - s.x(b)) * spring.stiffness + (s.v(a) - s.v(b)) * spring.damping;
            for k in 0..3 {
                q[dof[a] + k] -= force[k];
                q[dof[b] + k] += force[k];
            }
        }
        self.loads.iter().for_each(|load| load.add(s, dof, q));
    }

    fn has_inputs(&self) -> bool {
        self.is_changing
    }

    fn has_forces(&self) -> bool {
        self.gravity != V3::zeros() || !self.springs.is_empty() || !self.loads.is_empty()
    }

    fn has_velocity_forces(&self) -> bool {
        self.springs.iter().any(|s| s.damping != 0.0) || self.loads.iter().any(Load::depends_on_velocity)
    }

    fn force_newton(&mut self, s: &State, q: &mut [f64], out: &mut ForceDerivatives) {
        self.forces(s, q);
        for (spring, e) in self.springs.iter().zip(&self.topology.forces.elements) {
            for (squares, value) in [(&mut out.q_q, spring.stiffness), (&mut out.q_v, spring.damping)] {
                for ([row, col], at) in self.topology.forces.parts(e) {
                    let sign = if row == col { -1.0 } else { 1.0 };
                    put(&mut squares[at..], 3, 0, 0, &(Matrix3::identity() * (sign * value)));
                }
            }
        }
        // Derivatives by positions are left out: the steppers that meet loads do not ask for them.
        let drags = self.loads.iter().filter(|load| load.depends_on_velocity());
        for (drag, e) in drags.zip(&self.topology.forces.elements[self.springs.len()..]) {
            drag.add_velocity_derivative(s, &mut out.q_v[e.square..e.square + 9 * e.couplings]);
        }
    }

    fn potential(&mut self, s: &State) -> f64 {
        let mut sum = 0.0;
        for (b, body) in self.topology.bodies.iter().enumerate() {
            sum -= body.mass * self.gravity.dot(&s.x(b));
        }
        for spring in &self.springs {
            sum += 0.5 * spring.stiffness * (s.x(spring.a as usize) - s.x(spring.b as usize)).norm_squared();
        }
        sum + self.loads.iter().map(|load| load.potential(s)).sum::<f64>()
    }

    fn position_conditions(&mut self, s: &State, out: &mut Jacobian) {
        out.b.fill(0.0);
        for (c, e) in self.at_position.iter().zip(&self.topology.position_conditions.elements) {
            out.phi[e.row] = s.x(c.body as usize)[c.axis] - c.value;
            out.b[e.jac + c.axis] = 1.0;
        }
    }

    fn velocity_conditions(&mut self, s: &State, out: &mut Jacobian) {
        out.b.fill(0.0);
        for (c, e) in self.at_velocity.iter().zip(&self.topology.velocity_conditions.elements) {
            let b = c.body as usize;
            let v = if c.axis < 3 { s.v(b)[c.axis] } else { s.omega(b)[c.axis - 3] };
            out.phi[e.row] = v - c.value;
            out.b[e.jac + c.axis] = 1.0;
        }
    }

    fn accept(&mut self, _s: &mut State) {}

    fn body_name(&self, body: usize) -> String {
        format!("body[{body}]")
    }

    fn constraint_name(&self, element: usize) -> String {
        format!("joint[{element}]")
    }

    fn row_name(&self, _element: usize, row: usize) -> String {
        ["x", "y", "z"][row].to_owned()
    }

    fn position_condition_name(&self, element: usize) -> String {
        format!("body[{}].pos", self.at_position[element].body)
    }

    fn velocity_condition_name(&self, element: usize) -> String {
        format!("body[{}].vel", self.at_velocity[element].body)
    }
}

/// The spherical pendulum of the paper's table 1.
pub fn single_pendulum() -> (Model, State) {
    let mut model = Model::new(9.81);
    model.rigid(15.0, [0.3125, 0.46875, 0.3125]);
    model.ball((0, [0.0, -1.0, 0.0]), None, [0.0; 3]);
    let mut s = State::new(1, 0);
    s.set_x(0, &V3::new(0.0, 1.0, 0.0));
    let omega = V3::new(0.0, 150.0, -4.6154);
    s.set_omega(0, &omega);
    s.set_v(0, &omega.cross(&V3::new(0.0, 1.0, 0.0)));
    (model, s)
}

/// The double pendulum of table 2.
pub fn double_pendulum() -> (Model, State) {
    use core::f64::consts::PI;
    let mut model = Model::new(9.81);
    let j = 5.0 * (3.0 * 0.01 + 1.0) / 12.0;
    for _ in 0..2 {
        model.rigid(5.0, [j, j, 0.025]);
    }
    model.ball((0, [0.0, 0.0, -0.5]), None, [0.0; 3]);
    model.ball((0, [0.0, 0.0, 0.5]), Some((1, [0.0, 0.0, -0.5])), [0.0; 3]);
    let mut s = State::new(2, 0);
    let (w1, w2) = (V3::new(10.0 * PI, 0.0, 0.0), V3::new(10.0 * PI, 10.0 * PI, 20.0 * PI));
    let half = V3::new(0.0, 0.0, 0.5);
    s.set_x(0, &half);
    s.set_x(1, &(half * 3.0));
    s.set_omega(0, &w1);
    s.set_omega(1, &w2);
    s.set_v(0, &w1.cross(&half));
    s.set_v(1, &(w1.cross(&(half * 2.0)) + w2.cross(&half)));
    (model, s)
}

/// `n` rods of 1 m on spherical joints, hanging from the origin along a helix of small slope, spinning a little.
pub fn chain(n: usize) -> (Model, State) {
    let mut model = Model::new(9.81);
    let mut s = State::new(n, 0);
    let mut end = V3::zeros();
    for i in 0..n {
        model.rigid(1.0, [0.1, 0.1, 0.01]);
        if i == 0 {
            model.ball((0, [0.0, 0.0, 0.5]), None, [0.0; 3]);
        } else {
            model.ball((i as u32 - 1, [0.0, 0.0, -0.5]), Some((i as u32, [0.0, 0.0, 0.5])), [0.0; 3]);
        }
        let r = exp(&V3::new(0.3 * libm::sin(i as f64), 0.3 * libm::cos(1.7 * i as f64), 0.1));
        let arm = r * V3::new(0.0, 0.0, -0.5);
        s.set_r(i, &r);
        s.set_x(i, &(end + arm));
        end += arm * 2.0;
    }
    (model, s)
}
