//! `lab profile`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, ValueEnum};

use super::minutes::minutes;
use crate::cli::exit::{DONE, Failure, NO_DATA, PARTIAL, refuse};
use crate::cli::options::global::GlobalArguments;
use crate::cli::output::messages::{note, print, print_note};
use wavesieve_engine::Registry;
use wavesieve_export::atomic::{replace_directory, write_directory};
use wavesieve_lab::interactive::face::Interruptions;
use wavesieve_lab::interactive::programs::{Application, Limits, Profiling};
use wavesieve_lab::measuring::{MOST_RUNS, MeasureError, Until};
use wavesieve_lab::profiling::{
    Evidence, Listener, Numbers, Parts, ProfilePlace, ProfileRequest, TRACES, documents, place, plan, record, summary,
    thread_trace, write_all,
};

/// Default maximum number of runs.
const RUNS: usize = 15;
/// Maximum bytes of a program's output that are read.
const OUTPUT_BYTES: u64 = 16 << 20;
/// Path of traces in a plan.
const PLANNED: &str = "profile";

/// Form of the summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A few lines
    #[default]
    Text,
    /// The four documents as one JSON value
    Json,
}

#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Runs the program under rocprofv3: once for its timeline, then until the 95% confidence interval of the median time of its dominant kernel is narrower than --precision (6 runs at least), then once for each counter pass (--counters), and once for a thread trace (--att). The dominant kernel is that with most time over all runs, without kernels of the runtime and of communication (--kernel chooses among all). What was not collected is absent from the results, with the reason.

With -o, the folder gets profile.json, roofline.json, dag.json and analysis.json (`wavesieve schema lab-profile`), report.html and the traces. An earlier profile there is replaced, other files never.

The program gets the variables of share/applications.toml; put NAME=VALUE before it for others.

Exit codes: 0 everything was recorded; 1 the program or the profiler failed; 2 wrong usage; 3 no kernel ran, or none that --kernel matches; 5 counters or the thread trace could not be recorded.

Examples:
  wavesieve lab profile --plan -- ./simulate --steps 10
  wavesieve lab profile --plan --counters --arch gfx942 --att --runs 5 -- ./simulate"
)]
pub(super) struct ProfileArguments {
    /// Exactly this many runs for times
    #[arg(long, value_name = "N", value_parser = runs, help_heading = "Runs")]
    runs: Option<usize>,
    /// Width of the interval of the median at which times are certain, as a share of the median
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = percent, conflicts_with = "runs", help_heading = "Runs")]
    precision: f64,
    /// Runs for times at most
    #[arg(long, value_name = "N", default_value_t = RUNS, value_parser = runs, conflicts_with = "runs", help_heading = "Runs")]
    max_runs: usize,
    /// Minutes after which no further run for times starts
    #[arg(long, value_name = "MINUTES", default_value = "10", value_parser = minutes, help_heading = "Runs")]
    budget: Duration,
    /// Seconds that one run may take [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Runs")]
    time_limit: Option<u64>,
    /// Collect the counters of the roofline and of the bottlenecks, in a run for each pass
    #[arg(long, help_heading = "What")]
    counters: bool,
    /// Trace the instructions of the dominant kernel, in a run of its own
    #[arg(long, help_heading = "What")]
    att: bool,
    /// Look only at kernels whose name matches this regular expression
    #[arg(long, value_name = "REGEX", value_parser = pattern, help_heading = "What")]
    kernel: Option<String>,
    /// Numbers as rocm-perf-lab computes them, also where they are wrong, under the same keys
    #[arg(long, help_heading = "What")]
    compat: bool,
    /// Print the commands that would run, and run nothing
    #[arg(long, help_heading = "What")]
    plan: bool,
    /// Architecture for which --plan plans counters, such as gfx942; a real run takes that of the trace
    #[arg(long, value_name = "GFX", requires = "plan", help_heading = "What")]
    arch: Option<String>,
    /// Format of what is printed
    #[arg(short, long, value_enum, default_value_t, help_heading = "Output")]
    format: Format,
    /// Folder for the documents, the page and the traces; by default nothing is kept
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Program to profile and its arguments
    #[arg(last = true, value_name = "CMD", required = true)]
    program: Vec<String>,
}

fn runs(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| (1..=MOST_RUNS).contains(count));
    count.ok_or_else(|| format!("give a whole number from 1 to {MOST_RUNS}"))
}

fn percent(text: &str) -> Result<f64, &'static str> {
    let number = text.trim_end_matches('%').trim().parse::<f64>().ok();
    let number = number.filter(|number| *number > 0.0 && *number <= 100.0).ok_or("give a percentage such as 2%")?;
    Ok(number / 100.0)
}

fn pattern(text: &str) -> Result<String, String> {
    regex::Regex::new(text).map(|_| text.to_owned()).map_err(|error| format!("not a regular expression: {error}"))
}

