//! Assigns the calls of communication kernels to communicators.

use std::collections::{BTreeMap, BTreeSet};

use wavesieve_model::analysis::collectives::matching::Call;

/// A recorded communicator: its id, or its number of ranks and its ordinal among communicators of that size on a GPU, in the order of their
/// first kernels. Handles have no meaning in another process.
pub type Key = (Option<String>, Option<i64>, i64);

/// A call of a kernel.
#[derive(Clone)]
pub struct LaneCall {
    /// Row in the table of its process.
    pub row: u32,
    /// Its time.
    pub call: Call,
    pub stream: Option<i64>,
    pub queue: Option<i64>,
    /// Communicator, if it is recorded.
    pub recorded: Option<Key>,
    /// Whether it is a message between two ranks.
    pub is_pair: bool,
}

/// The calls of one kernel on one GPU, in the order of their starts.
#[derive(Clone)]
pub struct Lane {
    /// Place of the process.
    pub part: usize,
    /// Its node.
    pub node: i64,
    pub calls: Vec<LaneCall>,
}

impl Lane {
    /// A lane without calls.
    pub fn new(part: usize, node: i64) -> Self {
        Self { part, node, calls: Vec::new() }
    }

    /// Times of the calls.
    pub fn times(&self) -> Vec<Call> {
        self.calls.iter().map(|call| call.call).collect()
    }

    /// The calls between two ranks, and the other calls, each as a lane if there are any.
    fn pairs_apart(&self) -> (Vec<Self>, Vec<Self>) {
        let (mut pairs, mut others) = (Vec::new(), Vec::new());
        for (is_pair, lane) in self.split(|call| call.is_pair) {
            if is_pair { pairs.push(lane) } else { others.push(lane) }
        }
        (pairs, others)
    }

    /// The same calls split by a key, in the order of the first call of each key.
    fn split<K: Ord + Clone>(&self, key: impl Fn(&LaneCall) -> K) -> Vec<(K, Self)> {
        let mut places: BTreeMap<K, usize> = BTreeMap::new();
        let mut lanes: Vec<(K, Self)> = Vec::new();
        for call in &self.calls {
            let key = key(call);
            let place = *places.entry(key.clone()).or_insert(lanes.len());
            if place == lanes.len() {
                lanes.push((key, Self::new(self.part, self.node)));
            }
            if let Some((_, lane)) = lanes.get_mut(place) {
                lane.calls.push(call.clone());
            }
        }
        lanes
    }
}

/// The calls of a kernel on one communicator: a lane of each GPU that takes part.
pub(crate) struct Communicator {
    /// Place of the kernel's name.
    pub name: usize,
    /// Number; kernels whose communicators are recorded share the numbers.
    pub number: i64,
    /// Number of its ranks, if it is recorded.
    pub ranks: Option<i64>,
    pub lanes: Vec<Lane>,
}

/// The communicators of kernels. `names` yields the lanes of each kernel name.
pub(crate) fn split_communicators(names: impl Iterator<Item = Vec<Lane>>) -> Vec<Communicator> {
    let mut communicators = Vec::new();
    let mut recorded: Vec<((Key, usize), Communicator)> = Vec::new();
    for (name, lanes) in names.enumerate() {
        // One kernel name covers both messages between two ranks and collectives.
        let (pairs, lanes): (Vec<Vec<Lane>>, Vec<Vec<Lane>>) = lanes.iter().map(Lane::pairs_apart).unzip();
        let (pairs, lanes) = (pairs.concat(), lanes.concat());
        recorded.extend(as_recorded(name, &pairs));
        if lanes.is_empty() {
            continue;
        }
        if lanes.iter().flat_map(|lane| &lane.calls).all(|call| call.recorded.is_some()) {
            recorded.extend(as_recorded(name, &lanes));
        } else {
            communicators.extend(by_streams(name, lanes));
        }
    }
    let keys: BTreeSet<(Key, usize)> = recorded.iter().map(|(key, _)| key.clone()).collect();
    let numbers: BTreeMap<(Key, usize), i64> = keys.into_iter().zip(0..).collect();
    communicators.extend(recorded.into_iter().map(|(key, communicator)| Communicator {
        number: numbers.get(&key).copied().unwrap_or_default(),
        ..communicator
    }));
    communicators.sort_by_key(|communicator| (communicator.name, communicator.number));
    communicators
}

/// The communicators, with keys, of a kernel whose calls all have a recorded communicator.
fn as_recorded(name: usize, lanes: &[Lane]) -> Vec<((Key, usize), Communicator)> {
    let mut by_key: BTreeMap<Key, Vec<Lane>> = BTreeMap::new();
    for lane in lanes {
        for (key, lane) in lane.split(|call| call.recorded.clone()) {
            by_key.entry(key.unwrap_or_default()).or_default().push(lane);
        }
    }
    let mut communicators = Vec::new();
    for (key, lanes) in by_key {
        let ranks = key.1;
        let groups = if key.0.is_none() { in_groups(lanes, ranks) } else { vec![lanes] };
        for (group, lanes) in groups.into_iter().enumerate() {
            communicators.push(((key.clone(), group), Communicator { name, number: 0, ranks, lanes }));
        }
    }
    communicators
}

