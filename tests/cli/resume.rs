//! Conversions that are brought up to date or gone on with: as good as new ones, byte for byte.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::common::{Run, content, program, run, succeed, touch};
use crate::generated::generated_into;
use crate::waiting::soon;

/// A directory with copies of the ranks of a fixture, and places to convert them to.
struct Work {
    directory: tempfile::TempDir,
}

impl Work {
    fn with(files: &[&str]) -> Self {
        let work = Self { directory: tempfile::tempdir().unwrap() };
        files.iter().for_each(|file| work.add(file));
        work
    }

    fn ranks() -> Self {
        Self::with(&RANKS)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn add(&self, file: &str) {
        let target = self.path("traces").join(file.replace('/', "_"));
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(file), target).unwrap();
    }

    fn rank(&self, file: &str) -> PathBuf {
        self.path("traces").join(file.replace('/', "_"))
    }

    fn convert(&self, output: &str, more: &[&str]) -> Run {
        let (traces, output) = (self.path("traces"), self.path(output));
        run(&[&["convert", traces.to_str().unwrap(), "-o", output.to_str().unwrap()], more].concat())
    }

    /// Kills a conversion when its first rank is finished; returns the folder of what is finished.
    fn killed_after_a_rank(&self) -> PathBuf {
        let (traces, dataset) = (self.path("traces"), self.path("dataset"));
        let partial = self.path(".wavesieve-partial-dataset");
        let arguments = ["convert", traces.to_str().unwrap(), "-o", dataset.to_str().unwrap(), "--jobs", "1"];
        let mut child = program(&arguments).stderr(Stdio::null()).spawn().unwrap();
        assert!(soon(|| partial.join("done/0.json").exists()), "a rank is finished");
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9), "it ended before it was killed");
        partial
    }

    /// Converts and expects the same files with the same bytes as from a conversion to a new directory.
    fn expect_as_new(&self, said: &str, more: &[&str]) {
        let updated = self.convert("dataset", more);
        assert_eq!(updated.code, 0, "{}", updated.stderr);
        assert!(updated.stderr.contains(said), "{said}: {}", updated.stderr);
        assert_eq!(self.convert("new", more).code, 0);
        assert!(content(&self.path("dataset")) == content(&self.path("new")), "{said}: as converted anew");
        fs::remove_dir_all(self.path("new")).unwrap();
        self.expect_nothing_left();
    }

    fn expect_nothing_left(&self) {
        let names = fs::read_dir(self.directory.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        assert_eq!(names, ["dataset", "traces"]);
    }
}

const RANKS: [&str; 4] = [
    "two_nodes/node0/4100_results.db",
    "two_nodes/node0/4140_results.db",
    "two_nodes/node1/4100_results.db",
    "two_nodes/node1/4140_results.db",
];

#[test]
fn what_did_not_change_is_left_as_it_is() {
    let work = Work::ranks();
    assert_eq!(work.convert("dataset", &[]).code, 0);
    let written = |file: &str| fs::metadata(work.path("dataset").join(file)).unwrap().modified().unwrap();
    let before = (written("manifest.json"), written("kernels/part-00000.parquet"));
    let again = work.convert("dataset", &[]);
    assert!(again.stderr.contains("is up to date: 4 processes"), "{}", again.stderr);
    assert_eq!(before, (written("manifest.json"), written("kernels/part-00000.parquet")));
    work.expect_nothing_left();
    let overwritten = work.convert("dataset", &["--overwrite"]);
    assert!(overwritten.stderr.starts_with("wrote ") && !overwritten.stderr.contains("taken over"));
    work.expect_nothing_left();
}

#[test]
fn ranks_that_change_come_or_go() {
    let work = Work::with(&RANKS[..3]);
    for format in ["parquet", "csv"] {
        let to = &["--to", format][..];
        assert_eq!(work.convert("dataset", to).code, 0);
        touch(&work.rank(RANKS[1]));
        work.expect_as_new("; 2 unchanged (reused), 1 converted", to);
        work.add(RANKS[3]);
        work.expect_as_new("; 3 unchanged (reused), 1 converted", to);
        fs::remove_file(work.rank(RANKS[3])).unwrap();
        work.expect_as_new("; 3 unchanged (reused), 0 converted", to);
        // Another file under the same name.
        fs::copy(work.rank(RANKS[2]), work.rank(RANKS[0])).unwrap();
        fs::remove_file(work.rank(RANKS[2])).unwrap();
        work.expect_as_new("2 processes", to);
        fs::remove_dir_all(work.path("dataset")).unwrap();
        RANKS[..3].iter().for_each(|rank| work.add(rank));
    }
}

