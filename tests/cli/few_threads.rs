//! Machines that start few threads: the program uses fewer, or ends with one error that names the limits.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::Command;

use crate::common::{finish, program};
use crate::skipping::{has_tools, skip};

const VERBS: [&[&str]; 3] = [
    &["table", "kernel_summary", "two_nodes", "-f", "csv"],
    &["analyze", "two_nodes", "-f", "json"],
    &["check", "two_nodes"],
];

/// A copy of a trace that every user can read.
fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(place.path(), Permissions::from_mode(0o755)).unwrap();
    let folder = place.path().join("two_nodes");
    fs::create_dir(&folder).unwrap();
    for name in ["4100_results.db", "4140_results.db"] {
        fs::copy(format!("fixtures/two_nodes/node0/{name}"), folder.join(name)).unwrap();
    }
    place
}

/// Runs a verb behind words of a shell that set a limit, and returns whether it did its work. The shell opens the program, which may be in
/// a folder that other users cannot enter.
fn works(limits: &str, verb: &[&str]) -> bool {
    let place = place();
    let own = program(verb);
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("exec 9<\"$0\" && {limits}")).arg(own.get_program()).args(own.get_args());
    shell.current_dir(place.path()).envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ended = finish(shell);
    assert!(!ended.stderr.contains("panicked"), "{verb:?} with {limits}: {}", ended.stderr);
    if ended.code != 0 {
        let is_clear =
            ended.code == 1 && ended.stderr.starts_with("error: ") && ended.stderr.contains("the system starts ");
        assert!(is_clear, "{verb:?} with {limits} ended with {}: {}", ended.code, ended.stderr);
        return false;
    }
    let mut whole = program(verb);
    whole.current_dir(place.path());
    assert_eq!(ended.stdout, finish(whole).stdout, "{verb:?} with {limits}");
    true
}

#[test]
fn little_address_space() {
    let mut worked = 0;
    for (number, kilobytes) in [900_000, 1_200_000, 2_000_000, 4_000_000].into_iter().enumerate() {
        let limits = format!("ulimit -v {kilobytes} && exec /proc/self/fd/9 \"$@\"");
        worked += usize::from(works(&limits, VERBS[number % VERBS.len()]));
    }
    assert!(worked > 0);
}

#[test]
fn few_processes() {
    // Limits of processes do not hold for the administrator.
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return skip("only the administrator can become a user with few processes");
    }
    if !has_tools(&["setpriv", "prlimit"]) {
        return;
    }
    let mut worked = Vec::new();
    for (number, most) in [2, 6, 12, 17, 24, 40].into_iter().enumerate() {
        let other = format!("setpriv --reuid 65533 --clear-groups prlimit --nproc={most}");
        let limits = format!("exec {other} /proc/self/fd/9 \"$@\"");
        worked.push(works(&limits, VERBS[number % VERBS.len()]));
    }
    assert!(worked.first() == Some(&false) && worked.last() == Some(&true), "{worked:?}");
}
