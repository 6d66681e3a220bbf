//! The table `kernel_resources`: SIMD resources that kernels use, and the wavefronts that fit.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{categories, floats, integers};
use crate::columns::values::FrameValues;
use crate::derive::{Build, DerivedTable, Frames, Needs, RowsWhen, column, needed};
use wavesieve_model::analysis::hardware::devices::target;
use wavesieve_model::analysis::hardware::occupancy::{Encoding, Limits, Occupancy, Resources, limits};
use wavesieve_model::analysis::numbering::dense_groups::DenseGroups;
use wavesieve_model::schema::facts::AgentFacts;
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows_when: RowsWhen::any(&["kernels", "counter_dispatches"]),
    ..DerivedTable::new(&tables::devices::KERNEL_RESOURCES, needs, Build::Alone(build))
};

/// Columns that distinguish launches.
const LAUNCH: [&str; 8] =
    ["kernel_id", "agent_id", "gpu", "workgroup_x", "workgroup_y", "workgroup_z", "lds_bytes", "scratch_bytes"];
/// Columns that the kernel determines.
const OF_KERNEL: [&str; 3] = ["kernel_name", "short_name", "category"];
const FIRST: &str = "first_dispatch_id";

fn needs() -> Needs {
    let mut columns = LAUNCH.to_vec();
    columns.extend(OF_KERNEL);
    columns.extend(["dispatch_id", "duration_ns", "valid"]);
    let symbols = vec!["kernel_id", "vgpr", "accum_vgpr", "sgpr"];
    vec![("kernels", columns.clone()), ("counter_dispatches", columns), ("kernel_symbols", symbols)]
}

/// Registers of a kernel as recorded.
#[derive(Clone, Copy, Default)]
struct Registers {
    vgpr: Option<i64>,
    accum_vgpr: Option<i64>,
    sgpr: Option<i64>,
}

/// Occupancy found for a row.
#[derive(Default)]
struct RowOccupancy {
    architecture: Option<String>,
    registers: Registers,
    wave_size: Option<i64>,
    max_waves: Option<i64>,
    occupancy: Option<Occupancy>,
    unknown: Option<&'static str>,
}

/// Groups the dispatches by kernel and launch, and computes the occupancy. Dispatches of counter passes count only if there are no others.
fn build(process: &Process, tables: &Frames) -> Result<DataFrame> {
    let kernels = needed(tables, "kernels")?;
    // Passes count the same dispatches again.
    let mut launches = if kernels.height() > 0 {
        launches(kernels, false)?
    } else {
        launches(needed(tables, "counter_dispatches")?, true)?
    };
    let symbols = symbols(needed(tables, "kernel_symbols")?)?;
    let architectures = Architectures::new(process);
    let [kernel_ids, agents] = launches.integers(["kernel_id", "agent_id"])?;
    let sides = launches.integers(["workgroup_x", "workgroup_y", "workgroup_z"])?;
    let lds = launches.integer("lds_bytes")?;

    let of_rows: Vec<(Option<i64>, Option<&AgentFacts>)> =
        kernel_ids.iter().zip(agents.iter()).map(|(kernel, agent)| (kernel, architectures.agent(agent))).collect();
    let readings = readings(&of_rows, &symbols, &architectures);
    let mut found = Vec::with_capacity(launches.height());
    for (row, (kernel, agent)) in of_rows.iter().enumerate() {
        let registers = kernel.and_then(|kernel| symbols.get(&kernel)).copied().unwrap_or_default();
        let work_items = sides.iter().map(|side| side.get(row).unwrap_or(0)).fold(1, i64::saturating_mul);
        found.push(inspect(*agent, registers, work_items, lds.get(row), &readings));
    }
    add_columns(&mut launches, &found)?;
    Ok(launches.drop("agent_id")?)
}

/// Counts of a launch.
#[derive(Clone, Copy)]
struct Counted {
    /// Its first row.
    row: IdxSize,
    first_dispatch_id: Option<i64>,
    dispatches: i64,
    total_ns: i64,
}