#[test]
fn a_part_that_is_damaged_is_made_again() {
    let work = Work::ranks();
    assert_eq!(work.convert("dataset", &[]).code, 0);
    fs::write(work.path("dataset/regions/part-00000.parquet"), "short").unwrap();
    work.expect_as_new("wrote ", &[]);
}

/// A part may hold another selection of ranks, and may have another size: row groups are copied as they are encoded.
#[test]
fn parts_of_another_size_are_put_together_of_the_same_row_groups() {
    let directory = tempfile::tempdir().unwrap();
    let databases = databases_in(directory.path(), &["--ranks", "3", "--dispatches", "50000", "--regions", "100000"]);
    let convert = |name: &str, more: &[&str]| {
        let output = directory.path().join(name);
        let said = succeed_with_notes(&[&["convert", &databases, "-o", output.to_str().unwrap()], more].concat());
        (content(&output), said)
    };
    let (one, _) = convert("dataset", &[]);
    let (many, said) = convert("dataset", &["--pack", "1"]);
    assert!(said.contains("; 3 unchanged (reused), 0 converted"), "{said}");
    assert!(many.len() > one.len(), "there are more parts");
    assert!(many == convert("new", &["--pack", "1"]).0, "as converted anew");
    let (again, said) = convert("dataset", &[]);
    assert!(said.contains("; 3 unchanged (reused), 0 converted"), "{said}");
    assert!(again == one, "and back");
    // One of the ranks changes: the parts before are what they were.
    let changed = fs::read_dir(directory.path().join("databases/node0")).unwrap().map(|entry| entry.unwrap().path());
    touch(&changed.max().unwrap());
    convert("dataset", &["--pack", "1"]);
    let (updated, said) = convert("dataset", &["--pack", "1"]);
    assert!(said.contains("is up to date"), "{said}");
    fs::remove_dir_all(directory.path().join("new")).unwrap();
    assert!(updated == convert("new", &["--pack", "1"]).0, "as converted anew");
}

/// Databases of the generator below a folder, which they may change; returns a pattern of them.
fn databases_in(folder: &Path, options: &[&str]) -> String {
    let folder = folder.join("databases");
    generated_into(&folder, options);
    folder.display().to_string()
}

fn succeed_with_notes(arguments: &[&str]) -> String {
    let run = run(arguments);
    assert_eq!(run.code, 0, "{}", run.stderr);
    run.stderr
}

#[test]
fn an_output_of_something_else_is_replaced_only_when_asked() {
    let work = Work::ranks();
    assert_eq!(work.convert("dataset", &[]).code, 0);
    let before = content(&work.path("dataset"));
    let refused = |run: Run, said: &str| {
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert!(run.stderr.contains(said) && run.stderr.contains("--overwrite"), "{}", run.stderr);
        assert!(content(&work.path("dataset")) == before);
        work.expect_nothing_left();
    };
    refused(work.convert("dataset", &["--domain", "hip"]), "other filters");
    refused(work.convert("dataset", &["--to", "csv"]), "another format");
    let dataset = work.path("dataset");
    let other = ["convert", "fixtures/merged", "-o", dataset.to_str().unwrap()];
    refused(run(&other), "other inputs");
    succeed(&[&other[..], &["--overwrite"]].concat());
    assert_eq!(work.convert("new", &["--domain", "hip"]).code, 0);
    assert_eq!(work.convert("dataset", &["--domain", "hip", "--overwrite"]).code, 0);
    assert!(content(&work.path("dataset")) == content(&work.path("new")));
}

