//! Message sizes of communication kernels, inferred from the arguments of the RCCL calls that launched them.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::rows_named;
use crate::columns::reading::ScanHint;
use crate::columns::values::{FrameValues, I64Values};
use crate::derive::OnDemandTables;
use wavesieve_model::analysis::collectives::launching_groups::{Call, GroupCall, Groups};
use wavesieve_model::analysis::collectives::messages::{
    COMMUNICATOR, Creation, GROUP, GROUP_SIZE, Message, Sizes, creation_of, describes_collective,
    has_message_arguments, is_among_all, number, operation_of, ranks_in, shared_out,
};
use wavesieve_model::analysis::intervals::gallop::gallop_near;

/// The columns of `regions` that calls are inferred from.
pub const REGIONS: &[&str] = &["region_id", "name", "tid", "correlation_id", "start_ns", "end_ns", "valid"];

const GROUP_START: &str = "ncclgroupstart";
const GROUP_END: &str = "ncclgroupend";
/// Hexadecimal texts up to this length are addresses, which have no meaning in another process.
const LONGEST_ADDRESS: usize = 18;

/// Recorded facts about the messages of kernels.
pub struct Messages {
    /// The message of every kernel, or the reason why it is unknown.
    pub of_kernels: Vec<std::result::Result<Message, Sizes>>,
    /// Facts about the communicators, by their numbers.
    pub communicators: Vec<RecordedCommunicator>,
}

/// A communicator of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecordedCommunicator {
    /// Its number of ranks.
    pub ranks: Option<i64>,
    /// The id that its ranks share, if it is recorded.
    pub id: Option<String>,
    /// Whether it only carries messages between two ranks.
    pub is_pair: bool,
}

#[derive(Clone, Copy)]
enum RcclCallKind {
    Start,
    End,
    Moves,
    Creates,
}

fn kind_of_call(name: &str) -> Option<RcclCallKind> {
    match name.to_ascii_lowercase().as_str() {
        GROUP_START => Some(RcclCallKind::Start),
        GROUP_END => Some(RcclCallKind::End),
        _ if operation_of(name).is_some() => Some(RcclCallKind::Moves),
        _ => creation_of(name).map(|_| RcclCallKind::Creates),
    }
}

/// The messages of `kernels`, which must have `dispatch_id` and `correlation_id`. Regions that are not given, and arguments, are read only
/// if the names of calls show that they have data.
pub fn messages(
    own_rank: i64,
    kernels: &DataFrame,
    regions: Option<&DataFrame>,
    tables: &dyn OnDemandTables,
) -> Result<Messages> {
    if kernels.height() > 0 {
        if let Some(found) = of_calls(own_rank, kernels, regions, tables)? {
            return Ok(found);
        }
        if let Some(found) = described(own_rank, kernels, tables)? {
            return Ok(found);
        }
    }
    Ok(Messages { of_kernels: vec![Err(Sizes::NoCall); kernels.height()], communicators: Vec::new() })
}

/// The same from RCCL calls alone; `None` without such calls.
pub(crate) fn of_calls(
    own_rank: i64,
    kernels: &DataFrame,
    regions: Option<&DataFrame>,
    tables: &dyn OnDemandTables,
) -> Result<Option<Messages>> {
    let read = |columns: &[&'static str]| -> Result<DataFrame> {
        let wanted: Vec<Expr> = columns.iter().map(|name| col(*name)).collect();
        Ok(tables.rows("regions", columns, None)?.select(wanted).collect()?)
    };
    let names = regions.map_or_else(|| read(&["name"]), |regions| Ok(regions.clone()))?;
    if !rows_named(names.column("name")?, |name| operation_of(name).is_some())?.any() {
        return Ok(None);
    }
    drop(names);
    let regions = regions.map_or_else(|| read(REGIONS), |regions| Ok(regions.clone()))?;
    let calls = RcclCalls::from_frame(&regions)?;
    let arguments = Arguments::read(tables, calls.with_arguments())?;
    let recorded = Recorded::new(&calls, &arguments);
    let launching = launching(&kernels.integer("correlation_id")?, &regions)?;
    drop(regions);
    let dispatches = kernels.integer("dispatch_id")?;
    let mut launched: BTreeMap<usize, Vec<(i64, Option<i64>, usize)>> = BTreeMap::new();
    for (row, (call, dispatch)) in launching.into_iter().zip(dispatches.iter()).enumerate() {
        let Some((start_ns, tid)) = call else { continue };
        if let Some(group) = recorded.groups.at(tid, start_ns) {
            launched.entry(group).or_default().push((start_ns, dispatch, row));
        }
    }
    let mut of_kernels = vec![Err(Sizes::NoCall); kernels.height()];
    let mut pairs = Pairs { own_rank, known: &recorded.communicators, numbers: BTreeMap::new(), found: Vec::new() };
    for (group, mut kernels) in launched {
        kernels.sort_unstable();
        let messages: Vec<Message> = recorded
            .groups
            .messages(group)
            .iter()
            .filter_map(|number| recorded.messages.get(*number as usize))
            .copied()
            .collect();
        for (told, (_, _, row)) in shared_out(&messages, kernels.len()).into_iter().zip(kernels) {
            if let Some(slot) = of_kernels.get_mut(row) {
                *slot = told.map(|message| pairs.apart(message, &messages));
            }
        }
    }
    let found = pairs.found;
    let communicators = recorded.communicators.into_iter().chain(found).collect();
    Ok(Some(Messages { of_kernels, communicators }))
}

