//! The `mbd` command: parses arguments, calls the library, prints.

mod args;
mod commands;
mod compare;
mod show;

use std::process::ExitCode;

use args::{Cli, Command};
use clap::Parser as _;
use mbdsl::exec::failure::Failure;
use mbdsl::source::Sources;

/// Exit code for a bug in mbd itself.
const BUG: u8 = 70;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = std::panic::catch_unwind(|| {
        let mut sources = Sources::default();
        let result = run(&cli, &mut sources);
        result.unwrap_or_else(|failure| {
            show::failure(&failure, &sources, cli.message_format);
            failure.exit_code()
        })
    });
    ExitCode::from(outcome.unwrap_or_else(|_| {
        show::tell("this is a bug in mbd: please report it with the model that shows it");
        BUG
    }))
}

fn run(cli: &Cli, sources: &mut Sources) -> Result<u8, Failure> {
    match &cli.command {
        Command::New { name } => commands::new(name),
        Command::Check { files } => commands::check(files, sources, cli.message_format),
        Command::Explain(model) => commands::explain(model, sources),
        Command::Derive { model, latex } => commands::derive(model, *latex, sources),
        Command::Expand(model) => commands::expand(model, sources),
        Command::Run { model, steps, stepper, every, out, plot, summary, backend } => {
            let request = commands::RunRequest {
                model,
                steps,
                stepper: stepper.as_ref(),
                every: every.as_ref(),
                out: out.as_deref(),
                plot: plot.as_deref(),
                summary: *summary,
                backend: *backend,
            };
            commands::run(&request, sources)
        }
        Command::Compare { model, steps, steppers, format, plot, work_precision, range, backend } => {
            let request =
                compare::Request { model, steps, steppers, format: *format, plot: plot.as_deref(), backend: *backend };
            match work_precision {
                true => compare::work_precision(&request, range, sources),
                false => compare::errors(&request, sources),
            }
        }
        Command::Test { files, backend } => commands::test(files, *backend, sources, cli.message_format),
    }
}
