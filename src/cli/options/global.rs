//! Options of every command.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::mail::{MailArguments, Outbox};
use crate::cli::memory;
use crate::invocation::{is_stderr_terminal, is_stdout_terminal};
use wavesieve_input::available_bytes;
use wavesieve_tables::trace::jobs::Jobs;

/// When to use colors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Options of every verb.
#[derive(Args, Clone, Debug)]
pub(crate) struct GlobalArguments {
    /// Worker threads, at most 512 [default: all cores]
    #[arg(long, value_name = "N", global = true, help_heading = "Common",
          value_parser = clap::value_parser!(u16).range(1..=512))]
    threads: Option<u16>,
    /// Files and processes to read in parallel, each with all threads [default: threads + 1; 1 with one thread]
    #[arg(long, value_name = "N", global = true, help_heading = "Common",
          value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Memory budget for processes read in parallel, by estimate, such as 8G or 50%; one at a time is always read
    /// [default: half of the memory of the machine or container]
    #[arg(long, value_name = "SIZE", global = true, help_heading = "Common", value_parser = memory::parse)]
    memory_limit: Option<u64>,
    /// When to use colors
    #[arg(long, value_enum, default_value_t, global = true, value_name = "WHEN", help_heading = "Common")]
    color: ColorChoice,
    /// Print errors only
    #[arg(short, long, global = true, help_heading = "Common")]
    pub quiet: bool,
    /// Log progress and times to standard error
    #[arg(short, long, global = true, conflicts_with = "quiet", help_heading = "Common")]
    pub verbose: bool,
    /// Add or replace queries: a directory of .sql files
    #[arg(long, value_name = "DIR", global = true, help_heading = "Common")]
    pub queries: Option<PathBuf>,
    #[command(flatten)]
    pub mail: MailArguments,
    /// Files that the command has written.
    #[arg(skip)]
    pub outbox: Outbox,
}

impl GlobalArguments {
    pub(crate) fn threads(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        self.threads.map_or_else(all, usize::from)
    }

    /// Limits the number of threads.
    pub(crate) fn reduce_threads(&mut self, most: usize) {
        if most < self.threads() {
            self.threads = u16::try_from(most).ok();
        }
    }

    /// The memory budget, if there is one.
    pub(crate) fn memory_limit(&self) -> Option<u64> {
        self.memory_limit
    }

    /// The number of processes that are read in parallel.
    pub(crate) fn jobs(&self) -> Jobs {
        let memory_bytes = self.memory_limit.unwrap_or_else(|| available_bytes().map_or(u64::MAX, |all| all / 2));
        let jobs = Jobs::for_threads(self.threads(), memory_bytes);
        self.jobs.map_or(jobs, |count| Jobs { count: usize::from(count), ..jobs })
    }

    /// The options that a child process of this program needs to work in the same way.
    pub(crate) fn words(&self) -> Vec<OsString> {
        let number = |name: &str, value: Option<u64>| value.map(|value| [name.into(), value.to_string().into()]);
        let queries = self.queries.as_ref().map(|path| ["--queries".into(), path.clone().into_os_string()]);
        let given = [
            number("--threads", self.threads.map(u64::from)),
            number("--jobs", self.jobs.map(u64::from)),
            number("--memory-limit", self.memory_limit),
            queries,
        ];
        given.into_iter().flatten().flatten().collect()
    }

    /// Returns whether standard output may have colors.
    pub(crate) fn color(&self) -> bool {
        self.color_of(false)
    }

    /// Returns whether standard output, or standard error, may have colors.
    pub(crate) fn color_of(&self, is_error: bool) -> bool {
        let is_terminal = || if is_error { is_stderr_terminal() } else { is_stdout_terminal() };
        match self.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                let forced = anstyle_query::clicolor_force();
                let off = anstyle_query::no_color() || anstyle_query::clicolor() == Some(false) && !forced;
                !off && (forced || (anstyle_query::term_supports_color() && is_terminal()))
            }
        }
    }
}
