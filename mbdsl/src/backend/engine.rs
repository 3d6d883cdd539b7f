//! Which back end runs a kernel: the interpreter at first, native code once a kernel has been run so often that compiling it pays.
//!
//! Both give the same bits, so that nothing but time depends on when that happens.

use std::rc::Rc;

use super::inputs::Inputs;
use super::interp::{self, TooManyRegisters};
use super::jit::{Code, Function};
use crate::ir::VerifiedKernel;

/// What runs kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// Native code, where the processor has a code generator.
    #[default]
    Jit,
    /// The interpreter.
    Interp,
}

/// Runs after which a kernel is compiled. Interpreting an instruction takes about 1.5 ns longer than executing it, compiling it
/// about 5 us: whatever the run does next, it takes at most twice the time of the better choice.
const RUNS: u32 = 3000;

/// Makes the machines of one run.
#[derive(Clone, Debug)]
pub struct Engine {
    code: Option<Rc<Code>>,
    runs: u32,
}

impl Backend {
    /// As it is written on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Jit => "jit",
            Self::Interp => "interp",
        }
    }
}

impl Engine {
    /// An engine with a back end; without a code generator for this processor, the interpreter.
    #[must_use]
    pub fn new(backend: Backend) -> Self {
        let code = match backend {
            Backend::Jit => Code::new().ok().map(Rc::new),
            Backend::Interp => None,
        };
        Self { code, runs: RUNS }
    }

    /// An engine that compiles a kernel when it runs for the second time: for runs whose times are compared, after one that is not timed.
    #[must_use]
    pub fn impatient(backend: Backend) -> Self {
        Self { runs: 1, ..Self::new(backend) }
    }

    /// An engine that compiles kernels before they first run, to test the compiler with.
    ///
    /// # Errors
    /// If there is no code generator for this processor.
    pub fn eager() -> Result<Self, super::jit::NoCode> {
        Ok(Self { code: Some(Rc::new(Code::new()?)), runs: 0 })
    }

    /// A machine for a kernel.
    ///
    /// # Errors
    /// If the kernel needs more registers than the interpreter has.
    pub fn machine<'p>(&self, kernel: &'p VerifiedKernel) -> Result<Machine<'p>, TooManyRegisters> {
        let stage =
            if interp::surely_fits(kernel) { Stage::New } else { Stage::Interpreted(interp::Machine::new(kernel)?) };
        Ok(Machine { kernel, stage, runs: self.runs, code: self.code.clone() })
    }
}

/// A kernel, ready to run.
#[derive(Debug)]
pub struct Machine<'p> {
    kernel: &'p VerifiedKernel,
    stage: Stage,
    /// Runs before the kernel is compiled.
    runs: u32,
    /// Where it will be compiled to; nothing once it has been, and for kernels that stay interpreted.
    code: Option<Rc<Code>>,
}

/// What a kernel has become. Most kernels of a model are never run, and cost nothing.
#[derive(Debug)]
enum Stage {
    New,
    Interpreted(interp::Machine),
    Compiled(Function),
}

impl Machine<'_> {
    /// Runs the kernel. `out` is written where the kernel has outputs; structural zeros stay as they are.
    ///
    /// # Panics
    /// If a slice is too short for what the kernel loads or writes.
    #[inline]
    pub fn run(&mut self, inputs: &Inputs<'_>, out: &mut [f64]) {
        match &mut self.stage {
            Stage::Compiled(function) => function.run(inputs, out),
            Stage::Interpreted(machine) if self.runs > 0 => {
                self.runs -= 1;
                machine.run(inputs, out);
            }
            Stage::New | Stage::Interpreted(_) => {
                self.advance();
                self.run(inputs, out);
            }
        }
    }

    /// The next stage.
    #[cold]
    fn advance(&mut self) {
        if self.runs == 0
            && let Some(code) = self.code.take()
            && let Ok(function) = Function::new(self.kernel, &code)
        {
            self.stage = Stage::Compiled(function);
            return;
        }
        if self.code.is_none() {
            self.runs = u32::MAX;
        }
        if matches!(self.stage, Stage::New) {
            let machine = interp::Machine::new(self.kernel).expect("kernels that may be too large are not new");
            self.stage = Stage::Interpreted(machine);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Interface, Kernel, Op, Reg, verify};

    /// How often a kernel is interpreted before it is compiled, where there is a code generator.
    fn runs_before_code(engine: &Engine) -> Option<usize> {
        let one = Kernel { name: "one".to_owned(), ops: vec![Op::Const(0)], outputs: vec![(0, Reg(0))], size: 1 };
        let kernel = verify(one, &Interface::default()).expect("a sound kernel");
        let mut machine = engine.machine(&kernel).expect("a small kernel");
        (0..5000).find(|_| {
            machine.run(&Inputs::NONE, &mut [0.0]);
            matches!(machine.stage, Stage::Compiled(_))
        })
    }

    #[test]
    fn kernels_are_compiled_when_it_pays_or_sooner_where_times_are_compared() {
        let Ok(eager) = Engine::eager() else { return };
        assert_eq!(runs_before_code(&eager), Some(0));
        assert_eq!(runs_before_code(&Engine::impatient(Backend::Jit)), Some(1));
        assert_eq!(runs_before_code(&Engine::new(Backend::Jit)), Some(RUNS as usize));
        assert_eq!(runs_before_code(&Engine::impatient(Backend::Interp)), None);
    }
}
