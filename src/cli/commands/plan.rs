//! `plan`: plans counter passes for counters, derived counters and metrics, and prints the commands for them.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};

use crate::cli::exit::{DONE, Failure, refuse};
use crate::cli::options::global::GlobalArguments;
use crate::cli::output::delivery::{check_file, format_of};
use crate::cli::output::messages;
use wavesieve_export::atomic::write_file;
use wavesieve_model::analysis::counter_plan::{
    Accumulations, CounterBlocks, Plan, PlanRequest, RocmVersion, block_rows, plan_json, planned, pmc_lines, quoted,
    yaml_jobs,
};
use wavesieve_model::analysis::hardware::metrics::{Definitions, Normalization};

/// Maximum number of omitted metrics that are named.
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
    /// ROCm release that the commands are for, such as 7.2 [default: what 7.0 and later take]
    #[arg(long, value_name = "VERSION", help_heading = "How")]
    rocm_version: Option<RocmVersion>,
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

pub(crate) fn run(arguments: &PlanArguments, global: &GlobalArguments) -> Result<u8, Failure> {
    if arguments.counters.is_empty() && arguments.metrics_of.is_empty() {
        refuse!("nothing is to be collected; name it with --counters or --metrics-of");
    }
    let path = arguments.output.as_deref().filter(|path| path.as_os_str() != "-");
    let format = format(arguments, path)?;
    path.map(check_file).transpose()?;
    let plan = planned(&arguments.request()?).map_err(Failure::Usage)?;
    print_plan_notes(&plan, arguments, format, global);
    let text = match format {
        PlanFormat::Text => text(&plan)?,
        PlanFormat::Yaml => yaml_jobs(&plan.passes, plan.collection.definitions.as_deref()),
        PlanFormat::Txt => pmc_lines(&plan.passes),
        PlanFormat::Json => plan_json(&plan).context("cannot write the plan as JSON")?,
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

fn format(arguments: &PlanArguments, path: Option<&Path>) -> Result<PlanFormat, Failure> {
    let formats =
        [("txt", PlanFormat::Txt), ("yaml", PlanFormat::Yaml), ("yml", PlanFormat::Yaml), ("json", PlanFormat::Json)];
    format_of(arguments.format, path, PlanFormat::Text, "plans", &formats)
}

impl PlanArguments {
    /// The request to the planner, with the metrics of the user's files.
    fn request(&self) -> Result<PlanRequest, Failure> {
        let mut definitions = Definitions::builtin().as_ref().clone();
        for file in &self.metrics {
            let shown = file.display();
            let toml = fs::read_to_string(file).map_err(|error| Failure::Usage(format!("{shown}: {error}")))?;
            let own = definitions.with_user_metrics(&toml, &shown.to_string());
            definitions = own.map_err(Failure::usage)?;
        }
        Ok(PlanRequest {
            counters: self.counters.clone(),
            metrics: self.metrics_of.clone(),
            architecture: self.arch.clone(),
            per: self.per.into(),
            definitions,
            block_limits: self.block_limit.iter().cloned().collect(),
            by_name: self.by_name,
            accumulations: match self.accumulations {
                AccumulationStyle::Defined => Accumulations::Defined,
                AccumulationStyle::Paired => Accumulations::Paired,
            },
            directory: self.directory.clone(),
            definitions_file: self.definitions.clone(),
            program: self.program.clone(),
            rocm: self.rocm_version,
        })
    }
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
        messages::print_note("note: rocprofv3 reports 0 for accumulator pairs; use them only with older rocprof");
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
    let rows = block_rows(plan);
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
