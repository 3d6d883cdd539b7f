//! Tables as arithmetic progressions, and places in arrays: what grows with the number of instances, written in little.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

/// The column `column` of a table of `width` numbers a row as a list of runs `(count, first, step)`.
pub(super) fn runs<T: Copy + Into<i64>>(values: &[T], width: usize, column: usize) -> TokenStream {
    let rows = values.get(column..).unwrap_or_default().chunks(width);
    let runs = compress(rows.map(|row| row[0].into()));
    let runs = runs.iter().map(|&(count, first, step)| {
        let (count, first, step) = (Literal::u32_unsuffixed(count), integer(first), integer(step));
        quote!((#count, #first, #step))
    });
    quote!(&[#(#runs),*])
}

fn integer(x: i64) -> TokenStream {
    let digits = Literal::u64_unsuffixed(x.unsigned_abs());
    if x < 0 { quote!(-#digits) } else { quote!(#digits) }
}

/// Greedy progressions. A run of two is only made where nothing follows, so that one irregular value costs one run.
fn compress(mut values: impl Iterator<Item = i64>) -> Vec<(u32, i64, i64)> {
    let mut runs = Vec::new();
    let mut next = values.next();
    while let Some(first) = next {
        next = values.next();
        let Some(second) = next else {
            runs.push((1, first, 0));
            break;
        };
        let step = second - first;
        let (mut count, mut expected) = (1, second);
        while next == Some(expected) {
            count += 1;
            expected += step;
            next = values.next();
        }
        runs.push((count, first, step));
    }
    runs
}

/// `base + stride k`, without what is trivial; the base alone for a single instance.
pub(super) fn offset(base: usize, stride: usize, is_single: bool) -> TokenStream {
    let (first, step) = (Literal::usize_unsuffixed(base), Literal::usize_unsuffixed(stride));
    match (base, stride) {
        _ if is_single => quote!(#first),
        (_, 0) => quote!(#first),
        (0, 1) => quote!(k),
        (0, _) => quote!(#step * k),
        (_, 1) => quote!(#first + k),
        _ => quote!(#first + #step * k),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[i64], runs: &[(u32, i64, i64)]) {
        let found = compress(values.iter().copied());
        assert_eq!(found, runs);
        let back: Vec<i64> = found
            .iter()
            .flat_map(|&(count, first, step)| (0..i64::from(count)).map(move |k| first + k * step))
            .collect();
        assert_eq!(back, values);
    }

    #[test]
    fn regular_tables_are_short() {
        check(&[], &[]);
        check(&[4], &[(1, 4, 0)]);
        check(&[0, 1, 2, 3], &[(4, 0, 1)]);
        check(&[5, 5, 5, 0, -1], &[(3, 5, 0), (2, 0, -1)]);
        assert_eq!(runs(&[0_u32, 7, 1, 7, 2, 7], 2, 1).to_string(), "& [(3 , 7 , 0)]");
    }

    #[test]
    fn offsets_are_plain() {
        let texts = [(3, 6), (0, 6), (0, 1), (2, 1)].map(|(base, stride)| offset(base, stride, false).to_string());
        assert_eq!(texts, ["3 + 6 * k", "6 * k", "k", "2 + k"]);
        assert_eq!(offset(3, 6, true).to_string(), "3");
    }
}
