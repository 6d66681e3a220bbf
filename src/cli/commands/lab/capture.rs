//! `lab capture`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use serde::{Serialize, Serializer};

use crate::cli::exit::{DONE, Failure, NO_DATA, PARTIAL, UNEXPECTED, USAGE, refuse};
use crate::cli::options::global::GlobalArguments;
use crate::cli::output::messages::{note, print, print_note};
use wavesieve_captures::captures::MEMORY;
use wavesieve_captures::recording::Indices;
use wavesieve_lab::capturing::{CaptureRequest, LIBRARY_VARIABLE, Report, find_library};
use wavesieve_lab::interactive::face::Interruptions;
use wavesieve_lab::interactive::programs::{Application, End, Limits, run as run_program};
use wavesieve_model::analysis::counter_plan::quoted;

/// Maximum bytes of the program's output that are passed on.
const OUTPUT_BYTES: u64 = 16 << 20;
/// The version of the JSON output.
const SCHEMA_VERSION: &str = "1.0";

/// Form of the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line for each capture
    #[default]
    Text,
    /// For scripts
    Json,
}

/// How memory is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Compression {
    /// As it is, without blocks of zeros where the file system allows holes
    #[default]
    None,
    /// Compressed
    Zstd,
}

#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Runs the program with a library that the HSA runtime loads, and writes each dispatch that is wanted before it runs: the kernel's code, its arguments, the variables of its module, and the memory that was allocated. The program goes on as before; what it prints goes to standard error. `wavesieve lab replay` runs a capture again.

Dispatches are counted for each kernel name from 0. Before one is written, all queues of the program become idle. Each is a folder of its own in the folder of --output, which must be new or empty.

Exit codes: 0 all that was wanted is there; 2 the command line is wrong; 3 nothing was captured; 5 something is missing (a dispatch of --dispatch, one that --limit cut off, memory), or the program failed after a capture; 1 the program failed.

Examples:
  wavesieve lab capture --plan --kernel gemm -- ./simulate --steps 10
  wavesieve lab capture --plan --kernel '^add$' --dispatch 1,5-7 --reachable --compress zstd -o captures -- ./simulate"
)]
pub(super) struct CaptureArguments {
    /// Capture kernels whose name or symbol matches this regular expression
    #[arg(long, value_name = "REGEX", value_parser = pattern, help_heading = "What")]
    kernel: String,
    /// Dispatches of each kernel, counted from 0, such as 0,2,5-7; 10- for all from 10 on
    #[arg(long, value_name = "N,…", default_value = "0", value_parser = dispatches, help_heading = "What")]
    dispatch: Dispatches,
    /// Only memory that the arguments and the module's variables lead to, directly or by pointers in memory
    #[arg(long, help_heading = "What")]
    reachable: bool,
    /// Captures at most, of each process
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..), help_heading = "What")]
    limit: u64,
    /// How memory is kept
    #[arg(long, value_enum, default_value_t, help_heading = "What")]
    compress: Compression,
    /// Seconds to wait until queues are idle before a capture
    #[arg(long, value_name = "SECONDS", default_value_t = 60, help_heading = "Run")]
    wait: u64,
    /// Threads that copy memory [default: all processors, at most 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=64), help_heading = "Run")]
    copy_threads: Option<u64>,
    /// Seconds that the program may take [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Run")]
    time_limit: Option<u64>,
    /// Library to load [default: libwavesieve_capture.so next to this program or in ../lib/wavesieve]
    #[arg(long, value_name = "FILE", env = LIBRARY_VARIABLE, hide_env_values = true, help_heading = "Run")]
    library: Option<PathBuf>,
    /// Print what would run, and run nothing
    #[arg(long, help_heading = "Run")]
    plan: bool,
    /// Format of the report
    #[arg(short, long, value_enum, default_value_t, help_heading = "Output")]
    format: Format,
    /// Folder for the captures, new or empty
    #[arg(short, long, value_name = "DIR", default_value = "captures", help_heading = "Output")]
    output: PathBuf,
    /// Program to run and its arguments
    #[arg(last = true, value_name = "CMD", required = true)]
    program: Vec<String>,
}

