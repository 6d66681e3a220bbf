//! Workload folders as rocprofiler-compute writes them: counters of dispatches, wide or long, and the machine.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};

use crate::arguments::Arguments;
use crate::model::{Activity, Agent, Dispatch, KernelSymbol, Setup, Sink};
use crate::platform::{self, Pass};
use crate::workload::Workload;

/// How counters are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// A column for each counter, those of a pass with what else the pass names behind the first.
    Wide,
    /// A row for each value; the last pass first.
    Long,
}

/// Counters of a pass besides the one that every pass has.
const PER_PASS: usize = 2;
/// The counter of every pass, which is a little higher each time.
const EVERYWHERE: &str = "GRBM_COUNT";
/// A level of each pass, of which the first two have one.
const LEVELS: [&str; 2] = ["SQ_LEVEL_WAVES", "SQ_IFETCH_LEVEL"];
/// Time between two passes.
const PASS_NS: u64 = 7_000_000_000;

/// Dispatches with their counters.
#[derive(Debug, Default)]
struct Collected(Vec<Dispatch>);

impl Sink for Collected {
    fn record(&mut self, activity: &Activity) -> Result<()> {
        if let Activity::Dispatch(dispatch) = activity {
            self.0.push(dispatch.clone());
        }
        Ok(())
    }
}

/// Writes a folder for each rank; returns the number of values.
pub fn write(arguments: &Arguments, layout: Layout) -> Result<u64> {
    let pass = if arguments.counter_pass { Pass::Counters } else { Pass::Main };
    let mut values = 0;
    for rank in 0..arguments.ranks {
        let setup = platform::setup(arguments, rank, pass);
        let mut collected = Collected::default();
        Workload::new(arguments, &setup, pass).run(&mut collected)?;
        let folder = arguments.output.join(&setup.node.hostname).join(setup.process.pid.to_string());
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        save(&folder.join("sysinfo.csv"), &system(&setup))?;
        let passes = passes(&setup, &collected.0);
        values += passes.iter().flatten().map(|run| run.values.len() as u64).sum::<u64>();
        let text = match layout {
            Layout::Wide => wide(&passes),
            Layout::Long => long(&passes),
        };
        save(&folder.join("pmc_perf.csv"), &text)?;
    }
    Ok(values)
}

fn save(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// A dispatch in a pass.
struct Run<'a> {
    dispatch: &'a Dispatch,
    symbol: &'a KernelSymbol,
    start_ns: u64,
    /// Name and value of what was counted, in the order of columns; none where nothing was sampled.
    values: Vec<(String, Option<f64>)>,
}

impl Run<'_> {
    fn end_ns(&self) -> u64 {
        self.start_ns + (self.dispatch.end_ns - self.dispatch.start_ns)
    }

    fn field(&self, column: &str) -> String {
        let (dispatch, template) = (self.dispatch, self.symbol.template);
        let items = |sizes: [u32; 3]| sizes.iter().map(|size| u64::from(*size)).product::<u64>().to_string();
        match column {
            "Dispatch_ID" => dispatch.id.to_string(),
            "GPU_ID" => dispatch.agent_id.to_string(),
            "Kernel_ID" => dispatch.kernel_id.to_string(),
            "Kernel_Name" => format!("\"{}\"", template.display_name.replace('"', "\"\"")),
            "Grid_Size" => items(dispatch.grid),
            "Workgroup_Size" => items(dispatch.workgroup),
            "LDS_Per_Workgroup" => dispatch.lds_bytes.to_string(),
            "Scratch_Per_Workitem" => dispatch.scratch_bytes.to_string(),
            "Arch_VGPR" => template.arch_vgpr_count.to_string(),
            "Accum_VGPR" => template.accum_vgpr_count.to_string(),
            "SGPR" => template.sgpr_count.to_string(),
            "Start_Timestamp" => self.start_ns.to_string(),
            _ => self.end_ns().to_string(),
        }
    }
}

/// All dispatches of each pass.
fn passes<'a>(setup: &'a Setup, dispatches: &'a [Dispatch]) -> Vec<Vec<Run<'a>>> {
    let names: BTreeMap<i64, &str> = setup.counters.iter().map(|counter| (counter.id, counter.template.name)).collect();
    let symbols: BTreeMap<i64, &KernelSymbol> = setup.symbols.iter().map(|symbol| (symbol.id, symbol)).collect();
    let counted = dispatches.iter().map(|dispatch| dispatch.counters.len()).max().unwrap_or(0);
    (0..counted.div_ceil(PER_PASS))
        .map(|pass| {
            let run = |dispatch: &'a Dispatch| {
                let sum = |values: &[f64]| values.iter().sum::<f64>();
                let counters = dispatch.counters.iter().skip(pass * PER_PASS).take(PER_PASS);
                let mut values: Vec<(String, Option<f64>)> = counters
                    .filter_map(|counter| {
                        Some(((*names.get(&counter.counter_id)?).to_owned(), Some(sum(&counter.instances))))
                    })
                    .collect();
                let cycles = ((dispatch.end_ns - dispatch.start_ns) * 2 + pass as u64) as f64;
                if let Some(level) = LEVELS.get(pass) {
                    values.push(((*level).to_owned(), Some(cycles / 2.0)));
                    values.push((format!("{level}_ACCUM"), Some(cycles * 3.0)));
                }
                values.push((EVERYWHERE.to_owned(), Some(cycles)));
                // A counter that the second dispatch lacks.
                values.push((format!("TCC_TAG_STALL[{pass}]"), (dispatch.id != 2).then_some(pass as f64)));
                let start_ns = dispatch.start_ns + pass as u64 * PASS_NS;
                Some(Run { dispatch, symbol: symbols.get(&dispatch.kernel_id)?, start_ns, values })
            };
            dispatches.iter().filter_map(run).collect()
        })
        .collect()
}

