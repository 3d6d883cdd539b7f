//! Bodies without constraints, eight at a time: kicks and drifts in the numbers of a state itself, one pass over the bodies each.
//!
//! What a state does not have is kept beside it: angular momenta in principal axes, whose rounding errors would add up if each step
//! took them from angular velocities, and attitudes of principal axes where these are not the body axes. They are those of a
//! state if it has the angular velocities and attitudes that they give, to the bit; a state that somebody has changed has
//! others, and they are taken from it.
//!
//! Bodies do not see each other: any split among groups and threads gives the same bits.

use alloc::boxed::Box;
use alloc::vec::Vec;

use nalgebra::{Matrix3, Vector3};

use super::drift::{Drift, DriftKind, Rotor, Spin, TurnsTooFar, with_drift};
use super::motion::{Bodies, Motion, Part};
use super::rattle::Failure;
use crate::lanes::{F64x8, Real, matrix_lane, vector_lane};
use crate::so3::polish;
use crate::state::{OMEGA, POS, ROT, STRIDE, State, VEL};

/// More bodies than these are shared by two threads: a step of so many takes some hundred times as long as handing them over.
const GRAIN: usize = 2048;

/// The numbers of one body in a state.
type Row = [f64; STRIDE];

/// One body, or eight of one kind and shape that stand side by side.
#[derive(Clone, Debug)]
struct Group<F> {
    /// Number of the first one.
    first: usize,
    /// Its first velocity.
    dof: usize,
    /// Which of the different parts they are.
    part: usize,
    pi: Vector3<F>,
    /// Where principal axes are not body axes.
    q: Option<Box<Matrix3<F>>>,
}

/// Groups of one size.
#[derive(Clone, Debug)]
struct Groups<F> {
    parts: Vec<Part<F>>,
    all: Vec<Group<F>>,
}

/// All bodies of a model.
#[derive(Clone, Debug)]
pub(super) struct Crowd {
    eights: Groups<F64x8>,
    ones: Groups<f64>,
    drift: DriftKind,
}

/// How a number of bodies drifts.
trait Advance: Real {
    /// Whether principal axes may be others than the body axes.
    const MAY_BE_OBLIQUE: bool;

    fn advance<D: Drift>(rotor: &Rotor<Self>, h: f64, spin: &mut Spin<Self>) -> Result<(), TurnsTooFar>;
}

impl Advance for f64 {
    const MAY_BE_OBLIQUE: bool = true;

    #[inline(always)]
    fn advance<D: Drift>(rotor: &Rotor, h: f64, spin: &mut Spin) -> Result<(), TurnsTooFar> {
        D::advance(rotor, h, spin)
    }
}

impl Advance for F64x8 {
    const MAY_BE_OBLIQUE: bool = false;

    #[inline(always)]
    fn advance<D: Drift>(rotor: &Rotor<Self>, h: f64, spin: &mut Spin<Self>) -> Result<(), TurnsTooFar> {
        D::advance_eight(rotor, h, spin)
    }
}

/// Forces and torques, and the time for which they act.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kick<'a> {
    /// `nv` numbers, torques in body axes.
    pub(super) force: &'a [f64],
    pub(super) time: f64,
}

/// What is different about the first drift of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    /// Whether it is the first one.
    pub(super) is_first: bool,
    /// Whether the orthogonality of attitudes is repaired before it.
    pub(super) is_polished: bool,
}

impl Crowd {
    pub(super) fn new(bodies: &Bodies) -> Self {
        let (parts, dof) = (&bodies.parts, &bodies.topology.dof);
        let (mut eights, mut ones) = (Groups::new(), Groups::new());
        let mut first = 0;
        while let Some(part) = parts.get(first) {
            let alike = parts[first..].iter().take(F64x8::LANES).take_while(|other| other.is_like(part)).count();
            if alike == F64x8::LANES {
                eights.push(first, dof[first], Part::from_lanes(|k| parts[first + k]));
                first += alike;
            } else {
                ones.push(first, dof[first], *part);
                first += 1;
            }
        }
        Self { eights, ones, drift: bodies.drift }
    }

    /// A step of size `h` in stages for bodies that no force acts on, from the numbers of one state to those of another.
    pub(super) fn glide(
        &mut self,
        h: f64,
        stages: &[f64],
        is_polished: bool,
        from: &State,
        to: &mut State,
    ) -> Result<(), Failure> {
        let step = FreeStep { h, stages, is_polished, from: from.z.as_chunks().0 };
        with_drift!(self.drift, glide(self, &step, to.z.as_chunks_mut().0))
    }

