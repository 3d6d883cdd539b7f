//! What can be wrong with the meaning of a model, and all wording of it.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;
use crate::units::Dim;

/// A problem with names, shapes, dimensions or indices.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SemaError {
    /// No model in the file.
    NoModel {
        span: Span,
    },
    /// The model asked for does not exist.
    NoSuchModel {
        span: Span,
        name: String,
        known: Vec<String>,
    },
    /// Several models and none chosen.
    SeveralModels {
        span: Span,
        known: Vec<String>,
    },
    /// A construct of a later version.
    Unsupported {
        span: Span,
        what: &'static str,
        instead: &'static str,
    },
    /// Name declared twice.
    Redefined {
        span: Span,
        name: String,
        first: Span,
    },
    /// Unknown name.
    Unknown {
        span: Span,
        name: String,
        near: Option<String>,
    },
    /// Unknown name that reads like a unit after a number.
    UnitWithoutBrackets {
        span: Span,
        name: String,
        write: String,
    },
    /// Unknown unit.
    UnknownUnit {
        span: Span,
        name: String,
        near: Option<String>,
    },
    /// A name depends on itself.
    Cycle {
        span: Span,
        name: String,
        declared: Span,
    },
    /// Something has no such member.
    NoMember {
        span: Span,
        owner: String,
        what: &'static str,
        name: String,
        known: Vec<String>,
    },
    /// A value of another kind was expected.
    Expected {
        span: Span,
        expected: &'static str,
        found: String,
    },
    /// Two dimensions that must agree do not.
    Dimensions {
        op: &'static str,
        span: Span,
        left: Span,
        left_dim: Dim,
        right: Span,
        right_dim: Dim,
    },
    /// A dimension other than the required one.
    WrongDimension {
        span: Span,
        what: String,
        expected: Dim,
        found: Dim,
    },
    /// Operands whose shapes do not fit.
    Shapes {
        span: Span,
        op: &'static str,
        left: &'static str,
        right: &'static str,
    },
    /// A power that has no dimension.
    BadPower {
        span: Span,
        why: &'static str,
    },
    /// A vector of another length than three.
    VectorLength {
        span: Span,
        len: usize,
    },
    /// Unknown function.
    UnknownFunction {
        span: Span,
        name: String,
        near: Option<String>,
    },
    /// Unknown joint, force or body definition.
    UnknownKind {
        span: Span,
        what: &'static str,
        name: String,
        near: Option<String>,
        known: Vec<String>,
    },
    /// Wrong arguments of a call.
    Arguments {
        span: Span,
        name: String,
        problem: String,
        example: String,
    },
    /// A constant was needed.
    NotConstant {
        span: Span,
        what: &'static str,
    },
    /// An index outside its array.
    OutOfRange {
        span: Span,
        array: String,
        index: String,
        bounds: String,
        instance: Option<String>,
    },
    /// Wrong number of subscripts.
    SubscriptCount {
        span: Span,
        array: String,
        expected: usize,
        found: usize,
    },
    /// An index set with too many instances.
    TooMany {
        span: Span,
        count: f64,
        most: usize,
    },
    /// A constraint that is no equation.
    NoEquation {
        span: Span,
    },
    /// A constraint that does not contain any body.
    ConstantConstraint {
        span: Span,
    },
    /// A setting that does not exist here.
    UnknownSetting {
        span: Span,
        name: String,
        place: &'static str,
        known: &'static [&'static str],
    },
    /// A setting that is missing.
    MissingSetting {
        span: Span,
        body: String,
        name: &'static str,
        example: &'static str,
    },
    /// A setting that contradicts solids.
    SettingWithSolids {
        span: Span,
        name: String,
    },
    /// A statement in the wrong place.
    Misplaced {
        span: Span,
        what: &'static str,
        place: &'static str,
    },
    /// A condition that is not linear in velocities.
    NotInitial {
        span: Span,
        name: String,
    },
    /// `start` in a constraint.
    StartInConstraint {
        span: Span,
    },
    /// A velocity in a position-level quantity.
    VelocityIn {
        span: Span,
        what: &'static str,
    },
    /// Nothing to simulate.
    NoBodies {
        span: Span,
    },
    /// A default that must be known but depends on the state.
    StateIn {
        span: Span,
        what: &'static str,
    },
    /// A quantity that may depend on a part of the state only.
    Inputs {
        span: Span,
        what: &'static str,
        on: &'static str,
    },
    /// A definition that uses itself.
    Recursion {
        span: Span,
        name: String,
    },
    /// An override for a name that is neither const nor param nor input.
    UnknownOverride {
        span: Span,
        name: String,
        near: Option<String>,
    },
    /// Expressions, names and functions within one another without end.
    TooDeep {
        span: Span,
    },
    /// More work than any model needs.
    TooMuch {
        span: Span,
    },
    /// A name that the language gives a meaning.
    BuiltinName {
        span: Span,
        name: String,
    },
    /// A constant that is not a finite number.
    NotFinite {
        span: Span,
        name: String,
    },
    /// A condition of an index set that moves, and does not choose pairs of bodies by a distance.
    Pairs {
        span: Span,
        fault: PairFault,
    },
    /// The energy of a pair depends on more than the pair.
    PairEnergy {
        span: Span,
        condition: Span,
    },
    ToleranceOfFixedSteps {
        span: Span,
    },
}

