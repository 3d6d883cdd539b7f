//! Wrong texts: code, place and words of every message. `«` and `»` mark the place that the message must point at.

use super::{document, parsed};
use crate::syntax::token::{ITEMS, KEYWORDS, STATEMENTS, is_keyword};

/// Checks the messages of a text; each expectation is a code, a message, and the marked place in order.
#[track_caller]
fn check(marked: &str, expected: &[(u16, &str)]) {
    let (mut text, mut places) = (String::new(), Vec::new());
    for c in marked.chars() {
        match c {
            '«' => places.push((text.len(), 0)),
            '»' => places.last_mut().unwrap().1 = text.len(),
            _ => text.push(c),
        }
    }
    let diagnostics = parsed(&text).expect_err("the text is wrong");
    let found: Vec<(u16, &str)> = diagnostics.iter().map(|d| (d.code.0, d.message.as_str())).collect();
    assert_eq!(found, expected, "in {text}");
    let at: Vec<(usize, usize)> =
        diagnostics.iter().map(|d| (d.primary.span.start as usize, d.primary.span.end as usize)).collect();
    assert_eq!(at, places, "in {text}");
    for d in &diagnostics {
        assert!(!d.primary.text.is_empty() && !d.message.ends_with('.'), "{d:?}");
    }
}

/// Checks the only message of a text between the braces of a model.
#[track_caller]
fn check_in_model(marked: &str, code: u16, message: &str) {
    check(&format!("model M {{\n    {marked}\n    let rest = 1;\n}}\n"), &[(code, message)]);
}

#[test]
fn semicolon() {
    check_in_model("param m = 15 kg«»\n    param l = 2 m;", 16, "expected `;` after `15 kg`");
    check_in_model("param m = 15«»\n    param l = 2 m;", 16, "expected `;` after `15`");
    check_in_model("param m = 15«»\n    k = 2 m;", 16, "expected `;` after `15`");
    check_in_model("param v = [1, 2]«»\n    k = 2 m;", 16, "expected `;` after `[1, 2]`");
    check_in_model("point p = [1, 2]«» mass = 2 kg;", 16, "expected `;` after `[1, 2]`");
    check_in_model("joint j: weld(a.p, b.q)«»\n    k = 2 m;", 16, "expected `;` after `weld(a.p, b.q)`");
    check_in_model("body b { mass = 1 kg«» }", 16, "expected `;` after `1 kg`");
    check_in_model("let x = a«» b;", 16, "expected `;` after `a`");
    check_in_model("event e: when x > 0 { stop«» }", 16, "expected `;` after `stop`");
    check_in_model("param a = 1«», b = 2;", 16, "expected `;` after `1`");
    check_in_model("simulate { record every 1 ms«» }", 16, "expected `;` after `record every 1 ms`");
    check("import \"a.mbd\"«»", &[(16, "expected `;` after `import \"a.mbd\"`")]);
    check(
        "model M {\n    param m = 15 kg«»\n    param l«»\n}",
        &[(16, "expected `;` after `15 kg`"), (24, "`param l` needs a value")],
    );
}

#[test]
fn unknown_words() {
    check_in_model("«bdy» top { mass = 1 kg; }", 17, "unknown statement `bdy`; did you mean `body`?");
    check_in_model("«parm» m = 1 kg;", 17, "unknown statement `parm`; did you mean `param`?");
    check_in_model("«jiont» j: weld(a, b);", 17, "unknown statement `jiont`; did you mean `joint`?");
    check_in_model("«Simulate» { }", 17, "unknown statement `Simulate`; did you mean `simulate`?");
    check_in_model("«conatct» c: k(a, b);", 17, "unknown statement `conatct`; did you mean `contact`?");
    check_in_model("«for» i in 0..3 { }", 17, "unknown statement `for`");
    check("«modle» X { }", &[(18, "unknown item `modle`; did you mean `model`?")]);
    check("«defin» joint X { }", &[(18, "unknown item `defin`; did you mean `define`?")]);
    check("model X { } «foo»", &[(18, "expected `model`, `define` or `import`, found `foo`")]);
    check("model X { } «3»;", &[(18, "expected `model`, `define` or `import`, found `3`")]);
    check("«bdy» top { }", &[(18, "unknown item `bdy`; did you mean `body`?")]);
    check("«body» top { mass = 1 kg; }", &[(19, "`body` cannot stand here")]);
    check_in_model("«import» \"x\";", 19, "`import` cannot stand here");
    check_in_model("«when» x > 3;", 19, "`when` cannot stand here");
    check("model M { }\n«language» 1;", &[(30, "`language` must come first in the file")]);
    check("language «2»;\nmodel M { }", &[(29, "language 2 is not known: the supported one is 1")]);
    check("language «1.0»;", &[(29, "language 1.0 is not known: the supported one is 1")]);
}