fn pattern(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("the pattern is empty; write `.` for all kernels".to_owned());
    }
    regex::Regex::new(text).map(|_| text.to_owned()).map_err(|error| format!("not a regular expression: {error}"))
}

/// The requested dispatches, in their original spelling.
#[derive(Clone, Debug)]
struct Dispatches {
    text: String,
    indices: Indices,
}

fn dispatches(text: &str) -> Result<Dispatches, String> {
    Ok(Dispatches { text: text.to_owned(), indices: text.parse()? })
}

/// The document that `-f json` prints.
#[derive(Serialize)]
struct Document<'a> {
    schema_version: &'a str,
    output: &'a Path,
    /// The end of the program.
    program: String,
    #[serde(flatten)]
    report: &'a Report,
}

pub(super) fn run(arguments: &CaptureArguments, global: &GlobalArguments) -> Result<u8, Failure> {
    let application = Application::of_words(arguments.program.clone());
    if application.words.is_empty() {
        refuse!("the command is empty; name the program to capture after --");
    }
    let own = std::env::current_exe().context("cannot find this program")?;
    let library = find_library(arguments.library.as_deref(), &own);
    let output = std::path::absolute(&arguments.output).context("cannot find the output directory")?;
    let request = arguments.request(output.clone());
    let others =
        application.environment.iter().find(|(name, _)| name == "HSA_TOOLS_LIB").map(|(_, value)| value.clone());
    let others = others.or_else(|| std::env::var("HSA_TOOLS_LIB").ok());
    if arguments.plan {
        let plan = Plan::new(&request, &application, &library, others.as_deref());
        print(match arguments.format {
            Format::Text => plan.text(),
            Format::Json => {
                let document = PlanDocument { schema_version: SCHEMA_VERSION, output: &arguments.output, plan };
                format!("{}\n", serde_json::to_string_pretty(&document).context("cannot write JSON")?)
            }
        })?;
        return Ok(DONE);
    }
    let library = library.map_err(Failure::Usage)?;
    check_free(&output, &arguments.output)?;
    std::fs::create_dir_all(&output).with_context(|| format!("cannot create {}", arguments.output.display()))?;

    let mut environment = without_tools(&application.environment);
    environment.extend(request.variables(&library, others.as_deref()));
    let working_directory = std::env::current_dir().context("cannot find the current directory")?;
    let limits = Limits { seconds: arguments.time_limit, output_bytes: OUTPUT_BYTES };
    let interruptions = Interruptions::of_program();
    let is_interrupted = interruptions.check();
    let ended =
        run_program(&application.words, &environment, &working_directory, &limits, &*is_interrupted, &mut |line| {
            note!(global, "{line}");
        });
    drop(is_interrupted);
    drop(interruptions);
    remove_unfinished(&output);
    let report = Report::read(&output, &arguments.dispatch.indices);
    if report.processes == 0 && report.notes.is_empty() {
        // The folder has no files of this program.
        let _ = std::fs::remove_dir(&output);
    }
    let (program, failure) = described(&ended.end, &application.words, arguments.time_limit);
    let text = match arguments.format {
        Format::Text => report.text(&arguments.output),
        Format::Json => {
            let document =
                Document { schema_version: SCHEMA_VERSION, output: &arguments.output, program, report: &report };
            format!("{}\n", serde_json::to_string_pretty(&document).context("cannot write JSON")?)
        }
    };
    print(text)?;
    if !global.quiet {
        report.notes.iter().for_each(print_note);
    }
    if let Some(failure) = &failure {
        print_note(failure);
    }
    Ok(match (report.captures.is_empty(), &failure) {
        (true, Some(_)) if matches!(ended.end, End::NotFound(_) | End::NotStarted(_)) => USAGE,
        (true, Some(_)) => UNEXPECTED,
        (true, None) => {
            print_note(report.why_nothing(&arguments.kernel, &library));
            NO_DATA
        }
        (false, None) if report.is_whole() => DONE,
        (false, _) => PARTIAL,
    })
}

