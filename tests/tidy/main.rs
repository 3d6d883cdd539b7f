//! What a program can check about the sources: layers, form of files, pages of messages, tables and links.
//!
//! Every check is a function from a text to complaints, so that each is also shown a bad text that it must find.

mod layers;
#[path = "../fixtures/outcome.rs"]
mod outcome;
mod pages;
mod run;
mod scripts;
mod texts;

use std::path::PathBuf;

use outcome::{files, root, shown};

/// Files of the workspace with an extension, with the names to show.
fn texts(extension: &str) -> Vec<(String, String)> {
    files(root(), extension).iter().map(|path| (shown(path, root()), read(path))).collect()
}

fn read(path: &PathBuf) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Fails with all complaints at once.
#[track_caller]
fn none(complaints: &[String]) {
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// A check must find what is wrong with a bad text, and nothing in a good one.
#[track_caller]
fn finds(complaints: &[String], words: &[&str]) {
    assert_eq!(complaints.len(), words.len(), "{complaints:?}");
    for (complaint, word) in complaints.iter().zip(words) {
        assert!(complaint.contains(word), "{complaint} does not speak of {word}");
    }
}