#[test]
fn numbers_and_units() {
    check_in_model("param m = «15kg»;", 3, "put a space between number and unit: `15 kg`");
    check_in_model("param m = «5em»;", 3, "put a space between number and unit: `5 em`");
    check_in_model("param m = «1.5e3N» / a;", 3, "put a space between number and unit: `1.5e3 N`");
    check_in_model("param m = «1.»;", 4, "write digits on both sides of the decimal point: `1.0`");
    check_in_model("param m = «.5»;", 4, "write digits on both sides of the decimal point: `0.5`");
    check_in_model("param m = 3 * «.5» kg;", 4, "write digits on both sides of the decimal point: `0.5`");
    check_in_model("param m = «1_000»;", 5, "`1_000` is not a number");
    check_in_model("param m = «0x1F»;", 5, "`0x1F` is not a number");
    check_in_model("param m = «1e999» kg;", 6, "the number `1e999` is too large");
    check_in_model("param m = 5 «in»;", 27, "`in` is a word of the language, not a unit");
    check_in_model("param m = 5 [N*«in»];", 27, "`in` is a word of the language, not a unit");
    check_in_model("param m = 5 [N/«(»m*s)];", 33, "expected a unit, found `(`");
    check_in_model("param m = 5 «m2»;", 33, "expected a unit, found `m2`");
    check_in_model("param m = [1, 2][«0»];", 33, "expected a unit, found `0`");
    check_in_model("param m = 5 [m^«12345»];", 35, "this exponent of a unit is no small fraction");
    check_in_model("param m = 5 [m^«(1/0)»];", 35, "this exponent of a unit is no small fraction");
}

#[test]
fn characters() {
    check_in_model("let q = «R'» * a;", 2, "write `transpose(R)`");
    check_in_model("let q = a * «b[i].rot'»;", 2, "write `transpose(b[i].rot)`");
    check_in_model("let q = «f(x, (y))'»;", 2, "write `transpose(f(x, (y)))`");
    check_in_model("let q = «(a + b)'»;", 2, "write `transpose((a + b))`");
    check_in_model("let q = «R^T» * a;", 2, "write `transpose(R)`");
    check_in_model("let q = «a.rot^T» * a;", 2, "write `transpose(a.rot)`");
    check_in_model("let q = 2 * «'»;", 1, "the character `'` has no place here");
    check_in_model("let q = 2; «#» remark", 1, "the character `#` has no place here");
    check_in_model("let q = 2 «\\»\n + 3;", 1, "the character `\\` has no place here");
    check_in_model("let q = «`»a`;", 1, "the character ``` has no place here");
    check_in_model("let q = a «−» b;", 1, "the character `−` has no place here");
    check_in_model("let q = a«\0»\0;", 1, "the character U+0000 has no place here");
    check_in_model("let q = a «@» b;", 1, "the character `@` has no place here");
    check_in_model("let q = a «&» b;", 13, "`&` is not an operator: use `&&`");
    check_in_model("let q = a «|» b;", 13, "`|` is not an operator: use `||`");
    check_in_model("check c: a «=» b;", 13, "`=` is not an operator: use `==`");
    check_in_model("event e: when a «=» b;", 13, "`=` is not an operator: use `==`");
    check_in_model("let q = select(a.x «=» b, 1, 2);", 13, "`=` is not an operator: use `==`");
    check_in_model("let q = a «**» 2;", 34, "powers are written with `^`");
    check("import «\"a.mbd;»\nmodel M { }", &[(7, "this string is never closed")]);
    check("model M { } «/*» a /* b */", &[(8, "this comment is never closed")]);
    check(
        "model M { let x = «1_0»; let y = «'»; let z = a «&»\n b; }",
        &[
            (5, "`1_0` is not a number"),
            (1, "the character `'` has no place here"),
            (13, "`&` is not an operator: use `&&`"),
        ],
    );
}