    /// Kicks, then drifts for the time `h`.
    pub(super) fn kick_and_drift(
        &mut self,
        kick: Kick<'_>,
        h: f64,
        start: Start,
        s: &mut State,
    ) -> Result<(), Failure> {
        with_drift!(self.drift, kick_and_drift(self, kick, h, start, s.z.as_chunks_mut().0))
    }

    /// Kicks, and writes angular velocities: the end of a step.
    pub(super) fn kick_and_deliver(&mut self, kick: Kick<'_>, s: &mut State) -> Result<(), Failure> {
        let z = s.z.as_chunks_mut().0;
        self.eights.each(z, &|part, group, rows| group.kick_and_deliver(part, kick, rows))?;
        self.ones.each(z, &|part, group, rows| group.kick_and_deliver(part, kick, rows))
    }

    /// Kicks in the middle of a step.
    pub(super) fn kick(&mut self, kick: Kick<'_>, s: &mut State) {
        let z = s.z.as_chunks_mut().0;
        self.eights.each_in_turn(|part, group| group.kick(part, kick, z));
        self.ones.each_in_turn(|part, group| group.kick(part, kick, z));
    }

    /// Velocities as one vector of `nv` numbers.
    pub(super) fn velocities(&self, s: &State, v: &mut [f64]) {
        let z = s.z.as_chunks().0;
        self.eights.write(v, |part, group| group.velocities(part, z));
        self.ones.write(v, |part, group| group.velocities(part, z));
    }

    /// Accelerations under `nv` forces as one vector, `I Omega' = torque + pi x Omega`.
    pub(super) fn accelerations(&self, force: &[f64]) -> Vec<f64> {
        let mut a = vec![0.0; force.len()];
        self.eights.write(&mut a, |part, group| group.accelerations(part, force));
        self.ones.write(&mut a, |part, group| group.accelerations(part, force));
        a
    }

    /// Takes the momenta of a state, after a step that failed.
    pub(super) fn recall(&mut self, s: &State) {
        let z = s.z.as_chunks().0;
        self.eights.each_in_turn(|part, group| group.recall(part, z));
        self.ones.each_in_turn(|part, group| group.recall(part, z));
    }
}

fn glide<D: Drift>(crowd: &mut Crowd, step: &FreeStep<'_>, to: &mut [Row]) -> Result<(), Failure> {
    crowd.eights.each(to, &|part, group, rows| group.glide::<D>(part, step, rows))?;
    crowd.ones.each(to, &|part, group, rows| group.glide::<D>(part, step, rows))
}

fn kick_and_drift<D: Drift>(
    crowd: &mut Crowd,
    kick: Kick<'_>,
    h: f64,
    start: Start,
    z: &mut [Row],
) -> Result<(), Failure> {
    crowd.eights.each(z, &|part, group, rows| group.kick_and_drift::<D>(part, kick, h, start, rows))?;
    crowd.ones.each(z, &|part, group, rows| group.kick_and_drift::<D>(part, kick, h, start, rows))
}

/// A step without forces.
#[derive(Clone, Copy, Debug)]
struct FreeStep<'a> {
    h: f64,
    stages: &'a [f64],
    is_polished: bool,
    from: &'a [Row],
}

impl<F: Advance> Groups<F> {
    const fn new() -> Self {
        Self { parts: Vec::new(), all: Vec::new() }
    }

    fn push(&mut self, first: usize, dof: usize, part: Part<F>) {
        // Like parts stand together, or in a short pattern.
        let known = self.parts.iter().rev().take(8).position(|known| *known == part);
        let number = known.map_or(self.parts.len(), |back| self.parts.len() - 1 - back);
        if number == self.parts.len() {
            self.parts.push(part);
        }
        let is_oblique = part.rotor.is_some_and(|rotor| !rotor.is_aligned());
        let q = is_oblique.then(|| Box::new(Matrix3::identity()));
        self.all.push(Group { first, dof, part: number, pi: Vector3::zeros(), q });
    }

    /// Takes each group with its rows of a state, some of them in another thread.
    fn each<E: Send>(
        &mut self,
        z: &mut [Row],
        work: &(impl Fn(&Part<F>, &mut Group<F>, &mut [Row]) -> Result<(), E> + Sync),
    ) -> Result<(), E> {
        each(&self.parts, &mut self.all, (0, z), work)
    }

