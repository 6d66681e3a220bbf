//! Every example of the help texts and the documents runs.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{listing, program, succeed};
use crate::dialects::databases::schema_3;

/// Exit codes other than 0 that an example may have, with the reason.
const EXCEPTIONS: &[(&str, i32, &str)] = &[
    ("wavesieve check ", 4, "the fixture has anomalies, and finding them is what the verb is for"),
    ("wavesieve table trace_health ", 4, "as check"),
    ("wavesieve analyze traces/ --fail-on ", 4, "the fixture has findings, and failing on them is what is asked for"),
    ("wavesieve analyze traces/ --set ", 4, "as before"),
    ("wavesieve table iteration", 3, "the traces are too short to repeat themselves"),
    ("wavesieve table critical_path_by_iteration", 3, "the traces are too short to repeat themselves"),
];

/// Traces for queries about what the usual ones do not hold.
const OTHER_TRACES: &[&str] =
    &["fixtures/counters", "fixtures/compute", "fixtures/merged", "fixtures/hostile", "fixtures/thread_trace"];

/// An example and where it stands.
struct Example {
    place: String,
    line: String,
}

/// Commands of a text: lines that begin with `wavesieve `, after a prompt or an assignment or without, with the lines
/// that an open quote adds.
fn commands(text: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        let line = line.trim();
        let start = line.strip_prefix("$ ").unwrap_or(line);
        if open && let Some(command) = commands.last_mut() {
            command.push(' ');
            command.push_str(line);
        } else if start.split(' ').find(|word| !word.starts_with("WAVESIEVE_")) == Some("wavesieve")
            && start.contains(' ')
        {
            commands.push(start.to_owned());
        } else {
            continue;
        }
        open = commands.last().is_some_and(|command| is_open(command));
    }
    commands
}

fn is_open(command: &str) -> bool {
    let mut quote = None;
    for character in command.chars().filter(|character| matches!(character, '"' | '\'')) {
        match quote {
            None => quote = Some(character),
            Some(open) if open == character => quote = None,
            Some(_) => {}
        }
    }
    quote.is_some()
}

/// Code blocks of Markdown: fenced, or indented by four.
fn code(markdown: &str) -> String {
    let mut fenced: Option<String> = None;
    let mut lines = Vec::new();
    for line in markdown.lines() {
        if let Some(language) = line.strip_prefix("```") {
            fenced = if fenced.is_some() { None } else { Some(language.to_owned()) };
        } else if fenced.as_ref().is_some_and(|language| matches!(language.as_str(), "sh" | "" | "console"))
            || (fenced.is_none() && line.starts_with("    "))
        {
            lines.push(line);
        }
    }
    lines.join("\n")
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
    let mut add = |place: &str, commands: Vec<String>| {
        examples.extend(commands.into_iter().map(|line| Example { place: place.to_owned(), line }));
    };
    for help in helps() {
        let words: Vec<&str> = help.iter().map(String::as_str).collect();
        let place = format!("wavesieve {} --help", help.join(" "));
        let text = succeed(&[&words[..], &["--help"]].concat());
        // The usage above the options is none.
        let examples = text.split_once("Examples:").map(|(_, examples)| examples).unwrap_or_default();
        let commands = commands(examples);
        assert!((2..=4).contains(&commands.len()), "{place} ends with 2 to 4 examples, not {commands:?}");
        add(&place, commands);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = listing(&root.join("docs/verbs")).into_iter().map(|(path, _)| path);
    for page in pages.chain([root.join("README.md")]) {
        add(&page.display().to_string(), commands(&code(&fs::read_to_string(&page).unwrap())));
    }
    examples.sort_by(|a, b| a.line.cmp(&b.line));
    examples.dedup_by(|a, b| a.line == b.line);
    examples
}

/// Runs an example in a directory of its own, in which the traces, the dataset, the fixtures and a statement have their names.
fn code_of(line: &str, traces: &Path, dataset: &Path) -> (i32, String) {
    let directory = tempfile::tempdir().unwrap();
    let link = |target: &Path, name: &str| std::os::unix::fs::symlink(target, directory.path().join(name)).unwrap();
    link(traces, "traces");
    link(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures"), "fixtures");
    fs::write(directory.path().join("gaps.sql"), "SELECT COUNT(*) FROM idle_gaps;\n").unwrap();
    if !line.contains("-o dataset") {
        link(dataset, "dataset");
    }
    let mut shell = Command::new("bash");
    let binary = Path::new(env!("CARGO_BIN_EXE_wavesieve")).parent().unwrap().display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    for (name, value) in program(&[]).get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let output =
        shell.arg("-c").arg(line).current_dir(directory.path()).env("PATH", format!("{binary}:{path}")).output();
    let output = output.unwrap();
    (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn verdict(example: &Example, traces: &Path, dataset: &Path) -> Option<String> {
    let allowed = |code| {
        code == 0
            || EXCEPTIONS.iter().any(|(start, exception, _)| example.line.starts_with(start) && code == *exception)
    };
    let (code, said) = code_of(&example.line, traces, dataset);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sampled = || schema_3("3.0.0", &[include_str!("quality/clocks.sql")]);
    let elsewhere = || {
        OTHER_TRACES.iter().any(|traces| allowed(code_of(&example.line, &root.join(traces), dataset).0))
            || allowed(code_of(&example.line, sampled().directory.path(), dataset).0)
    };
    let fits = allowed(code) || (code == 3 && elsewhere());
    (!fits).then(|| format!("{}: `{}` ends with {code}: {said}", example.place, example.line))
}

#[test]
fn every_example_runs() {
    let examples = examples();
    assert!(examples.len() > 40, "only {} examples were found", examples.len());
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
