//! The command line of `mbd`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use mbdsl::backend::engine;
use mbdsl::exec::session::Choices;
use mbdsl::exec::table;

/// Models of mechanisms, as written on paper, into simulations whose constraints hold.
#[derive(Debug, Parser)]
#[command(
    name = "mbd",
    version,
    about,
    after_help = "Exit codes: 0 good, 1 the model has errors or a check failed, \
2 usage or files, 3 the run failed numerically (results so far are complete), 70 a bug in mbd."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Form of the messages about models.
    #[arg(long, global = true, value_enum, default_value_t = MessageFormat::Human)]
    pub message_format: MessageFormat,
}

/// Form of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    /// For people.
    Human,
    /// One JSON object a line.
    Json,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a commented model to start from.
    New {
        /// Name of the model; NAME.mbd is written.
        name: String,
    },
    /// Check models: form, names, dimensions, index sets, values of the parameters, the stepper.
    Check {
        /// Files.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Tell what a model is made of: coordinates, equations, rank, redundancy by name, cost.
    Explain(ModelArgs),
    /// Print the equations derived from a model, as written on paper.
    Derive {
        #[command(flatten)]
        model: ModelArgs,
        /// As LaTeX.
        #[arg(long)]
        latex: bool,
    },
    /// Print the Rust code of a model, as the macro `mbd!` writes it.
    Expand(ModelArgs),
    /// Simulate a model.
    Run {
        #[command(flatten)]
        model: ModelArgs,
        #[command(flatten)]
        steps: StepArgs,
        /// Stepper, for instance splitting_dlm, splitting_dlm+suzuki4 or "generalized_alpha(rho = 0.5)"; a wrong name lists all.
        #[arg(long)]
        stepper: Option<String>,
        /// Interval of the rows of --out [default: as the model records, or 10 000 rows in all].
        #[arg(long, value_name = "DT")]
        every: Option<String>,
        /// Write the trajectory as CSV.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Write pictures (SVG) into a folder.
        #[arg(long, value_name = "DIR")]
        plot: Option<PathBuf>,
        /// Form of the summary on stdout.
        #[arg(long, value_enum, default_value_t = SummaryFormat::Text)]
        summary: SummaryFormat,
        /// What executes the model's kernels; results are the same.
        #[arg(long, value_enum, default_value_t = Backend::Jit)]
        backend: Backend,
    },
    /// Run several steppers on a model and print their errors.
    Compare {
        #[command(flatten)]
        model: ModelArgs,
        #[command(flatten)]
        steps: StepArgs,
        /// Steppers, separated by commas [default: all that suit the model, but no compositions; with --work-precision one or more of each order,
        /// compositions among them]. There, `dop853(step = auto)` takes tolerances instead of steps.
        #[arg(long, value_delimiter = ',')]
        steppers: Vec<String>,
        /// Form of the table.
        #[arg(long, value_enum, default_value_t = TableFormat::Text)]
        format: TableFormat,
        /// Write pictures of the energy errors, or of error against time, into a folder.
        #[arg(long, value_name = "DIR")]
        plot: Option<PathBuf>,
        /// Print the error of the last state against the time that it costs, for steps that are halved, and for tolerances; --step is the longest.
        #[arg(long)]
        work_precision: bool,
        #[command(flatten)]
        range: RangeArgs,
        /// What executes the model's kernels; results are the same.
        #[arg(long, value_enum, default_value_t = Backend::Jit)]
        backend: Backend,
    },
    /// Run models and enforce their checks.
    Test {
        /// Files, or folders of models.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// What executes the models' kernels; results are the same.
        #[arg(long, value_enum, default_value_t = Backend::Jit)]
        backend: Backend,
    },
}

/// Which model, with which values.
#[derive(Clone, Debug, Args)]
pub struct ModelArgs {
    /// Model file.
    pub file: PathBuf,
    /// Name of the model, if the file has several.
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Value of a parameter or constant, for instance `m=5kg` or `N=20`.
    #[arg(long = "set", value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub set: Vec<String>,
}

/// Which steps.
#[derive(Clone, Debug, Args)]
pub struct StepArgs {
    /// Step, for instance 10us; `auto` lets the tolerance choose it (dop853, dopri5, radau3, radau5, radau7).
    #[arg(long)]
    pub step: Option<String>,
    /// What the error of a step may be, relative, where the step is `auto` [default: as the model says, or 1e-8].
    #[arg(long)]
    pub tolerance: Option<String>,
    /// End, for instance 10s.
    #[arg(long)]
    pub until: Option<String>,
}

/// Which steps of `--work-precision`.
#[derive(Clone, Debug, Args)]
pub struct RangeArgs {
    /// How often the step is halved.
    #[arg(long, value_name = "N", default_value_t = 5, requires = "work_precision", value_parser = clap::value_parser!(u32).range(..=20))]
    pub halvings: u32,
    /// Stepper of the reference that errors are against [default: splitting_dlm+kahan_li8].
    #[arg(long, value_name = "STEPPER", requires = "work_precision")]
    pub reference: Option<String>,
}

/// Forms of the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SummaryFormat {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}

/// Back ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// Native code for whatever runs often, the interpreter for the rest.
    Jit,
    /// The interpreter alone.
    Interp,
}

impl From<Backend> for engine::Backend {
    fn from(backend: Backend) -> Self {
        match backend {
            Backend::Jit => Self::Jit,
            Backend::Interp => Self::Interp,
        }
    }
}

/// Forms of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// Aligned columns.
    Text,
    /// A Markdown table.
    Markdown,
    /// Comma-separated values.
    Csv,
    /// JSON: an array of summaries, or one object of work and precision.
    Json,
}

impl From<TableFormat> for table::TableFormat {
    fn from(format: TableFormat) -> Self {
        match format {
            TableFormat::Text => Self::Text,
            TableFormat::Markdown => Self::Markdown,
            TableFormat::Csv => Self::Csv,
            TableFormat::Json => Self::Json,
        }
    }
}

impl ModelArgs {
    /// The choices that these arguments stand for.
    #[must_use]
    pub fn choices(&self) -> Choices {
        Choices { model: self.model.clone(), set: self.set.clone(), ..Choices::default() }
    }
}
