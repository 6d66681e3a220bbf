//! Every example of the help texts and the documents runs.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::cases::every;
use crate::common::{NOWHERE, Run, finish, listing, program, succeed};
use crate::compute_database::analysis;
use crate::dialects::databases::sampled;
use crate::pages::{Page, ShownCommand, guide};

/// Examples that end with another exit code than 0, and always with this one, with the reason.
const EXCEPTIONS: &[(&str, i32, &str)] = &[
    ("wavesieve analyze traces/ --fail-on ", 4, "the fixture has findings, and failing on them is what is asked for"),
    ("wavesieve report traces/ --group-by folder -d reports --fail-on ", 4, "as before"),
    (
        "wavesieve compare fixtures/two_nodes fixtures/two_nodes --fail-on slower",
        7,
        "the fixture has too few dispatches to decide",
    ),
    ("wavesieve table kernel_summary fixtures/two_nodes -o kernels.csv --mail-to ", 1, "there is no such mail server"),
    ("wavesieve table layers traces", 3, "no fixture has layers in steps"),
    ("wavesieve table layer_summary ", 3, "as before"),
    ("wavesieve view ", 124, "it serves until it is interrupted"),
    ("wavesieve report fixtures/two_nodes -o report.pdf", 1, "the browser that is named does not exist"),
    ("wavesieve table kernel_summary fixtures/two_nodes -o kernels.pdf", 1, "the browser that is named does not exist"),
];

/// Traces for queries about what the usual ones do not hold.
const OTHER_TRACES: &[&str] = &[
    "fixtures/counters",
    "fixtures/compute",
    "fixtures/merged",
    "fixtures/hostile",
    "fixtures/thread_trace",
    "fixtures/kineto_two_ranks",
    "fixtures/planted",
];

/// An example, where it stands, the output that is shown of it, and the files that its page defines.
struct Example {
    place: String,
    shown: ShownCommand,
    files: Arc<[(String, String)]>,
}

/// Verbs and queries that have a help text of their own.
fn helps() -> Vec<Vec<String>> {
    let main = succeed(&["--help"]);
    let listed = main.split("Options:").next().unwrap();
    let mut helps = vec![Vec::new()];
    for line in listed.lines().filter(|line| line.starts_with("  ")) {
        helps.push(vec![line.split_whitespace().next().unwrap().to_owned()]);
    }
    helps.push(vec!["config".to_owned(), "show".to_owned()]);
    let queries: Vec<serde_json::Value> = serde_json::from_str(&succeed(&["table", "--list", "-f", "json"])).unwrap();
    helps.extend(queries.iter().map(|query| vec!["table".to_owned(), query["name"].as_str().unwrap().to_owned()]));
    helps
}

fn examples() -> Vec<Example> {
    let mut examples = Vec::new();
    let mut add = |place: &str, page: Page| {
        let files: Arc<[(String, String)]> = page.files.into();
        let example = |shown| Example { place: place.to_owned(), shown, files: Arc::clone(&files) };
        examples.extend(page.commands.into_iter().map(example));
    };
    for help in helps() {
        let words: Vec<&str> = help.iter().map(String::as_str).collect();
        let place = format!("wavesieve {} --help", help.join(" "));
        let text = succeed(&[&words[..], &["--help"]].concat());
        // The usage above the options is not an example.
        let page = Page::of_text(text.split_once("Examples:").map(|(_, examples)| examples).unwrap_or_default());
        assert!((2..=5).contains(&page.commands.len()), "{place} ends with 2 to 5 examples, not {:?}", page.commands);
        add(&place, page);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let verbs = listing(&root.join("docs/verbs")).into_iter().map(|(path, _)| path);
    let verbs = verbs.map(|path| (path.clone(), fs::read_to_string(path).unwrap()));
    for (path, text) in verbs.chain(guide()) {
        add(&path.display().to_string(), Page::of_markdown(&text));
    }
    let key =
        |example: &Example| (example.shown.line.clone(), example.shown.output.clone(), Arc::clone(&example.files));
    examples.sort_by_cached_key(key);
    examples.dedup_by(|a, b| key(a) == key(b));
    examples
}

/// Runs an example in a directory of its own, in which the traces, the dataset, the fixtures, a statement and the files of its
/// page have their names.
fn run_in_shell(example: &Example, traces: &Path, dataset: &Path) -> Run {
    let line = &example.shown.line;
    let directory = tempfile::tempdir().unwrap();
    let link = |target: &Path, name: &str| std::os::unix::fs::symlink(target, directory.path().join(name)).unwrap();
    link(traces, "traces");
    link(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures"), "fixtures");
    fs::write(directory.path().join("gaps.sql"), "SELECT COUNT(*) FROM idle_gaps;\n").unwrap();
    if !line.contains("-o dataset") {
        link(dataset, "dataset");
    }
    for (name, content) in &*example.files {
        let file = directory.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
    }
    let mut shell = Command::new("bash");
    let binary = Path::new(env!("CARGO_BIN_EXE_wavesieve")).parent().unwrap().display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    let tools = dataset.with_file_name("tools").display().to_string();
    for (name, value) in program(&[]).get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    // The same with and without a browser.
    shell.env("WAVESIEVE_BROWSER", NOWHERE);
    // Sessions are those of this directory.
    shell.env("XDG_STATE_HOME", directory.path().join(".state"));
    // No browser is started, and nobody closes a window.
    shell.env("BROWSER", "true");
    let line = if line.starts_with("wavesieve view ") { format!("timeout -s INT 4 {line}") } else { line.clone() };
    shell.arg("-c").arg(line).current_dir(directory.path()).env("PATH", format!("{tools}:{binary}:{path}"));
    finish(shell)
}

/// Lines that a page shows as output but that the program does not print, apart from those that stand for others.
fn stale<'a>(shown: &'a ShownCommand, run: &Run) -> Vec<&'a str> {
    let printed: BTreeSet<&str> = run.stdout.lines().chain(run.stderr.lines()).map(str::trim_end).collect();
    let shown = shown.output.iter().map(String::as_str).filter(|line| !matches!(*line, "" | "…"));
    shown.filter(|line| !printed.contains(line)).collect()
}

