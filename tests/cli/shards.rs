//! Conversions that several programs share: to the byte what one program writes, whatever happens to some of them.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::common::{Run, content, finish, listing, number, program, run, touch};
use crate::generated::generated;
use crate::waiting::soon;

/// Inputs, and an output that is converted in shards.
struct Work {
    directory: tempfile::TempDir,
    inputs: String,
}

impl Work {
    /// On a fixture as it is.
    fn on(fixture: &str) -> Self {
        Self { directory: tempfile::tempdir().unwrap(), inputs: format!("fixtures/{fixture}") }
    }

    /// On a copy of a fixture.
    fn on_copy(fixture: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(fixture);
        for (path, _) in listing(&source) {
            let target = directory.path().join("traces").join(path.strip_prefix(&source).unwrap());
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            fs::copy(path, target).unwrap();
        }
        let inputs = directory.path().join("traces").display().to_string();
        Self { directory, inputs }
    }

    /// On traces of the generator.
    fn on_generated(options: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let inputs = generated(options).display().to_string();
        Self { directory, inputs }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The first file of the inputs.
    fn first(&self) -> PathBuf {
        listing(Path::new(&self.inputs)).into_iter().map(|(path, _)| path).next().unwrap()
    }

    fn command(&self, output: &str, more: &[&str]) -> Command {
        let output = self.path(output);
        program(&self.words(output.to_str().unwrap(), more))
    }

    fn words<'a>(&'a self, output: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        [&["convert", &self.inputs, "-o", output], more].concat()
    }

    fn convert(&self, output: &str, more: &[&str]) -> Run {
        run(&self.words(self.path(output).to_str().unwrap(), more))
    }

    fn shard(&self, share: &str, more: &[&str]) -> Run {
        self.convert("dataset", &[&["--shard", share], more].concat())
    }

    /// Converts all of so many shards, the last first.
    fn shards(&self, of: usize, more: &[&str]) {
        for number in (1..=of).rev() {
            let run = self.shard(&format!("{number}/{of}"), more);
            assert_eq!(run.code, 0, "shard {number} of {of}: {}", run.stderr);
        }
    }

    /// Puts the shards together, and expects what one program writes, with the same exit code.
    fn expect_as_one(&self, more: &[&str]) {
        let finished = self.convert("dataset", &[&["--finish"], more].concat());
        let one = self.convert("one", more);
        assert_eq!(finished.code, one.code, "{}", finished.stderr);
        let (dataset, expected) = (content(&self.path("dataset")), content(&self.path("one")));
        let names = |files: &[(PathBuf, Vec<u8>)]| files.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>();
        assert_eq!(names(&dataset), names(&expected), "{} {more:?}", self.inputs);
        for ((path, found), (_, expected)) in dataset.iter().zip(&expected) {
            assert!(found == expected, "{} {more:?}: {} differs", self.inputs, path.display());
        }
        fs::remove_dir_all(self.path("one")).unwrap();
        self.expect_nothing_left();
    }

