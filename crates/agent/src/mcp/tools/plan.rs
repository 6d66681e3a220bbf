//! `plan`: plans counter passes, and the commands for them.

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Toolbox, begin, command_line};
use crate::mcp::answer::ToolAnswer;
use crate::mcp::arguments::{Texts, parsed};
use crate::mcp::failure::ToolFailure;
use wavesieve_model::analysis::counter_plan::{
    Accumulations, CounterBlocks, PlanRequest, RocmVersion, plan_json, planned,
};
use wavesieve_model::analysis::hardware::metrics::{Definitions, Normalization};

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Arguments {
    counters: Texts,
    metrics: Texts,
    arch: Option<String>,
    rocm_version: Option<RocmVersion>,
    program: Vec<String>,
    rows: Option<usize>,
}

pub(super) fn call(tools: &mut Toolbox<'_>, arguments: Map<String, Value>) -> Result<ToolAnswer, ToolFailure> {
    let arguments: Arguments = parsed(arguments)?;
    let (counters, metrics) = (arguments.counters.words(), arguments.metrics.words());
    if counters.is_empty() && metrics.is_empty() {
        return Err(ToolFailure::usage("nothing is to be collected; name it with counters or metrics"));
    }
    let request = PlanRequest {
        counters: counters.clone(),
        metrics: metrics.clone(),
        architecture: arguments.arch.clone(),
        per: Normalization::Wave,
        definitions: Definitions::builtin().as_ref().clone(),
        block_limits: Default::default(),
        by_name: false,
        accumulations: Accumulations::Defined,
        directory: "counters".to_owned(),
        definitions_file: "accumulations.yaml".to_owned(),
        program: arguments.program.clone(),
        rocm: arguments.rocm_version,
    };
    let plan = planned(&request).map_err(ToolFailure::usage)?;
    let mut words = Vec::new();
    for (option, names) in [("--counters", &counters), ("--metrics-of", &metrics)] {
        if !names.is_empty() {
            words.extend([option.to_owned(), names.join(",")]);
        }
    }
    words.extend(arguments.arch.iter().flat_map(|arch| ["--arch".to_owned(), arch.clone()]));
    words.extend(arguments.rocm_version.iter().flat_map(|rocm| ["--rocm-version".to_owned(), rocm.to_string()]));
    if !arguments.program.is_empty() {
        words.push("--".to_owned());
        words.extend(arguments.program.iter().cloned());
    }
    let mut answer = begin(command_line(&["plan"], &[], &words, None));
    let accumulates = plan.passes.iter().flat_map(|pass| &pass.items).any(|item| !item.accumulates.is_empty());
    let architecture = &plan.blocks.architecture;
    if accumulates && !CounterBlocks::builtin().accumulates(architecture) {
        answer.note(format!("note: rocprofv3 is known not to accumulate levels on {architecture}"));
    }
    let text = plan_json(&plan).context("cannot write the plan as JSON")?;
    let document: Value = serde_json::from_str(&text).context("cannot read the plan as JSON")?;
    answer.set_document("plan", document, tools.rows(arguments.rows));
    Ok(answer)
}
