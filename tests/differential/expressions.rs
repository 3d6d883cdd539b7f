//! Random expressions as text. All are plain numbers, so that their dimensions are right by construction; statements
//! give them a unit by one factor.
//!
//! Vectors are of two sorts: those that turn with the whole model (world) and those that do not (local). Where `is_free`,
//! the sorts are not mixed and positions occur as differences only, so that numbers are invariants of the frame.

use crate::tape::Tape;

/// A body or an array of them.
#[derive(Clone, Debug)]
pub struct Body {
    pub name: String,
    pub is_particle: bool,
    /// Size of an array, by the name of its constant.
    pub array: Option<(String, usize)>,
    /// Declared points.
    pub points: Vec<String>,
}

/// What expressions of a statement may speak of.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// Index variable of the statement, its lowest value and the constant that bounds it.
    pub index: Option<(String, usize, String)>,
    /// Nothing may depend on where the model is or how it is turned.
    pub is_free: bool,
    pub time: bool,
    pub velocity: bool,
    pub start: bool,
    pub turn: bool,
}

/// Makes expressions.
pub struct Writer<'t, 'a> {
    pub tape: &'t mut Tape<'a>,
    pub bodies: &'t [Body],
    pub context: Context,
}

impl Writer<'_, '_> {
    /// A body, with an index where it is one of an array.
    pub fn body(&mut self, rigid: bool) -> (String, Body) {
        let fitting: Vec<&Body> = self.bodies.iter().filter(|b| !(rigid && b.is_particle)).collect();
        let body = fitting[self.tape.below(fitting.len())].clone();
        let Some((constant, size)) = &body.array else { return (body.name.clone(), body) };
        let index = match &self.context.index {
            Some((i, lo, bound)) if bound == constant && self.tape.chance(80) => match self.tape.below(3) {
                0 => i.clone(),
                1 if *lo > 0 => format!("{i} - 1"),
                _ => format!("({i} + 1) % {constant}"),
            },
            Some(_) | None => self.tape.below(*size).to_string(),
        };
        (format!("{}[{index}]", body.name), body)
    }

    /// A point, sometimes of the ground.
    pub fn point(&mut self) -> String {
        self.point_of(false).1
    }

    /// A point of a body that can turn.
    pub fn rigid_point(&mut self) -> String {
        self.point_of(true).1
    }

    /// Points of different bodies, if there are any.
    pub fn two_points(&mut self, rigid: bool) -> Option<(String, String)> {
        for _ in 0..8 {
            let ((a, p), (b, q)) = (self.point_of(rigid), self.point_of(rigid));
            if a != b {
                return Some((p, q));
            }
        }
        None
    }

    /// The ground or a body, and a point of it.
    fn point_of(&mut self, rigid: bool) -> (String, String) {
        if !self.context.is_free && self.tape.chance(15) {
            return ("ground".to_owned(), self.tape.pick(&["ground.G", "ground.origin"]).to_owned());
        }
        let (name, body) = self.body(rigid);
        let point = match self.tape.below(2 + body.points.len()) {
            0 if body.is_particle => name.clone(),
            0 => format!("{name}.origin"),
            1 => format!("{name}.com"),
            k => format!("{name}.{}", body.points[k - 2]),
        };
        (name, point)
    }

