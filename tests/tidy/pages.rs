//! Every code has a page, every page a code; the examples of a page raise what it says, and the better ones pass.

use mbdsl::sema::Options;

use crate::outcome::{all_codes, codes_in, is_of_run, outcome, root};
use crate::run::outcome_of_run;
use crate::{finds, none, read, texts};

/// Codes whose pages cannot show an example of some lines.
const WITHOUT_EXAMPLE: [&str; 5] = ["MBD0036", "MBD0143", "MBD0147", "MBD0159", "MBD0162"];

/// A fenced block of the language.
struct Block {
    is_fixed: bool,
    options: Options,
    text: String,
}

/// The blocks that are marked `mbd`, with the options of the command line that stand after it.
fn blocks(page: &str) -> Vec<Block> {
    let mut all = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(mark) = line.strip_prefix("```") else { continue };
        let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let mut words = mark.split_whitespace();
        if words.next() != Some("mbd") {
            continue;
        }
        let mut block = Block { is_fixed: false, options: Options::default(), text: text.join("\n") + "\n" };
        while let Some(word) = words.next() {
            match (word, words.clone().next()) {
                ("fixed", _) => block.is_fixed = true,
                ("--model", name) => block.options.model = name.map(str::to_owned),
                ("--set", Some(setting)) => {
                    let pair = setting.split_once('=').and_then(|(name, x)| Some((name.to_owned(), x.parse().ok()?)));
                    block.options.overrides.extend(pair);
                }
                _ => {}
            }
        }
        all.push(block);
    }
    all
}

/// What is wrong with the page of a code.
fn complaints(code: &str, page: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if !page.starts_with(&format!("# {code}: ")) {
        complaints.push(format!("{code}: the title must be `# {code}: ...`"));
    }
    let blocks = blocks(page);
    let has = |fixed: bool| blocks.iter().any(|b| b.is_fixed == fixed);
    if !(WITHOUT_EXAMPLE.contains(&code) || has(false) && has(true)) {
        complaints.push(format!("{code}: an example and a better one are needed"));
    }
    for block in &blocks {
        let look = if is_of_run(code) { outcome_of_run } else { outcome };
        let found = look("example.mbd", &block.text, &block.options);
        let expected: &[&str] = if block.is_fixed { &[] } else { &[code] };
        if found.codes() != expected {
            complaints.push(format!("{code}: expected {expected:?} of\n{}but found\n{}", block.text, found.text()));
        }
    }
    complaints
}

/// Pages by their codes.
fn pages() -> Vec<(String, String)> {
    let code = |name: String| {
        name.strip_prefix("docs/errors/MBD").and_then(|n| n.strip_suffix(".md")).map(|n| format!("MBD{n}"))
    };
    texts("md").into_iter().filter_map(|(name, text)| Some((code(name)?, text))).collect()
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let with_page: Vec<String> = pages().into_iter().map(|(code, _)| code).collect();
    assert_eq!(with_page, all_codes().into_iter().collect::<Vec<_>>());
    let index = read(&root().join("docs/errors/README.md"));
    let unlisted: Vec<String> = with_page.into_iter().filter(|code| !index.contains(&format!("({code}.md)"))).collect();
    none(&unlisted);
}

#[test]
fn examples_raise_what_their_pages_say() {
    none(&pages().iter().flat_map(|(code, page)| complaints(code, page)).collect::<Vec<_>>());
}

#[test]
fn codes_are_found_in_sources() {
    assert_eq!(codes_in("error(12, x) Code(\n 7) other(5, y) e(x, 3) e(4) at(9)"), [12, 7, 4]);
}

#[test]
fn a_bad_page_is_found() {
    let particle = "model M { particle p { mass = 1 kg; } }";
    let good =
        format!("# MBD0055: a\n```mbd\nmodel M {{ particle p {{ mass = m; }} }}\n```\n```mbd fixed\n{particle}\n```\n");
    finds(&complaints("MBD0055", &good), &[]);
    finds(&complaints("MBD0054", &good), &["title", "expected"]);
    finds(&complaints("MBD0055", &good.replace("= m;", "= 2 kg;")), &["expected"]);
    finds(&complaints("MBD0055", &good.replace("= 1 kg;", "= 1 m;")), &["expected"]);
    finds(&complaints("MBD0055", "# MBD0055: a\n"), &["better one"]);
    let block = &blocks("```mbd fixed --model A --set n=3\nx\n```\n")[0];
    assert!(block.is_fixed && block.text == "x\n" && block.options.model.as_deref() == Some("A"));
    assert_eq!(block.options.overrides, [("n".to_owned(), 3.0)]);
}