/// What is wrong with a condition that moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PairFault {
    /// It does not compare a distance.
    NoDistance,
    /// Another one does already.
    TwoDistances { first: Span },
    /// The set does not run over two arrays of bodies.
    NoPair,
    /// The distance is not between a point of one body and a point of the other.
    OtherPoint,
    /// Each pair would have a distance of its own.
    OwnDistance,
    /// The statement is not a potential.
    NoPotential,
}

impl PairFault {
    /// What is wrong, about the place, and what to do.
    const fn words(self) -> [&'static str; 3] {
        match self {
            Self::NoDistance => [
                "a condition of `where` on the motion must be a distance below a limit",
                "depends on the motion",
                "join conditions on indices and one of the form `dist(p.pos, q.pos) < r` by `&&`",
            ],
            Self::TwoDistances { .. } => [
                "`where` can hold one distance only",
                "a second one",
                "let the energy vanish beyond it: `select(dist(a, b) < r, ..., 0)`",
            ],
            Self::NoPair => [
                "a distance in `where` needs a pair of bodies",
                "a distance",
                "let the index set run over two arrays of bodies and nothing else: `[p in balls, q in balls where ...]`",
            ],
            Self::OtherPoint => [
                "a distance in `where` is one between a point of each of the two bodies",
                "not such a point",
                "use points that belong to one of the bodies, such as `p.pos` and `q.tip`",
            ],
            Self::OwnDistance => [
                "the distance in `where` is the same for all pairs",
                "depends on the pair",
                "take the largest one, and let the energy vanish beyond that of the pair: `select(dist(a, b) < r, ..., 0)`",
            ],
            Self::NoPotential => [
                "a distance in `where` can only choose the pairs of a `potential`",
                "depends on the motion",
                "use a `potential`, or let the value vanish beyond a distance: `select(dist(a, b) < r, ..., 0)`",
            ],
        }
    }
}