/// Communicators of point-to-point messages: one for each pair of ranks, in addition to the communicator of all.
struct Pairs<'a> {
    own_rank: i64,
    known: &'a [RecordedCommunicator],
    numbers: BTreeMap<String, u32>,
    found: Vec<RecordedCommunicator>,
}

impl Pairs<'_> {
    /// The message of a kernel, with the communicator of its two ranks. A message to and from all other ranks of its group is a collective.
    fn apart(&mut self, message: Message, group: &[Message]) -> Message {
        let known = message.communicator.and_then(|number| self.known.get(number as usize));
        let ranks = known.and_then(|known| known.ranks);
        let own: Vec<Message> =
            group.iter().filter(|other| other.communicator == message.communicator).copied().collect();
        if !message.is_pair || is_among_all(&own, ranks) {
            return message;
        }
        // Ranks are numbered within the communicator. These numbers are those of the program if the communicator has all its ranks.
        let is_own = ranks.is_none_or(|ranks| self.own_rank < ranks);
        let message = Message { peer: message.peer.filter(|_| is_own), ..message };
        let between = pair_of(&message, self.own_rank, None).unwrap_or_default();
        // Handles differ between processes; communicators of one size are numbered in the order of their first messages.
        let place = message.communicator.map(|number| {
            let before = self.known.iter().take(number as usize);
            before.filter(|other| other.ranks == ranks).count()
        });
        let id = match known.and_then(|known| known.id.as_deref()) {
            Some(id) => format!("{id} {between}"),
            None => {
                format!("communicator {} of {} ranks {between}", place.unwrap_or_default(), ranks.unwrap_or_default())
            }
        };
        let next = (self.known.len() + self.found.len()) as u32;
        let number = *self.numbers.entry(id).or_insert_with_key(|id| {
            self.found.push(RecordedCommunicator { ranks, id: Some(id.clone()), is_pair: true });
            next
        });
        Message { communicator: Some(number), ..message }
    }
}

/// Messages that the arguments of kernels themselves describe, as PyTorch records them; `None` if they describe none.
fn described(own_rank: i64, kernels: &DataFrame, tables: &dyn OnDemandTables) -> Result<Option<Messages>> {
    let hint = ScanHint { regions: Some(Vec::new()), ..ScanHint::default() };
    let arguments = Arguments::of("kernel", tables, &hint, describes_collective)?;
    if arguments.0.is_empty() {
        return Ok(None);
    }
    let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
    let mut communicators: Vec<RecordedCommunicator> = Vec::new();
    let mut of_kernel = |dispatch: i64, kernel: &str| {
        let mut message = Message::from_kernel(kernel, None, |name| arguments.get(dispatch, name))?;
        let group: Option<Vec<&str>> = GROUP.iter().map(|name| arguments.get(dispatch, name)).collect();
        let pair = if message.is_pair { pair_of(&message, own_rank, group.as_deref()) } else { None };
        let group = group.map(|group| group.join(" "));
        let id = match pair.as_ref().or(group.as_ref()) {
            Some(_) => Some([group, pair.clone()].into_iter().flatten().collect::<Vec<_>>().join(" ")),
            None => None,
        };
        message.communicator = id.map(|id| {
            *numbers.entry(id).or_insert_with_key(|id| {
                let ranks = arguments.get(dispatch, GROUP_SIZE).and_then(number).filter(|ranks| *ranks > 0);
                communicators.push(RecordedCommunicator { ranks, id: Some(id.clone()), is_pair: pair.is_some() });
                (communicators.len() - 1) as u32
            })
        });
        Some(message)
    };
    let dispatches = kernels.integer("dispatch_id")?;
    let names = kernels.column("kernel_name")?.cast(&DataType::String)?;
    let each = dispatches.iter().zip(names.str()?.iter());
    let of_kernels: Vec<_> = each
        .map(|(dispatch, name)| of_kernel(dispatch?, name.unwrap_or_default()))
        .map(|message| message.ok_or(Sizes::NoCall))
        .collect();
    Ok(Some(Messages { of_kernels, communicators }))
}

