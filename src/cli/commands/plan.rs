//! `plan`: counters, derived counters and metrics to passes that the hardware can collect, and the commands for them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::analysis::counter_plan;
use crate::analysis::counter_plan::{
    Accumulations, ArchitectureBlocks, Collection, CounterBlocks, Pass, Resolved, Resolver, accumulation_definitions,
    check_command, items, job_command, lower_bound, pass_command, pmc_lines, quoted, yaml_jobs,
};
use crate::analysis::hardware::devices::Catalog;
use crate::analysis::hardware::metrics::{Definitions, Normalization};
use crate::cli::exit::{DONE, Failure};
use crate::cli::options::global::GlobalArguments;
use crate::cli::output::delivery::{check_file, extension_of, unknown_extension};
use crate::cli::output::messages;
use crate::export::atomic::write_file;

/// So many metrics that are left out are named.
const SHOWN: usize = 5;

/// Form of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PlanFormat {
    /// Passes as a table, the commands, and all other formats except JSON
    Text,
    /// A job file for rocprofv3 -i
    Yaml,
    /// A job file of pmc: lines, deprecated in newer rocprofv3 releases
    Txt,
    /// Everything, for scripts; rocprofv3 -i also reads it
    Json,
    /// The counters that rocprofv3 -E must define to accumulate levels
    Definitions,
}

/// How to collect accumulated levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum AccumulationStyle {
    /// Counters NAME_ACCUM, defined in a file for rocprofv3 -E
    #[default]
    Defined,
    /// Pairs of NAME and SQ_ACCUM_PREV_HIRES, for rocprof before rocprofv3; rocprofv3 reports 0 for them
    Paired,
}

/// Normalization unit of metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Per {
    /// Wavefronts
    #[default]
    Wave,
    /// Cycles
    Cycle,
    /// Seconds
    Second,
    /// Dispatches
    Kernel,
}

impl From<Per> for Normalization {
    fn from(per: Per) -> Self {
        match per {
            Per::Wave => Self::Wave,
            Per::Cycle => Self::Cycle,
            Per::Second => Self::Second,
            Per::Kernel => Self::Kernel,
        }
    }
}

/// Plan counter passes; print rocprofv3 commands
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
The plan collects every counter in exactly one pass, never exceeds the counters of a hardware block, and has as few passes as possible. It replaces derived counters by hardware counters, because not every release and architecture knows them by name.

With -o the extension selects the format: .yaml, .txt, .json.

Examples:
  wavesieve plan --counters SQ_WAVES,GRBM_GUI_ACTIVE,TCC_HIT,TCC_MISS --arch gfx942
  wavesieve plan --counters OccupancyPercent,L2CacheHit,FETCH_SIZE --arch gfx90a -- ./app -n 5
  wavesieve plan --metrics-of speed_of_light,roofline --arch MI355X -f yaml
  wavesieve plan --metrics-of sol.wavefront_occupancy --arch gfx942 -f definitions")]
pub(crate) struct PlanArguments {
    /// Hardware counters, with or without _sum, _max, _min, _avr or [n], and derived counters
    #[arg(long, value_name = "NAME", value_delimiter = ',', num_args = 1.., help_heading = "What")]
    counters: Vec<String>,
    /// Metric ids such as sol.l2_cache_hit_rate, and panels such as speed_of_light
    #[arg(long, value_name = "ID", value_delimiter = ',', num_args = 1.., help_heading = "What")]
    metrics_of: Vec<String>,
    /// GPU architecture by LLVM name, such as gfx942, or product, such as MI300X
    #[arg(long, value_name = "GFX", help_heading = "What")]
    arch: Option<String>,
    /// Normalization unit of metrics
    #[arg(long, value_enum, default_value_t, help_heading = "What")]
    per: Per,
    /// Your own metric definitions: a TOML file in the format of share/metrics
    #[arg(long, value_name = "FILE", help_heading = "What")]
    metrics: Vec<PathBuf>,
    /// Counters per pass that fit a block; overrides the built-in limit
    #[arg(long, value_name = "BLOCK=N", value_parser = block_limit, help_heading = "How")]
    block_limit: Vec<(String, usize)>,
    /// Request derived counters by name if rocprofiler-sdk defines them for the architecture
    #[arg(long, help_heading = "How")]
    by_name: bool,
    /// How to collect accumulated levels
    #[arg(long, value_enum, default_value_t, help_heading = "How")]
    accumulations: AccumulationStyle,
    /// Output directory in the commands, with a folder for every pass
    #[arg(long, value_name = "DIR", default_value = "counters", help_heading = "How")]
    directory: String,
    /// Accumulation definitions in the commands; -f definitions writes this file
    #[arg(long, value_name = "FILE", default_value = "accumulations.yaml", help_heading = "How")]
    definitions: String,
    /// Output format; by default the output's extension selects it
    #[arg(short, long, value_enum, help_heading = "Output")]
    format: Option<PlanFormat>,
    /// Output file, - for standard output
    #[arg(short, long, value_name = "PATH", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Program to profile and its arguments, for the commands
    #[arg(last = true, value_name = "COMMAND")]
    program: Vec<String>,
}