#[test]
fn an_interrupted_conversion_is_gone_on_with() {
    let work = Work::ranks();
    let (traces, dataset) = (work.path("traces"), work.path("dataset"));
    let partial = work.killed_after_a_rank();
    assert!(partial.is_dir() && !dataset.exists(), "it was killed between the first rank and the last");
    // The partial output is neither found as an input nor a dataset, and the half-written file of a rank goes away.
    assert_eq!(run(&["info", work.path("").to_str().unwrap()]).stdout, succeed(&["info", traces.to_str().unwrap()]));
    fs::create_dir_all(partial.join("tables/kernels/rank=7")).unwrap();
    fs::write(partial.join("tables/kernels/rank=7/process-7.parquet"), "half").unwrap();
    let finished = fs::read_dir(partial.join("done")).unwrap().count();
    work.expect_as_new(&format!("; {finished} unchanged (reused), {} converted", 4 - finished), &[]);
}

/// A signal ends the program as its convention is, after it said how to go on; what is not worth going on with is removed.
#[test]
fn a_signal_is_answered_with_how_to_resume() {
    for (signal, number) in [("INT", 2), ("TERM", 15)] {
        for finished in [0, 1] {
            let work = Work::ranks();
            let (traces, dataset) = (work.path("traces"), work.path("dataset"));
            let partial = work.path(".wavesieve-partial-dataset");
            let arguments = ["convert", traces.to_str().unwrap(), "-o", dataset.to_str().unwrap(), "--jobs", "1", "-q"];
            let awaited = if finished == 0 { partial.join("tables") } else { partial.join("done/0.json") };
            let mut child = program(&arguments).stderr(Stdio::piped()).spawn().unwrap();
            assert!(soon(|| awaited.exists()), "it has begun");
            let id = child.id().to_string();
            assert!(std::process::Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            assert_eq!(child.wait().unwrap().signal(), Some(number), "{said}");
            assert!(!dataset.exists());
            let kept = fs::read_dir(partial.join("done")).map_or(0, |notes| notes.flatten().count());
            assert_eq!(partial.exists(), kept > 0, "nothing else is left");
            assert!(kept >= finished);
            let expected = match kept {
                0 => "interrupted before a process was finished; run the same command again to start over\n".to_owned(),
                1 => "interrupted: 1 finished process is kept; run the same command again to resume\n".to_owned(),
                _ => format!("interrupted: {kept} finished processes are kept; run the same command again to resume\n"),
            };
            assert_eq!(said, expected);
            let told = if kept == 0 { "wrote ".to_owned() } else { format!("; {kept} unchanged (reused)") };
            work.expect_as_new(&told, &[]);
        }
    }
}

#[test]
fn two_conversions_to_the_same_output_do_not_mix() {
    let work = Work::ranks();
    let partial = work.path(".wavesieve-partial-dataset");
    fs::create_dir_all(&partial).unwrap();
    let lock = File::create(partial.join("lock")).unwrap();
    lock.lock().unwrap();
    let second = work.convert("dataset", &[]);
    assert_eq!(second.code, 1);
    assert!(second.stderr.contains("another conversion writes"), "{}", second.stderr);
    drop(lock);
    work.expect_as_new("wrote ", &[]);
}

#[test]
fn a_damaged_rank_is_read_again_every_time() {
    // One that is found when its file is opened, and one that is found when a table is read.
    let compressed = RANKS.map(|rank| rank.replace("two_nodes", "two_nodes_json").replace(".db", ".json.gz"));
    let cut = |bytes: &mut Vec<u8>| bytes.truncate(bytes.len() * 3 / 5);
    expect_read_again(&compressed.each_ref().map(String::as_str), cut);
    let overwritten = |bytes: &mut Vec<u8>| {
        let page = bytes.len() * 7 / 10 / 4096 * 4096;
        bytes[page..page + 4096].fill(0xff);
    };
    expect_read_again(&RANKS, overwritten);
}

fn expect_read_again(ranks: &[&str], damage: impl Fn(&mut Vec<u8>)) {
    let work = Work::with(ranks);
    let file = work.rank(ranks[1]);
    let whole = fs::read(&file).unwrap();
    let mut bytes = whole.clone();
    damage(&mut bytes);
    fs::write(&file, &bytes).unwrap();
    let first = work.convert("dataset", &[]);
    let before = content(&work.path("dataset"));
    let second = work.convert("dataset", &[]);
    assert_eq!((first.code, second.code), (5, 5), "{}", second.stderr);
    assert!(second.stderr.contains("; 3 unchanged (reused), 1 converted"), "{}", second.stderr);
    let damage = |run: &Run| run.stderr.lines().filter(|line| line.starts_with("damaged")).count();
    assert!(damage(&first) > 0, "{}", first.stderr);
    assert_eq!(damage(&first), damage(&second));
    assert!(before == content(&work.path("dataset")));
    fs::write(&file, &whole).unwrap();
    work.expect_as_new("; 3 unchanged (reused), 1 converted", &[]);
}

#[test]
fn an_output_among_the_inputs_is_no_input() {
    let work = Work::ranks();
    assert_eq!(work.convert("dataset", &[]).code, 0);
    for said in ["wrote ", "is up to date"] {
        let inside = work.convert("traces/inside", &[]);
        assert!(inside.code == 0 && inside.stderr.contains(said), "{}", inside.stderr);
    }
    assert!(content(&work.path("dataset")) == content(&work.path("traces/inside")));
}

#[test]
fn limits_change_nothing_but_the_time() {
    let work = Work::ranks();
    assert_eq!(work.convert("dataset", &[]).code, 0);
    let expected = content(&work.path("dataset"));
    for limits in [["--jobs", "1"], ["--jobs", "7"], ["--memory-limit", "1K"], ["--memory-limit", "90%"]] {
        let output = limits.concat();
        assert_eq!(work.convert(&output, &limits).code, 0, "{limits:?}");
        assert!(content(&work.path(&output)) == expected, "{limits:?}");
    }
    assert_eq!(work.convert("wrong", &["--memory-limit", "much"]).code, 2);
}

/// Output of an interrupted conversion is compared with its sums before it is reused.
#[test]
fn a_finished_rank_whose_files_changed_is_converted_again() {
    let work = Work::ranks();
    let partial = work.killed_after_a_rank();
    let finished = fs::read_dir(partial.join("done")).unwrap().count();
    let part = partial.join("tables/kernels/rank=0/process-0.parquet");
    let mut content = fs::read(&part).unwrap();
    content[600] ^= 1;
    fs::write(&part, content).unwrap();
    let reused = finished - 1;
    let said = if reused == 0 { "wrote ".to_owned() } else { format!("; {reused} unchanged (reused)") };
    work.expect_as_new(&said, &[]);
}

/// A dataset that cannot be read is still one of its inputs, and its rows are converted again.
#[test]
fn a_dataset_whose_manifest_is_lost_is_not_replaced_by_others() {
    let work = Work::ranks();
    assert_eq!(work.convert("dataset", &[]).code, 0);
    let dataset = work.path("dataset");
    fs::remove_file(dataset.join("_processes.json.zst")).unwrap();
    let other = run(&["convert", "fixtures/merged", "-o", dataset.to_str().unwrap()]);
    assert!(other.code == 2 && other.stderr.contains("other inputs"), "{} {}", other.code, other.stderr);
    work.expect_as_new("wrote ", &[]);
    // One of layout 1 is converted again as a whole.
    let text = fs::read_to_string(dataset.join("manifest.json")).unwrap();
    let older = r#"{"format":"wavesieve-dataset","layout_version":1,"categories_hash":"","damage":[],"processes":[]}"#;
    assert!(!text.is_empty());
    fs::write(dataset.join("manifest.json"), older).unwrap();
    work.expect_as_new("wrote ", &[]);
}

#[test]
fn a_changed_footer_is_noticed_before_anything_is_taken_over() {
    let work = Work::ranks();
    assert_eq!(work.convert("dataset", &[]).code, 0);
    let part = work.path("dataset/kernels/part-00000.parquet");
    let mut content = fs::read(&part).unwrap();
    let at = content.len() - 100;
    content[at] ^= 1;
    fs::write(&part, content).unwrap();
    work.expect_as_new("wrote ", &[]);
}
