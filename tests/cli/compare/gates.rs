//! `--fail-on`: what fails, what passes and what cannot be decided.

use super::programs::*;
use crate::common::run;
use crate::planted::Planted;

/// Exit codes of rules over two programs.
fn codes(base: &Program, new: &Program, rules: &[&str]) -> Vec<i32> {
    let directory = place();
    let (base, new) = (base.write(&directory, "a_results.json"), new.write(&directory, "b_results.json"));
    rules.iter().map(|rule| run(&["compare", "-q", &base, &new, "--fail-on", rule]).code).collect()
}

#[test]
fn a_rule_finer_than_the_noise_is_undecided() {
    let (base, quiet) = (Program::new(), Program::new().seed(2));
    assert_eq!(codes(&base, &quiet, &["slower", "slower:5", "slower:1", "span:5", "span:0.5"]), [0, 0, 7, 0, 7]);
}

#[test]
fn a_faster_kernel_leaves_nothing_open() {
    let faster = Program::new().seed(3).scaled("", 50);
    assert_eq!(codes(&Program::new(), &faster, &["slower:1", "span:1"]), [0, 0]);
}

#[test]
fn a_kernel_that_got_slower_by_less_is_passed() {
    let slower = Program::new().seed(3).scaled("softmax", 106);
    assert_eq!(codes(&Program::new(), &slower, &["slower", "slower:4", "slower:20", "slower:2"]), [4, 4, 0, 4]);
}

#[test]
fn one_slow_gpu_fails() {
    let (base, new) = (Planted::new("none"), Planted::new("straggler"));
    let found = run(&["compare", "-q", &base.input(), &new.input(), "--fail-on", "slower:5"]);
    assert_eq!(found.code, 4);
    assert!(found.stdout.contains("on rank 2 GPU 2"), "{}", found.stdout);
}
