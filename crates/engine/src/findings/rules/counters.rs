//! Findings from counters about kernels, and from limits by their registers and LDS.

use std::collections::BTreeMap;

use super::kernels::{MAX_KERNELS, communication_kernels};
use crate::findings::questions::{bottlenecks, kernels, occupancy, resources, roofline};
use crate::findings::rule_context::{Observation, RuleContext};

/// Prefix of the rules that are about bottlenecks of `share/bottlenecks.toml`.
const PREFIX: &str = "kernel_";

/// Time of a kernel and its share of all kernels in the trace. If the trace lacks the kernel, the counted dispatches are used instead.
fn time_of(case: &RuleContext<'_>, kernel: &str, counted: &BTreeMap<String, i64>) -> (i64, f64) {
    let rows = case.rows(kernels());
    let row = rows.places().find(|row| rows.text(*row, "kernel_name") == Some(kernel));
    match row {
        Some(row) => (rows.integer(row, "total_ns").unwrap_or_default(), rows.number(row, "pct").unwrap_or_default()),
        None => {
            let own = counted.get(kernel).copied().unwrap_or_default();
            (own, RuleContext::pct(own, counted.values().fold(0, |sum: i64, ns| sum.saturating_add(*ns))))
        }
    }
}

/// Time of the counted dispatches of every kernel.
fn counted(case: &RuleContext<'_>) -> BTreeMap<String, i64> {
    let rows = case.rows(bottlenecks());
    let mut times: BTreeMap<String, i64> = BTreeMap::new();
    for row in rows.places() {
        if let Some(name) = rows.text(row, "kernel_name") {
            let time = times.entry(name.to_owned()).or_default();
            *time = time.saturating_add(rows.integer(row, "time_ns").unwrap_or_default());
        }
    }
    times
}

/// The bottleneck of each kernel, with the places of its rows. A kernel with several has the one with the most time.
fn verdicts(case: &RuleContext<'_>) -> BTreeMap<String, (String, Vec<usize>)> {
    let rows = case.rows(bottlenecks());
    let mut of: BTreeMap<&str, BTreeMap<&str, (i64, Vec<usize>)>> = BTreeMap::new();
    for row in rows.places().filter(|row| rows.text(*row, "state") == Some("yes")) {
        if let (Some(name), Some(id)) = (rows.text(row, "kernel_name"), rows.text(row, "bottleneck")) {
            let entry = of.entry(name).or_default().entry(id).or_default();
            entry.0 = entry.0.saturating_add(rows.integer(row, "time_ns").unwrap_or_default());
            entry.1.push(row);
        }
    }
    let most = |all: BTreeMap<&str, (i64, Vec<usize>)>| {
        all.into_iter()
            .max_by_key(|(id, (time, _))| (*time, std::cmp::Reverse(*id)))
            .map(|(id, (_, rows))| (id.to_owned(), rows))
    };
    of.into_iter().filter_map(|(name, all)| Some((name.to_owned(), most(all)?))).collect()
}

/// Share of the roof that a kernel reaches, in percent, with what bounds it and the place of its row.
pub(super) fn roof_of(case: &RuleContext<'_>, kernel: &str) -> Option<(f64, String, usize)> {
    // Counters are of passes of their own, which have no steady part.
    let rows = case.answers.rows(roofline());
    let row = rows.places().find(|row| rows.text(*row, "kernel_name") == Some(kernel))?;
    let pct = rows.number(row, "pct_of_roof").filter(|pct| *pct > 0.0)?;
    Some((pct.min(100.0), rows.text(row, "bound")?.to_owned(), row))
}

const ROOF_COLUMNS: [&str; 7] =
    ["kernel_name", "gflops", "intensity_hbm", "hbm_gbps", "peak_hbm_gbps", "bound", "pct_of_roof"];

