//! `lab replay`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::capture_paths::{check_capture, check_directory, check_new, check_readable};
use super::protected::refuse_input;
use crate::cli::exit::{DONE, EXCEEDED, Failure, NO_DATA, PARTIAL, UNEXPECTED, USAGE, refuse};
use crate::cli::options::global::GlobalArguments;
use crate::cli::output::delivery::{check_file, format_of, print_written};
use crate::cli::output::messages;
use wavesieve_export::atomic::write_file;
use wavesieve_export::target::resolved;
use wavesieve_lab::replay::compare::Tolerances;
use wavesieve_lab::replay::{
    Inspection, Mode, Outcome, Request, Status, Supervision, answer_path, inspect, replay, text, text_of_inspection,
    work,
};

/// The version of the JSON output.
const SCHEMA_VERSION: &str = "1.0";
/// The value of `--expect` for the captured code.
const ORIGINAL: &str = "original";
/// Default number of dispatches to measure.
const ITERATIONS: u32 = 10;

/// Form of the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ReplayFormat {
    /// For people
    #[default]
    Text,
    /// For scripts, by the schema `lab-replay`
    Json,
}

#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Reserves the recorded addresses, restores the memory, and runs the kernel again: as it was captured, or with --hsaco as another compiler or another source made it. Reads captures of wavesieve, rocm-perf-lab and kerncap. The HSA runtime is loaded when it is needed, in a process of its own.

Memory and variables after the last dispatch are compared byte for byte, or with --tolerance by the type of its elements: f32 allows 1e-8 + 1e-5 of the expected value, f32:1e-3:1e-6 sets both parts (relative, absolute), and 0x7f0000000000=f16 is for the region at an address. --expect original runs the captured code first and expects the same of --hsaco.

Exit codes: 0 it ran, and memory is as expected; 1 it failed, crashed or took too long; 2 an address is taken, or the command line is wrong; 3 there is no HSA runtime or no GPU for this code; 4 memory differs; 5 what was compared is as expected, but not all could be compared, or with --inspect, a capture is incomplete. Of several captures, the code of the first that did not succeed.

Examples:
  wavesieve lab replay fixtures/capture --inspect
  wavesieve lab replay fixtures/capture --inspect -f json"
)]
pub(super) struct ReplayArguments {
    /// Captures: directories with dispatch.json
    #[arg(value_name = "CAPTURE", required_unless_present = "worker")]
    captures: Vec<PathBuf>,
    /// Only reserve the recorded addresses, and report which are taken
    #[arg(long, conflicts_with_all = ["inspect", "hsaco", "expect", "save"], help_heading = "Replay")]
    check_addresses: bool,
    /// Only read the files, compare their hashes, and report what they hold; needs no GPU
    #[arg(long, conflicts_with_all = ["hsaco", "expect", "save"], help_heading = "Replay")]
    inspect: bool,
    /// Another code object for the kernel, with the same interface; not a bundle
    #[arg(long, value_name = "FILE", help_heading = "Replay")]
    hsaco: Option<PathBuf>,
    /// Dispatches to measure
    #[arg(short = 'n', long, value_name = "N", default_value_t = ITERATIONS, help_heading = "Replay",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    iterations: u32,
    /// Dispatches before them
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(..=1_000_000),
          help_heading = "Replay")]
    warm_up: u32,
    /// Let each measured dispatch find what the one before left, instead of restoring memory
    #[arg(long, visible_alias = "no-recopy", help_heading = "Replay")]
    stateful: bool,
    /// Take memory that was not captured for zeros
    #[arg(long, help_heading = "Replay")]
    allow_missing: bool,
    /// Expected memory after the last dispatch: a capture, a directory of --save, or `original`
    #[arg(long, value_name = "DIR", conflicts_with = "inspect", help_heading = "Comparison")]
    expect: Option<PathBuf>,
    /// Differences to allow, by element type: [ADDRESS=]TYPE[:RELATIVE[:ABSOLUTE]], several with commas
    #[arg(long, value_name = "TYPES", requires = "expect", help_heading = "Comparison")]
    tolerance: Option<Tolerances>,
    /// New directory for the memory and variables after the last dispatch
    #[arg(long, value_name = "DIR", help_heading = "Comparison")]
    save: Option<PathBuf>,
    /// HSA runtime: libhsa-runtime64.so.1, or the directory of ROCm [default: $ROCM_PATH, /opt/rocm, then the loader's]
    #[arg(long, value_name = "PATH", help_heading = "Runtime")]
    runtime: Option<PathBuf>,
    /// Number of the GPU
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Runtime")]
    gpu: usize,
    /// Variable for the process that replays
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable, help_heading = "Runtime")]
    env: Vec<(String, String)>,
    /// Seconds that a replay may take
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400),
          help_heading = "Runtime")]
    time_limit: u64,
    /// Processes to try when an address is taken, each with another layout
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100),
          help_heading = "Runtime")]
    attempts: u32,
    /// Format
    #[arg(short, long, value_enum, help_heading = "Output")]
    format: Option<ReplayFormat>,
    /// File instead of standard output; .json means the format json
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Replay in this process what a file asks for
    #[arg(long, hide = true, value_name = "FILE")]
    worker: Option<PathBuf>,
}

