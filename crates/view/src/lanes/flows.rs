//! Flows from calls to the work that they launched.

use std::collections::BTreeMap;

use super::answer::AskedGroup;

/// Maximum number of flows in an answer.
const MAX_FLOWS: usize = 20_000;

/// Places of exact slices by member and id, for flows.
#[derive(Default)]
pub struct Exact {
    kernels: BTreeMap<(usize, i64), (usize, usize)>,
    copies: BTreeMap<(usize, i64), (usize, usize)>,
    calls: BTreeMap<(usize, i64), (usize, usize)>,
}

impl Exact {
    /// Adds the slices of a lane that are events of their own.
    pub fn add(&mut self, kind: &str, member: usize, place: usize, ids: &[i64]) {
        let by_id = match kind {
            "kernels" => &mut self.kernels,
            "copies" => &mut self.copies,
            "calls" => &mut self.calls,
            _ => return,
        };
        let singles = ids.iter().enumerate().filter(|(_, id)| **id >= 0);
        by_id.extend(singles.map(|(slice, id)| ((member, *id), (place, slice))));
    }
}

/// Flows from calls to the work that they launched, where both have slices of their own.
pub fn flows(groups: &[AskedGroup], exact: &Exact) -> Vec<[usize; 4]> {
    let mut flows = Vec::new();
    let hosts = groups.iter().filter(|group| group.gpu.is_none());
    for host in hosts {
        let Some(gpus) = groups.iter().find(|group| group.member == host.member && group.gpu.is_some()) else {
            continue;
        };
        for (links, slices) in [(&gpus.part.links, &exact.kernels), (&gpus.part.copy_links, &exact.copies)] {
            for ((_, id), work) in slices.range((host.member, 0)..=(host.member, i64::MAX)) {
                let first = links.partition_point(|(known, _)| known < id);
                let Some((_, correlation)) = links.get(first).filter(|(known, _)| known == id) else { continue };
                let calls = &host.part.links;
                let first = calls.partition_point(|(known, _)| known < correlation);
                let of_call = calls.iter().skip(first).take_while(|(known, _)| known == correlation);
                let call = of_call.filter_map(|(_, region)| exact.calls.get(&(host.member, *region))).next();
                flows.extend(call.map(|call| [call.0, call.1, work.0, work.1]));
                if flows.len() >= MAX_FLOWS {
                    return flows;
                }
            }
        }
    }
    flows
}
