//! What adaptive steps ask of an explicit method: its estimates of errors, its interpolant, and whether stability bounds its steps.

use alloc::vec::Vec;

use super::dense::Interpolant;
use super::pair::{Pair, Tableau};
use super::stages::{Motion, Stages};
use crate::consistent::Failure;
use crate::error::StepError;
use crate::state::State;
use crate::steppers::adaptive::control::{Control, Norm, Rule, Tolerance};
use crate::steppers::adaptive::{Embedded, between};
use crate::system::System;
use crate::topology::Topology;

/// A method with its workspaces for one model.
#[derive(Clone, Debug)]
pub(crate) struct EmbeddedPair {
    stages: Stages,
    interpolant: Interpolant,
    /// Whether it is that of the last step.
    is_fitted: bool,
    /// Over the last step.
    change: Motion,
    scratch: Motion,
}

impl EmbeddedPair {
    /// Symbolic phase for a model.
    pub(crate) fn new(topology: &Topology, pair: Pair) -> Self {
        let stages = Stages::new(topology, pair, 1 + pair.tableau().dense.a.len());
        let motion: Vec<f64> = vec![0.0; 2 * topology.nv()];
        Self {
            interpolant: Interpolant::new(&stages),
            is_fitted: false,
            change: motion.clone(),
            scratch: motion,
            stages,
        }
    }
}

impl Embedded for EmbeddedPair {
    fn control(&self, tolerance: Tolerance) -> Control {
        Control::new(self.stages.pair.order(), tolerance.get(), Rule::Proportional)
    }

    fn start<S: System + ?Sized>(&mut self, sys: &mut S, s: &State) -> Result<(), Failure> {
        self.stages.start(sys, s)?;
        self.stages.consistent.keep_choice();
        self.stages.deliver();
        let (stages, others) = self.stages.slopes.split_at_mut(self.stages.pair.tableau().b.len());
        others[0].copy_from_slice(&stages[0]);
        Ok(())
    }

    fn probe<S: System + ?Sized>(&mut self, sys: &mut S, from: &State, h: f64) -> Result<&[f64], Failure> {
        self.stages.stage(sys, from, h, 1, &[1.0], 1.0)?;
        let slope = &self.stages.slopes[1];
        Ok(&slope[slope.len() / 2..])
    }

    fn go_on(&mut self, from: &State) {
        self.stages.start_at(from, self.stages.pair.tableau().b.len());
    }

    fn step<S: System + ?Sized>(&mut self, sys: &mut S, from: &State, h: f64, t1: f64) -> Result<usize, Failure> {
        self.is_fitted = false;
        self.stages.consistent.return_to_choice();
        self.stages.step(sys, from, h, t1)
    }

    fn errors(&mut self, norm: &Norm, from: &State, _h: f64) -> [f64; 2] {
        let Self { stages, change, scratch, .. } = self;
        let Tableau { b, errors, .. } = stages.pair.tableau();
        between(&stages.topology, from, &stages.trial, change);
        stages.end_slope(b.len(), &change[..stages.topology.nv()]);
        let mut squares = [0.0; 2];
        for (square, weights) in squares.iter_mut().zip(errors) {
            stages.combine(weights.iter().copied(), scratch);
            *square = norm.mean_square(&stages.topology, scratch);
        }
        squares
    }

    /// By the size of `h` times the fastest rate that the step has met: the change of the slope from the last stage to the end, by that of the motion, both at
    /// the time of the end.
    fn is_unstable(&mut self, norm: &Norm, h: f64) -> bool {
        let Self { stages, change, scratch, .. } = self;
        let Tableau { a, b, .. } = stages.pair.tableau();
        stages.combine(a[a.len() - 1].iter().copied(), scratch);
        for (scratch, change) in scratch.iter_mut().zip(change) {
            *scratch = *change - h * *scratch;
        }
        let motion = norm.mean_square(&stages.topology, scratch);
        for ((scratch, end), stage) in scratch.iter_mut().zip(&stages.slopes[b.len()]).zip(&stages.slopes[b.len() - 1])
        {
            *scratch = end - stage;
        }
        let slope = norm.mean_square(&stages.topology, scratch);
        motion > 0.0 && h * libm::sqrt(slope / motion) > stages.pair.stability()
    }

    fn accept(&mut self, _h: f64) {
        self.stages.consistent.keep_choice();
    }

    fn interpolate<S: System + ?Sized>(&mut self, sys: &mut S, from: &State, h: f64, t: f64) -> Result<(), Failure> {
        let Self { stages, interpolant, .. } = self;
        if !self.is_fitted {
            let Tableau { b, dense, .. } = stages.pair.tableau();
            for (k, (row, c)) in dense.a.iter().zip(dense.c).enumerate() {
                stages.stage(sys, from, h, b.len() + 1 + k, row, *c)?;
            }
            interpolant.fit(stages, h, &self.change);
            self.is_fitted = true;
        }
        stages.place_at(from, t, |change| interpolant.change((t - from.t) / h, change))
    }

    fn close<S: System + ?Sized>(&mut self, sys: &mut S) -> Result<usize, Failure> {
        self.stages.evaluate(sys)?;
        self.stages.close(sys)
    }

    fn evaluate_at<S: System + ?Sized>(&mut self, sys: &mut S, s: &State) -> Result<(), Failure> {
        self.stages.evaluate_at(sys, s)
    }

    fn deliver(&mut self) {
        self.stages.deliver();
    }

    fn trial(&mut self) -> &mut State {
        &mut self.stages.trial
    }

    fn acceleration(&self) -> &[f64] {
        &self.stages.acceleration
    }

    fn lambda(&self) -> &[f64] {
        &self.stages.lambda
    }

    fn evaluations(&self) -> u64 {
        self.stages.evaluations
    }

    fn failed<S: System + ?Sized>(&self, sys: &S, failure: &Failure, h: f64, t1: f64) -> StepError {
        self.stages.failed(sys, failure, h, t1)
    }
}