/// The valid dispatches by kernel and launch, in the order of their smallest dispatch ids. If `counted_once`, dispatches with the same id
/// count once.
fn launches(dispatches: &DataFrame, counted_once: bool) -> Result<DataFrame> {
    let mut kinds = DenseGroups::alike(dispatches.height());
    for name in LAUNCH {
        kinds = kinds.and(&dispatches.integer(name)?.kinds());
    }
    let [ids, durations] = dispatches.integers(["dispatch_id", "duration_ns"])?;
    let valid = dispatches.truths("valid")?;
    let mut counted: Vec<Option<Counted>> = vec![None; kinds.count];
    let mut numbered: Vec<(u32, Option<i64>)> = Vec::new();
    let rows = kinds.of_rows.iter().zip(valid.iter()).zip(ids.iter()).zip(durations.iter());
    for (row, (((kind, valid), dispatch_id), duration_ns)) in (0..).zip(rows) {
        let Some(launch) = counted.get_mut(*kind as usize).filter(|_| valid == Some(true)) else { continue };
        let launch = launch.get_or_insert(Counted { row, first_dispatch_id: dispatch_id, dispatches: 0, total_ns: 0 });
        let first = [launch.first_dispatch_id, dispatch_id].into_iter().flatten().min();
        launch.first_dispatch_id = first;
        launch.dispatches += 1;
        launch.total_ns = launch.total_ns.saturating_add(duration_ns.unwrap_or_default());
        if counted_once {
            numbered.push((*kind, dispatch_id));
        }
    }
    if counted_once {
        numbered.sort_unstable();
        numbered.dedup();
        counted.iter_mut().flatten().for_each(|launch| launch.dispatches = 0);
        for (kind, _) in numbered {
            if let Some(Some(launch)) = counted.get_mut(kind as usize) {
                launch.dispatches += 1;
            }
        }
    }
    let counted: Vec<Counted> = counted.into_iter().flatten().collect();
    let firsts = IdxCa::from_vec("".into(), counted.iter().map(|launch| launch.row).collect());
    let mut launches = dispatches.select(LAUNCH.into_iter().chain(OF_KERNEL))?.take(&firsts)?;
    let first_ids = counted.iter().map(|launch| launch.first_dispatch_id);
    launches.hstack_mut(&[
        integers(FIRST, first_ids),
        column("dispatches", counted.iter().map(|launch| launch.dispatches).collect()),
        column("total_ns", counted.iter().map(|launch| launch.total_ns).collect()),
    ])?;
    let order: Vec<&str> = [FIRST].into_iter().chain(LAUNCH).collect();
    Ok(launches.sort(order, SortMultipleOptions::default())?)
}

fn symbols(symbols: &DataFrame) -> Result<BTreeMap<i64, Registers>> {
    let [vgpr, accum_vgpr, sgpr, ids] = symbols.integers(["vgpr", "accum_vgpr", "sgpr", "kernel_id"])?;
    let known = ids.iter().zip(vgpr.iter()).zip(accum_vgpr.iter().zip(sgpr.iter()));
    Ok(known.filter_map(|((id, vgpr), (accum_vgpr, sgpr))| Some((id?, Registers { vgpr, accum_vgpr, sgpr }))).collect())
}

/// The GPUs of a process.
struct Architectures<'a> {
    by_agent: BTreeMap<i64, &'a AgentFacts>,
    /// One of them, if all have the same architecture.
    only: Option<&'a AgentFacts>,
}

impl<'a> Architectures<'a> {
    fn new(process: &'a Process) -> Self {
        let gpus: Vec<&AgentFacts> = process.facts.agents.iter().filter(|agent| agent.is_gpu()).collect();
        let names: BTreeSet<&str> = gpus.iter().map(|agent| target(&agent.name)).collect();
        let only = gpus.first().copied().filter(|_| names.len() == 1);
        Self { by_agent: gpus.iter().map(|agent| (agent.agent_id, *agent)).collect(), only }
    }

    /// The GPU of an agent; without one, the common architecture of all GPUs of the process.
    fn agent(&self, agent: Option<i64>) -> Option<&'a AgentFacts> {
        agent.and_then(|agent| self.by_agent.get(&agent).copied()).or(self.only)
    }
}

/// Interpretation of register counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    Right,
    /// They were recorded with too small a granule.
    Misread(Encoding),
    /// Either is possible.
    Unclear(Encoding),
}

