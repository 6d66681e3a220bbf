//! Makes a plan from a request: passes, the commands for them, and what they leave out.

use std::collections::{BTreeMap, BTreeSet};

use super::counter_blocks::{ArchitectureBlocks, CounterBlocks};
use super::counter_items::{Accumulations, items};
use super::counter_passes::{Pass, lower_bound, plan};
use super::counter_request::{Needs, Resolved, Resolver};
use super::profiler_jobs::{Collection, accumulation_definitions, job_command, pass_command};
use super::rocm_version::RocmVersion;
use super::tool_flags::{check_for, spelled};
use crate::analysis::hardware::counter_faults::counter_faults;
use crate::analysis::hardware::devices::Catalog;
use crate::analysis::hardware::metrics::{Definitions, Normalization};

/// A request to plan: names to collect, and how.
pub struct PlanRequest {
    /// Counters and derived counters.
    pub counters: Vec<String>,
    /// Ids of metrics and panels.
    pub metrics: Vec<String>,
    /// Architecture by LLVM name or product.
    pub architecture: Option<String>,
    pub per: Normalization,
    pub definitions: Definitions,
    /// Counters of a block that fit into a pass, in place of the built-in limits.
    pub block_limits: BTreeMap<String, usize>,
    /// Whether derived counters are requested by name if the profiler knows them.
    pub by_name: bool,
    pub accumulations: Accumulations,
    /// Output directory in the commands.
    pub directory: String,
    /// File with definitions of accumulations in the commands.
    pub definitions_file: String,
    /// Program to profile and its arguments; `./app` if empty.
    pub program: Vec<String>,
    /// Release of ROCm that the commands are for.
    pub rocm: Option<RocmVersion>,
}

/// A plan with everything to report about it.
pub struct Plan {
    pub passes: Vec<Pass>,
    /// Lower bound of the number of passes.
    pub fewest: usize,
    /// The words of a command for each pass.
    pub commands: Vec<Vec<String>>,
    pub job_command: Vec<String>,
    pub collection: Collection,
    /// Text of the file with definitions of accumulations.
    pub definitions: Option<String>,
    pub blocks: ArchitectureBlocks,
    pub resolved: Resolved,
}

/// Plans the passes.
///
/// # Errors
/// The reason if something cannot be collected on the architecture.
pub fn planned(request: &PlanRequest) -> Result<Plan, String> {
    let facts = CounterBlocks::builtin();
    let Some(given) = &request.architecture else {
        let known = facts.architectures().collect::<Vec<_>>().join(", ");
        return Err(format!("--arch is required; choose from {known}"));
    };
    let architecture = architecture(given)?;
    let blocks = facts.for_architecture(&architecture, &request.block_limits).map_err(|error| error.to_string())?;
    let mut resolver = Resolver::new(&request.definitions, facts, &blocks, request.per);
    for names in [&request.counters, &request.metrics] {
        let names: Vec<String> = names.iter().flat_map(|name| name.split_whitespace()).map(str::to_owned).collect();
        resolver.add_all(&names).map_err(|error| error.to_string())?;
    }
    let mut resolved = resolver.finish();
    let accumulated = &request.definitions.accumulated;
    let items = items(&resolved, &blocks, accumulated, request.accumulations, request.by_name);
    let items = items.map_err(|error| error.to_string())?;
    if items.is_empty() {
        return Err("the request needs no counters".to_owned());
    }
    for fault in counter_faults(&architecture, request.rocm) {
        let names = items.iter().flat_map(|item| &item.names).filter(|name| fault.is_of(name));
        let named: BTreeSet<&str> = names.map(String::as_str).collect();
        if !named.is_empty() {
            let named = named.into_iter().collect::<Vec<&str>>().join(", ");
            resolved.notes.insert(format!("{named}: {}", fault.says));
        }
    }
    let together: Vec<BTreeSet<String>> = resolved.of.values().map(Needs::all).collect();
    let passes = plan(&items, &blocks.limits, &together).map_err(|error| error.to_string())?;
    let defined = accumulation_definitions(&passes, &architecture);
    let program = if request.program.is_empty() { vec!["./app".to_owned()] } else { request.program.clone() };
    let collection = Collection {
        directory: request.directory.clone(),
        definitions: defined.is_some().then(|| request.definitions_file.clone()),
        program,
    };
    let spelled = |command: Vec<String>| spelled(&command, request.rocm);
    let commands: Vec<Vec<String>> =
        passes.iter().enumerate().map(|(at, pass)| spelled(pass_command(pass, at + 1, &collection))).collect();
    let job_command = spelled(job_command(&collection));
    let all = commands.iter().chain([&job_command]);
    if let Some(problem) = all.flat_map(|command| check_for(command, request.rocm)).next() {
        return Err(format!("rocprofv3 would reject the command: {problem}"));
    }
    let fewest = lower_bound(&items, &blocks.limits);
    Ok(Plan { passes, fewest, commands, job_command, collection, definitions: defined, blocks, resolved })
}

/// Number of passes that counters take on an architecture. Accumulations count like the counters that they accumulate.
///
/// # Errors
/// The reason if a counter cannot be collected there.
pub fn passes_needed(counters: &[String], architecture: &str) -> Result<usize, String> {
    let names = counters.iter().map(|name| name.strip_suffix("_ACCUM").unwrap_or(name).to_owned());
    let request = PlanRequest {
        counters: names.collect(),
        metrics: Vec::new(),
        architecture: Some(architecture.to_owned()),
        per: Normalization::Wave,
        definitions: Definitions::builtin().as_ref().clone(),
        block_limits: BTreeMap::new(),
        by_name: false,
        accumulations: Accumulations::Defined,
        directory: String::new(),
        definitions_file: "accumulations.yaml".to_owned(),
        program: Vec::new(),
        rocm: None,
    };
    planned(&request).map(|plan| plan.passes.len())
}

/// The LLVM name of an architecture, which may be given by the name of a product.
fn architecture(given: &str) -> Result<String, String> {
    // Names from the runtime list target features after a colon.
    let name = given.trim().split(':').next().unwrap_or_default().to_lowercase();
    let products = Catalog::builtin().products_named(given);
    let architectures: BTreeSet<&str> = products.iter().map(|(_, architecture)| *architecture).collect();
    let listed = |products: &[(&str, &str)]| {
        products
            .iter()
            .map(|(product, architecture)| format!("{product} ({architecture})"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    match (architectures.first(), architectures.len()) {
        (Some(only), 1) => Ok((*only).to_owned()),
        (Some(_), _) => Err(format!("--arch {given} fits several products; choose from {}", listed(&products))),
        (None, _) if name.starts_with("gfx") => Ok(name),
        (None, _) => {
            let all = listed(&Catalog::builtin().products_named("MI"));
            Err(format!(
                "--arch {given} is not a known architecture or product; choose from {all}, or give a name such as gfx942"
            ))
        }
    }
}