/// Kernels with the bottleneck that the rule is named after.
pub fn bottleneck(case: &RuleContext<'_>) -> Vec<Observation> {
    let id = case.id.strip_prefix(PREFIX).unwrap_or(case.id);
    let counted = counted(case);
    let verdicts = verdicts(case);
    let mut found: Vec<(&String, &Vec<usize>, i64, f64)> = verdicts
        .iter()
        .filter(|(_, (bottleneck, _))| bottleneck == id)
        .map(|(name, (_, places))| {
            let (time_ns, pct) = time_of(case, name, &counted);
            (name, places, time_ns, pct)
        })
        .collect();
    found.sort_by_key(|(name, _, time_ns, _)| (std::cmp::Reverse(*time_ns), *name));
    let rows = case.rows(bottlenecks());
    let mut observations = Vec::new();
    for (name, places, time_ns, pct) in found.into_iter().take(MAX_KERNELS) {
        let roof = roof_of(case, name);
        let occupancies = case.rows(occupancy());
        let occupied = occupancies.places().find(|row| occupancies.text(*row, "kernel_name") == Some(name));
        let limited = occupied.and_then(|row| occupancies.text(row, "limited_by"));
        let evidence = places.first().and_then(|row| rows.text(*row, "evidence")).unwrap_or_default();
        let mut observation = case
            .observe(pct)
            .about_kernel(name)
            .value("time_ns", time_ns)
            .value("numbers", evidence)
            .value("roof_pct", roof.as_ref().map(|(pct, _, _)| *pct))
            .value("roof_bound", roof.as_ref().map(|(_, bound, _)| bound.clone()))
            .value("achieved_pct", occupied.and_then(|row| occupancies.number(row, "achieved_pct")))
            .value("theoretical_pct", occupied.and_then(|row| occupancies.number(row, "theoretical_pct")))
            .value("limited_by", limited.unwrap_or("none"))
            .evidence(case.evidence(&rows, places, &["rank", "gpu", "dispatches", "time_ns", "verdict", "evidence"]));
        if let Some((roof_pct, _, row)) = roof {
            observation = observation
                .saving((time_ns as f64 * (1.0 - roof_pct / 100.0)) as i64)
                .evidence(case.evidence(&case.rows(roofline()), &[row], &ROOF_COLUMNS));
        }
        observations.push(observation);
    }
    observations
}

/// Kernels far below their roof, if counters reveal no bottleneck.
pub fn far_below_roof(case: &RuleContext<'_>) -> Vec<Observation> {
    let rows = case.rows(roofline());
    let counted = counted(case);
    let verdicts = verdicts(case);
    let mut observations = Vec::new();
    for row in rows.sorted_down(rows.places().collect(), "time_ns") {
        let Some(name) = rows.text(row, "kernel_name") else { continue };
        let Some((roof_pct, bound, _)) = roof_of(case, name) else { continue };
        let (time_ns, pct) = time_of(case, name, &counted);
        if verdicts.contains_key(name) || roof_pct >= case.threshold("max_roof_pct") {
            continue;
        }
        let Some(priority) = case.priority(pct, "pct") else { continue };
        observations.push(
            Observation::new(priority)
                .about_kernel(name)
                .value("pct", pct)
                .value("roof_pct", roof_pct)
                .value("bound", bound)
                .saving((time_ns as f64 * (1.0 - roof_pct / 100.0)) as i64)
                .evidence(case.evidence(&rows, &[row], &ROOF_COLUMNS)),
        );
        if observations.len() == MAX_KERNELS {
            break;
        }
    }
    observations
}

/// Rows of the resources of kernels that compute, with their share of the time of all kernels.
fn shaped(case: &RuleContext<'_>) -> Vec<(usize, f64)> {
    let communicates = communication_kernels(case);
    let rows = case.rows(resources());
    let total_ns = rows.sum(rows.places(), "total_ns");
    let share = |row: usize| RuleContext::pct(rows.integer(row, "total_ns").unwrap_or_default(), total_ns);
    let of_kernel = |row: &usize| rows.text(*row, "kernel_name").is_some_and(|name| !communicates.contains(name));
    rows.places().filter(of_kernel).map(|row| (row, share(row))).collect()
}

