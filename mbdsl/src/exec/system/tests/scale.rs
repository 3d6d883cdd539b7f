//! The size of a model must not show in its program.

use crate::formulate::formulate;
use crate::lower::program::{ProgramError, lower};

use super::{models, program};

#[test]
fn programs_do_not_grow_with_the_number_of_instances() {
    let (small, large) = (program(&models::chain(10)), program(&models::chain(10_000)));
    assert_eq!(small.text(), large.text());
    assert_eq!(large.body_count(), 20_000);
    assert_eq!(large.body_name(10_003), "bead[3]");
}

#[test]
fn tables_that_would_not_fit_are_refused() {
    let n = 10_000;
    let mut model = models::chain(n);
    models::add_reach(&mut model, n);
    let equations = formulate(&model).expect("the model is good");
    let error = lower(&model, &equations).expect_err("5e7 terms");
    assert!(matches!(error, ProgramError::Terms { .. }));
}

#[test]
fn timings() {
    use crate::exec::{bind::bind, system::InterpretedSystem};
    use mbdsl_runtime::system::*;
    use std::time::Instant;
    for n in [10, 10_000] {
        let t = Instant::now();
        let model = models::chain(n);
        println!("N {n}: model {:?}", t.elapsed());
        let t = Instant::now();
        let equations = formulate(&model).expect("");
        println!("formulate {:?}, {} expressions", t.elapsed(), equations.pool.len());
        let t = Instant::now();
        let program = lower(&model, &equations).expect("");
        println!("lower {:?}", t.elapsed());
        let t = Instant::now();
        let binding = bind(&program, &[]).expect("");
        println!("bind {:?}", t.elapsed());
        let t = Instant::now();
        let mut system = InterpretedSystem::new(&program, &binding).expect("");
        println!("system {:?}", t.elapsed());
        let nc = system.topology().nc();
        let (lam, mut jac, mut d) = (vec![1.0; nc], Jacobian::default(), ConstraintDerivatives::default());
        for _ in 0..3 {
            let t = Instant::now();
            system.jacobian(&binding.guess, &mut jac);
            let t1 = t.elapsed();
            let t = Instant::now();
            system.constraint_newton(&binding.guess, &lam, None, &mut jac, &mut d);
            println!("jacobian {t1:?}, newton {:?}", t.elapsed());
        }
        println!("text {} bytes", program.text().len());
        let c = &program.constraints[1];
        for k in [&c.value, &c.jacobian, &c.newton, &c.contract, &c.convective] {
            println!("{} {}", k.get().name, crate::ir::count(k.get()));
        }
    }
    let program = program(&models::single_pendulum());
    println!("{}", program.text());
    let binding = bind(&program, &[]).expect("good values");
    let mut system = InterpretedSystem::new(&program, &binding).expect("small kernels");
    use mbdsl_runtime::steppers::{euler::Euler, method::Method};
    for method in Method::ALL {
        let mut stepper = Euler::new(system.topology(), method);
        let mut state = binding.guess.clone();
        let t = Instant::now();
        let mut it = 0;
        for n in 1..=100_000_u64 {
            it += stepper.step(&mut system, &mut state, 1e-5, n as f64 * 1e-5).expect("a step").iterations;
        }
        println!("{method}: {} ns a step, {} iterations a step", t.elapsed().as_nanos() / 100_000, it as f64 / 1e5);
    }
}
