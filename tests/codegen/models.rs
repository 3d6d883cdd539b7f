//! Every model of the library through the macro, and some more that use what the library does not.

use mbdsl_macros::mbd;

mbd!(<andrews>);
mbd!(<argon>);
mbd!(<asymmetric_top>);
mbd!(<bricard>);
mbd!(<chain>);
mbd!(<closed_ring>);
mbd!(<double_ball>);
mbd!(<double_pendulum>);
mbd!(<dumbbell>);
mbd!(<dzhanibekov>);
mbd!(<four_bar>);
mbd!(<four_bar_free>);
mbd!(<free_body>);
mbd!(<heavy_top>);
mbd!(#![module = pendulum_3d] <pendulum_3d>);
// Eight molecules: derivatives of all pairs of more take the implicit steppers too long.
mbd!(#![set(n = 2)] <rigid_water>);
mbd!(<simple_pendulum>);
mbd!(<single_pendulum>);
mbd!(<spring_network>);
mbd!(<torus_impact>);

// Functions cut into many parts.
mbd!(#![module = cut, statements = 25] <bricard>);

// Of other sizes than the text says.
mbd!(#![module = small_argon, set(n = 3)] <argon>);
mbd!(#![module = small_torus, set(around = 4, across = 3)] <torus_impact>);
mbd!(#![module = short_chain, set(N = 5)] <chain>);

// Relative to this file.
mbd!("pairs.mbd");
mbd!("particles.mbd");
mbd!("servo.mbd");
mbd!(#![module = small_servo, set(N = 2)] "servo.mbd");
mbd!("swing.mbd");
mbd!("watched.mbd");

mbd! {
    /// Two arms, the first of which is turned to where an input says.
    model Told {
        input target = 0.3;
        gravity = [0, 0, -9.81] [m/s^2];
        body upper { mass = 1 kg; inertia = box([0.4, 0.1, 0.2] m); point a = [-0.2, 0, 0] m; point b = [0.2, 0, 0] m; }
        body lower { mass = 1 kg; inertia = box([0.4, 0.1, 0.2] m); point a = [-0.2, 0, 0] m; pos = [0.4, 0, 0] m; }
        joint hinge: revolute(ground.origin, upper.a, axis = [0, 1, 0]);
        joint elbow: revolute(upper.b, lower.a, axis = [0, 1, 0]);
        constraint drive: hinge.angle == target;
        output angle = hinge.angle;
    }
}

mbd! {
    /// A block on a spring, written in place.
    model Inline {
        param k = 20 [N/m];
        param m = 2 kg;
        /// Follows from the stiffness.
        param c = 0.05 * k * 1 s;
        body block { mass = m; inertia = box([0.1, 0.2, 0.3] m); pos = [0.3, 0, 0] m; }
        joint slide: prismatic(ground.origin, block.origin, axis = [1, 0, 0]);
        potential spring: 0.5 * k * norm2(block.pos);
        dissipation damper: 0.5 * c * norm2(block.vel);
        output moved = block.pos.x - start(block.pos.x);
        output stored = energy;
        check stiff: k > 0 [N/m];
        simulate { stepper = dae2l_lse; step = 1 ms; until = 1 s; }
    }
}