/// Kernels of which few wavefronts fit, unless counters reveal another bottleneck.
pub fn low_occupancy(case: &RuleContext<'_>) -> Vec<Observation> {
    let rows = case.rows(resources());
    let verdicts = verdicts(case);
    let mut observations: Vec<Observation> = Vec::new();
    for (row, pct) in shaped(case) {
        let Some(name) = rows.text(row, "kernel_name") else { continue };
        let Some(occupancy_pct) = rows.number(row, "occupancy_pct") else { continue };
        let known = verdicts.contains_key(name) || observations.iter().any(|one| one.subject.as_deref() == Some(name));
        if known || occupancy_pct > case.threshold("max_occupancy_pct") {
            continue;
        }
        let Some(priority) = case.priority(pct, "pct") else { continue };
        let columns = [
            "kernel_name",
            "vgpr",
            "accum_vgpr",
            "allocated_vgpr",
            "lds_bytes",
            "waves_per_simd",
            "max_waves_per_simd",
            "occupancy_pct",
            "limited_by",
            "next_waves_per_simd",
            "next_step",
        ];
        observations.push(
            Observation::new(priority)
                .about_kernel(name)
                .value("pct", pct)
                .value("occupancy_pct", occupancy_pct)
                .value("waves", rows.integer(row, "waves_per_simd"))
                .value("max_waves", rows.integer(row, "max_waves_per_simd"))
                .value("limited_by", rows.text(row, "limited_by").unwrap_or("none"))
                .value("next_waves", rows.integer(row, "next_waves_per_simd"))
                .value("vgpr", rows.integer(row, "allocated_vgpr"))
                .integers(&rows, row, &["next_step", "lds_bytes"])
                .evidence(case.evidence(&rows, &[row], &columns)),
        );
        if observations.len() == MAX_KERNELS {
            break;
        }
    }
    observations
}

/// Kernels that keep values in scratch memory.
pub fn scratch_use(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(resources());
    let places: Vec<(usize, f64)> = shaped(case)
        .into_iter()
        .filter(|(row, _)| rows.integer(*row, "scratch_bytes").is_some_and(|bytes| bytes > 0))
        .collect();
    let pct: f64 = places.iter().map(|(_, pct)| pct).sum();
    let places = rows.sorted_down(places.into_iter().map(|(row, _)| row).collect(), "total_ns");
    let Some(first) = places.first().copied() else { return Observation::default() };
    let columns = ["kernel_name", "vgpr", "accum_vgpr", "scratch_bytes", "dispatches", "total_ns"];
    let mut observation = case
        .observe(pct)
        .value("kernels", places.len())
        .value("kernel", rows.text(first, "kernel_name").unwrap_or("a kernel"))
        .integers(&rows, first, &["scratch_bytes"])
        .evidence(case.evidence(&rows, &places, &columns));
    observation.kernel = rows.text(first, "kernel_name").map(ToOwned::to_owned);
    observation
}

/// Kernels that run far fewer wavefronts than would fit, unless counters reveal another bottleneck.
pub(crate) fn few_wavefronts(case: &RuleContext<'_>) -> Vec<Observation> {
    let rows = case.rows(occupancy());
    let counted = counted(case);
    let verdicts = verdicts(case);
    let mut observations: Vec<(i64, Observation)> = Vec::new();
    for row in rows.places() {
        let Some(name) = rows.text(row, "kernel_name") else { continue };
        let Some(of_theoretical) = rows.number(row, "pct_of_theoretical") else { continue };
        let known = observations.iter().any(|(_, one)| one.subject.as_deref() == Some(name));
        if known || verdicts.contains_key(name) || of_theoretical > case.threshold("max_of_theoretical_pct") {
            continue;
        }
        let (time_ns, pct) = time_of(case, name, &counted);
        let Some(priority) = case.priority(pct, "pct") else { continue };
        let columns = ["rank", "gpu", "wavefronts", "slots", "achieved_pct", "theoretical_pct", "pct_of_theoretical"];
        let observation = Observation::new(priority)
            .about_kernel(name)
            .value("pct", pct)
            .numbers(&rows, row, &["achieved_pct", "theoretical_pct"])
            .evidence(case.evidence(&rows, &[row], &columns));
        observations.push((time_ns, observation));
    }
    observations.sort_by_key(|(time_ns, _)| std::cmp::Reverse(*time_ns));
    observations.into_iter().take(MAX_KERNELS).map(|(_, observation)| observation).collect()
}

/// The share of each bottleneck, by its id, in the time of the counted kernels, in percent.
pub(crate) fn bottleneck_shares(case: &RuleContext<'_>) -> BTreeMap<String, f64> {
    let counted = counted(case);
    let all = counted.values().fold(0_i64, |sum, ns| sum.saturating_add(*ns));
    let mut shares: BTreeMap<String, f64> = BTreeMap::new();
    for (name, (id, _)) in verdicts(case) {
        *shares.entry(id).or_default() += RuleContext::pct(counted.get(&name).copied().unwrap_or_default(), all);
    }
    shares
}
