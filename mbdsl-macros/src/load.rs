//! The text that a call means: in place, of a file, or of the library.

use std::path::{Path, PathBuf};

use mbdsl::syntax::suggest::closest;
use mbdsl::{catalogue, syntax};
use proc_macro::Span;

use crate::input::{Mistake, Source};
use crate::recover::{self, Text};

/// A text, and the file that it is from.
pub(crate) struct Loaded {
    pub text: Text,
    pub path: Option<PathBuf>,
}

impl Loaded {
    /// Names of its models; that of the file for want of others, since models are mostly named as their files are.
    pub(crate) fn models(&self) -> Vec<&str> {
        let models = syntax::model_names(&self.text.text);
        if models.is_empty() { self.path.as_deref().and_then(stem).into_iter().collect() } else { models }
    }
}

/// What is wrong with a choice of a model, unless the text has it.
pub(crate) fn choice(loaded: &Loaded, (model, span): &(String, Span)) -> Result<(), Mistake> {
    let models = syntax::model_names(&loaded.text.text);
    if models.is_empty() || models.contains(&model.as_str()) {
        return Ok(());
    }
    let text = format!("there is no model `{model}` in this text; it has {}", models.join(", "));
    Err(Mistake::at(*span, text))
}

/// Why there is no text.
pub(crate) struct NotFound {
    pub mistake: Mistake,
    /// The model that was probably meant.
    pub model: Option<String>,
}

pub(crate) fn load(source: Source) -> Result<Loaded, NotFound> {
    match source {
        Source::Inline(tokens) => Ok(Loaded { text: recover::inline(tokens), path: None }),
        Source::File(path, span) => match read(&path, span) {
            Ok((found, text)) => Ok(Loaded { text: Text::whole(path, text, span), path: Some(found) }),
            Err(mistake) => Err(NotFound { mistake, model: stem(Path::new(&path)).map(str::to_owned) }),
        },
        Source::Library(name, span) => match catalogue::find(&name) {
            Some(text) => Ok(Loaded { text: Text::whole(format!("<{name}>"), text.to_owned(), span), path: None }),
            None => Err(not_in_library(name, span)),
        },
    }
}

/// The file that a path means, beside the calling file or in the crate, and its text.
fn read(path: &str, span: Span) -> Result<(PathBuf, String), Mistake> {
    let beside = span.local_file().and_then(|file| Some(file.parent()?.join(path)));
    let root = std::env::var_os("CARGO_MANIFEST_DIR").map(|root| Path::new(&root).join(path));
    let Some(found) = [beside, root].into_iter().flatten().find(|place| place.is_file()) else {
        let text = format!("there is no file `{path}`, neither beside this source file nor in the root of the crate");
        return Err(Mistake::at(span, text));
    };
    match std::fs::read(&found) {
        Ok(bytes) => Ok((found, String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) => Err(Mistake::at(span, format!("cannot read `{path}`: {error}"))),
    }
}

/// The name of a file without its folder and extension, if it is one word.
fn stem(path: &Path) -> Option<&str> {
    let is_word = |stem: &&str| !stem.is_empty() && stem.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    path.file_stem()?.to_str().filter(is_word)
}

fn not_in_library(name: String, span: Span) -> NotFound {
    let names = catalogue::MODELS.map(|(name, _)| name);
    let guess = closest(&name, names);
    let hint = guess.map_or_else(|| format!("it has {}", names.join(", ")), |guess| format!("did you mean `{guess}`?"));
    let mistake = Mistake::at(span, format!("the library has no model `{name}`; {hint}"));
    NotFound { mistake, model: Some(guess.map_or(name, str::to_owned)) }
}
