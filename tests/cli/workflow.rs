//! `workflow` and `interactive` with a profiler that is not real, real git, and the scripted model server.

mod bad_input;
mod git;
mod interactive;
mod kills;
mod models;
mod phases;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::{Run, finish, program};
use crate::profiler::link_in;

/// The kernel whose time is in its source.
const KERNEL: &str = "// time: 100000\n__global__ void gemm(float *a) {\n    a[threadIdx.x] *= 2.0f;\n}\n";
/// Makes the program out of its source: what the kernel takes is the number in its first line.
const BUILD: &str = "#!/bin/sh\nset -e\ncd \"$(dirname \"$0\")\"\nif grep -q BROKEN kernel.hip; then echo 'kernel.hip:3: error: broken' >&2; exit 1; fi\nsed -n 's|^// time: \\(.*\\)|kernel gemm 40 \\1 1|p' kernel.hip > build/kernels.txt\n";
const TEST: &str =
    "#!/bin/sh\ncd \"$(dirname \"$0\")\"\nif grep -q WRONG kernel.hip; then echo 'result differs'; exit 3; fi\n";

/// A program with its source in a repository, a profiler, and a place for sessions.
pub struct Place {
    pub folder: tempfile::TempDir,
}

impl Place {
    /// With a repository of one commit.
    pub fn new() -> Self {
        let place = Self::without_git();
        place.git(&["init", "-q", "-b", "main"]);
        place.git(&["add", "."]);
        place.git(&["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "first"]);
        place
    }

    pub fn without_git() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        for folder in ["code/build", "sessions"] {
            fs::create_dir_all(place.path(folder)).unwrap();
        }
        link_in(place.folder.path());
        place.write("code/kernel.hip", KERNEL);
        place.write("code/.gitignore", "build/\n");
        for (name, text) in [("build.sh", BUILD), ("test.sh", TEST), ("app", "#!/bin/sh\necho running\n")] {
            place.write(&format!("code/{name}"), text);
            fs::set_permissions(place.path(&format!("code/{name}")), fs::Permissions::from_mode(0o755)).unwrap();
        }
        place.profiler("");
        assert!(Command::new(place.path("code/build.sh")).status().unwrap().success());
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// How the profiler behaves.
    pub fn profiler(&self, settings: &str) {
        let kernels = self.path("code/build/kernels.txt");
        let counter = self.path("bin/runs");
        let text = format!(
            "FAKE_ROCPROFV3_KERNELS={}\nFAKE_ROCPROFV3_COUNTER={}\nFAKE_ROCPROFV3_SEED=1\n{settings}\n",
            kernels.display(),
            counter.display()
        );
        self.write("bin/fake_rocprofv3.env", &text);
    }

    /// A patch that sets the time of the kernel.
    pub fn patch(&self, name: &str, from: &str, to: &str) -> PathBuf {
        let text = format!(
            "--- a/kernel.hip\n+++ b/kernel.hip\n@@ -1,2 +1,2 @@\n-// time: {from}\n+// time: {to}\n __global__ void gemm(float *a) {{\n"
        );
        self.write(name, &text)
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git").arg("-C").arg(self.path("code")).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// HEAD, branch, status and the index to the byte.
    pub fn git_state(&self) -> (String, String, String, Vec<u8>) {
        (
            self.git(&["rev-parse", "HEAD"]),
            self.git(&["branch", "--show-current"]),
            self.git(&["status", "--porcelain"]),
            fs::read(self.path("code/.git/index")).unwrap(),
        )
    }

    /// The program in the code's folder, with the profiler on its path.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program(arguments);
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
        command.current_dir(self.path("code")).env("PATH", path).env("HOME", self.folder.path());
        command.env("WAVESIEVE_SESSIONS", self.path("sessions")).env_remove("EDITOR").env_remove("VISUAL");
        command.stdin(Stdio::null());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Run {
        finish(self.command(arguments))
    }

    /// A workflow over the program, with its events.
    pub fn workflow(&self, options: &[&str]) -> (Run, Vec<Value>) {
        let events = self.path("events.jsonl");
        let arguments = [&["workflow", "--events", events.to_str().unwrap()], options, &["--", "./app"]].concat();
        let run = self.run(&arguments);
        (run, self.events())
    }

    /// The same, built and tested after each edit, answered by lines.
    pub fn answered(&self, answers: &str, options: &[&str]) -> (Run, Vec<Value>) {
        let answers = self.write("answers.txt", answers);
        let usual = ["--build", "./build.sh", "--test", "./test.sh", "--answers", answers.to_str().unwrap()];
        self.workflow(&[&usual[..], options].concat())
    }

    pub fn events(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path("events.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
    }

    /// The only session, as it is on disk.
    pub fn session(&self) -> Value {
        let files: Vec<PathBuf> = fs::read_dir(self.path("sessions"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
            .collect();
        assert_eq!(files.len(), 1, "{files:?}");
        serde_json::from_str(&fs::read_to_string(&files[0]).unwrap()).unwrap()
    }

    pub fn session_id(&self) -> String {
        self.session()["session_id"].as_str().unwrap().to_owned()
    }
}

/// The events of a name.
pub fn named<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["event"] == name).collect()
}
