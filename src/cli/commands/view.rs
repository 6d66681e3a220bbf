//! `view INPUT…`: the time line, findings and queries in a browser.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use clap::Args;

use crate::cli::exit::{DONE, Failure, PARTIAL};
use crate::cli::memory;
use crate::cli::options::alignment::AlignmentArguments;
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::input::{CacheArguments, InputArguments, Opening};
use crate::cli::output::messages;
use crate::cli::output::messages::note;
use crate::invocation::words;
use wavesieve_agent::child::program;
use wavesieve_agent::mcp::limit_memory;
use wavesieve_engine::Registry;
use wavesieve_engine::findings::RuleBook;
use wavesieve_report::analysis::AnalysisOptions;
use wavesieve_view::{Server, Side, ViewOptions, answer_statements, listen};

/// Look at the time line, findings and queries in a browser
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Prints an address with a token, which only this machine can reach, and serves it until its last window is closed or Ctrl-C. Inputs are only read. Over SSH, forward the port: ssh -L 8000:127.0.0.1:8000 HOST wavesieve view --port 8000 INPUT.

Examples:
  wavesieve view traces/ --open
  wavesieve view traces/ --port 8437 --until-closed 0
  wavesieve view traces/ --compare fixtures/planted"
)]
pub(crate) struct ViewArguments {
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    alignment: AlignmentArguments,
    #[command(flatten)]
    cache: CacheArguments,
    /// Compare with this earlier run
    #[arg(long, value_name = "INPUT", num_args = 1.., help_heading = "Sides")]
    compare: Vec<String>,
    /// Port on 127.0.0.1; 0 for a free one
    #[arg(long, value_name = "PORT", default_value_t = 0, help_heading = "Serving")]
    port: u16,
    /// Open the address in the browser of this machine
    #[arg(long, help_heading = "Serving")]
    open: bool,
    /// End this many seconds after the last window is closed; 0 serves until Ctrl-C
    #[arg(long, value_name = "SECONDS", default_value_t = 10, help_heading = "Serving",
          value_parser = clap::value_parser!(u32).range(0..=86_400))]
    until_closed: u32,
    /// Let other pages show this one in a frame, as notebooks do
    #[arg(long, help_heading = "Serving")]
    in_frames: bool,
    /// Memory for events that were looked at, such as 1G; the least recently used ones are read again
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = memory::parse, help_heading = "Serving")]
    events_limit: u64,
    /// Run the statements of a server
    #[arg(long, hide = true)]
    worker: bool,
}

/// Minimum memory of a process that runs statements.
const WORKER_BYTES: u64 = 512 << 20;

pub(crate) fn run(arguments: &ViewArguments, registry: &Registry, global: &GlobalArguments) -> Result<u8, Failure> {
    if arguments.worker {
        limit_memory(global.jobs().memory_bytes.max(WORKER_BYTES));
        answer_statements(&arguments.sides(global)?)?;
        return Ok(DONE);
    }
    // A wrong port is reported before inputs are read, which may take long.
    let listener = listen(arguments.port).map_err(|error| {
        Failure::Usage(format!("cannot listen on port {}: {error}; choose another one with --port", arguments.port))
    })?;
    let sides = arguments.sides(global)?;
    let mut is_partial = false;
    for side in &sides {
        is_partial |= messages::report_damage(&side.trace, global);
    }
    let analysis = AnalysisOptions {
        registry: registry.clone(),
        rules: RuleBook::builtin().map_err(anyhow::Error::from)?,
        with_timeline: true,
        rocm: arguments.input.rocm_version(),
        ..AnalysisOptions::builtin()?
    };
    let server = Server::new(ViewOptions {
        sides,
        compared: arguments.compare.clone(),
        analysis,
        listener,
        grace: (arguments.until_closed > 0).then(|| Duration::from_secs(u64::from(arguments.until_closed))),
        in_frames: arguments.in_frames,
        memory_bytes: usize::try_from(arguments.events_limit).unwrap_or(usize::MAX),
        cache: arguments.cache.directory().filter(|_| arguments.input.may_be_cached()).map(PathBuf::from),
        worker: (program().map_err(anyhow::Error::from)?, words_of_worker()),
    })?;
    let address = server.address();
    messages::print(format!("{address}\n"))?;
    if arguments.open && !open_in_browser(&address) {
        note!(global, "note: no browser could be started; open the address yourself");
    }
    server.run()?;
    Ok(if is_partial { PARTIAL } else { DONE })
}

/// The words of this command line with the one that makes a worker, before positional ones that look like options.
fn words_of_worker() -> Vec<OsString> {
    let mut words: Vec<OsString> = words().into_iter().skip(1).collect();
    let at = words.iter().position(|word| word == "--").unwrap_or(words.len());
    words.insert(at, OsString::from("--worker"));
    words
}

impl ViewArguments {
    /// Opens the input and the one that it is compared with.
    fn sides(&self, global: &GlobalArguments) -> Result<Vec<Side>, Failure> {
        let mut sides = vec![self.side(&self.input, global)?];
        if !self.compare.is_empty() {
            sides.push(self.side(&self.input.with_inputs(self.compare.clone()), global)?);
        }
        Ok(sides)
    }

    /// Opens the inputs of a side.
    fn side(&self, input: &InputArguments, global: &GlobalArguments) -> Result<Side, Failure> {
        let trace = input.open(global, &Opening { cache: Some(&self.cache), ..Opening::default() })?;
        messages::warn(&trace, global);
        let (trace, offsets_ns, notes) = self.alignment.for_one_axis(trace)?;
        let mut words = input.words()?;
        words.extend(input.filters()?.command_line());
        Ok(Side { trace, offsets_ns, words, alignment: self.alignment.words(), notes })
    }
}

/// Starts the browser of the user; returns whether a program for it was found.
fn open_in_browser(address: &str) -> bool {
    let own = std::env::var_os("BROWSER").filter(|browser| !browser.is_empty());
    let programs = own.into_iter().chain(["xdg-open", "open"].map(Into::into));
    programs.into_iter().any(|program| {
        let mut command = Command::new(program);
        command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().is_ok()
    })
}
