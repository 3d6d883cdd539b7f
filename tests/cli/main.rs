//! The `mbd` command as its users meet it: real runs, judged by exit code, stdout, stderr and the files left behind.

mod adaptive;
mod choice;
mod comparison;
mod documents;
mod example;
mod failures;
mod files;
mod quantities;
mod results;
mod work;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// What a run of the command left.
struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Ran {
    /// Fails with everything that was printed unless the exit code is as expected.
    #[track_caller]
    fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self
    }

    /// Fails unless stderr says all of these.
    #[track_caller]
    fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.err.contains(word), "stderr does not say {word:?}:\n{}", self.err);
        }
        self
    }

    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e} in\n{}", self.out))
    }
}

/// A temporary folder in which the command runs.
struct Desk {
    folder: TempDir,
}

impl Desk {
    fn new() -> Self {
        Self { folder: TempDir::new().expect("a temporary folder") }
    }

    /// A desk with one file `model.mbd`.
    fn with(text: &str) -> Self {
        let desk = Self::new();
        desk.write("model.mbd", text.as_bytes());
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        let folder = path.parent().expect("a file is in a folder");
        std::fs::create_dir_all(folder).expect("folders can be made here");
        std::fs::write(path, bytes).expect("files can be written here");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mbd"));
        command.args(args).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    fn mbd(&self, args: &[&str]) -> Ran {
        let output = self.command(args).output().expect("mbd can be started");
        Ran {
            code: output.status.code().expect("mbd ends by itself"),
            out: String::from_utf8(output.stdout).expect("stdout is text"),
            err: String::from_utf8(output.stderr).expect("stderr is text"),
        }
    }
}

/// The folder of the workspace.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Path of a model of the library.
fn library(name: &str) -> String {
    root().join("models").join(name).display().to_string()
}

/// A particle that falls for ten steps.
const FALLING: &str = "\
model Falling {
    param m = 2 kg;
    gravity = [0, 0, -10] [m/s^2];
    particle p { mass = m; pos = fixed([0, 0, 0] m); vel = fixed([1, 0, 0] [m/s]); }
    output at = p.pos;
    check straight: abs(p.pos.y) < 1 nm;
    simulate { stepper = dae1l_lse; step = 1 ms; until = 10 ms; }
}
";

/// Meets a force that has no bound.
const SINGULAR: &str = "\
model Singular {
    particle p { mass = 1 kg; pos = fixed([1, 0, 0] m); vel = fixed([0, 0, 0] [m/s]); }
    potential well: -1 [J*m^2] / norm2(p.pos);
    output at = p.pos;
    simulate { stepper = dae1l_lse; step = 10 ms; until = 10 s; }
}
";

/// Is pulled further than its rod reaches, from t = 0.1 s on.
const BEYOND_REACH: &str = "\
model BeyondReach {
    particle p { mass = 1 kg; pos = [0.4, 0.9, 0] m; }
    joint rod: distance(ground.origin, p, length = 1 m);
    constraint pull: p.pos.y == 0.9 m + 1 [m/s] * time;
    constraint flat: p.pos.z == 0 m;
    simulate { stepper = dae1l_lse; step = 1 ms; until = 1 s; }
}
";
