//! The `mbd!` macro: models of mechanisms into Rust code, from text in place, from a file, or from the library.

extern crate proc_macro;

mod input;
mod recover;
mod report;

use std::path::{Path, PathBuf};

use mbdsl::expand::{self, Options};
use mbdsl::source::Sources;
use mbdsl::{catalogue, sema};
use proc_macro::TokenStream;
use quote::quote;

use input::{Input, Mistake, Print, Settings, Source};
use recover::Text;

/// Makes a module of a model: its parameters, its equations as specialised code, access to its bodies by name.
///
/// ```text
/// mbd! { model Pendulum { ... } }
/// mbd!("models/top.mbd");
/// mbd!(<heavy_top>);
/// ```
///
/// A path is relative to the calling file, then to the root of the crate; a name in angle brackets is that of a model of
/// the library. In front may stand `#![name = value, ...]` with `module`, `visibility`, `runtime` (path of the crate
/// `mbdsl_runtime`), `model` (where a text has several), `print = "rust"` or `"ir"` (to stderr, while compiling), and `statements` (most
/// statements of a function, 1000 by default).
#[proc_macro]
pub fn mbd(tokens: TokenStream) -> TokenStream {
    let Input { settings, source } = match input::read(tokens) {
        Ok(input) => input,
        Err(mistake) => return report::mistake(&mistake),
    };
    let options = settings.options();
    match source {
        Source::Inline(tokens) => inline(tokens, &settings, &options),
        Source::File(path, span) => match find(&path, span) {
            Ok(found) => file(&found, &path, span, &settings, &options),
            Err(mistake) => report::mistake(&mistake),
        },
        Source::Library(name, span) => match catalogue::find(&name) {
            Some(text) => {
                let text = Text::whole(format!("<{name}>"), text.to_owned(), span);
                expand(&text, None, &settings, &options)
            }
            None => {
                let names: Vec<&str> = catalogue::MODELS.iter().map(|(name, _)| *name).collect();
                let text = format!("the library has no model `{name}`; it has {}", names.join(", "));
                report::mistake(&Mistake { text, span })
            }
        },
    }
}

fn inline(tokens: TokenStream, settings: &Settings, options: &Options) -> TokenStream {
    expand(&recover::inline(tokens), None, settings, options)
}

/// The file that a path means: beside the calling file, or in the crate.
fn find(path: &str, span: proc_macro::Span) -> Result<PathBuf, Mistake> {
    let beside = span.local_file().and_then(|file| Some(file.parent()?.join(path)));
    let root = std::env::var_os("CARGO_MANIFEST_DIR").map(|root| Path::new(&root).join(path));
    let places: Vec<PathBuf> = [beside, root].into_iter().flatten().collect();
    places.iter().find(|place| place.is_file()).cloned().ok_or_else(|| Mistake {
        text: format!("there is no file `{path}`, neither beside this source file nor in the root of the crate"),
        span,
    })
}

fn file(found: &Path, path: &str, span: proc_macro::Span, settings: &Settings, options: &Options) -> TokenStream {
    match std::fs::read(found) {
        Ok(bytes) => {
            let text = Text::whole(path.to_owned(), String::from_utf8_lossy(&bytes).into_owned(), span);
            expand(&text, Some(found), settings, options)
        }
        Err(error) => report::mistake(&Mistake { text: format!("cannot read `{path}`: {error}"), span }),
    }
}

fn expand(text: &Text, tracked: Option<&Path>, settings: &Settings, options: &Options) -> TokenStream {
    let mut sources = Sources::default();
    let file = sources.add(text.name.clone(), text.text.clone());
    let model = sema::Options { model: settings.model.clone(), ..sema::Options::default() };
    // Cargo rebuilds when a file changes that the code includes.
    let tracked = tracked.and_then(|path| path.canonicalize().ok()).map(|path| {
        let path = path.display().to_string();
        quote!(
            const _: &[u8] = ::core::include_bytes!(#path);
        )
    });
    let compiled = mbdsl::driver::compile(&mut sources, file, &model);
    match compiled {
        Ok(compiled) => {
            let code = expand::emit(&sources, &compiled, options);
            match settings.print {
                Some(Print::Rust) => eprintln!("{}", expand::pretty(&code)),
                Some(Print::Ir) => eprintln!("{}", compiled.program.text()),
                None => {}
            }
            quote!(#tracked #code).into()
        }
        Err(errors) => {
            let name = settings.model.clone().or_else(|| recover::model_name(&text.text));
            let skeleton = name.map(|name| expand::skeleton(&name, options));
            let mut out: TokenStream = quote!(#tracked #skeleton).into();
            out.extend(report::errors(&sources, file, text, &errors));
            out
        }
    }
}