/// The document that `-f json` writes.
#[derive(Serialize)]
struct Document<'a, T> {
    schema_version: &'a str,
    exit_code: u8,
    replays: &'a [T],
}

pub(super) fn run(arguments: &ReplayArguments, global: &GlobalArguments) -> Result<u8, Failure> {
    if let Some(task) = &arguments.worker {
        return run_task(task);
    }
    arguments.format()?;
    if arguments.captures.len() > 1 && (arguments.save.is_some() || arguments.expects_directory()) {
        refuse!("--save and --expect DIR are for one capture; run the command for each, or use --expect original");
    }
    if arguments.expect.as_deref() == Some(Path::new(ORIGINAL)) && arguments.hsaco.is_none() {
        refuse!("--expect original compares the code of --hsaco with the captured; add --hsaco");
    }
    arguments.check_paths()?;
    if arguments.inspect {
        let inspected: Vec<_> = arguments.captures.iter().map(|path| inspect(path, global.threads())).collect();
        let code = |inspected: &Inspection| match (&inspected.error, inspected.is_incomplete()) {
            (Some(_), _) => UNEXPECTED,
            (None, true) => PARTIAL,
            (None, false) => DONE,
        };
        let code = inspected.iter().map(code).find(|code| *code != DONE).unwrap_or(DONE);
        let texts = inspected.iter().map(text_of_inspection).collect();
        return arguments.deliver(&inspected, texts, code, global);
    }
    let mut outcomes = Vec::new();
    for capture in &arguments.captures {
        let outcome = arguments.replay(capture, global)?;
        if !global.quiet {
            outcome.notes.iter().for_each(|note| messages::print_note(format_args!("note: {note}")));
        }
        outcomes.push(outcome);
    }
    let code = outcomes.iter().map(|outcome| exit_code(outcome.status)).find(|code| *code != DONE).unwrap_or(DONE);
    let texts = outcomes.iter().map(text).collect();
    arguments.deliver(&outcomes, texts, code, global)
}

fn exit_code(status: Status) -> u8 {
    match status {
        Status::Ok => DONE,
        Status::Failed => UNEXPECTED,
        Status::Taken => USAGE,
        Status::Unsupported => NO_DATA,
        Status::Differs => EXCEEDED,
        Status::Partial => PARTIAL,
    }
}

/// Replays in this process; writes the answer next to the task, completely or not at all.
fn run_task(task: &Path) -> Result<u8, Failure> {
    let named = || task.display().to_string();
    let bytes = fs::read(task).with_context(named)?;
    let request: Request = serde_json::from_slice(&bytes).with_context(named)?;
    let mut written = Ok(());
    work(&request, |outcome| {
        written = write_file(&answer_path(task), |out| Ok(serde_json::to_writer(out, outcome)?));
    });
    written?;
    Ok(DONE)
}

