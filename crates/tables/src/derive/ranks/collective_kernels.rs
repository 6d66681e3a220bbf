//! The table `collective_kernels`: communication kernels of all processes, matched by collective.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{dictionary_column, floats, integers, rows_named, texts};
use crate::columns::reading::Keep;
use crate::columns::values::{FrameValues, I64Values};
use crate::derive::OnDemandTables;
use crate::derive::ranks::collective_messages::{Messages, REGIONS, messages};
use crate::derive::ranks::communicators::{Communicator, Key, Lane, LaneCall, split_communicators};
use crate::derive::ranks::exposed_communication::exposed_ns;
use crate::derive::{Build, DerivedTable, Frames, Joint, Needs, ProcessPart, Rows, RowsWhen, WhyEmpty, column, needed};
use wavesieve_model::analysis::categories::COMMUNICATION;
use wavesieve_model::analysis::collectives::matching::{Basis, Call, partners};
use wavesieve_model::analysis::collectives::messages::{Sizes, element_types, operations};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    passthrough: PASSTHROUGH,
    rows: Rows::Events,
    rows_when: RowsWhen::all(&["kernels"]).if_found(),
    why_empty: WhyEmpty::Because("no kernel has the category communication; --categories adds rules"),
    ..DerivedTable::new(
        &tables::ranks::COLLECTIVE_KERNELS,
        needs,
        Build::Joint(Joint { optional_needs, extract, relate: |parts, _| relate(parts), keep }),
    )
};

/// Columns of the kernel.
const OF_KERNEL: [&str; 12] = [
    "dispatch_id",
    "kernel_id",
    "kernel_name",
    "short_name",
    "category",
    "gpu",
    "device",
    "queue_id",
    "stream_id",
    "start_ns",
    "end_ns",
    "duration_ns",
];

/// Columns of the kernel that no other column depends on. The table is built without them if they are not requested.
const PASSTHROUGH: &[&str] = &["kernel_id", "short_name", "device"];
/// Column with the time of a kernel that no compute kernel hides; it depends on all kernels.
const EXPOSED: &str = "exposed_ns";

fn needs() -> Needs {
    let mut columns = OF_KERNEL.to_vec();
    columns.extend(["valid", "correlation_id"]);
    vec![("kernels", columns)]
}

/// Tables that reveal message sizes.
fn optional_needs() -> Needs {
    vec![("regions", REGIONS.to_vec())]
}

/// The kernels that count: only communication, unless kernels that could hide it are needed.
fn keep(wanted: &BTreeSet<&'static str>) -> Option<Keep> {
    (!wanted.contains(EXPOSED)).then_some(communicates as Keep)
}

fn communicates(kernels: &DataFrame) -> Result<BooleanChunked> {
    Ok(rows_named(kernels.column("category")?, |category| category == COMMUNICATION)?)
}

/// The valid communication kernels of a process in the order of their starts, with their exposed time and the recorded facts about their
/// messages.
fn extract(
    process: &Process,
    tables: &Frames,
    others: &dyn OnDemandTables,
    wanted: &BTreeSet<&'static str>,
) -> Result<DataFrame> {
    let kernels = needed(tables, "kernels")?;
    let communicates = communicates(kernels)?;
    let kept = &communicates & kernels.column("valid")?.bool()?;
    // A counter pass repeats the same collectives.
    let kept = if process.role == wavesieve_model::schema::facts::Role::Trace {
        kept
    } else {
        BooleanChunked::full("".into(), false, kernels.height())
    };
    let order = SortMultipleOptions::default().with_maintain_order(true);
    let mut frame = kernels.filter(&kept)?.sort(["start_ns", "dispatch_id"], order)?;
    let messages = messages(process.rank, &frame, tables.get("regions"), others)?;
    frame = frame.select(present(&frame, &OF_KERNEL))?;
    if wanted.contains(EXPOSED) {
        let exposed = exposed_ns(&frame, kernels, &communicates)?;
        frame.with_column(column(EXPOSED, exposed))?;
    }
    let recorded = recorded_columns(&messages, &frame.integer("gpu")?);
    frame.hstack_mut(&recorded)?;
    Ok(frame)
}

/// The columns that a frame has, out of some.
fn present<'a>(frame: &DataFrame, names: &[&'a str]) -> Vec<&'a str> {
    names.iter().copied().filter(|name| frame.column(name).is_ok()).collect()
}