    fn expect_nothing_left(&self) {
        let names = fs::read_dir(self.directory.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let names: Vec<_> = names.filter(|name| name != "traces").collect();
        assert_eq!(names, ["dataset"]);
    }

    /// Expects that the shards are not put together, and why.
    fn expect_refused(&self, more: &[&str], said: &[&str]) {
        let refused = self.convert("dataset", &[&["--finish"], more].concat());
        assert_eq!(refused.code, 2, "{more:?}: {}", refused.stderr);
        for said in said {
            assert!(refused.stderr.contains(said), "{said}: {}", refused.stderr);
        }
        assert!(!self.path("dataset").exists(), "nothing is written");
    }
}

#[test]
fn shards_are_together_what_one_program_writes() {
    for (fixture, of) in [("two_nodes", 1), ("two_nodes", 3), ("two_nodes", 8), ("merged", 2), ("two_nodes_json", 2)] {
        let work = Work::on(fixture);
        work.shards(of, &[]);
        work.expect_as_one(&[]);
    }
    let work = Work::on("hostile");
    work.shards(2, &["--pack", "1"]);
    work.expect_as_one(&[]);
}

/// Tables over all processes are made of what each shard keeps of its own: collectives, and counter passes of one rank in two shards.
#[test]
fn tables_over_all_processes_are_made_in_the_end() {
    for (fixture, of) in [("planted", 4), ("two_nodes", 3), ("counters", 2)] {
        let work = Work::on(fixture);
        work.shards(of, &["--with", "all"]);
        work.expect_as_one(&["--with", "all"]);
    }
}

#[test]
fn filters_are_those_of_the_whole() {
    let filters: [&[&str]; 5] = [
        &["--kernel", "nccl"],
        &["--window", "10%:60%"],
        &["--rank", "1-2"],
        &["--rank", "77"],
        &["--kernel", "nothing_is_named_so"],
    ];
    for filter in filters {
        let work = Work::on("two_nodes");
        for number in 1..=3 {
            work.shard(&format!("{number}/3"), filter);
        }
        work.expect_as_one(filter);
    }
}

/// Eight shards, three of which are killed after they finished a rank, and started again.
#[test]
fn shards_that_are_killed_are_started_again() {
    let work = Work::on_generated(&["--ranks", "16", "--dispatches", "2000", "--regions", "4000"]);
    for number in 1..=8 {
        let share = format!("{number}/8");
        if number % 3 == 0 || number == 1 {
            let mut child = work.command("dataset", &["--shard", &share, "--jobs", "1"]);
            let child = child.stderr(Stdio::null()).spawn().unwrap();
            kill_after_a_rank(child, &work.path(".wavesieve-shards-dataset"), number);
            assert!(!work.path(".wavesieve-shards-dataset").join(format!("{number}-of-8")).exists());
            let said = work.shard(&share, &[]).stderr;
            assert!(said.contains("; 1 unchanged (reused), 1 converted"), "{said}");
        } else {
            assert_eq!(work.shard(&share, &[]).code, 0);
        }
    }
    let left = fs::read_dir(work.path(".wavesieve-shards-dataset")).unwrap().count();
    assert_eq!(left, 8, "what was killed is cleared away");
    work.expect_as_one(&[]);
}

fn kill_after_a_rank(mut child: Child, shards: &Path, number: usize) {
    let start = format!(".wavesieve-partial-{number}-of-8~");
    let is_note = |path: &Path| path.extension().is_some_and(|extension| extension == "json");
    let has_finished = || {
        let entries = fs::read_dir(shards).into_iter().flatten().flatten();
        let mut own = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&start));
        own.any(|own| {
            fs::read_dir(own.path().join("done")).into_iter().flatten().flatten().any(|note| is_note(&note.path()))
        })
    };
    assert!(soon(has_finished), "a rank is finished");
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9), "it ended before it was killed");
}

#[test]
fn two_programs_may_convert_the_same_shard() {
    let work = Work::on_generated(&["--ranks", "4", "--dispatches", "2000", "--regions", "4000"]);
    for share in ["1/2", "2/2"] {
        let start = || work.command("dataset", &["--shard", share, "-q"]).stderr(Stdio::piped()).spawn().unwrap();
        let all: Vec<Child> = (0..3).map(|_| start()).collect();
        for child in all {
            let ended = child.wait_with_output().unwrap();
            assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        }
    }
    work.expect_as_one(&[]);
}

#[test]
fn a_shard_that_is_there_is_left_as_it_is() {
    let work = Work::on_copy("two_nodes");
    work.shards(2, &[]);
    let manifest = work.path(".wavesieve-shards-dataset/1-of-2/manifest.json");
    let written = || fs::metadata(&manifest).unwrap().modified().unwrap();
    let before = written();
    let again = work.shard("1/2", &[]).stderr;
    assert!(again.contains("shard 1 of 2 of") && again.contains("is up to date: 2 processes"), "{again}");
    assert_eq!(before, written());
    // One of its ranks changes.
    touch(&work.first());
    let again = work.shard("1/2", &[]).stderr;
    assert!(again.contains("; 1 unchanged (reused), 1 converted"), "{again}");
    work.shard("2/2", &[]);
    // Neither shards nor what is left of them are inputs.
    assert_eq!(number("SELECT COUNT(*) FROM processes", work.path("").to_str().unwrap()), 4);
    work.expect_as_one(&[]);
    // As when a job is started again.
    let again = work.convert("dataset", &["--finish"]);
    assert!(again.code == 0 && again.stderr.contains("is up to date: 4 processes"), "{}", again.stderr);
    // An ordinary conversion goes on from there.
    let again = work.convert("dataset", &[]).stderr;
    assert!(again.contains("is up to date: 4 processes"), "{again}");
}

