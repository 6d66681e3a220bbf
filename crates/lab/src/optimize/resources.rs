//! Compares resources by the compiler's metadata alone: registers, spills, LDS, scratch, occupancy.

use serde_json::{Value, json};

use super::gates::{Gate, GateResult, Verdict};
use super::interface::Compiled;
use wavesieve_source::objects::{KernelCode, launch_refusal, occupancy, static_facts};

/// Limits for a candidate. Without limits, spills and scratch may not grow; everything else may.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// Vector registers of a work-item.
    pub vgpr: Option<u32>,
    /// Accumulation registers of a work-item.
    pub accum_vgpr: Option<u32>,
    /// Scalar registers of a wavefront.
    pub sgpr: Option<u32>,
    /// Spilled registers, vector and scalar.
    pub spills: Option<u32>,
    /// LDS of a workgroup.
    pub lds_bytes: Option<u64>,
    /// Scratch memory of a work-item.
    pub scratch_bytes: Option<u64>,
    /// Share of the wavefront slots.
    pub occupancy_pct: Option<f64>,
}

/// Compares compiled kernels, for the workgroup size of the program.
pub(super) fn gate(before: &[Compiled], after: &[Compiled], limits: &Limits, work_items: Option<u32>) -> GateResult {
    let result = |verdict, reason: String, facts| GateResult::new(Gate::Resources, verdict, reason, facts);
    if !before.iter().any(|one| one.is_target) {
        let reason = "no code object shows what it needs; name one with --object".to_owned();
        return result(Verdict::Unverified, reason, Value::Null);
    }
    let mut figures = Vec::new();
    let mut problems = Vec::new();
    for old in before.iter().filter(|one| one.is_target) {
        let same =
            |one: &&Compiled| one.file == old.file && one.target == old.target && one.code.symbol == old.code.symbol;
        let Some(new) = after.iter().find(same) else { continue };
        let workgroup = work_items.unwrap_or(old.code.max_work_items);
        let facts = static_facts(&old.target, &old.code, &new.code, workgroup, 0);
        problems
            .extend(exceeded(&old.code, &new.code, limits).into_iter().map(|text| format!("{}: {text}", old.target)));
        if let Some(count) = work_items {
            problems.extend(launch_refusal(&new.code, [count, 1, 1]));
        }
        if let Some(least) = limits.occupancy_pct {
            match occupancy(&new.target, &new.code, workgroup, 0) {
                Ok(found) if found.pct < least => {
                    problems.push(format!("{}: occupancy {:.1}% is below {least}%", old.target, found.pct));
                }
                Ok(_) => {}
                Err(reason) => problems.push(format!("{}: the occupancy is not known: {reason}", old.target)),
            }
        }
        figures
            .push(json!({ "target": old.target, "symbol": old.code.symbol, "facts": facts, "work_items": workgroup }));
    }
    let facts = Value::Array(figures);
    match problems.first() {
        Some(_) => result(Verdict::Fail, problems.join("; "), facts),
        None => result(Verdict::Pass, shown(before, after), facts),
    }
}

fn exceeded(old: &KernelCode, new: &KernelCode, limits: &Limits) -> Vec<String> {
    let (old_spills, spills) = (old.vgpr_spills + old.sgpr_spills, new.vgpr_spills + new.sgpr_spills);
    let rows: [(&str, Option<u64>, u64); 6] = [
        ("vector registers", limits.vgpr.map(u64::from), u64::from(new.vgpr)),
        ("accumulation registers", limits.accum_vgpr.map(u64::from), u64::from(new.accum_vgpr)),
        ("scalar registers", limits.sgpr.map(u64::from), u64::from(new.sgpr)),
        ("spilled registers", Some(u64::from(limits.spills.unwrap_or(old_spills))), u64::from(spills)),
        ("bytes of LDS", limits.lds_bytes, new.lds_bytes),
        ("bytes of scratch", Some(limits.scratch_bytes.unwrap_or(old.scratch_bytes)), new.scratch_bytes),
    ];
    let over = rows.into_iter().filter(|(_, most, found)| most.is_some_and(|most| *found > most));
    over.map(|(name, most, found)| format!("{found} {name} are more than {}", most.unwrap_or_default())).collect()
}

fn shown(before: &[Compiled], after: &[Compiled]) -> String {
    let target = |all: &'_ [Compiled]| all.iter().find(|one| one.is_target).cloned();
    let (Some(old), Some(new)) = (target(before), target(after)) else { return String::new() };
    let of = |code: &KernelCode| {
        format!(
            "{} VGPR, {} SGPR, {} spills, {} B LDS",
            code.vgpr,
            code.sgpr,
            code.vgpr_spills + code.sgpr_spills,
            code.lds_bytes
        )
    };
    let (old, new) = (of(&old.code), of(&new.code));
    if old == new { format!("as before: {new}") } else { format!("{new}; before {old}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiled(vgpr: u32, spills: u32, scratch_bytes: u64) -> Vec<Compiled> {
        let code = KernelCode {
            name: "k".to_owned(),
            symbol: "k.kd".to_owned(),
            vgpr,
            vgpr_spills: spills,
            scratch_bytes,
            wave_size: 64,
            max_work_items: 256,
            ..KernelCode::default()
        };
        vec![Compiled { file: "app".into(), target: "gfx942".to_owned(), code, is_target: true }]
    }

    #[test]
    fn spills_and_scratch_may_not_grow_unasked() {
        let gate = |after: &[Compiled], limits: &Limits| super::gate(&compiled(32, 2, 16), after, limits, None);
        let usual = Limits::default();
        assert_eq!(gate(&compiled(200, 2, 16), &usual).verdict, Verdict::Pass);
        let spills = gate(&compiled(32, 3, 16), &usual);
        assert_eq!(
            (spills.verdict, spills.reason.as_str()),
            (Verdict::Fail, "gfx942: 3 spilled registers are more than 2")
        );
        assert_eq!(gate(&compiled(32, 2, 20), &usual).verdict, Verdict::Fail);
        assert_eq!(gate(&compiled(32, 3, 16), &Limits { spills: Some(4), ..usual.clone() }).verdict, Verdict::Pass);
        assert_eq!(gate(&compiled(65, 2, 16), &Limits { vgpr: Some(64), ..usual.clone() }).verdict, Verdict::Fail);
        assert_eq!(super::gate(&[], &[], &usual, None).verdict, Verdict::Unverified);
    }
}
