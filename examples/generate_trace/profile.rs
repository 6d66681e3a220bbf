//! A workload folder of rocprofiler-compute whose kernels are each held back by something else, with all counters that tell it.

use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, Result, ensure};

use crate::arguments::Arguments;

const TABLE: &str = include_str!("profile.txt");
/// An MI355X, whose matrix units know all types.
const SYSTEM: &str = "\
workload_name,command,timestamp,version,hostname,gpu_model,gpu_arch,gpu_chip_id,cu_per_gpu,simd_per_cu,se_per_gpu,wave_size,\
max_waves_per_cu,max_sclk,max_mclk,total_l2_chan,lds_banks_per_cu,sqc_per_gpu,pipes_per_gpu,hbm_bw,num_xcd,num_hbm_channels
run,./kernels,Thu Jan  1 00:00:00 1970 (UTC),3,node0,MI355X,gfx950,30115,256,4,32,64,32,2400,2000,128,32,128,4,8192,8,128
";
/// Properties of a dispatch by their names in the table, and the columns that have them.
const PROPERTIES: [(&str, &str); 5] = [
    ("grid", "Grid_Size"),
    ("workgroup", "Workgroup_Size"),
    ("lds_bytes", "LDS_Per_Workgroup"),
    ("vgpr", "Arch_VGPR"),
    ("accum_vgpr", "Accum_VGPR"),
];
/// Suffix of counters that accumulate a level: the counter is named after the level, with this suffix.
const ACCUMULATED: &str = "_ACCUM";
const START_NS: u64 = 1_000_000_000;
/// From one dispatch to the next.
const PAUSE_NS: u64 = 50_000;

/// A row of the table: a value of each kernel, none where it was lost.
struct Row<'a> {
    name: &'a str,
    values: Vec<Option<u64>>,
}

/// Writes `pmc_perf.csv` and `sysinfo.csv`, two dispatches of each kernel, the second of which has a tenth more work in the same time;
/// returns the number of values.
pub fn write(arguments: &Arguments) -> Result<u64> {
    let mut kernels: Vec<&str> = Vec::new();
    let mut rows: Vec<Row<'_>> = Vec::new();
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let (name, values) = line.split_once(' ').context("a row of the profile without values")?;
        if name == "kernel" {
            kernels = values.split(" | ").collect();
            continue;
        }
        let values: Vec<Option<u64>> = values.split(' ').map(|value| value.parse().ok()).collect();
        ensure!(values.len() == kernels.len(), "{name} of the profile has {} values", values.len());
        rows.push(Row { name, values });
    }
    let property = |name: &str, kernel: usize| {
        rows.iter().find(|row| row.name == name).and_then(|row| row.values.get(kernel).copied().flatten()).unwrap_or(0)
    };
    let known = |row: &&Row<'_>| row.name != "duration_ns" && PROPERTIES.iter().all(|(name, _)| *name != row.name);
    let counters: Vec<&Row<'_>> = rows.iter().filter(known).collect();

    let mut text = "Dispatch_ID,Kernel_Name,GPU_ID,SGPR,Scratch_Per_Workitem".to_owned();
    PROPERTIES.iter().for_each(|(_, column)| text.push_str(&format!(",{column}")));
    // Each accumulation is in a pass of its own, and called the same.
    let mut pass = 0;
    for row in &counters {
        match row.name.strip_suffix(ACCUMULATED) {
            Some(_) if pass == 0 => text.push_str(",SQ_ACCUM_PREV_HIRES"),
            Some(_) => text.push_str(&format!(",SQ_ACCUM_PREV_HIRES_{pass}")),
            None => text.push_str(&format!(",{}", row.name)),
        }
        pass += u64::from(row.name.ends_with(ACCUMULATED));
    }
    text.push_str(",Start_Timestamp,End_Timestamp\n");
    let mut now_ns = START_NS;
    let mut values = 0;
    for (id, (kernel, tenths)) in (1..).zip((0..kernels.len()).flat_map(|kernel| [(kernel, 10), (kernel, 11)])) {
        let name = kernels.get(kernel).copied().unwrap_or_default();
        let _ = write!(text, "{id},\"{name}\",0,64,0");
        PROPERTIES.iter().for_each(|(name, _)| text.push_str(&format!(",{}", property(name, kernel))));
        for row in &counters {
            let value = row.values.get(kernel).copied().flatten();
            let per_dispatch = if row.name == "GRBM_GUI_ACTIVE" { 10 } else { tenths };
            text.push_str(&value.map_or_else(|| ",".to_owned(), |value| format!(",{}", value * per_dispatch / 10)));
            values += u64::from(value.is_some());
        }
        let end_ns = now_ns + property("duration_ns", kernel);
        let _ = writeln!(text, ",{now_ns},{end_ns}");
        now_ns = end_ns + PAUSE_NS;
    }
    fs::create_dir_all(&arguments.output)?;
    for (name, text) in [("pmc_perf.csv", text.as_str()), ("sysinfo.csv", SYSTEM)] {
        let path = arguments.output.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(values)
}
