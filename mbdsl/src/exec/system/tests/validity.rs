//! Values that cannot be: what binding says of them.

use super::models::{self, vec3};
use super::program;
use crate::exec::bind::bind;
use crate::model::Model;

/// The first complaint about a model.
fn complaint(model: &Model, set: &[(usize, Vec<f64>)]) -> String {
    let program = program(model);
    let errors = bind(&program, set).expect_err("values that cannot be");
    let diagnostic = errors[0].diagnostic(model);
    assert!((150..170).contains(&diagnostic.code.0));
    diagnostic.message
}

fn with_inertia(moments: [f64; 3]) -> Model {
    let mut m = models::single_pendulum();
    let moments = vec3(&mut m.pool, moments);
    m.bodies[0].inertia = m.pool.diag(moments);
    m
}

#[test]
fn masses() {
    let m = models::single_pendulum();
    assert_eq!(complaint(&m, &[(0, vec![0.0])]), "body `top` has no mass");
    assert_eq!(complaint(&m, &[(0, vec![-2.0])]), "the mass of body `top` is impossible: -2 kg");
    assert_eq!(complaint(&m, &[(0, vec![f64::NAN])]), "parameter `m` is not a finite number");
    assert_eq!(complaint(&m, &[(0, vec![1.0, 2.0])]), "parameter `m` has 1 value, not 2");
}

#[test]
fn inertias() {
    assert_eq!(
        complaint(&with_inertia([100.11, 1.01, 1.11]), &[]),
        "inertia of body `top` is impossible: principal moments 1.01, 1.11, 100.11 kg m^2 violate a + b >= c \
         (1.01 + 1.11 < 100.11)"
    );
    let rod = with_inertia([1.0, 0.0, 1.0]);
    assert_eq!(complaint(&rod, &[]), "body `top` has a principal moment of inertia that is zero");
    let negative = complaint(&with_inertia([1.0, -1.0, 1.0]), &[]);
    assert!(negative.contains("principal moments -1, 1, 1 kg m^2 must be positive"), "{negative}");
    // A flat plate: a + b = c exactly.
    assert!(bind(&program(&with_inertia([1.0, 2.0, 3.0])), &[]).is_ok());

    let mut m = models::single_pendulum();
    let rows = [[1.0, 0.1, 0.0], [0.2, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|r| vec3(&mut m.pool, r));
    m.bodies[0].inertia = m.pool.rows(rows[0], rows[1], rows[2]);
    assert_eq!(complaint(&m, &[]), "inertia of body `top` is not symmetric");
}

#[test]
fn the_guess_belongs_to_the_centre_of_mass() {
    let mut m = models::single_pendulum();
    m.bodies[0].com = vec3(&mut m.pool, [0.5, 0.0, 0.0]);
    let axis = m.pool.unit(2);
    let quarter = m.pool.num(std::f64::consts::FRAC_PI_2);
    m.bodies[0].placement.rot = Some(m.pool.about(axis, quarter));
    let binding = bind(&program(&m), &[]).expect("good values");
    let (x, v) = (binding.guess.x(0), binding.guess.v(0));
    // R com = (0, 0.5, 0); Omega x com = (0, 150, -4.6154) x (0.5, 0, 0) = (0, -2.3077, -75), turned by 90 degrees.
    assert!((x - mbdsl_runtime::nalgebra::Vector3::new(0.0, 1.5, 0.0)).amax() < 1e-15);
    assert!((v - mbdsl_runtime::nalgebra::Vector3::new(4.6154 + 2.3077, 0.0, -75.0)).amax() < 1e-13);
    assert!(binding.placed[0].rot && binding.placed[0].pos);

    let mut m = models::single_pendulum();
    let rows = [[1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|r| vec3(&mut m.pool, r));
    m.bodies[0].placement.rot = Some(m.pool.rows(rows[0], rows[1], rows[2]));
    assert_eq!(complaint(&m, &[]), "`rot` of body `top` is not a rotation");
}