/// The interpretation of the counts of each architecture with known misreadings, from the kernels that ran there. If there is only one
/// architecture, from all kernels.
fn readings(
    rows: &[(Option<i64>, Option<&AgentFacts>)],
    symbols: &BTreeMap<i64, Registers>,
    architectures: &Architectures<'_>,
) -> BTreeMap<String, Reading> {
    let mut seen: BTreeMap<&str, Vec<Registers>> = BTreeMap::new();
    for (kernel, agent) in rows {
        if let (Some(registers), Some(agent)) = (kernel.and_then(|kernel| symbols.get(&kernel)), agent) {
            seen.entry(target(&agent.name)).or_default().push(*registers);
        }
    }
    if let Some(only) = architectures.only {
        seen.entry(target(&only.name)).or_default().extend(symbols.values());
    }
    let read = |(name, registers): (&str, Vec<Registers>)| {
        let reading = limits(name)?.encoding.map_or(Reading::Right, |encoding| reading(encoding, &registers));
        Some((name.to_owned(), reading))
    };
    seen.into_iter().filter_map(read).collect()
}

/// Correct counts are multiples of the granule, accumulation registers included. Misread counts are multiples only by chance, and have no
/// accumulation registers.
fn reading(encoding: Encoding, seen: &[Registers]) -> Reading {
    let total = |registers: &Registers| registers.vgpr.unwrap_or(0).saturating_add(registers.accum_vgpr.unwrap_or(0));
    if seen.iter().any(|registers| registers.accum_vgpr.unwrap_or(0) > 0) {
        Reading::Right
    } else if seen.iter().any(|registers| total(registers) % encoding.granule != 0) {
        Reading::Misread(encoding)
    } else {
        Reading::Unclear(encoding)
    }
}

fn inspect(
    agent: Option<&AgentFacts>,
    registers: Registers,
    work_items: i64,
    lds_bytes: Option<i64>,
    readings: &BTreeMap<String, Reading>,
) -> RowOccupancy {
    let Some(agent) = agent else {
        return RowOccupancy { registers, unknown: Some("the GPU is not recorded"), ..RowOccupancy::default() };
    };
    let name = target(&agent.name);
    let architecture = Some(name.to_owned());
    let Some(limits) = limits(name) else {
        return RowOccupancy {
            architecture,
            registers,
            unknown: Some("the limits of this architecture are not listed"),
            ..RowOccupancy::default()
        };
    };
    let wave_size = wave_size(limits, agent, registers);
    let max_waves = Some(limits.max_waves);
    let occupancy = match lds_bytes {
        None => Err("LDS is not recorded"),
        Some(lds_bytes) => {
            let used = Resources {
                vgpr: registers.vgpr.unwrap_or(0),
                accum_vgpr: registers.accum_vgpr.unwrap_or(0),
                sgpr: registers.sgpr.unwrap_or(0),
                lds_bytes,
                work_items,
                wave_size,
            };
            read_as(limits, &used, readings.get(name).copied().unwrap_or(Reading::Right))
        }
    };
    let (occupancy, unknown) = match occupancy {
        Ok(occupancy) => (Some(occupancy), None),
        Err(reason) => (None, Some(reason)),
    };
    RowOccupancy { architecture, registers, wave_size: Some(wave_size), max_waves, occupancy, unknown }
}

/// If both sizes exist, rocprofiler-sdk counts registers of 32-wide wavefronts in units of 8, and of 64-wide ones in units of 4.
fn wave_size(limits: &Limits, agent: &AgentFacts, registers: Registers) -> i64 {
    let of_64 = registers.vgpr.is_some_and(|vgpr| vgpr % 8 == 4);
    limits.wave_size(if of_64 { Some(64) } else { agent.wave_size })
}

/// The occupancy with interpreted counts. If the interpretation is unclear, both must give the same occupancy.
fn read_as(limits: &Limits, used: &Resources, reading: Reading) -> Result<Occupancy, &'static str> {
    let corrected = |encoding: Encoding| {
        let vgpr = used.vgpr.saturating_mul(encoding.granule).checked_div(encoding.read_as).unwrap_or(used.vgpr);
        Occupancy::compute(limits, &Resources { vgpr, ..*used })
    };
    match reading {
        Reading::Right => Occupancy::compute(limits, used),
        Reading::Misread(encoding) => corrected(encoding),
        Reading::Unclear(encoding) => {
            let (plain, other) = (Occupancy::compute(limits, used)?, corrected(encoding));
            let same = other.is_ok_and(|other| {
                other.waves_per_simd == plain.waves_per_simd && other.limited_by == plain.limited_by
            });
            same.then_some(plain).ok_or("rocprofiler-sdk may have recorded half of the registers of this architecture")
        }
    }
}