    /// A scalar.
    pub fn scalar(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.tape.below(6) {
                0 => self.tape.literal(),
                1 => "s".to_owned(),
                4 => self.tape.pick(&["signal", "pull.y"]).to_owned(),
                2 => format!("u.{}", self.tape.pick(&["x", "y", "z"])),
                3 if self.context.time => "w * time".to_owned(),
                3 => "A[0, 2]".to_owned(),
                _ => {
                    let (p, q) = (self.point(), self.point());
                    format!("norm2({p}.pos - {q}.pos) / l^2")
                }
            };
        }
        let d = depth - 1;
        match self.tape.below(25) {
            0 => self.scalar(0),
            1 => format!("({} + {})", self.scalar(d), self.scalar(d)),
            2 => format!("({} - {})", self.scalar(d), self.scalar(d)),
            3 => format!("{} * {}", self.group(d), self.group(d)),
            4 => format!("{} / (1.5 + {}^2)", self.group(d), self.group(d)),
            5 => format!("{}^{}", self.group(d), self.tape.pick(&["2", "3", "4"])),
            6 => format!("-{}", self.group(d)),
            7 => format!("{}({})", self.tape.pick(&["sin", "cos"]), self.scalar(d)),
            8 => {
                let f = self.tape.pick(&["tan", "asin", "acos", "exp", "exp_it"]);
                format!("{f}(0.4 * sin({}))", self.scalar(d))
            }
            9 => format!("{}(1.2 + {}^2)", self.tape.pick(&["sqrt", "log"]), self.group(d)),
            10 => format!("(1.1 + {}^2)^{}", self.group(d), self.tape.pick(&["1.5", "(-0.5)", "0.75", "s"])),
            11 => format!("atan2({}, {})", self.scalar(d), self.scalar(d)),
            12 => format!("{}({}, {})", self.tape.pick(&["min", "max"]), self.scalar(d), self.scalar(d)),
            13 => {
                let (a, b) = (self.scalar(d), self.scalar(0));
                format!("select({a} > {b}, {}, {})", self.scalar(d), self.scalar(d))
            }
            14 => format!("abs({})", self.scalar(d)),
            15 | 16 => {
                let world = self.tape.chance(50);
                format!("dot({}, {})", self.vector(world, d), self.vector(world, d))
            }
            17 => {
                let (p, q) = (self.point(), self.point());
                format!("dist({p}.pos, {q}.pos) / l")
            }
            18 => format!("{}({})", self.tape.pick(&["norm2", "norm"]), self.any(d)),
            19 => format!("{}{}", self.local_group(d), self.tape.pick(&[".x", ".y", ".z", "[1]"])),
            20 => format!("trace({})", self.matrix(d)),
            21 => {
                let m = self.matrix(d);
                format!("({m})[{}, {}]", self.tape.below(3), self.tape.below(3))
            }
            22 => self.reduction(d),
            23 if self.context.start => format!("start({})", self.scalar(d)),
            23 => format!("mix({}, s)", self.scalar(d)),
            _ if self.context.turn => {
                let (p, q) = (self.rigid_point(), self.rigid_point());
                format!("turn({p}, {q}, [0.2, 0.3, 0.9], [0.4, -0.8, 0.1])")
            }
            _ => format!("mix({}, y = {})", self.scalar(d), self.scalar(0)),
        }
    }

    fn group(&mut self, depth: usize) -> String {
        format!("({})", self.scalar(depth))
    }

    /// A reduction over an array.
    fn reduction(&mut self, depth: usize) -> String {
        let arrays: Vec<(String, usize)> = self.bodies.iter().filter_map(|b| b.array.clone()).collect();
        if arrays.is_empty() || self.context.turn {
            return self.scalar(depth);
        }
        let (constant, _) = arrays[self.tape.below(arrays.len())].clone();
        let name = format!("j{depth}");
        let outer = self.context.index.replace((name.clone(), 0, constant.clone()));
        let term = self.scalar(depth);
        self.context.index = outer;
        format!("{}({name} in 0..{constant}, {term})", self.tape.pick(&["sum", "mean", "max"]))
    }

    /// A vector of either sort.
    pub fn any(&mut self, depth: usize) -> String {
        let world = self.tape.chance(50);
        self.vector(world, depth)
    }

    /// A vector of one of the sorts; of any where the frame may matter.
    pub fn vector(&mut self, world: bool, depth: usize) -> String {
        let world = if self.context.is_free { world } else { self.tape.chance(50) };
        if world { self.world(depth) } else { self.local(depth) }
    }

    fn world(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.tape.below(4) {
                0 => {
                    let (p, q) = (self.point(), self.point());
                    format!("({p}.pos - {q}.pos) / l")
                }
                1 if !self.context.is_free => {
                    let p = self.point();
                    format!("{p}.pos / l")
                }
                2 if self.context.velocity => {
                    let (p, q) = (self.point(), self.point());
                    format!("({p}.vel - {q}.vel) / (l * w)")
                }
                3 if self.context.velocity => format!("{}.omega_world / w", self.body(true).0),
                _ => format!("{}.{}", self.body(true).0, self.tape.pick(&["axis_x", "axis_y", "axis_z"])),
            };
        }
        let d = depth - 1;
        match self.tape.below(8) {
            0 => self.world(0),
            1 => format!("cross({}, {})", self.vector(true, d), self.vector(true, d)),
            2 => format!("({} + {})", self.vector(true, d), self.vector(true, d)),
            3 => format!("{} * {}", self.group(d), self.grouped(true, d)),
            4 => format!("{}.rot * {}", self.body(true).0, self.grouped(false, d)),
            5 => {
                let p = self.rigid_point();
                format!("{p}.dir({})", self.vector(false, d))
            }
            6 => {
                let a = self.scalar(d);
                format!("select({a} > 0.3, {}, {})", self.vector(true, d), self.vector(true, d))
            }
            _ => format!("-{} / 1.7", self.grouped(true, d)),
        }
    }

    fn local(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.tape.below(4) {
                0 => self.tape.literals(),
                2 => "pull".to_owned(),
                1 if self.context.velocity => format!("{}.omega / w", self.body(true).0),
                _ => "u".to_owned(),
            };
        }
        let d = depth - 1;
        match self.tape.below(10) {
            0 => self.local(0),
            1 => format!("cross({}, {})", self.vector(false, d), self.vector(false, d)),
            2 => format!("({} - {})", self.vector(false, d), self.vector(false, d)),
            3 => format!("{} * {}", self.group(d), self.grouped(false, d)),
            4 => format!("transpose({}.rot) * {}", self.body(true).0, self.grouped(true, d)),
            5 => format!("log_so3({})", self.rotation(d)),
            6 => format!("[{}, {}, {}]", self.scalar(d), self.scalar(0), self.scalar(0)),
            7 => format!("({}) * {}", self.matrix(d), self.grouped(false, d)),
            8 => format!("perp{}(u)", self.tape.pick(&["1", "2"])),
            _ => format!("{} / (1.3 + {}^2)", self.grouped(false, d), self.group(d)),
        }
    }

    fn grouped(&mut self, world: bool, depth: usize) -> String {
        format!("({})", self.vector(world, depth))
    }

    fn local_group(&mut self, depth: usize) -> String {
        format!("({})", self.vector(false, depth))
    }

    /// A rotation that does not turn with the model, or any where the frame may matter.
    pub fn rotation(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.tape.below(3) {
                0 if !self.context.is_free => format!("{}.rot", self.body(true).0),
                1 => "R0".to_owned(),
                _ => format!("transpose({}.rot) * {}.rot", self.body(true).0, self.body(true).0),
            };
        }
        let d = depth - 1;
        match self.tape.below(6) {
            0 => self.rotation(0),
            1 => format!("({}) * ({})", self.rotation(d), self.rotation(0)),
            2 => format!("transpose({})", self.rotation(d)),
            3 => format!("exp_so3({})", self.vector(false, d)),
            4 => format!("about({}, {})", self.tape.literals(), self.scalar(d)),
            _ => format!("about(u, {})", self.scalar(d)),
        }
    }

    /// A matrix that does not turn with the model, or any where the frame may matter.
    pub fn matrix(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.rotation(0);
        }
        let d = depth - 1;
        match self.tape.below(10) {
            0 => "A".to_owned(),
            1 => self.rotation(d),
            2 => format!("skew({})", self.vector(false, d)),
            3 => format!("diag({})", self.vector(false, d)),
            4 => format!("({}) * ({})", self.matrix(d), self.matrix(d)),
            5 => format!("transpose({})", self.matrix(d)),
            6 => format!("(({}) + ({}))", self.matrix(d), self.matrix(d)),
            7 => format!("{} * ({})", self.group(d), self.matrix(d)),
            8 => format!("[{}, {}, u]", self.vector(false, d), self.vector(false, 0)),
            _ => format!("({}) - ({})", self.rotation(d), self.rotation(0)),
        }
    }
}
