//! Source texts and places in them.

/// Number of a source file in [`Sources`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A half-open range of bytes in one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// Byte after the last one.
    pub end: u32,
}

impl Span {
    /// The smallest span that holds both, which must lie in one file.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// One text with the name that messages show for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Name as the user gave it.
    pub name: String,
    /// The text.
    pub text: String,
}

/// All texts of one compilation; file 0 is the first one added.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

impl Sources {
    /// Adds a text.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        let id = FileId(u32::try_from(self.files.len()).expect("fewer than 2^32 files"));
        self.files.push(SourceFile { name: name.into(), text: text.into() });
        id
    }

    /// A file.
    ///
    /// # Panics
    /// If the id does not come from this set.
    #[must_use]
    pub fn get(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// The files in order.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        (0..).map(FileId).zip(&self.files)
    }

    /// Text of a span.
    #[must_use]
    pub fn text(&self, span: Span) -> &str {
        &self.get(span.file).text[span.start as usize..span.end as usize]
    }

    /// Line and column (both from 1, columns in characters) of the start of a span.
    #[must_use]
    pub fn line_column(&self, span: Span) -> (usize, usize) {
        let before = &self.get(span.file).text[..span.start as usize];
        let line_start = before.rfind('\n').map_or(0, |k| k + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}