fn block_limit(text: &str) -> Result<(String, usize), &'static str> {
    let (block, limit) = text.split_once('=').ok_or("give it as BLOCK=N")?;
    let limit = limit.parse().ok().filter(|limit| *limit > 0).ok_or("give a whole number above 0 after =")?;
    if block.is_empty() { Err("name a block before =") } else { Ok((block.to_owned(), limit)) }
}

/// A plan with everything it reports.
struct Plan {
    passes: Vec<Pass>,
    fewest: usize,
    commands: Vec<Vec<String>>,
    job_command: Vec<String>,
    collection: Collection,
    definitions: Option<String>,
    blocks: ArchitectureBlocks,
    resolved: Resolved,
}

/// Runs the verb.
///
/// # Errors
/// When something that was asked for cannot be collected on the architecture, or the plan cannot be written.
pub(crate) fn run(arguments: &PlanArguments, global: &GlobalArguments) -> Result<u8, Failure> {
    if arguments.counters.is_empty() && arguments.metrics_of.is_empty() {
        return Err(Failure::Usage("nothing is to be collected; name it with --counters or --metrics-of".to_owned()));
    }
    let path = arguments.output.as_deref().filter(|path| path.as_os_str() != "-");
    let format = format(arguments, path)?;
    path.map(check_file).transpose()?;
    let plan = planned(arguments)?;
    print_plan_notes(&plan, arguments, format, global);
    let text = match format {
        PlanFormat::Text => text(&plan)?,
        PlanFormat::Yaml => yaml_jobs(&plan.passes, plan.collection.definitions.as_deref()),
        PlanFormat::Txt => pmc_lines(&plan.passes),
        PlanFormat::Json => json(&plan)?,
        PlanFormat::Definitions => plan.definitions.clone().ok_or_else(|| {
            Failure::Usage("nothing is to be defined, as no level is accumulated as a counter of its own".to_owned())
        })?,
    };
    match path {
        Some(path) => {
            write_file(path, |out| Ok(out.write_all(text.as_bytes())?))?;
            global.outbox.add(path);
        }
        None => messages::print(text)?,
    }
    Ok(DONE)
}

/// The format that was asked for, or the one that the extension of the file names.
fn format(arguments: &PlanArguments, path: Option<&Path>) -> Result<PlanFormat, Failure> {
    let extension = path.and_then(extension_of);
    Ok(match (arguments.format, extension.as_deref()) {
        (Some(format), _) => format,
        (None, None) => PlanFormat::Text,
        (None, Some("yaml" | "yml")) => PlanFormat::Yaml,
        (None, Some("txt")) => PlanFormat::Txt,
        (None, Some("json")) => PlanFormat::Json,
        (None, Some(_)) => {
            return Err(unknown_extension(path.unwrap_or(Path::new("")), "plans", &["txt", "yaml", "yml", "json"]));
        }
    })
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
                "--arch {given} is no architecture or product that is known; choose from {all}, or give a name such as gfx942"
            ))
        }
    }
}