fn add_columns(launches: &mut DataFrame, found: &[RowOccupancy]) -> Result<()> {
    let integer = |name: &str, value: fn(&RowOccupancy) -> Option<i64>| integers(name, found.iter().map(value));
    let float = |name: &str, value: fn(&Occupancy) -> Option<f64>| {
        floats(name, found.iter().map(|found| found.occupancy.as_ref().and_then(value)))
    };
    let text = |name: &str, value: fn(&RowOccupancy) -> Option<&str>| categories(name, found.iter().map(value));
    launches.hstack_mut(&[
        text("architecture", |found| found.architecture.as_deref())?,
        integer("vgpr", |found| found.registers.vgpr),
        integer("accum_vgpr", |found| found.registers.accum_vgpr),
        integer("sgpr", |found| found.registers.sgpr),
        integer("wave_size", |found| found.wave_size),
        integer("waves_per_workgroup", |found| Some(found.occupancy?.waves_per_workgroup)),
        integer("allocated_vgpr", |found| Some(found.occupancy?.allocated_vgpr)),
        integer("max_waves_per_simd", |found| found.max_waves),
        integer("vgpr_waves", |found| Some(found.occupancy?.vgpr_waves)),
        integer("sgpr_waves", |found| Some(found.occupancy?.sgpr_waves)),
        float("lds_waves", |occupancy| Some(occupancy.lds_waves)),
        float("workgroup_waves", |occupancy| Some(occupancy.workgroup_waves)),
        float("waves_per_simd", |occupancy| Some(occupancy.waves_per_simd)),
        float("occupancy_pct", |occupancy| Some(occupancy.pct)),
        text("limited_by", |found| Some(found.occupancy?.limited_by.word()))?,
        float("next_waves_per_simd", |occupancy| Some(occupancy.next?.waves_per_simd)),
        integer("next_step", |found| Some(found.occupancy?.next?.less)),
        text("unknown", |found| found.unknown)?,
    ])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registers(vgpr: i64, accum_vgpr: i64) -> Registers {
        Registers { vgpr: Some(vgpr), accum_vgpr: Some(accum_vgpr), sgpr: Some(16) }
    }

    #[test]
    fn counts_of_mi350_tell_how_they_were_read() {
        let encoding = limits("gfx950").unwrap().encoding.unwrap();
        // 12 registers without accumulation registers are not a multiple of 8: it was 24.
        assert_eq!(reading(encoding, &[registers(128, 0), registers(12, 0)]), Reading::Misread(encoding));
        // With accumulation registers recorded, 12 and 4 are 16.
        assert_eq!(reading(encoding, &[registers(128, 0), registers(12, 4)]), Reading::Right);
        assert_eq!(reading(encoding, &[registers(128, 0)]), Reading::Unclear(encoding));
    }

    #[test]
    fn an_unclear_count_is_no_guess() {
        let limits = limits("gfx950").unwrap();
        let reading = Reading::Unclear(limits.encoding.unwrap());
        let with = |vgpr, lds_bytes| {
            let used = Resources { vgpr, accum_vgpr: 0, sgpr: 16, lds_bytes, work_items: 256, wave_size: 64 };
            read_as(limits, &used, reading)
        };
        // 32 or 64 are 8 wavefronts either way; 128 or 256 are 4 or 2; with LDS for 2 workgroups, 64 or 128 are 2.
        assert_eq!(with(32, 0).unwrap().waves_per_simd, 8.0);
        assert!(with(128, 0).is_err());
        assert_eq!(with(64, 65536).unwrap().waves_per_simd, 2.0);
    }

    #[test]
    fn wavefronts_of_64_on_rdna() {
        let limits = limits("gfx1100").unwrap();
        let agent = AgentFacts { wave_size: Some(32), ..AgentFacts::default() };
        assert_eq!(wave_size(limits, &agent, registers(12, 0)), 64);
        assert_eq!(wave_size(limits, &agent, registers(16, 0)), 32);
    }
}