pub(super) fn run(arguments: &ProfileArguments, registry: &Registry, global: &GlobalArguments) -> Result<u8, Failure> {
    let application = Application::of_words(arguments.program.clone());
    if application.words.is_empty() {
        refuse!("the command is empty; name the program to profile after --");
    }
    if arguments.plan {
        print(planned(arguments, application)?)?;
        return Ok(DONE);
    }
    let working_directory = std::env::current_dir().context("cannot find the current directory")?;
    let profiler = Profiler { arguments, application, working_directory, registry, global };
    let Some(output) = &arguments.output else {
        let folder = tempfile::Builder::new().prefix(wavesieve_input::UNFINISHED).tempdir();
        let folder = folder.context("cannot create a temporary directory")?;
        let _removed = wavesieve_export::atomic::removed_at_interruption(folder.path());
        let _held = wavesieve_input::hold(folder.path());
        return match profiler.profile(folder.path(), None) {
            Ok(profile) => {
                print(profile.text)?;
                Ok(profile.code)
            }
            Err(error) => without_profile(error),
        };
    };
    let settled = std::path::absolute(output).context("cannot find the output directory")?;
    let profile = match place(&settled)? {
        ProfilePlace::Free => write_directory(&settled, |folder| profiler.profile(folder, Some(&settled))),
        ProfilePlace::Ours => replace_directory(&settled, |folder| profiler.profile(folder, Some(&settled))),
        ProfilePlace::Foreign(reason) => {
            refuse!("{} {reason}; name another folder", output.display());
        }
    };
    let profile = match profile {
        Ok(profile) => profile,
        Err(error) => return without_profile(error),
    };
    print(profile.text)?;
    for name in ["profile.json", "roofline.json", "dag.json", "analysis.json", "report.html"] {
        global.outbox.add(&settled.join(name));
    }
    note!(global, "written: {}", output.display());
    Ok(profile.code)
}

/// The text to print, and the exit code.
struct Profile {
    text: String,
    code: u8,
}

/// The exit code without a profile: the program may have no kernel, or none that matches.
fn without_profile(error: anyhow::Error) -> Result<u8, Failure> {
    match error.downcast_ref::<MeasureError>() {
        Some(MeasureError::NoKernels { .. } | MeasureError::NoMatch { .. }) => {
            print_note(format_args!("error: {error:#}"));
            Ok(NO_DATA)
        }
        _ => Err(error.into()),
    }
}

struct Profiler<'a> {
    arguments: &'a ProfileArguments,
    application: Application,
    working_directory: PathBuf,
    registry: &'a Registry,
    global: &'a GlobalArguments,
}

impl Profiler<'_> {
    /// Profiles with traces below a folder. Writes the documents there if they will be kept at `settled`. Returns the
    /// text to print.
    fn profile(&self, folder: &Path, settled: Option<&Path>) -> anyhow::Result<Profile> {
        let folder = folder.canonicalize().with_context(|| format!("cannot find {}", folder.display()))?;
        let request = self.arguments.request(self.application.clone(), &folder, self.working_directory.clone());
        let is_quiet = self.global.quiet;
        let is_verbose = self.global.verbose;
        let interruptions = Interruptions::of_program();
        let is_interrupted = interruptions.check();
        let recorded = record(
            &request,
            &mut Listener {
                is_interrupted: &*is_interrupted,
                on_line: &mut |line| {
                    if is_verbose {
                        print_note(format_args!("  {line}"));
                    }
                },
                on_step: &mut |step| {
                    if !is_quiet {
                        print_note(step);
                    }
                },
            },
        )?;
        drop(interruptions);
        let evidence = Evidence::read(&recorded, self.registry)?;
        let parts = Parts::new(&request, &recorded, &evidence);
        let code = if recorded.is_partial() { PARTIAL } else { DONE };
        let mut documents = documents(&request, &recorded, &evidence, &parts)?;
        if let Some(settled) = settled {
            write_all(&folder, settled, &recorded, evidence, &parts, &mut documents)?;
        }
        let text = match self.arguments.format {
            Format::Text => summary(&recorded, &parts),
            Format::Json => format!("{}\n", serde_json::to_string_pretty(&documents.together())?),
        };
        Ok(Profile { text, code })
    }
}

impl ProfileArguments {
    fn request(&self, application: Application, folder: &Path, working_directory: PathBuf) -> ProfileRequest {
        ProfileRequest {
            application,
            traces: folder.join(TRACES),
            working_directory,
            limits: Limits { seconds: self.time_limit, output_bytes: OUTPUT_BYTES },
            until: Until {
                runs: self.runs,
                precision: self.precision,
                most_runs: self.max_runs,
                budget: Some(self.budget),
            },
            counters: self.counters,
            thread_trace: self.att,
            kernel: self.kernel.clone(),
            numbers: if self.compat { Numbers::PerfLab } else { Numbers::Own },
        }
    }
}

/// The commands that would run, one per line.
fn planned(arguments: &ProfileArguments, application: Application) -> Result<String, Failure> {
    let folder = arguments.output.clone().unwrap_or_else(|| PathBuf::from(PLANNED));
    let request = arguments.request(application, &folder, PathBuf::from("."));
    let plan = plan(&request, arguments.arch.as_deref());
    let words = ["rocprofv3", "--kernel-trace"].map(ToOwned::to_owned);
    let times = request.traces.join("run-1");
    let times = Profiling::of_words(&words, &request.application, &times).map_err(Failure::usage)?;
    let how_often = match arguments.runs {
        Some(runs) => format!("{runs} runs"),
        None => format!(
            "6 to {} runs, until the interval of the median is narrower than {}%",
            arguments.max_runs,
            100.0 * arguments.precision
        ),
    };
    let mut text = format!("Timeline:\n  {}\nTimes, {how_often}:\n  {}\n", plan.timeline.line(), times.line());
    match (&plan.no_passes, plan.passes.len()) {
        (Some(_), _) if arguments.arch.is_none() => {
            text.push_str("Counters, in passes that fit the GPU of the timeline; --arch shows them\n");
        }
        (Some(reason), _) => return Err(Failure::Usage(reason.replace("; pass --block-limit", ""))),
        (None, 0) => {}
        (None, count) => {
            text.push_str(&format!("Counters, in {count} passes:\n"));
            for pass in &plan.passes {
                text.push_str(&format!("  {}\n", pass.profiling.line()));
            }
        }
    }
    if arguments.att {
        let (profiling, _) = thread_trace(&request, "KERNEL", 2).map_err(Failure::usage)?;
        text.push_str(&format!("Thread trace of the dominant kernel:\n  {}\n", profiling.line()));
    }
    Ok(text)
}
