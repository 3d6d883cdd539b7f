//! Spells single constructs, in plain text or in LaTeX.

/// A form of writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Plain text on one line.
    Text,
    /// LaTeX in mathematics mode.
    Latex,
}

impl Form {
    pub(super) fn paren(self, a: &str) -> String {
        match self {
            Self::Text => format!("({a})"),
            Self::Latex => format!("\\left({a}\\right)"),
        }
    }

    /// A named function of arguments.
    pub(super) fn call(self, name: &str, args: &[String]) -> String {
        const OF_LATEX: [&str; 7] = ["sin", "cos", "tan", "exp", "log", "min", "max"];
        let name = match self {
            Self::Text => name.to_owned(),
            Self::Latex if OF_LATEX.contains(&name) => format!("\\{name}"),
            Self::Latex => format!("\\operatorname{{{}}}", name.replace('_', "\\_")),
        };
        format!("{name}{}", self.paren(&args.join(", ")))
    }

    /// A number that is not negative, and whether it is a product.
    pub(super) fn number(self, x: f64) -> (String, bool) {
        if x == 0.0 || (1e-5..1e15).contains(&x) {
            return (format!("{x}"), false);
        }
        let short = format!("{x:e}");
        match (self, short.split_once('e')) {
            (Self::Latex, Some(("1", power))) => (format!("10^{{{power}}}"), true),
            (Self::Latex, Some((digits, power))) => (format!("{digits} \\cdot 10^{{{power}}}"), true),
            (Self::Latex, None) if x == f64::INFINITY => ("\\infty".to_owned(), false),
            (Self::Text | Self::Latex, _) => (short, false),
        }
    }

    /// A name as the model has it: in LaTeX, what follows the first `_` is a subscript, words stand upright, Greek
    /// letters are letters.
    pub(super) fn name(self, name: &str) -> String {
        if self == Self::Text {
            return name.to_owned();
        }
        match name.split_once('_') {
            Some((head, sub)) if !head.is_empty() && !sub.is_empty() => {
                let parts: Vec<String> = sub.split('_').map(words).collect();
                format!("{}_{{{}}}", words(head), parts.join(","))
            }
            Some(_) | None => words(name),
        }
    }

    /// Operators between two operands.
    pub(super) fn infix(self, operator: &str) -> &str {
        match (self, operator) {
            (Self::Text, _) => operator,
            (Self::Latex, "x") => "\\times",
            (Self::Latex, "." | "*") => "\\cdot",
            (Self::Latex, "%") => "\\bmod",
            (Self::Latex, "<=") => "\\le",
            (Self::Latex, "==") => "=",
            (Self::Latex, "!=") => "\\ne",
            (Self::Latex, "&&") => "\\land",
            (Self::Latex, "||") => "\\lor",
            (Self::Latex, _) => operator,
        }
    }

    pub(super) fn fraction(self, above: &str, below: &str) -> String {
        match self {
            Self::Text => format!("{above}/{below}"),
            Self::Latex => format!("\\frac{{{above}}}{{{below}}}"),
        }
    }

    pub(super) fn power(self, base: &str, exponent: &str) -> String {
        match self {
            Self::Text => format!("{base}^{exponent}"),
            Self::Latex => format!("{base}^{{{exponent}}}"),
        }
    }

    pub(super) fn bars(self, a: &str) -> String {
        match self {
            Self::Text => format!("|{a}|"),
            Self::Latex => format!("\\left|{a}\\right|"),
        }
    }

    pub(super) fn skew(self, a: &str) -> String {
        match self {
            Self::Text => format!("skew({a})"),
            Self::Latex => format!("\\widetilde{{{a}}}"),
        }
    }

    pub(super) fn sqrt(self, a: &str) -> String {
        match self {
            Self::Text => format!("sqrt({a})"),
            Self::Latex => format!("\\sqrt{{{a}}}"),
        }
    }

    pub(super) fn vector(self, parts: &[String]) -> String {
        match self {
            Self::Text => format!("[{}]", parts.join(", ")),
            Self::Latex => format!("\\begin{{pmatrix}} {} \\end{{pmatrix}}", parts.join(" \\\\ ")),
        }
    }

    /// Blocks side by side.
    pub(super) fn row(self, parts: &[String]) -> String {
        match self {
            Self::Text => format!("[{}]", parts.join(", ")),
            Self::Latex => format!("\\begin{{pmatrix}} {} \\end{{pmatrix}}", parts.join(" & ")),
        }
    }

    pub(super) fn select(self, c: &str, a: &str, b: &str) -> String {
        match self {
            Self::Text => format!("select({c}, {a}, {b})"),
            Self::Latex => {
                format!("\\begin{{cases}} {a} & {c} \\\\ {b} & \\text{{otherwise}} \\end{{cases}}")
            }
        }
    }

    /// Sums and the like over an index.
    pub(super) fn over_range(self, name: &str, index: &str, (lo, hi): (&str, &str), body: &str) -> String {
        match self {
            Self::Text => format!("{name}({index} in {lo}..{hi}, {body})"),
            Self::Latex => {
                let symbol = match name {
                    "sum" => "\\sum".to_owned(),
                    "min" | "max" => format!("\\{name}"),
                    _ => format!("\\operatorname*{{{name}}}"),
                };
                format!("{symbol}_{{{lo} \\le {index} < {hi}}} {}", self.paren(body))
            }
        }
    }
}

/// Sets the words of a name in LaTeX: `link[i-1]` becomes `\mathrm{link}[i-1]`.
fn words(text: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in text.chars().map(Some).chain([None]) {
        match c {
            Some(c) if c.is_alphanumeric() => word.push(c),
            _ => {
                out.push_str(&set_word(&word));
                word.clear();
                out.extend(c);
            }
        }
    }
    out
}

fn set_word(word: &str) -> String {
    const GREEK: [&str; 27] = [
        "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "kappa", "lambda", "mu", "nu", "xi",
        "pi", "rho", "sigma", "tau", "phi", "chi", "psi", "omega", "Gamma", "Delta", "Phi", "Psi", "Omega", "Theta",
    ];
    let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &word[letters.len()..];
    let set = if GREEK.contains(&letters) {
        format!("\\{letters}")
    } else if letters.chars().count() > 1 {
        format!("\\mathrm{{{letters}}}")
    } else {
        letters.to_owned()
    };
    match (letters.is_empty(), digits.is_empty()) {
        (false, false) => format!("{{{set}_{{{digits}}}}}"),
        (true, _) => digits.to_owned(),
        (false, true) => set,
    }
}