fn wide(passes: &[Vec<Run<'_>>]) -> String {
    const BEFORE: [&str; 10] = [
        "Dispatch_ID",
        "Kernel_Name",
        "GPU_ID",
        "Grid_Size",
        "Workgroup_Size",
        "LDS_Per_Workgroup",
        "Scratch_Per_Workitem",
        "Arch_VGPR",
        "Accum_VGPR",
        "SGPR",
    ];
    let mut seen: Vec<&str> = Vec::new();
    let mut header: Vec<String> = BEFORE.iter().map(|name| (*name).to_owned()).collect();
    for (number, pass) in passes.iter().enumerate() {
        let counted = pass.first().map_or(&[][..], |run| run.values.as_slice());
        let names = counted.iter().map(|(name, _)| if name.ends_with("_ACCUM") { "SQ_ACCUM_PREV_HIRES" } else { name });
        for name in ["wave_size", "obj"].into_iter().chain(names) {
            let is_known = seen.contains(&name);
            seen.push(name);
            header.push(if is_known { format!("{name}_{number}") } else { name.to_owned() });
        }
    }
    header.extend(["Start_Timestamp".to_owned(), "End_Timestamp".to_owned()]);
    let mut text = header.join(",") + "\n";
    for (row, first) in passes.first().into_iter().flatten().enumerate() {
        let mut fields: Vec<String> = BEFORE.iter().map(|column| first.field(column)).collect();
        for run in passes.iter().filter_map(|pass| pass.get(row)) {
            fields.extend(["64".to_owned(), "0x7f2a00000000".to_owned()]);
            fields
                .extend(run.values.iter().map(|(_, value)| value.map_or_else(String::new, |value| value.to_string())));
        }
        fields.extend(["Start_Timestamp", "End_Timestamp"].map(|column| first.field(column)));
        text.push_str(&fields.join(","));
        text.push('\n');
    }
    text
}

fn long(passes: &[Vec<Run<'_>>]) -> String {
    const COLUMNS: [&str; 13] = [
        "GPU_ID",
        "Dispatch_ID",
        "Grid_Size",
        "Workgroup_Size",
        "LDS_Per_Workgroup",
        "Scratch_Per_Workitem",
        "Arch_VGPR",
        "Accum_VGPR",
        "SGPR",
        "Kernel_Name",
        "Start_Timestamp",
        "End_Timestamp",
        "Kernel_ID",
    ];
    let mut text = COLUMNS.join(",") + ",Counter_Name,Counter_Value\n";
    for run in passes.iter().rev().flatten() {
        let fields = COLUMNS.map(|column| run.field(column)).join(",");
        for (name, value) in run.values.iter().filter_map(|(name, value)| Some((name, (*value)?))) {
            let _ = writeln!(text, "{fields},{name},{value:.1}");
        }
    }
    text
}

/// The description of the machine; all of its GPUs are alike.
fn system(setup: &Setup) -> String {
    let gpu: Option<&Agent> = setup.agents.iter().find(|agent| agent.kind == "GPU");
    let (name, product, chip) = gpu.map_or(("", "", 0), |gpu| (gpu.name, gpu.product_name, gpu.pci_device_id));
    let fields = [
        ("workload_name", "run".to_owned()),
        ("command", format!("\"{}\"", setup.process.command.replace('"', "\"\""))),
        ("timestamp", "Thu Jan  1 00:00:00 1970 (UTC)".to_owned()),
        ("version", "3".to_owned()),
        ("hostname", setup.node.hostname.clone()),
        ("gpu_memory", String::new()),
        ("gpu_model", product.to_owned()),
        ("gpu_arch", name.to_owned()),
        ("gpu_chip_id", chip.to_string()),
        ("cu_per_gpu", "304".to_owned()),
        ("simd_per_cu", "4".to_owned()),
        ("se_per_gpu", "32".to_owned()),
        ("wave_size", "64".to_owned()),
        ("max_waves_per_cu", "32".to_owned()),
        ("max_sclk", "2100".to_owned()),
        ("max_mclk", "1300".to_owned()),
        ("total_l2_chan", "128".to_owned()),
        ("lds_banks_per_cu", "32".to_owned()),
        ("sqc_per_gpu", "160".to_owned()),
        ("pipes_per_gpu", "4".to_owned()),
        ("hbm_bw", "5324.8".to_owned()),
        ("num_xcd", "8".to_owned()),
        ("num_hbm_channels", "128".to_owned()),
    ];
    let line = |of: fn(&(&'static str, String)) -> String| fields.iter().map(of).collect::<Vec<String>>().join(",");
    format!("{}\n{}\n", line(|field| field.0.to_owned()), line(|field| field.1.clone()))
}
