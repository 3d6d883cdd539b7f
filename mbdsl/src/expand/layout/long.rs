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
    const SPACES: &str = "                                                                ";
    let mut rest = indent;
    while rest > 0 {
        let some = rest.min(SPACES.len());
        out.push_str(&SPACES[..some]);
        rest -= some;
    }
    out.push_str(line);
    out.push('\n');
}

/// Writes the head of a function, with a line for each parameter if it is too long for one.
pub(super) fn signature(line: &str, indent: usize, out: &mut String) {
    if indent + line.len() <= WIDTH {
        return write(line, indent, out);
    }
    let name = line.find("fn ").unwrap_or(0);
    match Outline::of(line).groups.into_iter().find(|&(begin, _)| begin > name) {
        Some(parameters) => elements(line, parameters, indent, out),
        None => write(line, indent, out),
    }
}

/// Writes a line, on several if it is too long for one: with a line for each branch, before its weakest operators, after
/// its `=`, or with a line for each element of its last list.
pub(super) fn broken(line: &str, indent: usize, out: &mut String) {
    if indent + line.len() <= WIDTH {
        return write(line, indent, out);
    }
    let outline = Outline::of(line);
    let value = outline.spaces.iter().find(|&&at| line[at..].starts_with(" = ")).map_or(0, |at| at + 3);
    if value > 0 && line[value..].starts_with("if ") {
        return branches(line, &outline.groups, indent, out);
    }
    let before = |signs: &[&str]| {
        let is_break = |&at: &usize| at > value && signs.iter().any(|sign| line[at..].starts_with(sign));
        outline.spaces.iter().copied().filter(is_break).collect::<Vec<_>>()
    };
    if let Some(breaks) = OPERATORS.iter().map(|signs| before(signs)).find(|breaks| !breaks.is_empty()) {
        let ends = breaks.iter().skip(1).copied().chain([line.len()]);
        broken(&line[..breaks[0]], indent, out);
        breaks.iter().zip(ends).for_each(|(&begin, end)| broken(&line[begin + 1..end], indent + INDENT, out));
        return;
    }
    if value > 0 && indent + INDENT + line.len() - value <= WIDTH {
        write(line[..value].trim_end(), indent, out);
        return write(&line[value..], indent + INDENT, out);
    }
    let last = outline.groups.last().map(|&last| innermost(line, last)).filter(|&last| is_list(line, last));
    let longest = || outline.groups.iter().copied().max_by_key(|(begin, end)| end - begin);
    match last.or_else(|| Some(innermost(line, longest()?))) {
        Some(list) => elements(line, list, indent, out),
        None => write(line, indent, out),
    }
}

/// Writes a line with a list of which each element stands on a line of its own.
fn elements(line: &str, (begin, end): (usize, usize), indent: usize, out: &mut String) {
    let (before, list) = (&line[..begin], line[begin..end].trim());
    let mut from = 0;
    let ends = Outline::of(list).commas.into_iter().chain([list.len()]);
    let elements: Vec<&str> = ends.map(|at| list[std::mem::replace(&mut from, at + 1)..at].trim_start()).collect();
    write(before.trim_end(), indent, out);
    if before.ends_with('[') && elements.iter().all(|element| element.len() <= SHORT) {
        fill(&elements, indent + INDENT, out);
    } else {
        // Parentheses around an operand would become a tuple.
        let is_operand =
            elements.len() == 1 && before.strip_suffix('(').is_some_and(|before| !before.ends_with(is_of_name));
        for element in elements {
            // Nothing may follow what fills a struct.
            let comma = if is_operand || element.starts_with("..") { "" } else { "," };
            broken(&format!("{element}{comma}"), indent + INDENT, out);
        }
    }
    write(line[end..].trim_start(), indent, out);
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '>' | '!')
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

/// Writes a conditional value with a line for each branch.
fn branches(line: &str, groups: &[(usize, usize)], indent: usize, out: &mut String) {
    let mut from = 0;
    for &(begin, end) in groups.iter().filter(|&&(begin, _)| line[..begin].ends_with('{')) {
        write(line[from..begin].trim(), indent, out);
        broken(line[begin..end].trim(), indent + INDENT, out);
        from = end;
    }
    write(line[from..].trim(), indent, out);
}

/// Whether parentheses, brackets or braces hold a list.
fn is_list(line: &str, (begin, end): (usize, usize)) -> bool {
    line[..begin].ends_with('{') || !Outline::of(&line[begin..end]).commas.is_empty()
}

/// What parentheses, brackets or braces hold if it is a list; if it is nothing but a call or the like, what that holds.
fn innermost(line: &str, (begin, end): (usize, usize)) -> (usize, usize) {
    let held = &line[begin..end];
    match Outline::of(held).groups[..] {
        [(first, last)] if last + 1 == held.len() && !held[..first].contains(' ') => {
            innermost(line, (begin + first, begin + last))
        }
        _ => (begin, end),
    }
}

/// What of a line stands in no parentheses, brackets or braces, in no string, and not between the bars of a closure.
#[derive(Debug, Default)]
struct Outline {
    spaces: Vec<usize>,
    commas: Vec<usize>,
    /// Where that begins and ends which parentheses, brackets and braces hold.
    groups: Vec<(usize, usize)>,
}

impl Outline {
    fn of(line: &str) -> Self {
        let mut outline = Self::default();
        let bytes = line.as_bytes();
        let (mut depth, mut begin) = (0_usize, 0);
        let (mut is_in_string, mut is_in_bars) = (false, false);
        let mut at = 0;
        while let Some(&c) = bytes.get(at) {
            match c {
                b'\\' if is_in_string => at += 1,
                b'"' => is_in_string = !is_in_string,
                _ if is_in_string => {}
                b'(' | b'[' | b'{' => {
                    if depth == 0 {
                        begin = at + 1;
                    }
                    depth += 1;
                }
                b')' | b']' | b'}' => {
                    if depth == 1 {
                        outline.groups.push((begin, at));
                    }
                    depth = depth.saturating_sub(1);
                }
                _ if depth > 0 => {}
                b'|' if bytes.get(at + 1) == Some(&b'|') => at += 1,
                b'|' => is_in_bars = !is_in_bars,
                b' ' if !is_in_bars => outline.spaces.push(at),
                b',' if !is_in_bars => outline.commas.push(at),
                _ => {}
            }
            at += 1;
        }
        outline
    }
}