fn list(names: &[String]) -> String {
    let quoted: Vec<_> = names.iter().map(|n| format!("`{n}`")).collect();
    match quoted.as_slice() {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// The unit in which an engineer gives a quantity.
fn usual_unit(dim: Dim) -> String {
    match dim {
        Dim::FORCE => "N".to_owned(),
        Dim::ENERGY => "N*m".to_owned(),
        Dim::POWER => "W".to_owned(),
        other => other.unit(),
    }
}

fn mean(near: Option<&String>) -> Option<String> {
    near.map(|n| format!("did you mean `{n}`?"))
}

impl SemaError {
    /// The message.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        let error = |code: u16, span: &Span, message: String| Diagnostic::error(Code(code), *span, message);
        let with_help = |d: Diagnostic, help: Option<String>| match help {
            Some(text) => d.help(text),
            None => d,
        };
        match self {
            Self::NoModel { span } => {
                error(50, span, "there is no model in this file".into()).help("start with `model Name { ... }`")
            }
            Self::NoSuchModel { span, name, known } => {
                error(51, span, format!("there is no model `{name}` in this file"))
                    .label("the first model of the file")
                    .note(format!("it has {}", list(known)))
            }
            Self::SeveralModels { span, known } => error(52, span, "this file holds several models".into())
                .note(format!("it has {}", list(known)))
                .help("choose one: `--model NAME` on the command line, `#![model = NAME]` in `mbd!`"),
            Self::Unsupported { span, what, instead } => {
                error(53, span, format!("{what} are not supported yet")).label("not supported yet").help(*instead)
            }
            Self::Redefined { span, name, first } => {
                error(54, span, format!("`{name}` is defined twice")).label("again here").also(*first, "first here")
            }
            Self::Unknown { span, name, near } => {
                with_help(error(55, span, format!("`{name}` is not defined")).label("not found"), mean(near.as_ref()))
            }
            Self::UnitWithoutBrackets { span, name, write } => error(56, span, format!("`{name}` is not defined"))
                .label("not found")
                .help(format!("for the unit write `{write}`")),
            Self::UnknownUnit { span, name, near } => {
                let spelled =
                    crate::units::spelled_out(name).map(|w| format!("write `{w}`: `{name}` stays free for names"));
                with_help(
                    error(57, span, format!("`{name}` is not a unit")).label("unknown unit"),
                    spelled.or_else(|| mean(near.as_ref())),
                )
            }
            Self::Cycle { span, name, declared } => error(58, span, format!("`{name}` depends on itself"))
                .label(format!("needed here to compute `{name}`"))
                .also(*declared, format!("`{name}` is declared here"))
                .help("compute one of the values without the others"),
            Self::NoMember { span, owner, what, name, known } => {
                let has = if known.is_empty() { String::new() } else { format!("; it has {}", list(known)) };
                with_help(
                    error(59, span, format!("{owner} has no {what} `{name}`{has}")).label(format!("no such {what}")),
                    if known.len() > 1 { mean(nearest(name, known.iter().map(String::as_str)).as_ref()) } else { None },
                )
            }
            Self::Expected { span, expected, found } => {
                let help = match (*expected, found.as_str()) {
                    ("a quantity", "a body") => Some("name what is meant of it: `.pos`, `.vel`, `.rot`, a point"),
                    _ => None,
                };
                let d =
                    error(60, span, format!("expected {expected}, found {found}")).label(format!("this is {found}"));
                with_help(d, help.map(str::to_owned))
            }
            Self::Dimensions { op, span: _, left, left_dim, right, right_dim } => {
                error(61, left, format!("cannot {op} {left_dim} and {right_dim}"))
                    .label(left_dim.to_string())
                    .also(*right, right_dim.to_string())
            }
            Self::WrongDimension { span, what, expected, found } => {
                let wanted = if *expected == Dim::ONE {
                    expected.to_string()
                } else {
                    format!("in [{}]", usual_unit(*expected))
                };
                let d =
                    error(62, span, format!("{what} must be {wanted}, but this is {found}")).label(found.to_string());
                if *found == Dim::ONE {
                    return d.help(format!(
                        "write the unit after the number or vector, such as `[{}]`",
                        usual_unit(*expected)
                    ));
                }
                d
            }
            Self::Shapes { span, op, left, right } => {
                error(63, span, format!("cannot {op} {left} and {right}")).label(format!("{left} and {right}"))
            }
            Self::BadPower { span, why } => error(64, span, format!("this power has no unit: {why}"))
                .label("no unit comes out")
                .help("a quantity with a unit takes exponents such as 2, -1, 0.5 or 1 / 3"),
            Self::VectorLength { span, len } => {
                error(65, span, format!("vectors have three entries, this one has {len}"))
                    .label(format!("{len} entries"))
            }
            Self::UnknownFunction { span, name, near } => with_help(
                error(66, span, format!("there is no function `{name}`")).label("not found"),
                mean(near.as_ref()),
            ),
            Self::UnknownKind { span, what, name, near, known } => {
                let d = error(67, span, format!("there is no {what} `{name}`")).label("not found");
                let d =
                    if known.is_empty() || near.is_some() { d } else { d.note(format!("known are {}", list(known))) };
                with_help(d, mean(near.as_ref()))
            }
            Self::Arguments { span, name, problem, example } => {
                error(68, span, format!("`{name}` {problem}")).help(format!("for instance `{example}`"))
            }
            Self::NotConstant { span, what } => error(69, span, format!("{what} must be known before the run"))
                .label("not a constant")
                .help("use numbers, `const`s and indices; a `param` may be given another value for each run"),
            Self::OutOfRange { span, array, index, bounds, instance } => {
                let d = error(70, span, format!("index {index} is outside `{array}[{bounds}]`"))
                    .label(format!("index {index}"));
                match instance {
                    Some(name) => d.note(format!("in the instance {name}")),
                    None => d,
                }
            }
            Self::SubscriptCount { span, array, expected, found } => {
                let noun = if *expected == 1 { "index" } else { "indices" };
                error(71, span, format!("`{array}` takes {expected} {noun}, here are {found}"))
                    .label(format!("{found} given"))
            }
            Self::TooMany { span, count, most } => {
                error(72, span, format!("this index set has {count:e} instances, at most {most} are possible"))
                    .label("too large")
            }
            Self::NoEquation { span } => error(73, span, "a constraint compares: use `==`".into())
                .label("no equation")
                .help("write `left == right`"),
            Self::ConstantConstraint { span } => {
                error(74, span, "this constraint does not contain any body".into()).label("nothing that could move")
            }
            Self::UnknownSetting { span, name, place, known } => {
                let known: Vec<String> = known.iter().map(|k| (*k).to_owned()).collect();
                let near = nearest(name, known.iter().map(String::as_str));
                let d = error(75, span, format!("{place} has no setting `{name}`"))
                    .label("unknown setting")
                    .note(format!("settings are {}", list(&known)));
                with_help(d, mean(near.as_ref()))
            }
            Self::MissingSetting { span, body, name, example } => {
                error(76, span, format!("body `{body}` has no {name}"))
                    .label(format!("`{name}` is missing"))
                    .help(format!("write `{example}`"))
            }
            Self::SettingWithSolids { span, name } => {
                error(77, span, format!("`{name}` is set although there are solids"))
                    .label("the solids say it already")
                    .help(format!("remove `{name}`, or the solids"))
            }
            Self::Misplaced { span, what, place } => {
                let help = match (*what, *place) {
                    ("`fixed` and `guess`", _) => Some("put it around the whole value: `pos = fixed(value);`"),
                    ("a shape", _) => Some("shapes stand alone: `inertia = box(...);` or `solid s: box(...);`"),
                    ("`point`", _) => Some("points stand in the block of a body, or in `ground { ... }`"),
                    ("a solid", _) => Some("solids stand in the block of a `body`"),
                    (_, "a body") => Some("a body holds its settings, `point`, `let` and `solid`"),
                    (_, "`ground`") => Some("the ground holds `point` and `let`"),
                    _ => None,
                };
                with_help(
                    error(78, span, format!("{what} cannot stand in {place}")).label("not here"),
                    help.map(str::to_owned),
                )
            }
            Self::NotInitial { span, name } => error(79, span, format!("`{name}` cannot be an initial value"))
                .label("not linear in velocities, or no function of positions")
                .note("initial values are functions of positions, or linear in velocities"),
            Self::StartInConstraint { span } => error(80, span, "`start` cannot stand in a constraint".into())
                .label("needs the start")
                .note("the start is found by solving the constraints")
                .help("write the value itself, or a `param`"),
            Self::VelocityIn { span, what } => error(81, span, format!("{what} cannot depend on velocities"))
                .label("contains a velocity")
                .help("write damping as a `dissipation`, any other force as a `force`"),
            Self::NoBodies { span } => {
                error(82, span, "this model has no bodies".into()).help("declare one: `body name { mass = 1 kg; ... }`")
            }
            Self::StateIn { span, what } => error(83, span, format!("{what} must not change during the run"))
                .label("depends on the motion, on time or on an input")
                .help("use numbers, parameters and indices only"),
            Self::Inputs { span, what, on } => error(83, span, format!("{what} can depend on {on} only"))
                .label("depends on energies, momenta, reactions or other times"),
            Self::Recursion { span, name } => error(84, span, format!("`{name}` uses itself"))
                .label("used here once more")
                .note("definitions are written out where they are used, so this one would never end"),
            Self::UnknownOverride { span, name, near } => with_help(
                error(85, span, format!("the model has no `const`, `param` or `input` called `{name}`"))
                    .label("this model"),
                mean(near.as_ref()),
            ),
            Self::BuiltinName { span, name } => error(89, span, format!("`{name}` is a name of the language"))
                .label("has a meaning already")
                .help(format!("choose another name, for instance `{name}_1`")),
            Self::TooDeep { span } => error(87, span, "this is nested too deeply".into())
                .label("too many values within one another")
                .help("give intermediate values as parameters, or use an index set"),
            Self::TooMuch { span } => error(88, span, "this model takes too long to evaluate".into())
                .label("given up here")
                .note("functions that call others more than once multiply their work")
                .help("name common values with `let`"),
            Self::Pairs { span, fault } => {
                let [message, label, help] = fault.words();
                let d = error(90, span, message.to_owned()).label(label).help(help);
                match fault {
                    PairFault::TwoDistances { first } => d.also(*first, "the first one"),
                    PairFault::NoDistance
                    | PairFault::NoPair
                    | PairFault::OtherPoint
                    | PairFault::OwnDistance
                    | PairFault::NoPotential => d,
                }
            }
            Self::PairEnergy { span, condition } => {
                error(91, span, "the energy of a pair depends on its two bodies only".into())
                    .label("needs another body, the start, or a count of turns")
                    .also(*condition, "the pairs are found during the run")
                    .help("use the two bodies, parameters, inputs and time")
            }
            Self::ToleranceOfFixedSteps { span } => {
                error(92, span, "a tolerance needs steps that it can choose".into())
                    .label("has no meaning for steps of one size")
                    .help("write `step = auto;`, or leave the tolerance out")
            }
            Self::NotFinite { span, name } => {
                error(86, span, format!("`{name}` is not a finite number")).label("not finite")
            }
        }
    }
}

/// The nearest of some names, if it is near enough to be a slip of the finger, or the beginning of the name.
#[must_use]
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    known
        .into_iter()
        .map(|k| (distance(name, k), k))
        .filter(|&(d, k)| {
            let longer = name.len().max(k.len());
            let is_slip = d <= (longer / 3).max(1) && d < longer;
            // `position` for `pos`, `velocity` for `vel`.
            let is_long_form = k.len() >= 3 && name.starts_with(k);
            k != name && (is_slip || is_long_form || name.eq_ignore_ascii_case(k))
        })
        .min_by_key(|&(d, k)| (!name.eq_ignore_ascii_case(k), d))
        .map(|(_, k)| k.to_owned())
}

/// Edit distance with neighbouring letters swapped at cost one.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}
