//! Results on stdout, messages on stderr; a reader that has gone away stops neither.

use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::path::PathBuf;

use mbdsl::exec::failure::Failure;
use mbdsl::render;
use mbdsl::source::Sources;

use crate::args::MessageFormat;

/// Writes a result to stdout.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Io { path: PathBuf::from("stdout"), error: e.to_string() })
        }
        _ => Ok(()),
    }
}

/// Writes a line to stderr. If that fails, nobody is left to hear of it.
pub(crate) fn tell(line: impl Display) {
    let _unheard = writeln!(std::io::stderr().lock(), "{line}");
}

/// Shows a failure on stderr.
pub(crate) fn failure(failure: &Failure, sources: &Sources, format: MessageFormat) {
    let diagnostics = match failure {
        Failure::Model(list) => list.as_slice(),
        Failure::Step(one) => std::slice::from_ref(&**one),
        Failure::Usage(text) => return tell(format_args!("error: {text}")),
        Failure::Io { path, error } => return tell(format_args!("error: {}: {error}", path.display())),
    };
    let text = match format {
        MessageFormat::Human => render::human(sources, diagnostics, std::io::stderr().is_terminal()),
        MessageFormat::Json => render::json(sources, diagnostics),
    };
    tell(text.trim_end());
}

/// `1 body`, `2 bodies`
pub(crate) fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
