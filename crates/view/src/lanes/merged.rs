//! One answer from those about each process.

use std::collections::BTreeMap;

use super::answer::{LanesAnswer, Shared};

/// Joins the answers about the processes of a request. Lanes come in the order of the groups.
pub fn merged(mut answers: Vec<LanesAnswer>, groups: &[&str]) -> Option<LanesAnswer> {
    let mut all = if answers.is_empty() { return None } else { answers.remove(0) };
    if answers.is_empty() {
        return Some(all);
    }
    let place: BTreeMap<&str, usize> = groups.iter().enumerate().map(|(place, id)| (*id, place)).collect();
    let mut names = Shared::from_list(std::mem::take(&mut all.names));
    for mut answer in answers {
        let own: Vec<usize> = answer.names.iter().map(|name| names.index(name)).collect();
        let kinds: Vec<usize> = answer
            .kinds
            .into_iter()
            .map(|kind| {
                let known = all.kinds.iter().position(|known| known.id == kind.id);
                known.unwrap_or_else(|| {
                    all.kinds.push(kind);
                    all.kinds.len() - 1
                })
            })
            .collect();
        for slices in answer.lanes.iter_mut().map(|lane| &mut lane.slices) {
            slices.name.iter_mut().for_each(|name| *name = own.get(*name).copied().unwrap_or_default());
            slices.kind.iter_mut().for_each(|kind| *kind = kinds.get(*kind).copied().unwrap_or_default());
            for about in &mut slices.about {
                let index = usize::try_from(*about).ok().and_then(|about| own.get(about));
                *about = index.and_then(|index| i64::try_from(*index).ok()).unwrap_or(-1);
            }
        }
        let before = all.lanes.len();
        all.lanes.append(&mut answer.lanes);
        all.flows.extend(answer.flows.into_iter().map(|[a, b, c, d]| [a + before, b, c + before, d]));
        if !answer.path.start_ns.is_empty() {
            let first = i64::try_from(before).unwrap_or(0);
            let moved = |lane: i64| if lane < 0 { lane } else { lane.saturating_add(first) };
            answer.path.lane.iter_mut().for_each(|lane| *lane = moved(*lane));
            all.path = answer.path;
        }
        all.notes.append(&mut answer.notes);
    }
    all.names = names.list;
    in_order(&mut all, &place);
    Some(all)
}

/// Puts lanes in the order of the groups, and the numbers of lanes in flows and the path with them.
fn in_order(all: &mut LanesAnswer, place: &BTreeMap<&str, usize>) {
    let mut order: Vec<usize> = (0..all.lanes.len()).collect();
    order.sort_by_key(|lane| all.lanes.get(*lane).and_then(|lane| place.get(lane.group.as_str())));
    let mut number = vec![0; order.len()];
    let mut lanes: Vec<Option<_>> = std::mem::take(&mut all.lanes).into_iter().map(Some).collect();
    for (new, old) in order.into_iter().enumerate() {
        if let Some(slot) = number.get_mut(old) {
            *slot = new;
        }
        all.lanes.extend(lanes.get_mut(old).and_then(Option::take));
    }
    let new = |lane: usize| number.get(lane).copied().unwrap_or(lane);
    all.flows.iter_mut().for_each(|[from, _, to, _]| (*from, *to) = (new(*from), new(*to)));
    for lane in &mut all.path.lane {
        let moved = usize::try_from(*lane).ok().and_then(|lane| i64::try_from(new(lane)).ok());
        *lane = moved.unwrap_or(-1);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::answer::{AskedGroup, LanesRequest, lanes};
    use super::super::event::{Event, NO_NAME};
    use super::super::part::{Part, StoredLane};
    use super::super::row::Row;
    use super::*;

    /// A group with a kernel of a name, or a call that launched it.
    fn group(id: &str, member: usize, gpu: Option<i64>, name: &str) -> AskedGroup {
        let event = Event::one((10, 20), 7, 1, 0, NO_NAME);
        let (kind, lane) = if gpu.is_some() { ("kernels", "stream/0") } else { ("calls", "calls/1") };
        let rows = vec![Row::new(vec![event])];
        let lane = StoredLane { gpu, id: lane.to_owned(), kind, label: String::new(), rows };
        let names = vec!["several".to_owned(), name.to_owned()];
        let links = if gpu.is_some() { vec![(7, 70)] } else { vec![(70, 7)] };
        let kinds = vec![format!("kind of {name}")];
        let part = Arc::new(Part { lanes: vec![lane], names, kinds, links, ..Part::default() });
        AskedGroup { id: id.to_owned(), gpu, member, part }
    }

    #[test]
    fn answers_about_processes_are_joined_in_the_order_of_groups() {
        let request = LanesRequest { start_ns: 0, end_ns: 100, pixels: 100, most: 100 };
        let first = lanes(&[group("r0g0", 0, Some(0), "a"), group("r0", 0, None, "call")], request);
        let mut second = lanes(&[group("r1g0", 1, Some(0), "b"), group("r1", 1, None, "call")], request);
        second.path.start_ns.push(0);
        second.path.lane.push(1);
        let all = merged(vec![first, second], &["r1g0", "r0g0", "r0", "r1"]).unwrap();
        let name = |at: usize| all.names[all.lanes[at].slices.name[0]].as_str();
        let kind = |at: usize| all.kinds[all.lanes[at].slices.kind[0]].id.as_str();
        let ids: Vec<&str> = all.lanes.iter().map(|lane| lane.group.as_str()).collect();
        assert_eq!(ids, ["r1g0", "r0g0", "r0", "r1"]);
        assert_eq!([name(0), name(1), name(2), name(3)], ["b", "a", "call", "call"]);
        assert_eq!([kind(0), kind(1)], ["kind of b", "kind of a"]);
        assert_eq!((all.flows, all.path.lane), (vec![[2, 0, 1, 0], [3, 0, 0, 0]], vec![3]));
        assert_eq!(all.names.iter().filter(|name| *name == "call").count(), 1);
    }
}
