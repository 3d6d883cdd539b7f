//! The `mbd!` macro: models of mechanisms into Rust code, from text in place, from a file, or from the library.

#![forbid(unsafe_code)]

extern crate proc_macro;

mod code;
mod input;
mod load;
mod recover;
mod report;

use std::path::Path;

use mbdsl::source::Sources;
use mbdsl::{driver, expand, sema};
use proc_macro::{Literal, TokenStream};

use input::{Input, Print, Settings};
use load::{Loaded, NotFound};

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
/// `mbdsl_runtime`), `model` (where a text has several), `set(N = 5, ...)` (values of `const`s, as `mbd run --set` gives them: the
/// sizes of arrays), `print = "rust"` or `"ir"` (to stderr, while compiling), and `statements` (most statements of a
/// function, 1000 by default).
#[proc_macro]
pub fn mbd(input: TokenStream) -> TokenStream {
    let Input { settings, mistake, source } = input::read(input);
    let loaded = source.map_err(|mistake| NotFound { mistake, model: None }).and_then(load::load);
    let mistake = mistake.or_else(|| load::choice(loaded.as_ref().ok()?, settings.model.as_ref()?).err());
    match (mistake, loaded) {
        (None, Ok(loaded)) => expand(&loaded, &settings),
        (Some(mistake), Ok(loaded)) => report::mistake(&mistake, &meant(&loaded, &settings), &settings),
        (first, Err(NotFound { mistake, model })) => {
            report::mistake(&first.unwrap_or(mistake), &Vec::from_iter(model.as_deref()), &settings)
        }
    }
}

/// Names of the models that a call means.
fn meant<'a>(loaded: &'a Loaded, settings: &'a Settings) -> Vec<&'a str> {
    settings.model.as_ref().map_or_else(|| loaded.models(), |(model, _)| vec![model])
}

fn expand(loaded: &Loaded, settings: &Settings) -> TokenStream {
    // The compiler's tokens are its own, not those of rustc; `code` says why.
    proc_macro2::fallback::force();
    let Loaded { text, path } = loaded;
    let mut out = path.as_deref().and_then(tracked).unwrap_or_default();
    let mut sources = Sources::default();
    let file = sources.add(text.name.clone(), text.text.clone());
    let model = settings.model.as_ref().map(|(model, _)| model.clone());
    let overrides = settings.sizes.iter().map(|size| (size.name.clone(), size.value)).collect();
    let model = sema::Options { model, overrides };
    match driver::compile(&mut sources, file, &model) {
        Ok(compiled) => {
            let is_set = |size: &&input::Size| compiled.model.settable().any(|p| p.name == size.name);
            if let Some(size) = settings.sizes.iter().find(is_set) {
                let text = format!("`{}` is no `const`: set it in the program, in `Params` or `Inputs`", size.name);
                let mistake = input::Mistake::at(size.span, text);
                out.extend(report::mistake(&mistake, &meant(loaded, settings), settings));
                return out;
            }
            let module = expand::emit(&sources, &compiled, &settings.options);
            match settings.print {
                Some(Print::Rust) => eprintln!("{}", expand::pretty(module.clone())),
                Some(Print::Ir) => eprintln!("{}", compiled.program.text()),
                None => {}
            }
            out.extend(code::module(module, settings));
        }
        Err(errors) => {
            out.extend(report::errors((&sources, file), text, &errors, &meant(loaded, settings), settings));
        }
    }
    out
}

/// Cargo rebuilds when a file changes that the code includes.
fn tracked(path: &Path) -> Option<TokenStream> {
    let path = Literal::string(&path.canonicalize().ok()?.display().to_string());
    Some(code::tokens(&format!("const _: &[u8] = ::core::include_bytes!({path});")))
}
