//! The request to profile, and its commands.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow};

use crate::interactive::programs::{Application, Limits, Profiling, ProgramError};
use crate::measuring::Until;
use wavesieve_engine::NameForm;
use wavesieve_engine::findings::kernel_filter;
use wavesieve_model::analysis::counter_plan::{Accumulations, PlanRequest, planned};
use wavesieve_model::analysis::hardware::metrics::{Definitions, Normalization};

/// Panels of metrics whose counters are collected, for the roofline and the bottlenecks.
const PANELS: [&str; 2] = ["roofline", "bottleneck_evidence"];
/// Counters that only the numbers of rocm-perf-lab need.
const OF_COMPAT: [&str; 1] = ["SQ_INSTS_VALU"];
/// Names below the directory of traces.
const TIMELINE: &str = "timeline";
const COUNTERS: &str = "counters-";
const THREAD_TRACE: &str = "thread_trace";
const DEFINITIONS: &str = "accumulations.yaml";

/// Which program's numbers the documents have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Numbers {
    /// The numbers of wavesieve.
    #[default]
    Own,
    /// The numbers of rocm-perf-lab, even if they are wrong.
    PerfLab,
}

/// The program to profile, and the data to collect.
#[derive(Debug, Clone)]
pub struct ProfileRequest {
    pub application: Application,
    /// Absolute path for traces.
    pub traces: PathBuf,
    /// Directory where the application runs.
    pub working_directory: PathBuf,
    pub limits: Limits,
    pub until: Until,
    /// Whether counters are collected.
    pub counters: bool,
    /// Whether the dominant kernel's instructions are traced.
    pub thread_trace: bool,
    /// Regular expression for the kernels to select; all by default.
    pub kernel: Option<String>,
    pub numbers: Numbers,
}

#[derive(Debug, Clone)]
pub struct CounterPass {
    pub counters: Vec<String>,
    pub profiling: Profiling,
    pub directory: PathBuf,
}

#[derive(Debug, Clone)]
pub struct Plan {
    pub timeline: Profiling,
    pub timeline_directory: PathBuf,
    pub passes: Vec<CounterPass>,
    /// Path and text of the file with counter definitions.
    pub definitions: Option<(PathBuf, String)>,
    /// The reason why no passes are planned though counters were requested.
    pub no_passes: Option<String>,
}

/// The commands for an application; counter passes only if the architecture is known.
pub fn plan(request: &ProfileRequest, architecture: Option<&str>) -> Plan {
    let timeline_directory = request.traces.join(TIMELINE);
    let mut plan = Plan {
        timeline: Profiling::first(&request.application, &timeline_directory),
        timeline_directory,
        passes: Vec::new(),
        definitions: None,
        no_passes: None,
    };
    if !request.counters {
        return plan;
    }
    match architecture.context("the architecture of the GPU is not known").and_then(|name| passes(request, name)) {
        Ok((passes, definitions)) => (plan.passes, plan.definitions) = (passes, definitions),
        Err(error) => plan.no_passes = Some(format!("{error:#}")),
    }
    plan
}

type Definition = Option<(PathBuf, String)>;

fn passes(request: &ProfileRequest, architecture: &str) -> Result<(Vec<CounterPass>, Definition)> {
    let definitions = request.traces.join(DEFINITIONS);
    let counters = if request.numbers == Numbers::PerfLab { &OF_COMPAT[..] } else { &[] };
    let planned = planned(&PlanRequest {
        counters: counters.iter().map(|name| (*name).to_owned()).collect(),
        metrics: PANELS.map(ToOwned::to_owned).to_vec(),
        architecture: Some(architecture.to_owned()),
        per: Normalization::Wave,
        definitions: Definitions::builtin().as_ref().clone(),
        block_limits: BTreeMap::new(),
        by_name: false,
        accumulations: Accumulations::Defined,
        directory: request.traces.to_string_lossy().into_owned(),
        definitions_file: definitions.to_string_lossy().into_owned(),
        program: Vec::new(),
        rocm: None,
    })
    .map_err(|reason| anyhow!(reason))?;
    let passes = planned.commands.iter().zip(&planned.passes).zip(1..).map(|((words, pass), number)| {
        let directory = request.traces.join(format!("{COUNTERS}{number}"));
        let mut words: Vec<String> = words.iter().take_while(|word| *word != "--").cloned().collect();
        if let Some(kernel) = &request.kernel {
            words.extend(["--kernel-include-regex".to_owned(), kernel.clone()]);
        }
        let profiling = Profiling::of_words(&words, &request.application, &directory)?;
        let counters = pass.names().into_iter().map(ToOwned::to_owned).collect();
        Ok(CounterPass { counters, profiling, directory })
    });
    let passes = passes.collect::<Result<_, ProgramError>>()?;
    Ok((passes, planned.definitions.map(|text| (definitions, text))))
}

/// The command that traces the instructions of a dispatch of a kernel, counted from 1, and its output folder.
///
/// # Errors
/// When rocprofv3 would reject it.
pub fn thread_trace(
    request: &ProfileRequest,
    kernel: &str,
    dispatch: u64,
) -> Result<(Profiling, PathBuf), ProgramError> {
    let directory = request.traces.join(THREAD_TRACE);
    let mut words = ["rocprofv3", "--att", "--kernel-iteration-range"].map(ToOwned::to_owned).to_vec();
    words.push(format!("[{dispatch}]"));
    words.extend(kernel_filter(kernel, NameForm::Full));
    Ok((Profiling::of_words(&words, &request.application, &directory)?, directory))
}