/// Columns about messages and their communicator: [`Key`].
fn recorded_columns(messages: &Messages, gpus: &I64Values) -> Vec<Column> {
    let (mut ids, mut ranks, mut ordinals, mut pairs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    // Each handle of a process with several GPUs is a separate communicator. Communicators of one size are numbered on every GPU.
    let mut known: BTreeMap<(Option<i64>, u32), i64> = BTreeMap::new();
    let mut next: BTreeMap<(Option<i64>, Option<i64>), i64> = BTreeMap::new();
    for (message, gpu) in messages.of_kernels.iter().zip(gpus.iter()) {
        let number = message.ok().and_then(|message| message.communicator);
        let recorded = number.and_then(|number| messages.communicators.get(number as usize));
        let size = recorded.and_then(|recorded| recorded.ranks);
        let id = recorded.and_then(|recorded| recorded.id.clone());
        let ordinal = number.map(|number| match id {
            Some(_) => 0,
            None => *known.entry((gpu, number)).or_insert_with(|| {
                let next = next.entry((gpu, size)).or_default();
                *next += 1;
                *next - 1
            }),
        });
        pairs.push(recorded.map(|recorded| i64::from(recorded.is_pair)));
        ids.push(id);
        ranks.push(size);
        ordinals.push(ordinal);
    }
    let recorded = || messages.of_kernels.iter();
    let reason = |sizes: Sizes| Sizes::ALL.iter().position(|known| *known == sizes).unwrap_or_default() as i64;
    vec![
        texts(ID, ids.iter().map(Option::as_deref)),
        integers(RANKS, ranks.into_iter()),
        integers(ORDINAL, ordinals.into_iter()),
        integers(PAIR, pairs.into_iter()),
        integers(OPERATION, recorded().map(|found| found.ok().map(|message| message.operation as i64))),
        integers(SEQUENCE, recorded().map(|found| found.ok().and_then(|message| message.sequence))),
        integers(NUMBER, recorded().map(|found| found.ok().and_then(|message| message.number))),
        integers(ELEMENT_TYPE, recorded().map(|found| found.ok()?.element_type.map(|place| place as i64))),
        integers(RANK_BYTES, recorded().map(|found| found.ok().and_then(|message| message.rank_bytes.ok()))),
        integers(
            SIZES,
            recorded().map(|found| found.and_then(|message| message.rank_bytes).map_or_else(reason, |_| 0)).map(Some),
        ),
    ]
}

const ID: &str = "communicator_id";
const RANKS: &str = "recorded_ranks";
const ORDINAL: &str = "communicator_ordinal";
const PAIR: &str = "is_pair";
const OPERATION: &str = "operation";
const SEQUENCE: &str = "sequence";
const NUMBER: &str = "number";
const ELEMENT_TYPE: &str = "element_type";
const RANK_BYTES: &str = "rank_bytes";
const SIZES: &str = "sizes";

/// Facts about a row.
#[derive(Clone, Copy)]
struct RowFacts {
    communicator: i64,
    ordinal: i64,
    collective: Option<i64>,
    basis: Option<Basis>,
    gpus: i64,
    expected: i64,
    ranks: Option<i64>,
}

/// Adds to the communication kernels of every process which of them form a collective.
fn relate(parts: &[ProcessPart<'_>]) -> Result<Vec<DataFrame>> {
    let mut lanes: BTreeMap<String, BTreeMap<(usize, Option<i64>), Lane>> = BTreeMap::new();
    let mut begins: Vec<i64> = Vec::new();
    for (part, (process, frame)) in parts.iter().enumerate() {
        let [starts, ends, gpus, streams, queues, numbers, pairs] =
            frame.integers(["start_ns", "end_ns", "gpu", "stream_id", "queue_id", NUMBER, PAIR])?;
        let (sizes, ordinals, ids) = (frame.integer(RANKS)?, frame.integer(ORDINAL)?, frame.column(ID)?.str()?);
        let names = frame.column("kernel_name")?.cast(&DataType::String)?;
        begins.push(starts.get(0).unwrap_or_default());
        for (row, name) in names.str()?.iter().enumerate() {
            let (Some(start_ns), Some(end_ns)) = (starts.get(row), ends.get(row)) else { continue };
            let name = name.unwrap_or_default();
            if !lanes.contains_key(name) {
                lanes.insert(name.to_owned(), BTreeMap::new());
            }
            let Some(of_name) = lanes.get_mut(name) else { continue };
            let lane = of_name.entry((part, gpus.get(row))).or_insert_with(|| Lane::new(part, process.node));
            let key = |ordinal| -> Key { (ids.get(row).map(str::to_owned), sizes.get(row), ordinal) };
            let is_pair = pairs.get(row) == Some(1);
            lane.calls.push(LaneCall {
                row: row as u32,
                // In a group of more than two, each rank numbers its own sends and receives.
                call: Call {
                    start_ns,
                    end_ns,
                    sequence: numbers.get(row).filter(|_| !is_pair || sizes.get(row) == Some(2)),
                },
                is_pair,
                stream: streams.get(row),
                queue: queues.get(row),
                recorded: ordinals.get(row).map(key),
            });
        }
    }
    let communicators = split_communicators(lanes.into_values().map(|lanes| lanes.into_values().collect()));
    let places = placed(parts, &begins, &communicators);
    parts.iter().zip(places).map(|((_, frame), places)| with_places(frame, &places)).collect()
}

/// A collective before it has a number.
struct Collective {
    /// Time since the first communication kernel of the process with most of its calls.
    since_ns: i64,
    name: usize,
    communicator: i64,
    ordinal: usize,
    /// Part, row and matching basis of every call.
    rows: Vec<(usize, u32, Option<Basis>)>,
    expected: i64,
}

/// Facts about every row of every part.
fn placed(parts: &[ProcessPart<'_>], begins: &[i64], communicators: &[Communicator]) -> Vec<Vec<Option<RowFacts>>> {
    let mut places: Vec<Vec<Option<RowFacts>>> = parts.iter().map(|(_, frame)| vec![None; frame.height()]).collect();
    let mut collectives = Vec::new();
    for communicator in communicators {
        let expected = communicator.lanes.len() as i64;
        let ranks = communicator.ranks.or(Some(expected).filter(|gpus| *gpus > 1));
        for lane in &communicator.lanes {
            for (ordinal, call) in (0..).zip(&lane.calls) {
                let place = RowFacts {
                    communicator: communicator.number,
                    ordinal,
                    collective: None,
                    basis: None,
                    gpus: 1,
                    expected,
                    ranks,
                };
                set(&mut places, lane.part, call.row, |slot| *slot = Some(place));
            }
        }
        collectives.extend(matched(communicator, begins));
    }
    collectives.sort_unstable_by_key(|one| (one.since_ns, one.name, one.communicator, one.ordinal));
    for (number, collective) in (0..).zip(collectives) {
        for (part, row, basis) in &collective.rows {
            set(&mut places, *part, *row, |slot| {
                if let Some(place) = slot {
                    place.collective = Some(number);
                    place.basis = *basis;
                    place.gpus = collective.rows.len() as i64;
                    place.expected = collective.expected;
                }
            });
        }
    }
    places
}

fn set(places: &mut [Vec<Option<RowFacts>>], part: usize, row: u32, change: impl FnOnce(&mut Option<RowFacts>)) {
    if let Some(slot) = places.get_mut(part).and_then(|rows| rows.get_mut(row as usize)) {
        change(slot);
    }
}

/// The collectives of a communicator: one per call of the GPU with most calls, and the matching calls of other GPUs.
fn matched(communicator: &Communicator, begins: &[i64]) -> Vec<Collective> {
    let most = communicator.lanes.iter().map(|lane| lane.calls.len()).max().unwrap_or_default();
    let Some((at, reference)) = communicator.lanes.iter().enumerate().find(|(_, lane)| lane.calls.len() == most) else {
        return Vec::new();
    };
    let begin_ns = begins.get(reference.part).copied().unwrap_or_default();
    let mut collectives: Vec<Collective> = reference
        .calls
        .iter()
        .enumerate()
        .map(|(ordinal, call)| Collective {
            since_ns: call.call.start_ns.saturating_sub(begin_ns),
            name: communicator.name,
            communicator: communicator.number,
            ordinal,
            rows: vec![(reference.part, call.row, None)],
            expected: communicator.lanes.len() as i64,
        })
        .collect();
    let times = reference.times();
    for (_, lane) in communicator.lanes.iter().enumerate().filter(|(other, _)| *other != at) {
        let (basis, partners) = partners_of(lane, &times, lane.node == reference.node);
        for (call, partner) in lane.calls.iter().zip(partners) {
            if let Some(collective) = partner.and_then(|partner| collectives.get_mut(partner as usize)) {
                collective.rows.push((lane.part, call.row, Some(basis)));
            }
        }
    }
    for collective in &mut collectives {
        // The call of the reference has the weakest basis of the others; alone it has none.
        let is_any = |wanted| collective.rows.iter().any(|(_, _, basis)| *basis == Some(wanted));
        let weakest = [Basis::Time, Basis::Order].into_iter().find(|basis| is_any(*basis));
        let basis = weakest.unwrap_or(Basis::Sequence);
        if let (true, Some(first)) = (collective.rows.len() > 1, collective.rows.first_mut()) {
            first.2 = Some(basis);
        }
    }
    collectives
}

/// The partners of the calls of a lane. Messages between two ranks have the same numbers on both, or meaningless numbers.
fn partners_of(lane: &Lane, reference: &[Call], same_clock: bool) -> (Basis, Vec<Option<u32>>) {
    let own = lane.times();
    let (basis, found) = partners(reference, &own, same_clock);
    let is_pair = lane.calls.iter().any(|call| call.is_pair);
    if !is_pair || basis != Basis::Sequence || found.iter().all(Option::is_some) {
        return (basis, found);
    }
    let unnumbered = |calls: &[Call]| calls.iter().map(|call| Call { sequence: None, ..*call }).collect::<Vec<_>>();
    partners(&unnumbered(reference), &unnumbered(&own), same_clock)
}

fn with_places(frame: &DataFrame, places: &[Option<RowFacts>]) -> Result<DataFrame> {
    let whole = |name, value: fn(&RowFacts) -> i64| {
        column(name, places.iter().map(|place| place.as_ref().map_or(0, value)).collect())
    };
    let collectives = places.iter().map(|place| place.and_then(|place| place.collective));
    let dictionary = Basis::ALL.map(|basis| Some(basis.word().to_owned()));
    let codes = places
        .iter()
        .map(|place| place.and_then(|place| place.basis))
        .map(|basis| Basis::ALL.iter().position(|known| Some(*known) == basis));
    let optional = |name, value: fn(&RowFacts) -> Option<i64>| {
        let values = places.iter().map(|place| place.as_ref().and_then(value));
        integers(name, values)
    };
    let mut related = frame.select(present(frame, &[&OF_KERNEL[..], &[EXPOSED]].concat()))?;
    related.hstack_mut(&[
        whole("communicator", |place| place.communicator),
        optional("ranks", |place| place.ranks),
        whole("ordinal", |place| place.ordinal),
        integers("collective", collectives),
        dictionary_column("matched_by", &dictionary, codes)?,
        whole("gpus", |place| place.gpus),
        whole("expected_gpus", |place| place.expected),
    ])?;
    related.hstack_mut(&message_columns(frame, places)?)?;
    Ok(related)
}

/// Columns about messages, once the number of ranks is known.
fn message_columns(frame: &DataFrame, places: &[Option<RowFacts>]) -> Result<Vec<Column>> {
    let [of_rows, bytes, sizes] = frame.integers([OPERATION, RANK_BYTES, SIZES])?;
    let place_of = |value: Option<i64>| value.and_then(|value| usize::try_from(value).ok());
    let told: Vec<(Option<i64>, Option<f64>, usize)> = places
        .iter()
        .enumerate()
        .map(|(row, place)| {
            let ranks = place.and_then(|place| place.ranks);
            let reason = place_of(sizes.get(row)).unwrap_or_default();
            let operation = place_of(of_rows.get(row)).and_then(|place| operations().get(place));
            match operation
                .zip(bytes.get(row))
                .map(|(operation, bytes)| (operation, operation.message_bytes(bytes, ranks)))
            {
                Some((operation, Ok(bytes))) => (Some(bytes), operation.bus_factor(ranks), reason),
                Some((_, Err(sizes))) => {
                    (None, None, Sizes::ALL.iter().position(|known| *known == sizes).unwrap_or(reason))
                }
                None => (None, None, reason),
            }
        })
        .collect();
    let names: Vec<&str> = operations().iter().map(|operation| operation.name.as_str()).collect();
    let [types, sequences] = frame.integers([ELEMENT_TYPE, SEQUENCE])?;
    let type_names: Vec<&str> = element_types().iter().map(|known| known.name.as_str()).collect();
    Ok(vec![
        integers(SEQUENCE, sequences.iter()),
        dictionary_column(OPERATION, &names, of_rows.iter().map(place_of))?,
        dictionary_column(ELEMENT_TYPE, &type_names, types.iter().map(place_of))?,
        integers("message_bytes", told.iter().map(|(bytes, _, _)| *bytes)),
        floats("bus_factor", told.iter().map(|(_, factor, _)| *factor)),
        dictionary_column(SIZES, &Sizes::ALL.map(Sizes::words), told.iter().map(|(_, _, reason)| Some(*reason)))?,
    ])
}
