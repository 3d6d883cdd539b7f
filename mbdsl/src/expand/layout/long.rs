//! Lines that are too long for one.

/// Columns that a line may have.
const WIDTH: usize = 100;

/// Columns by which what is broken off is indented.
pub(super) const INDENT: usize = 4;

/// Elements of arrays that are no longer than this share lines.
const SHORT: usize = 10;

/// Operators from the weakest on.
const OPERATORS: [&[&str]; 4] = [&[" || "], &[" && "], &[" + ", " - "], &[" * ", " / "]];

/// Writes a line as it is.
pub(super) fn write(line: &str, indent: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', indent));
    out.push_str(line);
    out.push('\n');
}

/// Writes the head of a function, with a line for each parameter if it is too long for one.
pub(super) fn signature(line: &str, indent: usize, out: &mut String) {
    let name = line.find("fn ").unwrap_or(0);
    match groups(line).into_iter().find(|&(begin, _)| begin > name) {
        Some(parameters) if indent + line.len() > WIDTH => elements(line, parameters, indent, out),
        Some(_) | None => write(line, indent, out),
    }
}

/// Writes a line, on several if it is too long for one: with a line for each branch, before its weakest operators, after
/// its `=`, or with a line for each element of its last list.
pub(super) fn broken(line: &str, indent: usize, out: &mut String) {
    if indent + line.len() <= WIDTH {
        return write(line, indent, out);
    }
    let value = outside(line, &[" = "]).first().map_or(0, |at| at + 3);
    if value > 0 && line[value..].starts_with("if ") {
        return branches(line, indent, out);
    }
    let breaks = OPERATORS.map(|signs| {
        let mut at = outside(line, signs);
        at.retain(|&at| at > value);
        at
    });
    if let Some(breaks) = breaks.into_iter().find(|breaks| !breaks.is_empty()) {
        let ends = breaks.iter().skip(1).copied().chain([line.len()]);
        broken(&line[..breaks[0]], indent, out);
        breaks.iter().zip(ends).for_each(|(&begin, end)| broken(&line[begin + 1..end], indent + INDENT, out));
        return;
    }
    if value > 0 && indent + INDENT + line.len() - value <= WIDTH {
        write(line[..value].trim_end(), indent, out);
        return write(&line[value..], indent + INDENT, out);
    }
    let groups = groups(line);
    let last = groups.last().map(|&last| innermost(line, last)).filter(|&last| is_list(line, last));
    match last.or_else(|| Some(innermost(line, groups.into_iter().max_by_key(|(begin, end)| end - begin)?))) {
        Some(list) => elements(line, list, indent, out),
        None => write(line, indent, out),
    }
}

/// Writes a line with a list of which each element stands on a line of its own.
fn elements(line: &str, (begin, end): (usize, usize), indent: usize, out: &mut String) {
    let (before, list) = (&line[..begin], line[begin..end].trim());
    let commas = outside(list, &[", "]);
    // Parentheses around an operand would become a tuple.
    let is_operand = commas.is_empty() && before.strip_suffix('(').is_some_and(|before| !before.ends_with(is_of_name));
    let mut from = 0;
    let ends = commas.into_iter().chain([list.len()]);
    let elements: Vec<&str> = ends.map(|at| &list[std::mem::replace(&mut from, at + 2)..at]).collect();
    write(before.trim_end(), indent, out);
    if before.ends_with('[') && elements.iter().all(|element| element.len() <= SHORT) {
        fill(&elements, indent + INDENT, out);
    } else {
        for element in elements {
            // Nothing may follow what fills a struct.
            let comma = if is_operand || element.starts_with("..") { "" } else { "," };
            broken(&format!("{element}{comma}"), indent + INDENT, out);
        }
    }
    write(line[end..].trim_start(), indent, out);
}

/// Writes elements of an array, as many on a line as it takes.
fn fill(elements: &[&str], indent: usize, out: &mut String) {
    let mut line = String::new();
    for element in elements {
        if !line.is_empty() && indent + line.len() + element.len() + 2 > WIDTH {
            write(&line, indent, out);
            line.clear();
        }
        line.extend([if line.is_empty() { "" } else { " " }, element, ","]);
    }
    write(&line, indent, out);
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '>' | '!')
}

/// Writes a conditional value with a line for each branch.
fn branches(line: &str, indent: usize, out: &mut String) {
    let mut from = 0;
    for (begin, end) in groups(line).into_iter().filter(|&(begin, _)| line[..begin].ends_with('{')) {
        write(line[from..begin].trim(), indent, out);
        broken(line[begin..end].trim(), indent + INDENT, out);
        from = end;
    }
    write(line[from..].trim(), indent, out);
}

/// Whether parentheses, brackets or braces hold a list.
fn is_list(line: &str, (begin, end): (usize, usize)) -> bool {
    line[..begin].ends_with('{') || !outside(&line[begin..end], &[", "]).is_empty()
}

/// What parentheses, brackets or braces hold if it is a list; if it is nothing but a call or the like, what that holds.
fn innermost(line: &str, (begin, end): (usize, usize)) -> (usize, usize) {
    let held = &line[begin..end];
    match groups(held)[..] {
        [(first, last)] if last + 1 == held.len() && !held[..first].contains(' ') => {
            innermost(line, (begin + first, begin + last))
        }
        _ => (begin, end),
    }
}

/// Where some words begin that stand in no parentheses.
fn outside(line: &str, words: &[&str]) -> Vec<usize> {
    let mut found = Vec::new();
    walk(line, |at, c, depth| {
        if depth == 0 && matches!(c, b' ' | b',') && words.iter().any(|word| line[at..].starts_with(word)) {
            found.push(at);
        }
    });
    found
}

/// What the parentheses, brackets and braces of a line hold that stand in no others.
fn groups(line: &str) -> Vec<(usize, usize)> {
    let mut begin = 0;
    let mut found = Vec::new();
    walk(line, |at, c, depth| match c {
        b'(' | b'[' | b'{' if depth == 0 => begin = at + 1,
        b')' | b']' | b'}' if depth == 0 => found.push((begin, at)),
        _ => {}
    });
    found
}

/// Visits the bytes of a line that are in no string, with the number of parentheses and the like around each.
fn walk(line: &str, mut visit: impl FnMut(usize, u8, usize)) {
    let bytes = line.as_bytes();
    let (mut depth, mut is_in_string, mut is_in_bars) = (0_usize, false, false);
    let mut at = 0;
    while let Some(&c) = bytes.get(at) {
        match c {
            b'\\' if is_in_string => at += 1,
            b'"' => is_in_string = !is_in_string,
            _ if is_in_string => {}
            b'|' if bytes.get(at + 1) == Some(&b'|') => at += 1,
            b'|' => is_in_bars = !is_in_bars,
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                visit(at, c, depth);
            }
            c => {
                visit(at, c, depth + usize::from(is_in_bars));
                depth += usize::from(matches!(c, b'(' | b'[' | b'{'));
            }
        }
        at += 1;
    }
}
