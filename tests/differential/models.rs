//! Random models as text: bodies, joints, constraints, potentials, dissipation, loads and definitions.

use std::fmt::Write as _;

use crate::expressions::{Body, Context, Writer};
use crate::tape::Tape;

/// Definitions beside the model.
const DEFINITIONS: &str = "\
/// A sum of two parts.
define fn mix(x, y = 0.3) = x * (1 - y) + y * sin(x);
define fn exp_it(x) = exp(x) - 1;
define fn between(p, q) = q.pos - p.pos;

define body Plate(a, b = 0.3 m) {
    solid base: box([a, b, 0.1 m], density = 800 [kg/m^3], at = [0.1 m, a / 2, 0], rot = about([1, 2, 0.5], 30 deg));
    solid head: cylinder(radius = b, length = a, mass = 1.4 kg, along = [0, 1, 1]);
    point P = [a, b, -b];
}

/// Two rows of its own and those of another joint.
define joint Slant(p, q, axis = [0.2, 0.1, 1], amount = 0.3) {
    use spherical(p, q);
    let d = between(p, q);
    constraint lean: dot(p.dir(axis), q.dir([1, 0, 0])) == amount;
    constraint arm: dot(d, q.dir(perp1(axis))) == 0.2 m * sin(amount);
    let lean_angle = turn(p, q, axis, [1, 0.3, 0]);
}
";

/// Parameters, and definitions that use them.
const PARAMS: &str = "
    param s  = 0.7;
    param l  = 0.9 m;
    param w  = 1.1 [rad/s];
    param m  = 1.3 kg;
    param k  = 2.3 [N/m];
    param kt = 1.7 [N*m];
    param c  = 0.6 [N*s/m];
    param pw = 0.8 W;
    param f0 = 1.9 N;
    param u  = [0.4, -0.7, 0.5];
    param A  = [[0.9, 0.2, -0.3], [0.1, -0.8, 0.4], [0.5, 0.6, 0.7]];
    param J  = diag([1.1, 0.9, 1.3] [kg*m^2]);
    param R0 = about([0.3, -0.5, 0.8], 40 deg);
    input signal = 0.8 - s;
    input pull   = [-0.6, 0.3, 0.9];
    let half = 0.5 * s;

    define joint Geared(p, q, axis, ratio = 2) {
        use revolute(p, q, axis = axis);
        let turned = turn(p, q, axis, axis);
        constraint gear: turned - ratio * dot(between(p, q), p.dir(axis)) / l == 0.1;
    }

    define force Bushing(p, q, k, c) {
        let d = between(p, q);
        let omega = q.omega_world - p.omega_world;
        potential stretch: 0.5 * k * norm2(d) + 0.1 * kt * norm2(log_so3(transpose(p.rot) * q.rot));
        dissipation drag: 0.5 * c * norm2(q.vel - p.vel) + 0.1 * pw * norm2(omega) / w^2;
        force follower on q, p: 0.3 * f0 * p.dir([0.2, 0.5, 1]);
    }
";

/// Which models are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// Any.
    Any,
    /// Without ground and gravity: the same wherever it is and however it is turned.
    Free,
}

/// A random model.
pub fn model(tape: &mut Tape<'_>, sort: Sort) -> String {
    let mut out = format!("{DEFINITIONS}\nmodel Random {{{PARAMS}");
    let is_free = sort == Sort::Free;
    if !is_free {
        if tape.chance(60) {
            writeln!(out, "    gravity = {} * 9.81 [m/s^2];", tape.literals()).expect("a string");
        }
        writeln!(out, "    ground {{ point G = {} m; }}", tape.literals()).expect("a string");
    }
    let bodies = bodies(tape, &mut out);
    let count = 2 + tape.below(5);
    for k in 0..count {
        element(tape, &mut out, &bodies, is_free, k);
    }
    for body in &bodies {
        observe(&mut out, body);
    }
    out.push_str("}\n");
    out
}

fn bodies(tape: &mut Tape<'_>, out: &mut String) -> Vec<Body> {
    let mut bodies = Vec::new();
    for k in 0..1 + tape.below(4) {
        let name = format!("b{k}");
        let array = tape.chance(25).then(|| (format!("N{k}"), 2 + tape.below(2)));
        let mut set = String::new();
        if let Some((constant, size)) = &array {
            writeln!(out, "    const {constant} = {size};").expect("a string");
            set = format!("[i in 0..{constant}]");
        }
        // The first body can turn, so that there is one that can.
        let is_particle = k > 0 && tape.chance(30);
        let mut body = Body { name: name.clone(), is_particle, array, points: Vec::new() };
        if is_particle {
            let vel = if tape.chance(30) { "fixed(" } else { "guess(" };
            let (pos, vel_value) = (tape.literals(), tape.literals());
            writeln!(out, "    particle {name}{set} {{ mass = m; pos = {pos} m; vel = {vel}{vel_value} [m/s]); }}")
                .expect("a string");
        } else {
            rigid(tape, out, &mut body, &set);
        }
        bodies.push(body);
    }
    bodies
}

