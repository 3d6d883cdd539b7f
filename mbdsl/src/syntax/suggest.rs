//! The word that was probably meant: the closest of a list by number of typing errors.

/// The candidate closest to a word, if it is close enough to be a typing error; the first one on a tie.
#[must_use]
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // One error in a word of three or four letters, two in longer ones, three from eight on.
    let allowed = match word.chars().count() {
        0..=2 => return None,
        3..=4 => 1,
        5..=7 => 2,
        _ => 3,
    };
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let errors = typing_errors(word, candidate);
        if errors > 0 && errors <= allowed && best.is_none_or(|(least, _)| errors < least) {
            best = Some((errors, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Least number of inserted, left out, replaced and swapped letters; letters differing only in case are equal, but at
/// least one error is counted for words that differ.
fn typing_errors(a: &str, b: &str) -> usize {
    if a == b {
        return 0;
    }
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    if a.len().abs_diff(b.len()) > 3 {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()].max(1)
}
