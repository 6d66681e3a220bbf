//! Further inputs of an analysis: source code, and thread traces in another directory.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

use super::global::GlobalArguments;
use super::input::InputArguments;
use crate::cli::commands::scan::warn_of_limits;
use crate::cli::exit::{Failure, refuse};
use crate::cli::output::messages::{self, note};
use crate::cli::output::progress::Progress;
use wavesieve_input::thread_traces_below;
use wavesieve_model::analysis::counter_plan::RocmVersion;
use wavesieve_report::analysis::{Analysis, AnalysisOptions};
use wavesieve_source::scan::{DEFAULT_ARCHITECTURE, Limits, Target, TreeScan, scan};
use wavesieve_tables::trace::Trace;

/// Inputs of an analysis beside traces.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Input")]
pub(crate) struct ExtraInputs {
    /// Source code to scan, as `scan` does, alone or with its trace
    ///
    /// The trace overrides what the source only suggests.
    #[arg(long, value_name = "DIR")]
    source_dir: Option<PathBuf>,
    /// Thread traces of `rocprofv3 --att` (stats_*.csv) in this directory or below
    ///
    /// Those among the inputs are always read.
    #[arg(long, value_name = "DIR")]
    att_dir: Option<PathBuf>,
}

impl ExtraInputs {
    /// Returns whether any option is given.
    pub(crate) fn is_given(&self) -> bool {
        self.source_dir.is_some() || self.att_dir.is_some()
    }

    pub(crate) fn source_dir(&self) -> Option<PathBuf> {
        self.source_dir.clone()
    }

    /// The directory of thread traces.
    pub(crate) fn att_dir(&self) -> Option<PathBuf> {
        self.att_dir.clone()
    }

    /// The inputs with the thread traces; `None` if only source code is named.
    pub(crate) fn inputs(
        &self,
        inputs: &InputArguments,
        global: &GlobalArguments,
    ) -> Result<Option<InputArguments>, Failure> {
        if let Some(directory) = &self.source_dir {
            check_directory("--source-dir", directory, "source code")?;
        }
        let Some(directory) = &self.att_dir else {
            return match (inputs.is_empty(), &self.source_dir) {
                (false, _) => Ok(Some(inputs.clone())),
                (true, Some(_)) => Ok(None),
                (true, None) => refuse!("no input; pass INPUT (traces), --att-dir or --source-dir"),
            };
        };
        check_directory("--att-dir", directory, "stats_*.csv of `rocprofv3 --att`")?;
        let shown = directory.display();
        let (found, unread) = thread_traces_below(directory).with_context(|| format!("cannot list {shown}"))?;
        for path in unread.iter() {
            note!(global, "warning: {} holds no instruction statistics and is passed over", path.display());
        }
        if found.is_empty() {
            refuse!("--att-dir {shown} has no stats_*.csv; name the directory that `rocprofv3 --att` wrote");
        }
        Ok(Some(inputs.with_more(&found)))
    }

    /// The analysis of the trace, of the source code, or of both.
    pub(crate) fn analyze(
        &self,
        trace: Option<&Trace>,
        options: &AnalysisOptions,
        global: &GlobalArguments,
    ) -> Result<Analysis, Failure> {
        if let Some(trace) = trace {
            messages::warn(trace, global);
        }
        let of_trace = trace.map(|trace| options.analyze(trace)).transpose()?;
        let source = self.scan(of_trace.as_ref(), options.rocm, global)?;
        let mut analysis = match (of_trace, source) {
            (Some(analysis), Some(tree)) => analysis.with_source(tree, options.rows)?,
            (Some(analysis), None) => analysis,
            (None, Some(tree)) => Analysis::of_source(tree, options.rows, options.prompt.clone())?,
            (None, None) => return Err(anyhow::anyhow!("internal: there is nothing to analyse").into()),
        };
        if let Some(title) = &options.title {
            analysis.document.title.clone_from(title);
        }
        Ok(analysis)
    }

    /// Scans the source code, for the program and the GPUs of the trace if there is one.
    fn scan(
        &self,
        analysis: Option<&Analysis>,
        rocm: Option<RocmVersion>,
        global: &GlobalArguments,
    ) -> Result<Option<TreeScan>, Failure> {
        let Some(directory) = &self.source_dir else { return Ok(None) };
        let target = Target {
            architecture: analysis
                .and_then(|one| one.collected.architecture())
                .unwrap_or(DEFAULT_ARCHITECTURE)
                .to_owned(),
            program: analysis.map(|one| one.collected.program.clone()).unwrap_or_default(),
            rocm: rocm.or(analysis.and_then(|one| one.collected.rocm)),
        };
        let progress = Progress::of_files(global);
        let tree = scan(directory, Limits::default(), &target, &progress);
        progress.finish();
        let tree = tree.with_context(|| format!("cannot read {}", directory.display()))?;
        warn_of_limits(&tree, "`wavesieve scan` with ", global);
        Ok(Some(tree))
    }
}

fn check_directory(option: &str, path: &Path, holds: &str) -> Result<(), Failure> {
    let problem = match (path.exists(), path.is_dir()) {
        (_, true) => return Ok(()),
        (true, _) => "is not a directory",
        (false, _) => "does not exist",
    };
    refuse!("{option} {} {problem}; name a directory with {holds}", path.display())
}