#[test]
fn relations_and_ranges() {
    check_in_model("constraint c: a.pos «=» b.pos;", 20, "a constraint compares: use `==`");
    check_in_model("check c: a < b «<» c;", 14, "comparisons cannot be chained");
    check_in_model("check c: a == b «==» c && d;", 14, "comparisons cannot be chained");
    check_in_model("body b[i in «[0, N]»] { }", 15, "ranges are half open: write `0..N`");
    check_in_model("body b[i in «[0, N)»] { }", 15, "ranges are half open: write `0..N`");
    check_in_model("body b[i in «0..=N»] { }", 15, "ranges are half open: write `0..N`");
    check_in_model("let s = sum(i in «0..=n - 1», i);", 15, "ranges are half open: write `0..n - 1`");
    check_in_model("let s = sum(i in «[0, 3]», i);", 15, "ranges are half open: write `0..3`");
}

#[test]
fn commas_and_brackets() {
    check_in_model("joint j: spherical(ground.o«» top.tip);", 21, "expected `,` between arguments");
    check_in_model("let v = [1, a«» 3];", 21, "expected `,` between entries");
    check("define joint J(p«» q) { }", &[(21, "expected `,` between parameters")]);
    check_in_model("body b[i in 0..3«» j in 0..2] { }", 21, "expected `,` between ranges");
    check_in_model("body b[i in 0..N«» j in 0..2] { }", 21, "expected `,` between ranges");
    check_in_model("let v = «[]»;", 23, "the brackets `[]` are empty");
    check_in_model("let v = a«[]»;", 23, "the brackets `[]` are empty");
    check_in_model("let v = f«(»a, b;", 9, "this `(` is never closed");
    check_in_model("let v = «[»a, b;", 9, "this `[` is never closed");
    check_in_model("let v = f(«[»a, b;", 9, "this `[` is never closed");
    check_in_model("let v = f(«[»a, b);", 9, "this `[` is never closed");
    check_in_model("let v = f(a, b«]»;", 11, "`(` is closed by `]`");
    check_in_model("let v = [a, b«)»;", 11, "`[` is closed by `)`");
    check_in_model("let v = f(a)«)»;", 10, "this `)` closes nothing");
    check("model M «{»\n    body b { mass = 1; }\n", &[(9, "this `{` is never closed")]);
    check(
        "model M {\n    body b «{»\n        mass = 1;\n    joint j: weld(a, b);\n}\n",
        &[(9, "this `{` is never closed")],
    );
    check("model A {\n    body b «{»\n\nmodel B {\n}\n", &[(9, "this `{` is never closed")]);
    check("model M { }\n«}»", &[(10, "this `}` closes nothing")]);
    check("model M «{»", &[(9, "this `{` is never closed")]);
}

#[test]
fn names_and_values() {
    check_in_model("body «point» { mass = 1; }", 25, "`point` is a word of the language and cannot be a name");
    check_in_model("let x = a + «frame»;", 25, "`frame` is a word of the language and cannot be a name");
    check_in_model("«force» = 3;", 25, "`force` is a word of the language and cannot be a name");
    check("define joint J(p, «point») { }", &[(25, "`point` is a word of the language and cannot be a name")]);
    check_in_model("body «{» mass = 1; }", 26, "expected a name after `body`, found `{`");
    check_in_model("torque «on» a: 3;", 26, "expected a name after `torque`, found `on`");
    check_in_model("param «=» 3;", 26, "expected a name after `param`, found `=`");
    check("model «{» }", &[(26, "expected a name after `model`, found `{`")]);
    check_in_model("let x«»;", 24, "`let x` needs a value");
    check_in_model("let x =«»;", 24, "`let x` needs a value");
    check_in_model("let d[i in 0..3]«»;", 24, "`let d[i in 0..3]` needs a value");
    check_in_model("param m«» 15 kg;", 31, "expected `=` after `param m`, found `15`");
    check_in_model("mass«» 15 kg;", 31, "expected `=` after `mass`, found `15`");
    check_in_model("top«».pos = [1, 2, 3];", 31, "expected `=` after `top`, found `.`");
    check_in_model("let x = 3 + «;»", 22, "expected an expression after `+`, found `;`");
    check_in_model("let x = f(a, «*» b);", 22, "expected an expression after `,`, found `*`");
    check_in_model("check «3» < 4;", 26, "expected a name after `check`, found `3`");
    check_in_model("check norm«(»x) < 4;", 32, "expected `:`, found `(`");
    check_in_model("joint j: spherical«;»", 32, "expected `(`, found `;`");
    check(
        "define «thing» X { }",
        &[(32, "expected `body`, `joint`, `force`, `contact`, `part` or `fn`, found `thing`")],
    );
}