/// The two ranks of a message, as a text that is the same on both. If the peer is unknown and the group has more than one other rank, the
/// text is unique to the rank, so that its messages match no others.
fn pair_of(message: &Message, own_rank: i64, group: Option<&[&str]>) -> Option<String> {
    let ranks = group.and_then(|group| ranks_in(group.last()?));
    let other = || match ranks.as_deref() {
        Some([one, two]) if *one == own_rank => Some(*two),
        Some([one, two]) if *two == own_rank => Some(*one),
        _ => None,
    };
    let Some(peer) = message.peer.or_else(other) else { return Some(format!("between {own_rank} and unknown ranks")) };
    if message.goes_both_ways {
        return Some(format!("between {} and {}", peer.min(own_rank), peer.max(own_rank)));
    }
    let (from, to) = if message.receives { (peer, own_rank) } else { (own_rank, peer) };
    Some(format!("from {from} to {to}"))
}

/// Start and thread of a call.
type Launch = (i64, Option<i64>);

/// The innermost call with the correlation id of each kernel.
fn launching(correlations: &I64Values, regions: &DataFrame) -> Result<Vec<Option<Launch>>> {
    let mut ids: Vec<i64> = correlations.iter().flatten().filter(|id| *id != 0).collect();
    ids.sort_unstable();
    ids.dedup();
    let (starts, tids, valid) = (regions.integer("start_ns")?, regions.integer("tid")?, regions.truths("valid")?);
    let mut calls: Vec<Option<Launch>> = vec![None; ids.len()];
    // Ids mostly rise from call to call.
    let mut near = 0;
    for (row, (id, valid)) in regions.integer("correlation_id")?.iter().zip(valid.iter()).enumerate() {
        let Some(id) = id.filter(|_| valid == Some(true)) else { continue };
        near = gallop_near(near, ids.len(), |place| ids.get(place).is_some_and(|other| *other < id));
        if ids.get(near) == Some(&id)
            && let (Some(slot), Some(start_ns)) = (calls.get_mut(near), starts.get(row))
        {
            *slot = (*slot).max(Some((start_ns, tids.get(row))));
        }
    }
    let call = |id: Option<i64>| calls.get(ids.binary_search(&id?).ok()?).copied().flatten();
    Ok(correlations.iter().map(call).collect())
}

/// The RCCL calls that are needed here, in the order of their starts.
struct RcclCalls(Vec<RcclCall>);

struct RcclCall {
    start_ns: i64,
    end_ns: i64,
    tid: Option<i64>,
    region: i64,
    name: String,
    duty: RcclCallKind,
}

impl RcclCalls {
    fn from_frame(regions: &DataFrame) -> Result<Self> {
        let is_one = rows_named(regions.column("name")?, |name| kind_of_call(name).is_some())?;
        let found = regions.filter(&(is_one & regions.column("valid")?.bool()?.clone()))?;
        let [starts, ends, tids, ids] = found.integers(["start_ns", "end_ns", "tid", "region_id"])?;
        let names = found.column("name")?.cast(&DataType::String)?;
        let mut calls = Vec::new();
        for (row, name) in names.str()?.iter().enumerate() {
            let Some((name, duty)) = name.and_then(|name| Some((name.to_owned(), kind_of_call(name)?))) else {
                continue;
            };
            if let (Some(start_ns), Some(end_ns), Some(region)) = (starts.get(row), ends.get(row), ids.get(row)) {
                calls.push(RcclCall { start_ns, end_ns, tid: tids.get(row), region, name, duty });
            }
        }
        calls.sort_by_key(|call| (call.start_ns, call.region));
        Ok(Self(calls))
    }

    fn with_arguments(&self) -> Vec<i64> {
        let with_arguments =
            self.0.iter().filter(|call| matches!(call.duty, RcclCallKind::Moves | RcclCallKind::Creates));
        let mut regions: Vec<i64> = with_arguments.map(|call| call.region).collect();
        regions.sort_unstable();
        regions
    }
}

/// Call arguments that messages or communicators are inferred from, by region.
struct Arguments(Vec<(i64, String, String)>);

impl Arguments {
    fn read(tables: &dyn OnDemandTables, regions: Vec<i64>) -> Result<Self> {
        let hint = ScanHint { regions: Some(regions.clone()), ..ScanHint::default() };
        let Self(mut found) = Self::of("region", tables, &hint, has_message_arguments)?;
        found.retain(|(owner, _, _)| regions.binary_search(owner).is_ok());
        Ok(Self(found))
    }

