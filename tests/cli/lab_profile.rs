//! `lab profile` with a profiler that is not real: what is planted is found, and what is missing is absent with the reason.
#![cfg(unix)]

mod bad_input;
mod numbers;
mod recording;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::{Run, finish, program};
use crate::profiler::link_in;

/// A program and a profiler that writes what a list says.
pub struct Lab {
    folder: tempfile::TempDir,
}

impl Lab {
    /// With these lines in the list of the profiler.
    pub fn new(kernels: &str) -> Self {
        let lab = Self { folder: tempfile::tempdir().unwrap() };
        link_in(lab.folder.path());
        fs::create_dir_all(lab.path("code")).unwrap();
        lab.write("kernels.txt", kernels);
        lab.program("#!/bin/sh\necho running\n");
        lab.profiler("");
        lab
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Sets the text of the program.
    pub fn program(&self, text: &str) {
        self.write("code/app", text);
        fs::set_permissions(self.path("code/app"), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// How the profiler behaves.
    pub fn profiler(&self, settings: &str) {
        let (kernels, counter) = (self.path("kernels.txt"), self.path("runs"));
        let text = format!(
            "FAKE_ROCPROFV3_KERNELS={}\nFAKE_ROCPROFV3_COUNTER={}\n{settings}\n",
            kernels.display(),
            counter.display()
        );
        self.write("bin/fake_rocprofv3.env", &text);
    }

    /// How often the profiler ran.
    pub fn runs(&self) -> u64 {
        fs::read_to_string(self.path("runs")).map_or(0, |text| text.trim().parse().unwrap())
    }

    pub fn command(&self, options: &[&str], words: &[&str]) -> Command {
        let mut command = program(&[&["lab", "profile"], options, &["--"], words].concat());
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
        command.current_dir(self.path("code")).env("PATH", path).env("HOME", self.folder.path());
        command.env("TMPDIR", self.folder.path()).stdin(Stdio::null());
        command
    }

    pub fn run(&self, options: &[&str]) -> Run {
        finish(self.command(options, &["./app"]))
    }

    /// The documents of a profile that succeeds.
    pub fn documents(&self, options: &[&str]) -> Value {
        self.documents_with(options, 0)
    }

    /// The documents of a profile that ends with a code.
    pub fn documents_with(&self, options: &[&str], code: i32) -> Value {
        let run = self.run(&[options, &["-f", "json"]].concat());
        assert_eq!(run.code, code, "{options:?}: {}", run.stderr);
        serde_json::from_str(&run.stdout).unwrap()
    }

    /// Files in the folder of the program, and temporary ones, which no run leaves.
    pub fn left(&self) -> Vec<String> {
        let names = |folder: PathBuf| fs::read_dir(folder).unwrap().map(|one| one.unwrap().file_name());
        let temporary = names(self.path("")).filter(|name| name.to_string_lossy().starts_with(".wavesieve-"));
        let own = names(self.path("code")).filter(|name| name != "app");
        temporary.chain(own).map(|name| name.to_string_lossy().into_owned()).collect()
    }
}

/// A number of a document.
pub fn at(document: &Value, pointer: &str) -> f64 {
    document.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {pointer} in {document:#}"))
}

/// A text of a document.
pub fn text<'a>(document: &'a Value, pointer: &str) -> &'a str {
    document.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("no {pointer} in {document:#}"))
}