/// Splits lanes of several communicators of equal size, which processes cannot distinguish, into groups of lanes whose calls end together.
/// The lanes stay one group if that is unclear.
fn in_groups(lanes: Vec<Lane>, ranks: Option<i64>) -> Vec<Vec<Lane>> {
    let size = ranks.and_then(|ranks| usize::try_from(ranks).ok()).unwrap_or(lanes.len()).max(1);
    let comparable = match lanes.split_first() {
        Some((first, rest)) => rest.iter().all(|lane| lane.node == first.node && lane.calls.len() == first.calls.len()),
        None => false,
    };
    if !comparable || lanes.len() <= size || !lanes.len().is_multiple_of(size) {
        return vec![lanes];
    }
    let mut groups: Vec<Vec<Lane>> = Vec::new();
    let mut left = lanes.clone();
    while !left.is_empty() {
        let first = left.remove(0);
        let mut others: Vec<(u64, usize)> =
            left.iter().enumerate().map(|(place, lane)| (distance(&first, lane), place)).collect();
        others.sort_unstable();
        let inside = size.checked_sub(2).and_then(|last| others.get(last)).map_or(0, |(distance, _)| *distance);
        let outside = others.get(size.saturating_sub(1)).map_or(u64::MAX, |(distance, _)| *distance);
        if outside / 2 < inside {
            return vec![lanes];
        }
        let mut places: Vec<usize> = others.iter().take(size - 1).map(|(_, place)| *place).collect();
        places.sort_unstable();
        let mut group = vec![first];
        for place in places.into_iter().rev() {
            group.insert(1, left.remove(place));
        }
        groups.push(group);
    }
    groups
}

/// Median distance between the ends of calls with the same ordinal.
fn distance(one: &Lane, other: &Lane) -> u64 {
    let ends = one.calls.iter().zip(&other.calls);
    let mut distances: Vec<u64> = ends.map(|(one, other)| one.call.end_ns.abs_diff(other.call.end_ns)).collect();
    distances.sort_unstable();
    distances.get(distances.len() / 2).copied().unwrap_or_default()
}

/// The communicators of a kernel that does not record them. Calls on separate streams are separate communicators, if every GPU has the same
/// streams, or the same number of streams with the same numbers of calls. Otherwise the same test is made with queues; if that fails too,
/// there is one communicator.
fn by_streams(name: usize, lanes: Vec<Lane>) -> Vec<Communicator> {
    for (streams, by_id) in [(true, true), (true, false), (false, false)] {
        let key = |call: &LaneCall| if streams { call.stream } else { call.queue };
        let split: Vec<Vec<(Option<i64>, Lane)>> = lanes.iter().map(|lane| lane.split(key)).collect();
        let count = split.first().map_or(0, Vec::len);
        if count < 2 || split.iter().any(|lanes| lanes.len() != count) {
            continue;
        }
        let ids = |lanes: &[(Option<i64>, Lane)]| lanes.iter().map(|(key, _)| *key).collect::<BTreeSet<_>>();
        let calls = |lanes: &[(Option<i64>, Lane)]| lanes.iter().map(|(_, lane)| lane.calls.len()).collect::<Vec<_>>();
        let fits = match (by_id, split.split_first()) {
            (true, Some((first, rest))) => rest.iter().all(|lanes| ids(lanes) == ids(first)),
            (false, Some((first, rest))) => rest.iter().all(|lanes| calls(lanes) == calls(first)),
            (_, None) => false,
        };
        if !fits {
            continue;
        }
        let mut communicators: Vec<Communicator> =
            (0..count as i64).map(|number| Communicator { name, number, ranks: None, lanes: Vec::new() }).collect();
        for mut lanes in split {
            if by_id {
                lanes.sort_by_key(|(key, _)| *key);
            }
            for (communicator, (_, lane)) in communicators.iter_mut().zip(lanes) {
                communicator.lanes.push(lane);
            }
        }
        return communicators.into_iter().map(with_ranks).collect();
    }
    vec![with_ranks(Communicator { name, number: 0, ranks: None, lanes })]
}

/// Sets the number of ranks if all calls with a recorded number agree.
fn with_ranks(communicator: Communicator) -> Communicator {
    let calls = communicator.lanes.iter().flat_map(|lane| &lane.calls);
    let mut ranks: Vec<Option<i64>> = calls.filter_map(|call| Some(call.recorded.as_ref()?.1)).collect();
    ranks.dedup();
    let ranks = if let [ranks] = ranks.as_slice() { *ranks } else { None };
    Communicator { ranks, ..communicator }
}
