//! Code as it is laid out, and that of the library models without a token lost.

use quote::quote;

use super::*;
use crate::catalogue::MODELS;
use crate::expand;
use crate::sema;
use crate::source::Sources;

fn check(code: TokenStream, expected: &str) {
    assert_eq!(lay_out(code), expected);
}

#[test]
fn statements_stand_on_lines_of_their_own() {
    let body = quote! {
        let t0 = -a[0] * (b - -c);
        let t1 = if t0 < 0.0 { rt::sin(t0) } else { f64::from(t0 == 1.0 && c != 0.0) };
        *rt::block_mut(&mut jac.phi, 3 * k) = [0.0; 3];
        let block = rt::block_mut::<12>(list, 0);
        let base = builder.finish()?;
        let taken = self.terms[k]..self.terms[k + 1];
        let names = rt::vec![[0, 1]];
        self.force_part0(at, live);
        t1
    };
    let expected = "let t0 = -a[0] * (b - -c);
let t1 = if t0 < 0.0 { rt::sin(t0) } else { f64::from(t0 == 1.0 && c != 0.0) };
*rt::block_mut(&mut jac.phi, 3 * k) = [0.0; 3];
let block = rt::block_mut::<12>(list, 0);
let base = builder.finish()?;
let taken = self.terms[k]..self.terms[k + 1];
let names = rt::vec![[0, 1]];
self.force_part0(at, live);
t1
";
    check(body, expected);
}

#[test]
fn blocks_are_indented() {
    let code = quote! {
        for k in 0..pin::COUNT { self.pin.value(k, &at, phi); }
        if let Some(mu) = mu { contract(mu) } else { }
        { let values = 1; }
        let names: &[&str] = match rt::locate(&[1, 2], element) {
            Some((0, _)) => &["x", "y"],
            Some((1, k)) => { f(k) }
            _ => &[]
        };
    };
    let expected = r#"for k in 0..pin::COUNT {
    self.pin.value(k, &at, phi);
}
if let Some(mu) = mu {
    contract(mu)
} else {}
{
    let values = 1;
}
let names: &[&str] = match rt::locate(&[1, 2], element) {
    Some((0, _)) => &["x", "y"],
    Some((1, k)) => {
        f(k)
    }
    _ => &[],
};
"#;
    check(code, expected);
}

#[test]
fn items_have_their_documentation() {
    let docs = " With `\"quotes\"` and a \\.";
    let code = quote! {
        use ::mbdsl_runtime::generated as rt;
        /// A model.
        #[doc = #docs]
        #[derive(Clone, Debug)]
        pub struct Model { base: rt::Vec<[f64; 3]>, #[doc = " A field."] pub(super) m: Option<&'static str> }
        pub(super) struct Data {}
        impl<'a> rt::Set for Model {
            type Item = Option<&'a [f64]>;
            const COUNT: usize = 3;
            fn look<'a>(&self, at: &rt::Point<'_>, _k: usize,) -> &'a [f64; 3] { rt::block(at, || rt::min, |a, _| -a) }
            fn accept(&mut self) {}
        }
    };
    let expected = r#"use ::mbdsl_runtime::generated as rt;
/// A model.
/// With `"quotes"` and a \.
#[derive(Clone, Debug)]
pub struct Model {
    base: rt::Vec<[f64; 3]>,
    /// A field.
    pub(super) m: Option<&'static str>,
}
pub(super) struct Data {}
impl<'a> rt::Set for Model {
    type Item = Option<&'a [f64]>;
    const COUNT: usize = 3;
    fn look<'a>(&self, at: &rt::Point<'_>, _k: usize) -> &'a [f64; 3] {
        rt::block(at, || rt::min, |a, _| -a)
    }
    fn accept(&mut self) {}
}
"#;
    check(code, expected);
}