    fn each_in_turn(&mut self, mut work: impl FnMut(&Part<F>, &mut Group<F>)) {
        for group in &mut self.all {
            work(&self.parts[group.part], group);
        }
    }

    /// Writes a vector and, of bodies that turn, another one, to the velocities of each body.
    fn write(&self, list: &mut [f64], of: impl Fn(&Part<F>, &Group<F>) -> (Vector3<F>, Option<Vector3<F>>)) {
        for group in &self.all {
            let (linear, angular) = of(&self.parts[group.part], group);
            let size = if angular.is_some() { 6 } else { 3 };
            for (k, own) in list[group.dof..].chunks_exact_mut(size).take(F::LANES).enumerate() {
                own[..3].copy_from_slice(vector_lane(&linear, k).as_slice());
                if let Some(angular) = &angular {
                    own[3..].copy_from_slice(vector_lane(angular, k).as_slice());
                }
            }
        }
    }
}

fn each<F: Advance, E: Send>(
    parts: &[Part<F>],
    groups: &mut [Group<F>],
    (first, z): (usize, &mut [Row]),
    work: &(impl Fn(&Part<F>, &mut Group<F>, &mut [Row]) -> Result<(), E> + Sync),
) -> Result<(), E> {
    if groups.len() * F::LANES > GRAIN {
        let (low, high) = groups.split_at_mut(groups.len() / 2);
        let middle = high[0].first;
        let (left, right) = z.split_at_mut(middle - first);
        let (a, b) = join(|| each(parts, low, (first, left), work), || each(parts, high, (middle, right), work));
        return a.and(b);
    }
    for group in groups {
        let at = group.first - first;
        work(&parts[group.part], group, &mut z[at..at + F::LANES])?;
    }
    Ok(())
}

/// Two results, found by two threads where that is possible.
fn join<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    #[cfg(feature = "rayon")]
    return rayon::join(a, b);
    #[cfg(not(feature = "rayon"))]
    (a(), b())
}

impl<F: Advance> Group<F> {
    fn glide<D: Drift>(&mut self, part: &Part<F>, step: &FreeStep<'_>, to: &mut [Row]) -> Result<(), Failure> {
        let from = &step.from[self.first..self.first + F::LANES];
        let mut motion = self.read(part, from, true, step.is_polished);
        for stage in step.stages {
            self.drift::<D>(part, step.h * stage, &mut motion)?;
        }
        self.keep(&motion);
        let Motion { x, v, spin } = motion;
        let r = rotation(part, &spin);
        let omega = part.rotor.as_ref().map_or_else(Vector3::zeros, |rotor| omega(rotor, &spin));
        write(&x, &r, &v, &omega, to);
        finite(x.sum() + v.sum() + r.sum() + omega.sum(), to)
    }

    fn kick_and_drift<D: Drift>(
        &mut self,
        part: &Part<F>,
        kick: Kick<'_>,
        h: f64,
        start: Start,
        rows: &mut [Row],
    ) -> Result<(), Failure> {
        let mut motion = self.read(part, rows, start.is_first, start.is_polished);
        let (force, torque) = self.force(part, kick.force);
        part.kick(&mut motion, &force, torque.as_ref(), kick.time);
        self.drift::<D>(part, h, &mut motion)?;
        self.keep(&motion);
        write(&motion.x, &rotation(part, &motion.spin), &motion.v, &Vector3::zeros(), rows);
        Ok(())
    }

    fn kick_and_deliver(&mut self, part: &Part<F>, kick: Kick<'_>, rows: &mut [Row]) -> Result<(), Failure> {
        self.kick_rows(part, kick, rows);
        let is_finite = rows.as_flattened().iter().fold(true, |good, x| good & x.is_finite());
        if is_finite { Ok(()) } else { Err(Failure::NonFinite) }
    }

    fn kick(&mut self, part: &Part<F>, kick: Kick<'_>, z: &mut [Row]) {
        let first = self.first;
        self.kick_rows(part, kick, &mut z[first..first + F::LANES]);
    }

    /// Kicks, and writes velocities of both kinds.
    #[inline]
    fn kick_rows(&mut self, part: &Part<F>, kick: Kick<'_>, rows: &mut [Row]) {
        let (force, torque) = self.force(part, kick.force);
        let [x, y, z, w] = F::columns(|k| four::<VEL>(&rows[k]));
        let spin = Spin { q: Matrix3::zeros(), pi: self.pi };
        let mut motion = Motion { x: Vector3::zeros(), v: Vector3::new(x, y, z), spin };
        part.kick(&mut motion, &force, torque.as_ref(), kick.time);
        self.pi = motion.spin.pi;
        let v = motion.v;
        F::rows([v.x, v.y, v.z, w], |k, numbers| *four_mut::<VEL>(&mut rows[k]) = numbers);
        if let Some(rotor) = &part.rotor {
            let omega = rotor.omega(&motion.spin);
            F::rows([v.z, omega.x, omega.y, omega.z], |k, numbers| *four_mut::<{ OMEGA - 1 }>(&mut rows[k]) = numbers);
        }
    }

