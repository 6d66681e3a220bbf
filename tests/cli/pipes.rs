//! Pipes, devices and files with holes under every name that the program opens by itself: nothing is waited for, and no run reads
//! what has no end.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::cases::every;
use crate::common::{content, listing, program, succeed};
use crate::damaged_inputs::{OTHER, Place};

/// A run that is waiting for something does not end before.
const LIMIT: Duration = Duration::from_secs(30);
/// More than any memory, and nothing on disk.
const HOLE: u64 = 1 << 40;

/// Puts something in the place of a file.
type Put = fn(&Path);

/// Each with its name.
const STRANGERS: [(&str, Put); 3] = [
    ("a pipe", |path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success())),
    ("a device", |path| symlink("/dev/zero", path).unwrap()),
    ("a hole", |path| File::create(path).unwrap().set_len(HOLE).unwrap()),
];

/// Runs the program to its end, which must come by itself.
fn code(words: &[&str], folder: Option<&Path>) -> i32 {
    let mut command = program(words);
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    loop {
        if let Some(ended) = child.try_wait().unwrap() {
            return ended.code().unwrap_or_else(|| panic!("{words:?}: {ended}"));
        }
        if start.elapsed() > LIMIT {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{words:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Puts strangers in the place of each file of a folder, one at a time, and runs verbs.
fn replace_each(folder: &Path, files: impl Iterator<Item = PathBuf>, runs: &[Vec<&str>], from: Option<&Path>) -> usize {
    let mut replaced = 0;
    for name in files {
        let path = folder.join(&name);
        let aside = folder.with_extension("aside");
        fs::rename(&path, &aside).unwrap();
        for (what, put) in STRANGERS {
            put(&path);
            for words in runs {
                let code = code(words, from);
                assert!(matches!(code, 0 | 2 | 3 | 4 | 5), "{what} at {}: {words:?} gave {code}", name.display());
            }
            fs::remove_file(&path).unwrap();
        }
        fs::rename(&aside, &path).unwrap();
        replaced += 1;
    }
    replaced
}

fn names(folder: &Path) -> Vec<PathBuf> {
    content(folder).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn files_of_datasets_are_regular() {
    let place = Place::dataset();
    let (folder, input, output) = (place.at("dataset"), place.input(), place.output("again"));
    let dataset = folder.display().to_string();
    let runs = [
        vec!["check", "-q", &*input],
        vec!["convert", "-q", "fixtures/two_nodes", "-o", &dataset],
        vec!["convert", "-q", &input, "-o", &output, "--overwrite"],
    ];
    // All files next to the tables, and some of the others.
    let (beside, of_tables): (Vec<_>, Vec<_>) =
        names(&folder).into_iter().partition(|name| name.components().count() == 1);
    assert!(beside.len() > 3, "{beside:?}");
    assert!(replace_each(&folder, beside.into_iter().chain(every(40, of_tables)), &runs[..2], None) > 5);
    assert!(replace_each(&folder, [PathBuf::from("manifest.json")].into_iter(), &runs[2..], None) == 1);
}

#[test]
fn files_next_to_inputs_are_regular() {
    let place = Place::empty();
    for (name, bytes) in content(Path::new("fixtures/compute/node0/9100")) {
        place.write(&format!("work/{}", name.display()), bytes);
    }
    let input = place.input();
    let runs = [vec!["check", "-q", &*input], vec!["info", "-q", &input]];
    let names_of_workload = names(&place.at("work"));
    assert!(names_of_workload.iter().any(|name| name.ends_with("sysinfo.csv")));
    replace_each(&place.at("work"), names_of_workload.into_iter(), &runs, None);
    // Logs of databases, and an index of some.
    let place = Place::empty();
    for name in ["rank1_results.db", "rank1_results.db-wal", "rank1_results.db-journal"] {
        place.write(name, fs::read(OTHER).unwrap());
    }
    place.write("index.yaml", "");
    let input = place.input();
    let runs = [vec!["check", "-q", &*input], vec!["info", "-q", &input]];
    assert_eq!(replace_each(&place.at(""), names(&place.at("")).into_iter(), &runs, None), 4);
}

#[test]
fn entries_of_the_cache_are_regular() {
    let place = Place::new();
    let cache = place.output("cache");
    let input = place.input();
    let words = vec!["sql", "SELECT COUNT(*) AS n FROM kernels", &*input, "--cache", &cache, "-q"];
    succeed(&words);
    let kept = PathBuf::from(&cache);
    assert!(names(&kept).iter().any(|name| name.ends_with("entry.json")));
    replace_each(&kept, every(3, names(&kept)), &[words], None);
}

#[test]
fn files_of_captures_are_regular() {
    let place = Place::empty();
    for (name, bytes) in content(Path::new("fixtures/capture")) {
        place.write(&name.display().to_string(), bytes);
    }
    let folder = place.at("");
    let shown = folder.display().to_string();
    let runs = [vec!["lab", "replay", &*shown, "--inspect"]];
    for name in names(&folder) {
        let path = folder.join(&name);
        let aside = folder.with_extension("aside");
        fs::rename(&path, &aside).unwrap();
        for (_, put) in STRANGERS {
            put(&path);
            for words in &runs {
                code(words, None);
            }
            fs::remove_file(&path).unwrap();
        }
        fs::rename(&aside, &path).unwrap();
    }
}

#[test]
fn settings_of_a_folder_and_earlier_reports_are_regular() {
    let place = Place::new();
    let input = place.input();
    for (_, put) in STRANGERS {
        let folder = tempfile::tempdir().unwrap();
        put(&folder.path().join("wavesieve.toml"));
        let code = code(&["info", "-q", &input], Some(folder.path()));
        assert!(matches!(code, 0 | 2), "{code}");
    }
    let reports = place.output("reports");
    let words = ["report", &*input, "--group-by", "folder", "-d", &reports, "-q"];
    for (what, put) in STRANGERS {
        let _ = fs::remove_dir_all(&reports);
        fs::create_dir(&reports).unwrap();
        put(&Path::new(&reports).join("index.json"));
        assert_eq!(code(&words, None), 2, "{what} is no earlier report");
    }
}

/// Files in which something is opened that the user names, and may be a pipe, or that the program has just written itself.
const NAMED: [(&str, &str); 22] = [
    ("src/cli/commands/lab/replay.rs", "the task of a process that this program starts"),
    ("src/cli/commands/plan.rs", "--counters"),
    ("src/cli/commands/sql.rs", "--file"),
    ("src/cli/options/document_arguments.rs", "--rules"),
    ("src/cli/options/input.rs", "files of options"),
    ("src/cli/output/mail.rs", "documents that were just written, and files of the system"),
    ("src/cli/output/pdf.rs", "a file that a browser has just printed"),
    ("src/cli/signals.rs", "a file of the system"),
    ("src/cli/thread_count.rs", "files of the system"),
    ("crates/export/src/atomic.rs", "what it has just written"),
    ("crates/input/src/common/left_over.rs", "temporary names of this program, which were looked at before"),
    ("crates/input/src/system_memory.rs", "files of the system"),
    ("crates/lab/src/interactive/face/answers.rs", "--answers"),
    ("crates/lab/src/interactive/face/events.rs", "--events, which was just opened for writing"),
    ("crates/lab/src/interactive/machine/editing.rs", "a patch that the user names"),
    ("crates/lab/src/interactive/programs/process_group.rs", "files of the system"),
    ("crates/lab/src/autotune/space_file.rs", "--space"),
    ("crates/lab/src/optimize/driver.rs", "a source file that the user names"),
    ("src/library/options.rs", "files of options"),
    ("crates/agent/src/llm/guide.rs", "--guide"),
    ("crates/agent/src/llm/payload/known.rs", "a file of the system"),
    ("crates/view/src/serve.rs", "random bytes of the system, for a token"),
];
/// The same of requests to models.
const NAMED_FOR_MODELS: [(&str, &str); 2] = [
    ("crates/agent/src/llm/redaction/rules.rs", "--redact"),
    ("crates/agent/src/llm/transport/http.rs", "a certificate that the user names"),
];

/// The code of a file without its tests.
fn code_of(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    code.split("#[cfg(all(test").next().unwrap_or_default().to_owned()
}

#[test]
fn what_the_program_finds_by_itself_is_opened_in_one_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_test = |name: &str| {
        name.contains("tests") || ["properties.rs", "agreement.rs", "build.rs"].iter().any(|end| name.ends_with(end))
    };
    let mut listed = Vec::new();
    for (path, _) in ["src", "crates"].into_iter().flat_map(|part| listing(&root.join(part))) {
        let name = path.strip_prefix(root).unwrap().display().to_string();
        if !name.ends_with(".rs") || is_test(&name) {
            continue;
        }
        let code = code_of(&path);
        let words = ["File::open(", "fs::read(", "fs::read_to_string("];
        let opens = words.iter().flat_map(|word| code.match_indices(word)).filter(|(at, word)| {
            // `DatabaseFile::open` is another function.
            !word.starts_with("File") || !code.split_at(*at).0.ends_with(|before: char| before.is_alphanumeric())
        });
        if opens.count() == 0 {
            continue;
        }
        let all = NAMED.iter().chain(&NAMED_FOR_MODELS);
        assert!(
            all.map(|(file, _)| *file).any(|file| file == name),
            "{name} opens a file by itself: use wavesieve_files::regular, or list here why the user names it"
        );
        listed.push(name);
    }
    for (file, why) in NAMED.iter().chain(&NAMED_FOR_MODELS) {
        assert!(listed.iter().any(|name| name == file), "{file} ({why}) opens nothing any more");
    }
}

/// One place calls git, with settings that run nothing of a repository.
#[test]
fn nothing_else_calls_git() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_test =
        |path: &Path| path.components().any(|part| ["tests", "tests.rs"].iter().any(|name| part.as_os_str() == *name));
    let mut found = Vec::new();
    for (path, _) in ["src", "crates"].into_iter().flat_map(|part| listing(&root.join(part))) {
        let path = path.strip_prefix(root).unwrap();
        if path.extension().is_some_and(|extension| extension == "rs")
            && !is_test(path)
            && code_of(path).contains("\"git\"")
        {
            found.push(path.display().to_string());
        }
    }
    found.sort();
    // The second only prints what people can run.
    assert_eq!(found, ["crates/lab/src/interactive/checkpoints/git.rs", "src/cli/commands/lab/optimize.rs"]);
    let printed = code_of(Path::new("src/cli/commands/lab/optimize.rs"));
    assert!(printed.contains("[\"git\", \"-C\"") && printed.matches("\"git\"").count() == 1);
}
