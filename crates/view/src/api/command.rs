//! Commands with the rows of lanes.

use std::collections::BTreeMap;

use crate::groups::Group;
use crate::lanes::LanesRequest;
use crate::session::SideState;

/// Maximum number of groups that a statement names.
pub const MAX_NAMED: usize = 64;

/// The command that lists the kernels of groups in a range, or the regions of groups that are all hosts. Of many groups
/// it names the first [`MAX_NAMED`].
pub fn of_lanes(state: &SideState, groups: &[&Group], request: LanesRequest, origin_ns: i64) -> String {
    // Groups of one process and clock have one condition.
    let mut hosts: Vec<String> = Vec::new();
    let mut gpus: BTreeMap<(i64, i64), Vec<i64>> = BTreeMap::new();
    for group in groups.iter().take(MAX_NAMED) {
        let Some(member) = state.side.trace.members().get(group.member) else { continue };
        let shift_ns = origin_ns.saturating_sub(state.side.offset_ns(group.member));
        match group.shown.gpu {
            Some(gpu) => gpus.entry((member.process.process, shift_ns)).or_default().push(gpu),
            None => hosts.push(condition(member.process.process, request, shift_ns)),
        }
    }
    let listed = |gpus: &[i64]| gpus.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    let of_gpus: Vec<String> = gpus
        .iter()
        .map(|((process, shift_ns), gpus)| {
            format!("{} AND gpu IN ({})", condition(*process, request, *shift_ns), listed(gpus))
        })
        .collect();
    let (table, conditions) = if of_gpus.is_empty() { ("regions", hosts) } else { ("kernels", of_gpus) };
    let conditions = conditions.join(" OR ");
    let sql = format!("SELECT * FROM {table} WHERE {conditions} ORDER BY process, start_ns");
    state.command(&["sql", &sql], &[])
}

fn condition(process: i64, request: LanesRequest, shift_ns: i64) -> String {
    let (start_ns, end_ns) = (request.start_ns.saturating_add(shift_ns), request.end_ns.saturating_add(shift_ns));
    format!("process = {process} AND start_ns < {end_ns} AND end_ns > {start_ns}")
}