    /// The needed arguments of one kind of owner, in the order of the owners.
    fn of(owner: &str, tables: &dyn OnDemandTables, hint: &ScanHint, counts: fn(&str) -> bool) -> Result<Self> {
        let frame = tables
            .rows("args", &["owner", "owner_id", "name", "value"], Some(hint))?
            .filter(col("owner").cast(DataType::String).eq(lit(owner)))
            .select([col("owner_id"), col("name"), col("value")])
            .collect()?;
        let frame = frame.filter(&rows_named(frame.column("name")?, counts)?)?;
        let owners = frame.integer("owner_id")?;
        let names = frame.column("name")?.cast(&DataType::String)?;
        let texts = names.str()?.iter().zip(frame.column("value")?.str()?.iter());
        let mut found = Vec::new();
        for (owner, (name, value)) in owners.iter().zip(texts) {
            if let (Some(owner), Some(name), Some(value)) = (owner, name, value) {
                found.push((owner, name.to_owned(), value.to_owned()));
            }
        }
        found.sort_by_key(|(region, _, _)| *region);
        Ok(Self(found))
    }

    fn get(&self, region: i64, name: &str) -> Option<&str> {
        let first = self.0.partition_point(|(owner, _, _)| *owner < region);
        let own = self.0.get(first..)?.iter().take_while(|(owner, _, _)| *owner == region);
        own.into_iter().find(|(_, other, _)| other == name).map(|(_, _, value)| value.as_str())
    }

    /// A text that is not a null pointer.
    fn handle(&self, region: i64, name: &str) -> Option<&str> {
        self.get(region, name)
            .map(str::trim)
            .filter(|text| number(text) != Some(0) && !["", "(null)", "nullptr"].contains(text))
    }

    fn any(&self, region: i64, names: &[String]) -> Option<&str> {
        names.iter().find_map(|name| self.handle(region, name))
    }
}

/// Messages, their groups, and communicators.
struct Recorded {
    messages: Vec<Message>,
    groups: Groups,
    communicators: Vec<RecordedCommunicator>,
}

impl Recorded {
    fn new(calls: &RcclCalls, arguments: &Arguments) -> Self {
        let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
        let (mut messages, mut spans) = (Vec::new(), Vec::new());
        for call in &calls.0 {
            let kind = match call.duty {
                RcclCallKind::Start => GroupCall::GroupStart,
                RcclCallKind::End => GroupCall::GroupEnd,
                RcclCallKind::Creates => continue,
                RcclCallKind::Moves => {
                    let communicator = arguments.handle(call.region, COMMUNICATOR).map(|handle| {
                        let next = numbers.len() as u32;
                        *numbers.entry(handle).or_insert(next)
                    });
                    let argument = |name: &str| arguments.get(call.region, name);
                    let Some(message) = Message::from_call(&call.name, communicator, argument) else { continue };
                    messages.push(message);
                    GroupCall::Message(messages.len() as u32 - 1)
                }
            };
            spans.push(Call { tid: call.tid, start_ns: call.start_ns, end_ns: call.end_ns, kind });
        }
        let communicators = communicators(calls, arguments, &numbers);
        Self { messages, groups: Groups::from_calls(spans), communicators }
    }
}

/// Communicators according to the calls that create them. If the calls do not report the created communicator, all must have the same
/// number of ranks.
fn communicators(calls: &RcclCalls, arguments: &Arguments, numbers: &BTreeMap<&str, u32>) -> Vec<RecordedCommunicator> {
    let mut found = vec![RecordedCommunicator::default(); numbers.len()];
    let mut sizes: Vec<Option<i64>> = Vec::new();
    let creations = calls.0.iter().filter(|call| matches!(call.duty, RcclCallKind::Creates));
    for (call, creation) in creations.filter_map(|call| Some((call, creation_of(&call.name)?))) {
        let made = CreatedCommunicator::new(call.region, creation, arguments);
        sizes.push(made.ranks);
        let place = made.handle.and_then(|handle| numbers.get(handle));
        if let Some(slot) = place.and_then(|number| found.get_mut(*number as usize)) {
            *slot = RecordedCommunicator { ranks: made.ranks, id: made.id.map(str::to_owned), is_pair: false };
        }
    }
    let common = match sizes.split_first() {
        Some((first, rest)) if rest.iter().all(|size| size == first) => *first,
        _ => None,
    };
    for communicator in &mut found {
        communicator.ranks = communicator.ranks.or(common);
    }
    found
}

struct CreatedCommunicator<'a> {
    ranks: Option<i64>,
    handle: Option<&'a str>,
    id: Option<&'a str>,
}

impl<'a> CreatedCommunicator<'a> {
    fn new(region: i64, creation: &Creation, arguments: &'a Arguments) -> Self {
        let is_address = |text: &str| text.starts_with("0x") && text.len() <= LONGEST_ADDRESS;
        Self {
            ranks: arguments.any(region, &creation.ranks).and_then(number).filter(|ranks| *ranks > 0),
            handle: arguments.any(region, &creation.communicator),
            id: arguments.any(region, &creation.id).filter(|text| !is_address(text)),
        }
    }
}