#[test]
fn what_no_comment_can_say_stays_an_attribute() {
    let docs = " two\nlines";
    check(quote!(#[doc = #docs] use a;), "#[doc = \" two\\nlines\"]\nuse a;\n");
}

#[test]
fn long_lines_break_at_their_weakest_operators_and_in_lists() {
    let body = quote! {
        let t0 = first_body_r00 * second_body_r00 + first_body_r10 * second_body_r10 - first_body_r20 * (own[3] + t2);
        let t1 = (first_body_r00 * lambda[0] + first_body_r10 * lambda[1] + first_body_r20 * t) * second_body_r00 * t0;
        rt::add(q, 6 * k, [first_body_r00 * second_body_r00, first_body_r10 * second_body_r10, -t0, -t1, 0.0, t2, t3]);
        let at = rt::Point { lambda_of_first_body, lambda_of_second_body, signals_of_model, ..rt::Point::of(state) };
        let angle = rt::unwrap_angle(rt::atan2(first_body_r10 - own[2], second_body_r00 - own[3]), angle0 - own[9]);
        block[57] = -(rocker_r01_times_length * coupler_r01 + rocker_r11_times_length * coupler_r11 + rocker_r21 * own[6]);
    };
    let expected = "let t0 = first_body_r00 * second_body_r00
    + first_body_r10 * second_body_r10
    - first_body_r20 * (own[3] + t2);
let t1 = (first_body_r00 * lambda[0] + first_body_r10 * lambda[1] + first_body_r20 * t)
    * second_body_r00
    * t0;
rt::add(
    q,
    6 * k,
    [first_body_r00 * second_body_r00, first_body_r10 * second_body_r10, -t0, -t1, 0.0, t2, t3],
);
let at = rt::Point {
    lambda_of_first_body,
    lambda_of_second_body,
    signals_of_model,
    ..rt::Point::of(state)
};
let angle =
    rt::unwrap_angle(rt::atan2(first_body_r10 - own[2], second_body_r00 - own[3]), angle0 - own[9]);
block[57] = -(
    rocker_r01_times_length * coupler_r01
        + rocker_r11_times_length * coupler_r11
        + rocker_r21 * own[6]
);
";
    check(body, expected);
}

#[test]
fn long_arguments_keep_what_belongs_together() {
    let body = quote! {
        builder.look(rt::About { check: 0, sign: ",", unit: "(" }, &self.check.evaluate(at), |a, b| f(a, b), || g(1));
        rt::table(COUNT, [&[(1000, 0, 1), (1000, 3, 1), (1000, 2, 1), (1000, 0, 1), (1000, 0, 1), (1000, 0, 1), (9, 0, 1)]]);
        *rt::block_mut(list, 0) = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0];
        let t1 = if first_body_r00 < second_body_r00 { rt::sin(first_body_r10) } else { rt::cos(second_body_r10) };
    };
    let expected = r#"builder.look(
    rt::About { check: 0, sign: ",", unit: "(" },
    &self.check.evaluate(at),
    |a, b| f(a, b),
    || g(1),
);
rt::table(
    COUNT,
    [&[
        (1000, 0, 1),
        (1000, 3, 1),
        (1000, 2, 1),
        (1000, 0, 1),
        (1000, 0, 1),
        (1000, 0, 1),
        (9, 0, 1),
    ]],
);
*rt::block_mut(list, 0) = [
    0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0,
    17.0,
];
let t1 = if first_body_r00 < second_body_r00 {
    rt::sin(first_body_r10)
} else {
    rt::cos(second_body_r10)
};
"#;
    check(body, expected);
}

#[test]
fn long_signatures_have_a_line_for_each_parameter() {
    let code = quote! {
        pub(super) fn newton(&self, at: &rt::Point<'_>, lam: &[f64], out: &mut rt::ConstraintDerivatives) -> (f64, f64) {}
    };
    let expected = "pub(super) fn newton(
    &self,
    at: &rt::Point<'_>,
    lam: &[f64],
    out: &mut rt::ConstraintDerivatives,
) -> (f64, f64) {}
";
    check(code, expected);
}

/// Tokens without what layout may change: spaces, commas at ends of lists, how documentation is written.
fn tokens(code: TokenStream) -> String {
    let words: String = code.to_string().split_whitespace().collect();
    words.replace(",)", ")").replace(",]", "]").replace(",}", "}").replace("=r\"", "=\"")
}

#[test]
fn no_token_of_the_library_models_is_lost() {
    for (name, text) in MODELS {
        let mut sources = Sources::default();
        let file = sources.add(name, text);
        let module = expand::expand(&mut sources, file, &sema::Options::default(), &expand::Options::default());
        let code = module.expect("a good model").into_tokens();
        let text = lay_out(code.clone());
        for line in text.lines().filter(|line| !line.trim_start().starts_with("///")) {
            assert!(line.len() <= 100 && !line.ends_with(' '), "{name}: {line}");
        }
        let read: TokenStream = text.parse().expect("what is laid out are tokens");
        assert!(tokens(read) == tokens(code), "{name}");
    }
}