fn planned(arguments: &PlanArguments) -> Result<Plan, Failure> {
    let usage = |error: &dyn std::error::Error| Failure::Usage(error.to_string());
    let mut definitions = Definitions::builtin().as_ref().clone();
    for file in &arguments.metrics {
        let toml = fs::read_to_string(file).map_err(|error| Failure::Usage(format!("{}: {error}", file.display())))?;
        definitions =
            definitions.with_user_metrics(&toml, &file.display().to_string()).map_err(|error| usage(&error))?;
    }
    let facts = CounterBlocks::builtin();
    let limits: BTreeMap<String, usize> = arguments.block_limit.iter().cloned().collect();
    let Some(given) = &arguments.arch else {
        let known = facts.architectures().collect::<Vec<_>>().join(", ");
        return Err(Failure::Usage(format!("--arch is required; choose from {known}")));
    };
    let architecture = architecture(given).map_err(Failure::Usage)?;
    let blocks = facts.for_architecture(&architecture, &limits).map_err(|error| usage(&error))?;
    let mut resolver = Resolver::new(&definitions, facts, &blocks, arguments.per.into());
    for names in [&arguments.counters, &arguments.metrics_of] {
        let names: Vec<String> = names.iter().flat_map(|name| name.split_whitespace()).map(str::to_owned).collect();
        resolver.add_all(&names).map_err(|error| usage(&error))?;
    }
    let resolved = resolver.finish();
    let style = match arguments.accumulations {
        AccumulationStyle::Defined => Accumulations::Defined,
        AccumulationStyle::Paired => Accumulations::Paired,
    };
    let items =
        items(&resolved, &blocks, &definitions.accumulated, style, arguments.by_name).map_err(|error| usage(&error))?;
    if items.is_empty() {
        return Err(Failure::Usage("nothing that was asked for needs counters".to_owned()));
    }
    let together: Vec<BTreeSet<String>> = resolved.of.values().map(counter_plan::Needs::all).collect();
    let passes = counter_plan::plan(&items, &blocks.limits, &together).map_err(|error| usage(&error))?;
    let defined = accumulation_definitions(&passes, &architecture);
    let program = if arguments.program.is_empty() { vec!["./app".to_owned()] } else { arguments.program.clone() };
    let collection = Collection {
        directory: arguments.directory.clone(),
        definitions: defined.is_some().then(|| arguments.definitions.clone()),
        program,
    };
    let commands: Vec<Vec<String>> =
        passes.iter().enumerate().map(|(at, pass)| pass_command(pass, at + 1, &collection)).collect();
    let job_command = job_command(&collection);
    if let Some(problem) = commands.iter().chain([&job_command]).flat_map(|command| check_command(command)).next() {
        return Err(Failure::Usage(format!("rocprofv3 would not take the command: {problem}")));
    }
    let fewest = lower_bound(&items, &blocks.limits);
    Ok(Plan { passes, fewest, commands, job_command, collection, definitions: defined, blocks, resolved })
}

fn print_plan_notes(plan: &Plan, arguments: &PlanArguments, format: PlanFormat, global: &GlobalArguments) {
    if global.quiet {
        return;
    }
    for note in &plan.resolved.notes {
        messages::print_note(format_args!("note: {note}"));
    }
    let architecture = &plan.blocks.architecture;
    let left_out = &plan.resolved.left_out;
    if !left_out.is_empty() {
        let shown = if global.verbose { left_out.len() } else { SHOWN };
        let names = left_out.iter().take(shown).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = if left_out.len() > shown { ", …; -v names all" } else { "" };
        let count = plural(left_out.len(), "metric", "metrics");
        messages::print_note(format_args!("note: {count} left out, which {architecture} does not have: {names}{more}"));
    }
    let accumulates = plan.passes.iter().flat_map(|pass| &pass.items).any(|item| !item.accumulates.is_empty());
    if accumulates && !CounterBlocks::builtin().accumulates(architecture) {
        messages::print_note(format_args!("note: rocprofv3 is known not to accumulate levels on {architecture}"));
    }
    if accumulates && arguments.accumulations == AccumulationStyle::Paired {
        messages::print_note("note: rocprofv3 gives 0 for pairs with an accumulator; they are for rocprof before it");
    }
    let tells = matches!(format, PlanFormat::Text | PlanFormat::Definitions);
    if let (Some(file), false) = (&plan.collection.definitions, tells) {
        messages::print_note(format_args!(
            "note: the same plan with -f definitions -o {} writes what -E reads",
            quoted(file)
        ));
    }
}

/// The number of names passed to the profiler, without counting a pair twice.
fn counter_count(plan: &Plan) -> usize {
    plan.passes.iter().flat_map(|pass| &pass.items).map(|item| item.names.len()).sum()
}