impl ReplayArguments {
    /// Rejects unusable paths, and outputs that would replace inputs, before anything runs.
    fn check_paths(&self) -> Result<(), Failure> {
        self.captures.iter().try_for_each(|capture| check_capture(capture))?;
        if let Some(hsaco) = &self.hsaco {
            check_readable(hsaco, "--hsaco")?;
        }
        let expected = self.expect.as_deref().filter(|_| self.expects_directory());
        if let Some(expected) = expected {
            check_directory(expected, "--expect", "name a capture, a directory of --save, or `original`")?;
        }
        let runtime = self.runtime.as_deref().filter(|runtime| runtime.is_file());
        let inputs = || {
            let captures = self.captures.iter().map(PathBuf::as_path);
            captures.chain(self.hsaco.as_deref()).chain(expected).chain(runtime)
        };
        if let Some(save) = &self.save {
            refuse_input(save, inputs())?;
            check_new(save, "--save")?;
        }
        if let Some(output) = &self.output {
            refuse_input(output, inputs())?;
            if self.save.as_deref().is_some_and(|save| resolved(output).starts_with(resolved(save))) {
                let shown = output.display();
                refuse!("{shown} is the place of --save; name another for -o");
            }
            check_file(output)?;
        }
        Ok(())
    }

    fn format(&self) -> Result<ReplayFormat, Failure> {
        let formats = [("txt", ReplayFormat::Text), ("json", ReplayFormat::Json)];
        format_of(self.format, self.output.as_deref(), ReplayFormat::Text, "replays", &formats)
    }

    fn expects_directory(&self) -> bool {
        self.expect.as_deref().is_some_and(|path| path != Path::new(ORIGINAL))
    }

    /// Replays a capture, and before it the captured code if that is expected.
    fn replay(&self, capture: &Path, global: &GlobalArguments) -> Result<Outcome, Failure> {
        let request = Request {
            capture: capture.to_owned(),
            mode: if self.check_addresses { Mode::Addresses } else { Mode::Full },
            hsaco: self.hsaco.clone(),
            runtime: self.runtime.clone(),
            gpu: self.gpu,
            iterations: self.iterations,
            warm_up: self.warm_up,
            is_stateful: self.stateful,
            save: self.save.clone(),
            expect: self.expect.clone(),
            tolerances: self.tolerance.clone().unwrap_or_default(),
            allows_missing: self.allow_missing,
            threads: global.threads(),
        };
        if self.expect.as_deref() != Some(Path::new(ORIGINAL)) {
            return self.supervise(&request, global);
        }
        let directory = tempfile::tempdir().context("cannot make a temporary directory")?;
        let expected = directory.path().join(ORIGINAL);
        // As many dispatches as the replay that is compared with it, if their effects add up.
        let iterations = if self.stateful { self.iterations } else { 1 };
        let original = Request {
            hsaco: None,
            expect: None,
            save: Some(expected.clone()),
            iterations,
            warm_up: 0,
            ..request.clone()
        };
        let original = self.supervise(&original, global)?;
        if original.status != Status::Ok {
            let message = original.message.map(|message| format!("the captured code: {message}"));
            return Ok(Outcome { message, replayed: None, ..original });
        }
        let mut outcome = self.supervise(&Request { expect: Some(expected), ..request }, global)?;
        if let Some(comparison) = outcome.replayed.as_mut().and_then(|replayed| replayed.comparison.as_mut()) {
            comparison.expected = PathBuf::from(ORIGINAL);
        }
        Ok(outcome)
    }

    fn supervise(&self, request: &Request, global: &GlobalArguments) -> Result<Outcome, Failure> {
        let supervision = Supervision {
            seconds: self.time_limit,
            attempts: self.attempts,
            environment: &self.env,
            is_interrupted: &|| false,
        };
        let mut on_line = |line: &str| messages::detail(global, line.trim_end());
        Ok(replay(request, &supervision, &mut on_line)?)
    }

    fn deliver<T: Serialize>(
        &self,
        replays: &[T],
        texts: Vec<String>,
        code: u8,
        global: &GlobalArguments,
    ) -> Result<u8, Failure> {
        let bytes = match self.format()? {
            ReplayFormat::Text => texts.join("\n").into_bytes(),
            ReplayFormat::Json => {
                let document = Document { schema_version: SCHEMA_VERSION, exit_code: code, replays };
                let mut bytes = serde_json::to_vec_pretty(&document).context("cannot write the result as JSON")?;
                bytes.push(b'\n');
                bytes
            }
        };
        match &self.output {
            Some(path) => {
                write_file(path, |out| Ok(out.write_all(&bytes)?))?;
                print_written(path, global);
            }
            None => messages::print(bytes)?,
        }
        Ok(code)
    }
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}