#[test]
fn documentation() {
    check_in_model("let x = 3 «/// width»\n    + 4;", 28, "this `///` comment documents nothing");
    check("model M { let x = 3; «/// the end»\n}", &[(28, "this `///` comment documents nothing")]);
    check("model M { }\n«/// the end»\n", &[(28, "this `///` comment documents nothing")]);
}

#[test]
fn depth() {
    let deep = |open: &str, close: &str| {
        let text = format!("model M {{ let x = {}1{}; }}", open.repeat(10_000), close.repeat(10_000));
        parsed(&text).expect_err("too deep").iter().map(|d| d.code.0).collect::<Vec<_>>()
    };
    assert_eq!(deep("(", ")"), [12]);
    assert_eq!(deep("[", "]"), [12]);
    assert_eq!(deep("f(", ")"), [12]);
    assert_eq!(deep("-", ""), [12]);
    assert_eq!(deep("!", ""), [12]);
    assert_eq!(deep("a^", ""), [12]);
    assert_eq!(deep("a + ", ""), [12]);
    assert_eq!(deep("", ".x").first(), Some(&4));
    assert_eq!(deep("/*", "*/"), [12]);
    let chains = format!("model M {{ let x = a{}; }}", ".b".repeat(10_000));
    assert_eq!(parsed(&chains).unwrap_err()[0].code.0, 12);
    let blocks = format!("{}{}", "model M { body b { ".repeat(5_000), "}".repeat(10_000));
    assert_eq!(parsed(&blocks).unwrap_err()[0].code.0, 12);
    // The deepest texts that are accepted do not run out of stack.
    let calls = format!("model M {{ let x = {}1{}; }}", "-f(".repeat(127), ")".repeat(127));
    assert!(parsed(&calls).is_ok());
    let blocks = format!("model M {{ {}{} }}", "define part P { ".repeat(127), "}".repeat(127));
    assert!(parsed(&blocks).is_ok());
}

#[test]
fn many_errors_are_collected_and_capped() {
    check(
        "model M {\n  param a = «1kg»;\n  «bdy» b { }\n  let v = «[]»;\n  body c { let y«»; mass«» 3; }\n}\n",
        &[
            (3, "put a space between number and unit: `1 kg`"),
            (17, "unknown statement `bdy`; did you mean `body`?"),
            (23, "the brackets `[]` are empty"),
            (24, "`let y` needs a value"),
            (31, "expected `=` after `mass`, found `3`"),
        ],
    );
    let many = format!("model M {{ {} }}", "let v = []; ".repeat(50));
    assert_eq!(parsed(&many).unwrap_err().len(), 20);
}

#[test]
fn words_agree_with_the_grammar() {
    for word in KEYWORDS {
        assert!(parsed(&format!("model M {{ let {word} = 1; }}")).is_err(), "{word}");
    }
    for word in STATEMENTS.iter().chain(&ITEMS).filter(|word| !is_keyword(word)) {
        assert_eq!(*word, "ground");
    }
    for word in ["ground", "language", "report", "inner", "particles", "input_1", "pos", "T"] {
        document(&format!("model M {{ let {word} = 1; {word} = 2; body b {{ point {word} = x^{word}; }} }}"));
    }
    // Fields may be named by any word.
    document("model M { let x = a.in + a.body.point; }");
}