fn verdict(example: &Example, traces: &Path, dataset: &Path) -> Option<String> {
    let line = &example.shown.line;
    let exception = EXCEPTIONS.iter().find(|(start, ..)| line.starts_with(start));
    let expected = exception.map_or(0, |(_, code, _)| *code);
    let run = run_in_shell(example, traces, dataset);
    let stale = stale(&example.shown, &run);
    if !stale.is_empty() {
        return Some(format!("{}: `{line}` does not print\n{}\nbut\n{}", example.place, stale.join("\n"), run.stdout));
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let elsewhere = || {
        OTHER_TRACES.iter().any(|traces| run_in_shell(example, &root.join(traces), dataset).code == expected)
            || run_in_shell(example, sampled().directory.path(), dataset).code == expected
            || run_in_shell(example, analysis().directory.path(), dataset).code == expected
    };
    let fits = run.code == expected || (run.code == 3 && elsewhere());
    (!fits).then(|| format!("{}: `{line}` ends with {}: {}", example.place, run.code, run.stderr))
}

#[test]
fn every_example_runs() {
    let examples = examples();
    assert!(examples.len() > 40, "only {} examples were found", examples.len());
    for (start, ..) in EXCEPTIONS {
        assert!(examples.iter().any(|example| example.shown.line.starts_with(start)), "there is no example `{start}`");
    }
    let (with_output, others): (Vec<_>, Vec<_>) =
        examples.into_iter().partition(|example| !example.shown.output.is_empty());
    let examples: Vec<Example> = with_output.into_iter().chain(every(12, others)).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let traces = tempfile::tempdir().unwrap();
    for (file, _) in listing(&root.join("fixtures/two_nodes")) {
        let copy = traces.path().join(file.strip_prefix(root.join("fixtures/two_nodes")).unwrap());
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(&file, copy).unwrap();
    }
    // `check traces/rank0_results.db` names a file as rocprofv3 may have.
    fs::copy(root.join("fixtures/two_nodes/node0/4100_results.db"), traces.path().join("rank0_results.db")).unwrap();
    let place = tempfile::tempdir().unwrap();
    let dataset = place.path().join("dataset");
    succeed(&["convert", "fixtures/two_nodes", "-o", dataset.to_str().unwrap(), "-q"]);
    // Mail of an example goes nowhere.
    let mailer = place.path().join("tools/sendmail");
    fs::create_dir(mailer.parent().unwrap()).unwrap();
    fs::write(&mailer, "#!/bin/sh\ncat > /dev/null\n").unwrap();
    fs::set_permissions(&mailer, fs::Permissions::from_mode(0o755)).unwrap();
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, Into::into) {
            scope.spawn(|| {
                while let Some(example) = examples.get(next.fetch_add(1, Ordering::Relaxed)) {
                    wrong.lock().unwrap().extend(verdict(example, traces.path(), &dataset));
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn output_that_is_not_printed_is_stale() {
    let output = ["a  1", "…", "", "b  2"].map(str::to_owned).to_vec();
    let shown = ShownCommand { line: "wavesieve info traces/".to_owned(), output };
    let run = Run { code: 0, stdout: "a  1 \nb  3\n".to_owned(), stderr: "c\n".to_owned() };
    assert_eq!(stale(&shown, &run), ["b  2"]);
}