    /// Positions and velocities, attitudes and momenta; at the start of a step the latter are those of the state.
    #[inline(always)]
    fn read(&self, part: &Part<F>, rows: &[Row], is_start: bool, is_polished: bool) -> Motion<F> {
        let [x, y, z, r00] = F::columns(|k| four::<POS>(&rows[k]));
        let [r01, r02, r10, r11] = F::columns(|k| four::<{ ROT + 1 }>(&rows[k]));
        let [r12, r20, r21, r22] = F::columns(|k| four::<{ ROT + 5 }>(&rows[k]));
        let [u, v, w, omega_x] = F::columns(|k| four::<VEL>(&rows[k]));
        let [_, _, omega_y, omega_z] = F::columns(|k| four::<{ OMEGA - 1 }>(&rows[k]));
        let r = Matrix3::new(r00, r01, r02, r10, r11, r12, r20, r21, r22);
        let mut spin = Spin { q: r, pi: self.pi };
        if let (true, Some(q)) = (F::MAY_BE_OBLIQUE, &self.q) {
            spin.q = **q;
        }
        if let Some(rotor) = &part.rotor {
            let now = Vector3::new(omega_x, omega_y, omega_z);
            let same = |a: &[F], b: &[F]| a.iter().zip(b).fold(true, |same, (a, b)| same & a.all_equal(*b));
            let is_kept = same(omega(rotor, &spin).as_slice(), now.as_slice())
                && (!F::MAY_BE_OBLIQUE || same(rotor.rotation(&spin).as_slice(), r.as_slice()));
            if is_start && !is_kept {
                spin = changed(rotor, spin, r, now);
            }
            if is_polished {
                spin.q = polished(spin.q);
            }
        }
        Motion { x: Vector3::new(x, y, z), v: Vector3::new(u, v, w), spin }
    }

    #[inline(always)]
    fn keep(&mut self, motion: &Motion<F>) {
        self.pi = motion.spin.pi;
        if let (true, Some(q)) = (F::MAY_BE_OBLIQUE, &mut self.q) {
            **q = motion.spin.q;
        }
    }

    #[inline(always)]
    fn drift<D: Drift>(&self, part: &Part<F>, h: f64, motion: &mut Motion<F>) -> Result<(), Failure> {
        motion.x += motion.v * F::splat(h);
        let Some(rotor) = &part.rotor else { return Ok(()) };
        let mut spin = motion.spin;
        F::advance::<D>(rotor, h, &mut spin).map_err(|TurnsTooFar| self.turning::<D>(rotor, h, motion.spin))?;
        motion.spin = spin;
        Ok(())
    }

    /// Which body turns too far.
    #[cold]
    fn turning<D: Drift>(&self, rotor: &Rotor<F>, h: f64, spin: Spin<F>) -> Failure {
        let turns_too_far = |k: &usize| D::advance(&rotor.lane(*k), h, &mut spin.lane(*k)).is_err();
        let lane = (0..F::LANES).find(turns_too_far).unwrap_or(0);
        // A momentum that is no number turns nowhere.
        let is_finite = spin.lane(lane).pi.iter().all(|x| x.is_finite());
        if is_finite { Failure::Turning(self.first + lane) } else { Failure::NonFinite }
    }

    fn recall(&mut self, part: &Part<F>, z: &[Row]) {
        let rows = &z[self.first..self.first + F::LANES];
        self.keep(&self.read(part, rows, true, false));
    }

    /// The parts of a vector of `nv` forces that act on the bodies.
    #[inline(always)]
    fn force(&self, part: &Part<F>, force: &[f64]) -> (Vector3<F>, Option<Vector3<F>>) {
        let own = &force[self.dof..];
        if part.rotor.is_none() {
            return (Vector3::from_fn(|i, _| F::from_lanes(|k| own[3 * k + i])), None);
        }
        let own = &own.as_chunks::<6>().0[..F::LANES];
        let [x, y, z, a] = F::columns(|k| {
            let [x, y, z, a, ..] = own[k];
            [x, y, z, a]
        });
        let [_, _, b, c] = F::columns(|k| {
            let [.., z, a, b, c] = own[k];
            [z, a, b, c]
        });
        (Vector3::new(x, y, z), Some(Vector3::new(a, b, c)))
    }