/// Variables without the one that the library is added to.
fn without_tools(environment: &[(String, String)]) -> Vec<(String, String)> {
    environment.iter().filter(|(name, _)| name != "HSA_TOOLS_LIB").cloned().collect()
}

impl CaptureArguments {
    fn request(&self, output: PathBuf) -> CaptureRequest {
        CaptureRequest {
            kernel: self.kernel.clone(),
            dispatches: self.dispatch.text.clone(),
            output,
            is_reachable_only: self.reachable,
            is_compressed: self.compress == Compression::Zstd,
            limit: self.limit,
            wait_seconds: self.wait,
            threads: self.copy_threads,
        }
    }
}

/// Rejects a folder with other files: captures are not mixed with them.
fn check_free(output: &Path, named: &Path) -> Result<(), Failure> {
    let is_free = match std::fs::read_dir(output) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    if is_free {
        return Ok(());
    }
    refuse!("{} is not an empty folder; name another with --output", named.display())
}

/// Removes incomplete captures of a program that was ended: hidden folders with memory in them.
fn remove_unfinished(output: &Path) {
    for entry in std::fs::read_dir(output).into_iter().flatten().flatten() {
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        if is_hidden && entry.path().join(MEMORY).is_dir() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Describes the end of a program, and the problem with it.
fn described(end: &End, words: &[String], limit: Option<u64>) -> (String, Option<String>) {
    let name = words.first().map_or("", String::as_str);
    let (end, failure) = match end {
        End::Code(0) => return ("exit 0".to_owned(), None),
        End::Code(code) => (format!("exit {code}"), format!("the program ended with code {code}")),
        End::Signal(signal) => (format!("signal {signal}"), format!("the program was ended by signal {signal}")),
        End::NotFound(_) => ("not found".to_owned(), format!("no program `{name}`; name one after --")),
        End::NotStarted(reason) => ("not started".to_owned(), format!("the program cannot be started: {reason}")),
        End::TimeLimit => {
            let seconds = limit.unwrap_or(0);
            ("time limit".to_owned(), format!("the program took longer than {seconds} s (--time-limit), and was ended"))
        }
        End::Interrupted => ("interrupted".to_owned(), "interrupted".to_owned()),
    };
    (end, Some(failure))
}

/// The document that `--plan -f json` prints.
#[derive(Serialize)]
struct PlanDocument<'a> {
    schema_version: &'a str,
    output: &'a Path,
    plan: Plan,
}

/// The command and variables of a run that is only planned.
#[derive(Serialize)]
struct Plan {
    /// Variables to set for the program.
    #[serde(serialize_with = "as_object")]
    environment: Vec<(String, String)>,
    /// The command, as a line for a shell.
    command: String,
    /// The reason why it cannot run.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

fn as_object<S: Serializer>(pairs: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
}

impl Plan {
    fn new(
        request: &CaptureRequest,
        application: &Application,
        library: &Result<PathBuf, String>,
        others: Option<&str>,
    ) -> Self {
        let place = library.as_deref().unwrap_or(Path::new(wavesieve_lab::capturing::LIBRARY));
        let shown = Application { environment: without_tools(&application.environment), ..application.clone() };
        Self {
            environment: request.variables(place, others),
            command: shown.line(),
            problem: library.as_ref().err().cloned(),
        }
    }

    /// A line for each variable, and the command.
    fn text(&self) -> String {
        let mut text = String::new();
        for (name, value) in &self.environment {
            let _ = writeln!(text, "{name}={}", quoted(value));
        }
        let _ = writeln!(text, "{}", self.command);
        if let Some(reason) = &self.problem {
            let _ = writeln!(text, "Missing: {reason}");
        }
        text
    }
}
