//! The standard joints and forces, written in the language itself and always in scope.
//!
//! A model uses few of them, so that only those are parsed which its text mentions.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::LazyLock;

use crate::source::{FileId, Sources};
use crate::syntax::{self, ast::Document};

/// Names and texts of the files of the library.
pub const FILES: [(&str, &str); 2] = [
    ("<std/joints.mbd>", include_str!("../models/std/joints.mbd")),
    ("<std/forces.mbd>", include_str!("../models/std/forces.mbd")),
];

/// What ends a definition: the files have no other brace at the beginning of a line.
const END: &str = "\n}\n";

thread_local! {
    /// The documents of the last calls and the number of the first file, which their places name.
    static PARSED: RefCell<(FileId, Vec<Option<Rc<Document>>>)> = const { RefCell::new((FileId(0), Vec::new())) };
}

/// The library among the sources of a compilation.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    files: [FileId; FILES.len()],
}

/// A definition of the library: its name, the number of its file, and where it stands there.
struct Definition {
    name: &'static str,
    file: usize,
    bytes: Range<usize>,
}

/// All definitions, found by the form in which the files are written.
static DEFINITIONS: LazyLock<Vec<Definition>> = LazyLock::new(|| {
    let definitions = FILES.into_iter().enumerate().flat_map(|(file, (_, text))| {
        let mut start = 0;
        text.match_indices(END).map(move |(at, end)| {
            let bytes = std::mem::replace(&mut start, at + end.len())..at + end.len();
            let head = text[bytes.clone()].split("\ndefine ").nth(1).unwrap_or_default();
            Definition { name: head.split([' ', '(']).nth(1).unwrap_or_default(), file, bytes }
        })
    });
    definitions.collect()
});

/// Adds the files of the library to the sources.
pub fn add(sources: &mut Sources) -> Library {
    Library { files: FILES.map(|(name, text)| sources.add(name, text)) }
}

impl Library {
    /// All definitions, a document for each.
    #[must_use]
    pub fn all(&self, sources: &Sources) -> Vec<Rc<Document>> {
        self.parse(sources, |_| true)
    }

    /// The definitions that a text mentions, and those that these mention.
    #[must_use]
    pub fn mentioned(&self, sources: &Sources, text: &str) -> Vec<Rc<Document>> {
        let mut is_mentioned = vec![false; DEFINITIONS.len()];
        let mut texts = vec![text];
        while let Some(text) = texts.pop() {
            for word in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
                if let Some((k, found)) = DEFINITIONS.iter().enumerate().find(|(_, d)| d.name == word)
                    && !std::mem::replace(&mut is_mentioned[k], true)
                {
                    texts.push(&FILES[found.file].1[found.bytes.clone()]);
                }
            }
        }
        self.parse(sources, |k| is_mentioned[k])
    }

    /// Parses some definitions by their numbers; each once a thread, as long as the files get the same numbers.
    fn parse(&self, sources: &Sources, is_wanted: impl Fn(usize) -> bool) -> Vec<Rc<Document>> {
        PARSED.with_borrow_mut(|(first, parsed)| {
            if *first != self.files[0] || parsed.is_empty() {
                (*first, *parsed) = (self.files[0], vec![None; DEFINITIONS.len()]);
            }
            let wanted = DEFINITIONS.iter().zip(parsed).enumerate().filter(|&(k, _)| is_wanted(k));
            let documents = wanted.map(|(_, (Definition { file, bytes, .. }, parsed))| {
                let parse = || Rc::new(syntax::parse_items(sources, self.files[*file], bytes.clone()));
                Rc::clone(parsed.get_or_insert_with(parse))
            });
            documents.collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::ast::ItemKind;

    fn names(documents: &[Rc<Document>]) -> Vec<&str> {
        let items = documents.iter().flat_map(|document| &document.items);
        items
            .map(|item| match &item.kind {
                ItemKind::Define(define) => define.name.name.as_str(),
                _ => "not a definition",
            })
            .collect()
    }

    #[test]
    fn places_are_those_of_the_files_that_were_added() {
        for before in [0, 2, 2, 1] {
            let mut sources = Sources::default();
            (0..before).for_each(|_| _ = sources.add("model.mbd", ""));
            let library = add(&mut sources);
            for document in library.all(&sources) {
                let span = document.items[0].span;
                assert!(sources.get(span.file).name.starts_with("<std/"));
                assert!(sources.text(span).starts_with("define "));
                assert!(sources.text(span).ends_with('}'));
            }
        }
    }

    #[test]
    fn definitions_are_those_of_the_whole_files() {
        let mut sources = Sources::default();
        let library = add(&mut sources);
        let whole = library.files.map(|file| syntax::parse(&sources, file).expect("the library is right"));
        let items: Vec<_> = whole.into_iter().flat_map(|document| document.items).collect();
        let parts = library.all(&sources);
        assert_eq!(parts.iter().flat_map(|document| document.items.clone()).collect::<Vec<_>>(), items);
        let found: Vec<_> = DEFINITIONS.iter().map(|d| d.name).collect();
        assert_eq!(found, names(&parts));
    }

    #[test]
    fn only_what_is_mentioned_is_parsed() {
        let mut sources = Sources::default();
        let library = add(&mut sources);
        let check = |text: &str, expected: &[&str]| assert_eq!(names(&library.mentioned(&sources, text)), expected);
        check("", &[]);
        check("joint a: spherical(p, q); force b: damper(p, q, my_weld);", &["spherical", "damper"]);
    }
}
