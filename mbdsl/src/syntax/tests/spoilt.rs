//! Spoilt texts: whatever is deleted, inserted or doubled, the stage ends, with places inside the text.

use super::round_trip::everything;
use super::{Random, document, parsed};
use crate::syntax::print::print;

const PIECES: [&str; 30] = [
    "{", "}", "(", ")", "[", "]", ";", ":", ",", "=", "==", "..", ".", "^", "-", "!", "/", "/*", "*/", "///", "//",
    "\"", "'", "#", "5", "kg", "body ", "in ", "é", "\0",
];

/// Parses; every message must point into the text, and a valid text must print to a valid one.
fn survives(text: &str) {
    match parsed(text) {
        Ok(doc) => _ = document(&print(&doc)),
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty() && diagnostics.len() <= 20, "{text}");
            for d in diagnostics {
                let spans = std::iter::once(d.primary.span).chain(d.secondary.iter().map(|s| s.span));
                for span in spans {
                    assert!(span.start <= span.end, "{text}");
                    assert!(text.get(span.start as usize..span.end as usize).is_some(), "{span:?} in {text}");
                }
            }
        }
    }
}

#[test]
fn spoilt_texts_end_with_messages() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let lines: Vec<&str> = everything().lines().collect();
    for _ in 0..20_000 {
        // A few lines are enough to spoil, and fast.
        let start = random.below(lines.len());
        let end = (start + 1 + random.below(12)).min(lines.len());
        let mut text = format!("model M {{\n{}\n}}\n", lines[start..end].join("\n"));
        for _ in 0..=random.below(4) {
            let at = text.floor_char_boundary(random.below(text.len() + 1));
            let to = text.floor_char_boundary(at + random.below(8)).max(at);
            match random.below(3) {
                0 => text.replace_range(at..to, ""),
                1 => text.insert_str(at, random.pick(&PIECES)),
                _ => {
                    let copy = text[at..to].to_owned();
                    text.insert_str(at, &copy);
                }
            }
        }
        survives(&text);
    }
}

#[test]
fn random_pieces_end_with_messages() {
    let mut random = Random(7);
    for _ in 0..5_000 {
        let mut text = String::from(if random.below(2) == 0 { "model M { " } else { "" });
        for _ in 0..random.below(40) {
            text.push_str(random.pick(&PIECES));
        }
        survives(&text);
    }
}

#[test]
fn long_texts_take_linear_time() {
    // Each of these would take hours if the work were quadratic in places.
    let started = std::time::Instant::now();
    let statements = |one: &str| format!("model M {{ {} }}", one.repeat(5_000));
    survives(&statements("let x = f(a, b[i, 2 * j]) + [1, 2, 3] [m]; "));
    survives(&statements("let v = []; "));
    survives(&statements("let v = R'; "));
    survives(&statements("let v = R^T; "));
    survives(&statements("let v = (; "));
    survives(&statements("{ "));
    survives(&statements("/* "));
    survives(&"é".repeat(100_000));
    survives(&"}".repeat(100_000));
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}
