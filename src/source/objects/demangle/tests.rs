use std::io::Write as _;
use std::process::{Command, Stdio};

use super::demangled;

/// Names of kernels of libraries, and what `llvm-cxxfilt` of LLVM 19 makes of them.
const NAMES: &str = include_str!("../../../../fixtures/code_object/names.txt");

#[test]
fn names_of_kernels() {
    for line in NAMES.lines().filter(|line| !line.starts_with('#')) {
        let (mangled, plain) = line.split_once('\t').unwrap();
        assert_eq!(demangled(mangled).as_deref(), Some(plain), "{mangled}");
    }
}

#[test]
fn the_same_as_llvm() {
    let Ok(mut child) = Command::new("llvm-cxxfilt-19").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() else {
        eprintln!("skipped: llvm-cxxfilt-19 is absent");
        return;
    };
    let names: String =
        NAMES.lines().filter_map(|line| line.split_once('\t')).map(|(mangled, _)| format!("{mangled}\n")).collect();
    child.stdin.take().unwrap().write_all(names.as_bytes()).unwrap();
    let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    for (name, theirs) in names.lines().zip(output.lines()) {
        assert_eq!(demangled(name).as_deref(), Some(theirs), "{name}");
    }
}

#[test]
fn what_is_not_known_stays() {
    for name in ["plain", "_Z", "_ZN", "_ZN2ns", "_Z3fooT_", "_Z1fS_", "_Z1fIXsrLi1EEEvv", "_Z99f", "_ZTV3Foo", "_Z1fP"]
    {
        assert_eq!(demangled(name), None, "{name}");
    }
    assert_eq!(demangled(&format!("_Z1f{}i", "P".repeat(1000))), None);
    // Every template argument doubles the one before it.
    let before = (1..36).map(|number| format!("S{}_", char::from_digit(number, 36).unwrap().to_ascii_uppercase()));
    let doubling: String = before.map(|before| format!("S0_I{before}{before}E")).collect();
    assert_eq!(demangled(&format!("_Z1fI1aIiiE{doubling}Evv")), None);
}
