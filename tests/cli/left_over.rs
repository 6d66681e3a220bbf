//! Files that programs run by the lab leave when wavesieve itself is ended.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::program;
use crate::profiler::link_in;
use crate::waiting::{is_alive, soon};

#[test]
fn signals_end_the_program_that_is_run() {
    for (signal, verb) in [
        ("TERM", ["lab", "autotune", "--parameter", "n=1", "--"]),
        ("HUP", ["lab", "autotune", "--parameter", "n=1", "--"]),
        ("TERM", ["lab", "profile", "--runs", "1", "--"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let pid = folder.path().join("pid");
        let script = format!("sleep 300 & echo $! > {} # {{n}}\nwait", pid.display());
        let mut command = program(&[&verb[..], &["sh", "-c", &script]].concat());
        let path = format!("{}:{}", link_in(folder.path()).display(), std::env::var("PATH").unwrap());
        command.env("PATH", path).current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let read = |pid: &Path| std::fs::read_to_string(pid).unwrap_or_default();
        assert!(soon(|| read(&pid).ends_with('\n')), "{verb:?} runs the program");
        let sleeper = read(&pid);
        assert!(is_alive(&sleeper));
        let killed = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        child.wait().unwrap();
        assert!(soon(|| !is_alive(&sleeper)), "{signal} to {verb:?} leaves the program running");
    }
}
