//! The standard joints and forces, written in the language itself and always in scope.

use std::cell::RefCell;
use std::rc::Rc;

use crate::diag::Diagnostic;
use crate::source::{FileId, Sources};
use crate::syntax::{self, ast::Document};

/// Names and texts of the files of the library.
pub const FILES: [(&str, &str); 2] = [
    ("<std/joints.mbd>", include_str!("../models/std/joints.mbd")),
    ("<std/forces.mbd>", include_str!("../models/std/forces.mbd")),
];

thread_local! {
    /// The documents of the last call and the number of the first file, which their places name.
    static PARSED: RefCell<Option<(FileId, Rc<[Document]>)>> = const { RefCell::new(None) };
}

/// Adds the files of the library to the sources and parses them; once a thread, as long as they get the same numbers.
///
/// # Errors
/// Never with the files as shipped; what they would be wrong about otherwise.
pub fn parse(sources: &mut Sources) -> Result<Rc<[Document]>, Vec<Diagnostic>> {
    let files = FILES.map(|(name, text)| sources.add(name, text));
    let first = files[0];
    let known = PARSED.with_borrow(|parsed| parsed.as_ref().filter(|(file, _)| *file == first).map(|(_, d)| d.clone()));
    if let Some(documents) = known {
        return Ok(documents);
    }
    let documents: Rc<[Document]> =
        files.into_iter().map(|file| syntax::parse(sources, file)).collect::<Result<_, _>>()?;
    PARSED.set(Some((first, documents.clone())));
    Ok(documents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_files_that_were_added() {
        for before in [0, 2, 2, 1] {
            let mut sources = Sources::default();
            (0..before).for_each(|_| _ = sources.add("model.mbd", ""));
            let documents = parse(&mut sources).expect("the library is good");
            for (document, (name, text)) in documents.iter().zip(FILES) {
                let span = document.items[0].span;
                assert_eq!(sources.get(span.file).name, name);
                assert!(text.contains(sources.text(span)));
            }
        }
    }
}