fn rigid(tape: &mut Tape<'_>, out: &mut String, body: &mut Body, set: &str) {
    let name = &body.name;
    let sort = tape.below(5);
    let head = if sort == 4 { format!("{name}{set}: Plate({} m)", tape.positive()) } else { format!("{name}{set}") };
    writeln!(out, "    body {head} {{").expect("a string");
    match sort {
        0 => out.push_str("        mass = m; inertia = J;\n"),
        1 => {
            let com = tape.literals();
            writeln!(out, "        mass = 1.2 * m; inertia = J; com = {com} m;").expect("a string");
        }
        2 => out.push_str("        mass = m; inertia = box([0.9, 0.7, 0.5] m); com = u * l;\n"),
        3 => {
            let (at, along) = (tape.literals(), tape.literals());
            writeln!(out, "        solid ball: sphere(radius = 0.4 m, mass = m, at = {at} m);").expect("a string");
            let turn = tape.literal();
            let shape = tape.pick(&[
                "cone(radius = 0.5 m, height = l",
                "tube(outer = 0.5 m, inner = 0.2 m, length = l",
                "cylinder(radius = 0.5 m, length = l",
            ]);
            writeln!(
                out,
                "        solid rest: {shape}, density = 2 [kg/m^3], axis = {along}, rot = about(u, {turn}));"
            )
            .expect("a string");
        }
        _ => body.points.push("P".to_owned()),
    }
    for point in ["Q", "S"] {
        if tape.chance(50) {
            let place =
                if tape.chance(50) { format!("{} * l", tape.literals()) } else { format!("{} m", tape.literals()) };
            writeln!(out, "        point {point} = {place};").expect("a string");
            body.points.push(point.to_owned());
        }
    }
    writeln!(out, "        pos = {} m;", tape.literals()).expect("a string");
    for (key, value) in
        [("rot", format!("about(u, {})", tape.literal())), ("omega", format!("{} [rad/s]", tape.literals()))]
    {
        match tape.below(3) {
            0 => {}
            1 => writeln!(out, "        {key} = {value};").expect("a string"),
            _ => writeln!(out, "        {key} = fixed({value});").expect("a string"),
        }
    }
    out.push_str("    }\n");
}

/// Outputs that say where the bodies and their points are.
fn observe(out: &mut String, body: &Body) {
    let (name, set, one) = match &body.array {
        Some((constant, _)) => (&body.name, format!("[i in 0..{constant}]"), format!("{}[i]", body.name)),
        None => (&body.name, String::new(), body.name.clone()),
    };
    for (member, value) in [("pos", "pos"), ("vel", "vel"), ("com", "com.pos"), ("com_vel", "com.vel")] {
        writeln!(out, "    output {name}_{member}{set} = {one}.{value};").expect("a string");
    }
}

/// A statement that acts on bodies.
fn element(tape: &mut Tape<'_>, out: &mut String, bodies: &[Body], is_free: bool, k: usize) {
    let arrays: Vec<(String, usize)> = bodies.iter().filter_map(|b| b.array.clone()).collect();
    let mut set = String::new();
    let mut context = Context { is_free, ..Context::default() };
    if !arrays.is_empty() && tape.chance(60) {
        let (constant, _) = arrays[tape.below(arrays.len())].clone();
        let lo = tape.below(2);
        set = format!("[i in {lo}..{constant}]");
        context.index = Some(("i".to_owned(), lo, constant));
    }
    let kind = tape.below(16);
    context.time = tape.chance(50);
    context.turn = tape.chance(30);
    let depth = 1 + tape.below(3);
    let mut e = Writer { tape, bodies, context };
    let line = constraint(&mut e, kind, depth, k, &set).unwrap_or_else(|| force(&mut e, kind, depth, k, &set));
    writeln!(out, "    {line}").expect("a string");
}