    fn velocities(&self, part: &Part<F>, z: &[Row]) -> (Vector3<F>, Option<Vector3<F>>) {
        let v = Vector3::from_fn(|i, _| F::from_lanes(|k| z[self.first + k][VEL + i]));
        let spin = Spin { q: Matrix3::zeros(), pi: self.pi };
        (v, part.rotor.as_ref().map(|rotor| rotor.omega(&spin)))
    }

    fn accelerations(&self, part: &Part<F>, force: &[f64]) -> (Vector3<F>, Option<Vector3<F>>) {
        let (force, torque) = self.force(part, force);
        let spin = Spin { q: Matrix3::zeros(), pi: self.pi };
        part.accelerate(&spin, &force, torque.as_ref())
    }
}

/// Angular velocity in body axes.
#[inline(always)]
fn omega<F: Advance>(rotor: &Rotor<F>, spin: &Spin<F>) -> Vector3<F> {
    if F::MAY_BE_OBLIQUE { rotor.omega(spin) } else { spin.pi.component_mul(&rotor.inverse) }
}

/// Rotation of the body axes.
#[inline(always)]
fn rotation<F: Advance>(part: &Part<F>, spin: &Spin<F>) -> Matrix3<F> {
    match &part.rotor {
        Some(rotor) if F::MAY_BE_OBLIQUE => rotor.rotation(spin),
        Some(_) | None => spin.q,
    }
}

// What is rare takes its arguments as values, so that they need no place in memory where it is not called.

/// What is kept of bodies that nobody has changed, and what is read of the others.
#[cold]
fn changed<F: Real>(rotor: &Rotor<F>, kept: Spin<F>, r: Matrix3<F>, omega: Vector3<F>) -> Spin<F> {
    let (kept_omega, kept_r) = (rotor.omega(&kept), rotor.rotation(&kept));
    let is_kept = |k: usize| {
        vector_lane(&kept_omega, k) == vector_lane(&omega, k)
            && (rotor.is_aligned() || matrix_lane(&kept_r, k) == matrix_lane(&r, k))
    };
    let read = rotor.spin(&r, &omega);
    Spin::from_lanes(|k| if is_kept(k) { kept.lane(k) } else { read.lane(k) })
}

#[cold]
fn polished<F: Real>(q: Matrix3<F>) -> Matrix3<F> {
    polish(&q)
}

/// All numbers of some bodies.
#[inline(always)]
fn write<F: Real>(x: &Vector3<F>, r: &Matrix3<F>, v: &Vector3<F>, omega: &Vector3<F>, rows: &mut [Row]) {
    let r = |i: usize, j: usize| r[(i, j)];
    F::rows([x.x, x.y, x.z, r(0, 0)], |k, numbers| *four_mut::<POS>(&mut rows[k]) = numbers);
    F::rows([r(0, 1), r(0, 2), r(1, 0), r(1, 1)], |k, numbers| *four_mut::<{ ROT + 1 }>(&mut rows[k]) = numbers);
    F::rows([r(1, 2), r(2, 0), r(2, 1), r(2, 2)], |k, numbers| *four_mut::<{ ROT + 5 }>(&mut rows[k]) = numbers);
    F::rows([v.x, v.y, v.z, omega.x], |k, numbers| *four_mut::<VEL>(&mut rows[k]) = numbers);
    F::rows([v.z, omega.x, omega.y, omega.z], |k, numbers| *four_mut::<{ OMEGA - 1 }>(&mut rows[k]) = numbers);
}

/// Whether all numbers are finite. Their sum is not if one of them is not; that it is not may have other reasons.
#[inline(always)]
fn finite<F: Real>(sum: F, rows: &[Row]) -> Result<(), Failure> {
    if (sum * F::zero()).all_equal(F::zero()) || rows.as_flattened().iter().all(|x| x.is_finite()) {
        return Ok(());
    }
    Err(Failure::NonFinite)
}

#[inline(always)]
fn four<const AT: usize>(row: &Row) -> [f64; 4] {
    *row[AT..].first_chunk().expect("rows end behind it")
}

#[inline(always)]
fn four_mut<const AT: usize>(row: &mut Row) -> &mut [f64; 4] {
    row[AT..].first_chunk_mut().expect("rows end behind it")
}