#[test]
fn missing_shards_are_named() {
    let work = Work::on("two_nodes");
    work.expect_refused(&[], &["has no shards"]);
    for number in [1, 3] {
        work.shard(&format!("{number}/4"), &[]);
    }
    work.expect_refused(&[], &["shards 2, 4 of 4 of", "are missing", "--partial"]);
    let partial = work.convert("dataset", &["--finish", "--partial"]);
    assert_eq!(partial.code, 5, "{}", partial.stderr);
    assert!(
        partial.stderr.contains("damaged: shards 2, 4 of 4: not converted; 2 of 4 processes"),
        "{}",
        partial.stderr
    );
    let dataset = work.path("dataset");
    let ranks = run(&["sql", "SELECT rank FROM processes ORDER BY rank", dataset.to_str().unwrap(), "-f", "csv"]);
    assert_eq!(ranks.code, 5, "who reads it learns what is missing: {}", ranks.stderr);
    assert_eq!(ranks.stdout, "rank\n0\n2\n");
    // The shards stay until all are there.
    work.shard("2/4", &[]);
    work.shard("4/4", &[]);
    work.expect_as_one(&[]);
}

#[test]
fn shards_of_other_settings_are_refused() {
    let work = Work::on("two_nodes");
    let other = work.path("traces.toml");
    fs::write(&other, "[[rule]]\ncategory = \"mine\"\ntokens = [\"mine\"]\n").unwrap();
    work.shard("1/2", &[]);
    work.shard("2/2", &["--domain", "hip"]);
    work.expect_refused(
        &[],
        &["shard 2 of 2 was converted with filters --domain hip, this command is without filters"],
    );
    work.expect_refused(&["--domain", "hip"], &["shard 1 of 2 was converted without filters"]);
    work.shard("2/2", &["--overwrite", "--with", "launches"]);
    work.expect_refused(&[], &["shard 2 of 2 was converted with --with launches, this command is without --with"]);
    work.shard("2/2", &["--overwrite", "--rank-from", "_(\\d+)"]);
    work.expect_refused(&[], &["with --rank-from _(\\d+), this command is without --rank-from"]);
    work.shard("2/2", &["--overwrite"]);
    let record = work.path(".wavesieve-shards-dataset/2-of-2/_shard.json");
    let text = fs::read_to_string(&record).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let older = text.replace(&format!("\"tool_version\":\"{version}\""), "\"tool_version\":\"0.0.9\"");
    assert_ne!(text, older);
    fs::write(&record, older).unwrap();
    work.expect_refused(&[], &["shard 2 of 2 was converted by version 0.0.9 (build ", "this command is version"]);
    work.shard("2/2", &["--overwrite", "--categories", other.to_str().unwrap()]);
    work.expect_refused(&[], &["shard 2 of 2 was converted with other category rules"]);
    fs::remove_file(other).unwrap();
    // A shard of another version is converted again.
    work.shard("2/2", &[]);
    work.expect_as_one(&[]);
}

#[test]
fn shards_of_other_inputs_are_refused() {
    let work = Work::on_copy("two_nodes");
    let first = work.first();
    let more = first.with_file_name("9999_results.db");
    work.shard("1/2", &[]);
    // A rank comes while shards are converted.
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/merged/merged.db"), &more).unwrap();
    work.shard("2/2", &[]);
    work.expect_refused(&[], &["different inputs (shard 1 of 2: 4 processes", "shard 2 of 2: "]);
    fs::remove_file(&more).unwrap();
    work.shards(2, &[]);
    fs::write(first.with_file_name("notes.txt"), "no trace").unwrap();
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/merged/merged.db"), &more).unwrap();
    work.expect_refused(&[], &["9999_results.db is in none of the shards"]);
    fs::remove_file(&more).unwrap();
    touch(&first);
    work.expect_refused(&[], &["4100_results.db changed after shard 1 of 2 was converted"]);
    work.shards(2, &[]);
    let output = work.path("dataset");
    let other = run(&["convert", "fixtures/merged", "-o", output.to_str().unwrap(), "--finish"]);
    assert!(other.code == 2 && other.stderr.contains("which is not among the inputs"), "{}", other.stderr);
    work.expect_as_one(&[]);
}