/// Kinds 0 to 7, where there are two bodies to constrain against each other.
fn constraint(e: &mut Writer<'_, '_>, kind: usize, depth: usize, k: usize, set: &str) -> Option<String> {
    if kind > 7 {
        return None;
    }
    let line = match kind {
        0 => format!("joint e{k}{set}: {};", library_joint(e)?),
        1 => {
            let (p, q) = e.two_points(true)?;
            let axis = e.tape.literals();
            let kind = e.tape.pick(&["Slant", "Geared"]);
            format!("joint e{k}{set}: {kind}({p}, {q}, axis = {axis});")
        }
        2 | 3 => {
            let (p, q) = e.two_points(true)?;
            let (axis, axis_b) = (e.tape.literals(), e.tape.literals());
            let kind = e.tape.pick(&["revolute", "cylindrical"]);
            let values = e.tape.pick(&[";", " { angle = fixed(0.3); rate = 0.2 [rad/s]; }", " { rate = fixed(w); }"]);
            let of = if set.is_empty() { "" } else { "[i]" };
            let drive = e.scalar(1);
            format!(
                "joint e{k}{set}: {kind}({p}, {q}, axis = {axis}, axis_b = {axis_b}, zero = 20 deg){values}\n    \
                 constraint drive{k}{set}: e{k}{of}.angle == {drive};"
            )
        }
        4 | 5 => {
            let (p, q) = e.two_points(false)?;
            let (a, b) = (e.scalar(depth), e.scalar(1));
            format!("constraint e{k}{set}: {a} + 0.13 * norm2({p}.pos - {q}.pos) / l^2 == {b};")
        }
        6 => {
            let (p, q) = e.two_points(false)?;
            format!("constraint e{k}{set}: dist({p}.pos, {q}.pos) == l * ({});", e.scalar(depth))
        }
        _ => {
            let (p, q) = e.two_points(false)?;
            let (a, b) = (e.vector(true, depth), e.vector(true, 1));
            format!("constraint e{k}{set}: {a} == {b} + 0.13 / l * ({p}.pos - {q}.pos);")
        }
    };
    Some(line)
}

/// Potentials, dissipation and loads.
fn force(e: &mut Writer<'_, '_>, kind: usize, depth: usize, k: usize, set: &str) -> String {
    e.context.start = true;
    e.context.velocity = (9..=11).contains(&kind);
    match kind {
        9 => format!("dissipation e{k}{set}: pw * ({});", e.scalar(depth)),
        10 => {
            let value = e.vector(true, depth);
            let (p, q) = (e.point(), e.point());
            let reaction = if e.tape.chance(50) { format!(", {q}") } else { String::new() };
            format!("force e{k}{set} on {p}{reaction}: f0 * ({value});")
        }
        11 => {
            let value = e.vector(true, depth);
            let (p, q) = (e.body(true).0, e.rigid_point());
            let reaction = if e.tape.chance(50) { format!(", {q}") } else { String::new() };
            format!("torque e{k}{set} on {p}{reaction}: kt * ({value});")
        }
        12 => {
            let (p, q) = (e.point(), e.point());
            let rest = e.tape.pick(&["", ", rest = 0.3 * l", ", rest = half * l"]);
            format!("force e{k}{set}: spring({p}, {q}, k = k{rest});")
        }
        14 => {
            let (p, q) = (e.point(), e.point());
            format!("force e{k}{set}: damper({p}, {q}, c = c);")
        }
        15 => {
            let (p, q) = (e.rigid_point(), e.rigid_point());
            format!("force e{k}{set}: Bushing({p}, {q}, k, c = half * c);")
        }
        _ => format!("potential e{k}{set}: kt * ({});", e.scalar(depth)),
    }
}

fn library_joint(e: &mut Writer<'_, '_>) -> Option<String> {
    // A particle has the axes of the ground; against the ground some rows would be constant.
    let kind = e.tape.below(8);
    let (p, q) = e.two_points(kind != 0 && kind != 2)?;
    let (axis, axis_b) = (e.tape.literals(), e.tape.literals());
    Some(match kind {
        0 => format!("spherical({p}, {q})"),
        1 => format!("revolute({p}, {q}, axis = u)"),
        2 => format!("distance({p}, {q}, length = half * l)"),
        3 => format!("weld({p}, {q}, rot = R0)"),
        4 => format!("prismatic({p}, {q}, axis = {axis})"),
        5 => format!("cylindrical({p}, {q}, axis = {axis}, axis_b = {axis_b})"),
        6 => format!("universal({p}, {q}, axis = u, axis_b = {axis_b})"),
        _ => format!("revolute({p}, {q}, {axis}, zero = 10 deg)"),
    })
}