fn line(command: &[String]) -> String {
    command.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

fn plural(count: usize, of: &str, several: &str) -> String {
    if count == 1 { format!("1 {of}") } else { format!("{count} {several}") }
}

fn text(plan: &Plan) -> Result<String, Failure> {
    let mut text = String::new();
    write_text(plan, &mut text).context("cannot lay out the plan")?;
    Ok(text)
}

fn write_text(plan: &Plan, text: &mut String) -> std::fmt::Result {
    let (counters, passes) =
        (plural(counter_count(plan), "counter", "counters"), plural(plan.passes.len(), "pass", "passes"));
    let least = match plan.passes.len() > plan.fewest {
        true => format!("at least {} are needed", plan.fewest),
        false => "no fewer are possible".to_owned(),
    };
    writeln!(text, "{}: {counters} in {passes}; {least}\n", plan.blocks.architecture)?;
    let rows = rows(plan);
    let width = rows.iter().map(|row| row.block.len()).max().unwrap_or(0).max("block".len());
    writeln!(text, "pass  {:width$}  used  counters", "block")?;
    let mut last = 0;
    for row in rows {
        let pass = if row.pass == last { String::new() } else { row.pass.to_string() };
        last = row.pass;
        let used = format!("{}/{}", row.counters.len(), row.limit);
        writeln!(text, "{pass:>4}  {:width$}  {used:>4}  {}", row.block, row.counters.join(", "))?;
    }
    writeln!(text, "\nA run for every pass:")?;
    for command in &plan.commands {
        writeln!(text, "  {}", line(command))?;
    }
    let definitions = plan.collection.definitions.as_deref();
    writeln!(text, "\nAll passes with a job file (-f yaml -o jobs.yaml):\n  {}\n", line(&plan.job_command))?;
    indented(text, &yaml_jobs(&plan.passes, definitions))?;
    let beside = definitions.map(|file| format!(", used with -E {}", quoted(file))).unwrap_or_default();
    writeln!(text, "\nThe same as pmc: lines (-f txt{beside}):\n")?;
    indented(text, &pmc_lines(&plan.passes))?;
    if let (Some(file), Some(defined)) = (definitions, &plan.definitions) {
        writeln!(text, "\nDefinitions of accumulations (-f definitions -o {}):\n", quoted(file))?;
        indented(text, defined)?;
    }
    Ok(())
}

fn indented(text: &mut String, lines: &str) -> std::fmt::Result {
    lines.lines().try_for_each(|line| writeln!(text, "  {line}"))
}

struct Row<'a> {
    pass: usize,
    block: &'a str,
    limit: usize,
    counters: Vec<&'a str>,
}

fn rows(plan: &Plan) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for (pass, selects) in plan.passes.iter().enumerate().map(|(at, pass)| (at + 1, pass.selects())) {
        for (block, counters) in selects {
            let limit = plan.blocks.limits.get(block).copied().unwrap_or(0);
            rows.push(Row { pass, block, limit, counters: counters.into_iter().collect() });
        }
    }
    rows
}

#[derive(Serialize)]
struct PlanDocument<'a> {
    architecture: &'a str,
    limits_from: &'a [String],
    fewest_passes: usize,
    jobs: Vec<Job<'a>>,
    passes: Vec<PassDocument<'a>>,
    needs: BTreeMap<&'a str, BTreeSet<String>>,
    left_out: &'a BTreeSet<String>,
    notes: &'a BTreeSet<String>,
    definitions: Option<&'a str>,
}

#[derive(Serialize)]
struct Job<'a> {
    pmc: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_counters: Option<&'a str>,
}

#[derive(Serialize)]
struct PassDocument<'a> {
    pass: usize,
    counters: Vec<&'a str>,
    blocks: Vec<BlockDocument<'a>>,
    command: &'a [String],
}

#[derive(Serialize)]
struct BlockDocument<'a> {
    block: &'a str,
    used: usize,
    limit: usize,
    counters: Vec<&'a str>,
}

fn json(plan: &Plan) -> Result<String, Failure> {
    let mut passes: Vec<PassDocument<'_>> = Vec::new();
    for (at, (pass, command)) in plan.passes.iter().zip(&plan.commands).enumerate() {
        passes.push(PassDocument { pass: at + 1, counters: pass.names(), blocks: Vec::new(), command });
    }
    for row in rows(plan) {
        if let Some(pass) = passes.get_mut(row.pass - 1) {
            let (block, limit, used) = (row.block, row.limit, row.counters.len());
            pass.blocks.push(BlockDocument { block, used, limit, counters: row.counters });
        }
    }
    let extra = |command: &[String]| {
        let defines = command.iter().take_while(|word| *word != "--").any(|word| word == "-E");
        plan.collection.definitions.as_deref().filter(|_| defines)
    };
    let jobs =
        passes.iter().map(|pass| Job { pmc: pass.counters.clone(), extra_counters: extra(pass.command) }).collect();
    let names = |needs: &counter_plan::Needs| -> BTreeSet<String> {
        let accumulated = needs.accumulated.iter().map(|level| format!("{level}_ACCUM"));
        needs.counters.iter().cloned().chain(accumulated).collect()
    };
    let document = PlanDocument {
        architecture: &plan.blocks.architecture,
        limits_from: &plan.blocks.sources,
        fewest_passes: plan.fewest,
        jobs,
        needs: plan.resolved.of.iter().map(|(name, needs)| (name.as_str(), names(needs))).collect(),
        passes,
        left_out: &plan.resolved.left_out,
        notes: &plan.resolved.notes,
        definitions: plan.definitions.as_deref(),
    };
    let text = serde_json::to_string_pretty(&document).context("cannot write the plan as JSON")?;
    Ok(format!("{text}\n"))
}