#[test]
fn only_one_division_is_finished() {
    let work = Work::on("two_nodes");
    work.shard("1/2", &[]);
    work.shard("3/4", &[]);
    work.expect_refused(&[], &["several divisions", "1 of 2, 1 of 4"]);
    work.shard("2/2", &[]);
    work.expect_as_one(&[]);
}

#[test]
fn a_dataset_of_something_else_is_replaced_only_when_asked() {
    let work = Work::on("two_nodes");
    let output = work.path("dataset");
    assert_eq!(run(&["convert", "fixtures/merged", "-o", output.to_str().unwrap()]).code, 0);
    let before = content(&output);
    work.shards(2, &[]);
    let refused = work.convert("dataset", &["--finish"]);
    assert!(refused.code == 2 && refused.stderr.contains("was converted from other inputs"), "{}", refused.stderr);
    assert!(content(&output) == before);
    work.expect_as_one(&["--overwrite"]);
}

#[test]
fn a_damaged_shard_is_named() {
    let work = Work::on("two_nodes");
    work.shards(2, &[]);
    let part = work.path(".wavesieve-shards-dataset/2-of-2/kernels/part-00000.parquet");
    let mut bytes = fs::read(&part).unwrap();
    bytes[100] ^= 1;
    fs::write(&part, &bytes).unwrap();
    let refused = work.convert("dataset", &["--finish"]);
    assert!(
        refused.code == 1 && refused.stderr.contains("2-of-2/kernels/part-00000.parquet changed"),
        "{}",
        refused.stderr
    );
    assert!(!work.path("dataset").exists());
    assert_eq!(work.shard("2/2", &["--overwrite"]).code, 0);
    work.expect_as_one(&[]);
}

#[test]
fn a_damaged_input_is_damaged_in_its_shard() {
    let work = Work::on_copy("two_nodes");
    let first = work.first();
    File::options().write(true).open(&first).unwrap().set_len(60_000).unwrap();
    for number in 1..=3 {
        let run = work.shard(&format!("{number}/3"), &[]);
        assert_eq!(run.code, 5, "what is not a trace any more belongs to no shard: {}", run.stderr);
    }
    work.expect_as_one(&[]);
    assert_eq!(work.convert("dataset", &["--finish"]).code, 5, "the damage is reported every time");
}

#[test]
fn launchers_state_the_shard() {
    let work = Work::on("two_nodes");
    for rank in ["0", "1"] {
        let mut command = without_launchers(work.command("dataset", &["--shard", "auto"]));
        command.env("SLURM_PROCID", rank).env("SLURM_NTASKS", "2");
        let run = finish(command);
        assert_eq!(run.code, 0, "{}", run.stderr);
    }
    work.expect_as_one(&[]);
    let mut command = without_launchers(work.command("dataset", &["--shard", "auto"]));
    command.env("PMI_RANK", "0");
    let run = finish(command);
    assert!(run.code == 2 && run.stderr.contains("PMI_RANK is set, but PMI_SIZE is not"), "{}", run.stderr);
}

/// Without what a launcher of the tests themselves states.
fn without_launchers(mut command: Command) -> Command {
    for (name, _) in std::env::vars_os() {
        let is_of_launcher = ["SLURM_", "OMPI_", "PMI_"].iter().any(|start| name.to_string_lossy().starts_with(start));
        if is_of_launcher {
            command.env_remove(name);
        }
    }
    command
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |work: &Work, more: &[&str], said: &str| {
        let run = work.convert("dataset", more);
        assert_eq!(run.code, 2, "{more:?}: {}", run.stderr);
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
        assert!(!work.path("dataset").exists() && !work.path(".wavesieve-shards-dataset").exists());
    };
    let work = Work::on("two_nodes");
    refused(&work, &["--shard", "1/2", "--to", "csv"], "--shard and --finish are about --to parquet");
    refused(&work, &["--finish", "--to", "pftrace"], "--shard and --finish are about --to parquet");
    refused(&work, &["--shard", "1/2", "--finish"], "--finish");
    refused(&work, &["--partial"], "--finish");
    for share in ["0/2", "3/2", "2", "x/y"] {
        refused(&work, &["--shard", share], "expected I/N with I from 1 to N, such as 3/8, or auto");
    }
    let joint = ["--shard", "1/2", "--with", "collective_kernels", "--kernel", "nccl"];
    refused(&work, &joint, "collective_kernels depends on all rows of all ranks");
    refused(&Work::on("layout_1"), &["--shard", "1/2"], "is a dataset, which --shard does not divide");
}
