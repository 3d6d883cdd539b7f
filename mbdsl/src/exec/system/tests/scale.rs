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
