//! Crates of their own, written into the build folder of the workspace and built offline with its lock file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where crates are written.
const FOLDER: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/crates");

/// What all crates depend on is built here, once.
const TARGET: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/crates/target");

/// A crate that depends on packages of the workspace by path.
pub struct Crate {
    folder: PathBuf,
}

/// What a command printed.
pub struct Printed {
    pub is_good: bool,
    pub stdout: String,
    pub stderr: String,
}

impl Printed {
    /// Fails with everything that was printed unless the command was good.
    #[track_caller]
    pub fn good(self) -> Self {
        assert!(self.is_good, "{}\n{}", self.stdout, self.stderr);
        self
    }
}

/// Folder of the workspace.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests are a folder of the workspace")
}

/// Runs cargo in a folder, without a network.
pub fn cargo(folder: &Path, arguments: &[&str]) -> Printed {
    let output = Command::new(env!("CARGO"))
        .arg("--offline")
        .args(arguments)
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", TARGET)
        .env("CARGO_TERM_COLOR", "never")
        .output()
        .expect("cargo can be started");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Printed { is_good: output.status.success(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

impl Crate {
    /// A crate without sources; `{root}` in its dependencies stands for the folder of the workspace.
    pub fn new(name: &str, edition: &str, dependencies: &str) -> Self {
        let new = Self { folder: Path::new(FOLDER).join(name) };
        // What an earlier run left would be compiled too.
        let _ = fs::remove_dir_all(&new.folder);
        let dependencies = dependencies.replace("{root}", &root().display().to_string().replace('\\', "/"));
        let manifest = format!(
            "[package]\nname = \"{name}\"\nedition = \"{edition}\"\n\n[dependencies]\n{dependencies}\n\n[workspace]\n"
        );
        new.write("Cargo.toml", &manifest);
        // The versions of the workspace: others need not be at hand.
        let lock = fs::read_to_string(root().join("Cargo.lock")).expect("the workspace has a lock file");
        new.write("Cargo.lock", &lock);
        new
    }

    /// Writes a file and the folders that it is in.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("the folder can be made");
        fs::write(path, text).expect("the file can be written");
    }

    /// Runs cargo in the crate.
    pub fn cargo(&self, arguments: &[&str]) -> Printed {
        cargo(&self.folder, arguments)
    }
}
