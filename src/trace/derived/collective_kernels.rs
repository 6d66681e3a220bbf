//! The table `collective_kernels`: communication kernels of all processes, with those of one collective brought together.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;

use super::{Frames, Needs, Part, column, needed};
use crate::trace::categories::COMMUNICATION;
use crate::trace::collective_matching::{Basis, Call, partners};
use crate::trace::cover::Cover;
use crate::trace::frames::{dictionary_column, rows_named};
use crate::trace::identity::Process;
use crate::trace::intervals::Interval;
use crate::trace::values::{Integers, Truths, integers};

/// Columns that are those of the kernel.
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

/// The source columns that it is built from.
pub fn needs() -> Needs {
    let mut columns = OF_KERNEL.to_vec();
    columns.push("valid");
    vec![("kernels", columns)]
}

/// The valid communication kernels of a process in the order of their starts, with how much of each nothing else hides.
///
/// # Errors
/// When a needed column is missing or has another type.
pub fn extract(process: &Process, tables: &Frames) -> Result<DataFrame> {
    let kernels = needed(tables, "kernels")?;
    let communicates = rows_named(kernels.column("category")?, |category| category == COMMUNICATION)?;
    let kept = &communicates & kernels.column("valid")?.bool()?;
    // Those of a counter pass are the same collectives once more.
    let kept = if process.role == crate::trace::facts::Role::Trace {
        kept
    } else {
        BooleanChunked::full("".into(), false, kernels.height())
    };
    let order = SortMultipleOptions::default().with_maintain_order(true);
    let mut found = kernels.select(OF_KERNEL)?.filter(&kept)?.sort(["start_ns", "dispatch_id"], order)?;
    let exposed = exposed(&found, kernels, &communicates)?;
    found.with_column(column("exposed_ns", exposed))?;
    Ok(found)
}

/// The part of each communication kernel in which no valid compute kernel runs on its GPU.
fn exposed(found: &DataFrame, kernels: &DataFrame, communicates: &BooleanChunked) -> Result<Vec<i64>> {
    if found.height() == 0 {
        return Ok(Vec::new());
    }
    let computes = &!communicates & kernels.column("valid")?.bool()?;
    let mut by_gpu: BTreeMap<Option<i64>, Cover> = BTreeMap::new();
    for ((gpu, interval), computes) in on_gpus(kernels)?.zip(Truths::of(&computes).iter()) {
        if computes == Some(true) {
            by_gpu.entry(gpu).or_default().add(interval);
        }
    }
    let by_gpu: BTreeMap<Option<i64>, Cover> = by_gpu.into_iter().map(|(gpu, cover)| (gpu, cover.finish())).collect();
    let exposed = |(gpu, interval): (Option<i64>, Interval)| {
        let hidden_ns = by_gpu.get(&gpu).map_or(0, |cover| cover.covered_ns(interval));
        interval.length_ns().saturating_sub(hidden_ns)
    };
    Ok(on_gpus(found)?.map(exposed).collect())
}

/// GPU and time of every kernel; one without times covers nothing.
fn on_gpus(kernels: &DataFrame) -> Result<impl Iterator<Item = (Option<i64>, Interval)>> {
    let integer = |name: &str| -> Result<Integers> { Ok(Integers::of(kernels.column(name)?.i64()?)) };
    let (gpus, starts, ends) = (integer("gpu")?, integer("start_ns")?, integer("end_ns")?);
    Ok((0..kernels.height()).map(move |row| {
        let interval = Interval::new(starts.get(row).unwrap_or_default(), ends.get(row).unwrap_or_default());
        (gpus.get(row), interval)
    }))
}

/// The calls of one kernel on one GPU, in the order of their starts.
struct Lane {
    part: usize,
    node: i64,
    rows: Vec<u32>,
    calls: Vec<Call>,
    streams: Vec<Option<i64>>,
    queues: Vec<Option<i64>>,
}

impl Lane {
    fn of(part: usize, node: i64) -> Self {
        Self { part, node, rows: Vec::new(), calls: Vec::new(), streams: Vec::new(), queues: Vec::new() }
    }

    fn push(&mut self, row: u32, call: Call, stream: Option<i64>, queue: Option<i64>) {
        self.rows.push(row);
        self.calls.push(call);
        self.streams.push(stream);
        self.queues.push(queue);
    }

    /// The same calls told apart by a key of each, in the order of the keys' first calls.
    fn split(&self, keys: &[Option<i64>]) -> Vec<(Option<i64>, Self)> {
        let mut places: BTreeMap<Option<i64>, usize> = BTreeMap::new();
        let mut lanes: Vec<(Option<i64>, Self)> = Vec::new();
        let calls = self.rows.iter().zip(&self.calls).zip(self.streams.iter().zip(&self.queues));
        for (((row, call), (stream, queue)), key) in calls.zip(keys) {
            let place = *places.entry(*key).or_insert(lanes.len());
            if place == lanes.len() {
                lanes.push((*key, Self::of(self.part, self.node)));
            }
            if let Some((_, lane)) = lanes.get_mut(place) {
                lane.push(*row, *call, *stream, *queue);
            }
        }
        lanes
    }
}

/// The calls of a kernel that belong together: a lane of each GPU that has one.
struct Communicator {
    name: usize,
    number: i64,
    lanes: Vec<Lane>,
}

/// What is told about a row.
#[derive(Clone, Copy)]
struct Place {
    communicator: i64,
    ordinal: i64,
    collective: Option<i64>,
    basis: Option<Basis>,
    gpus: i64,
    expected: i64,
}

/// Adds to the communication kernels of every process which of them are one collective.
///
/// # Errors
/// When a needed column is missing or has another type.
pub fn relate(parts: &[Part<'_>]) -> Result<Vec<DataFrame>> {
    let mut lanes: BTreeMap<String, BTreeMap<(usize, Option<i64>), Lane>> = BTreeMap::new();
    let mut begins: Vec<i64> = Vec::new();
    for (part, (process, frame)) in parts.iter().enumerate() {
        let integers = |name: &str| -> Result<Integers> { Ok(Integers::of(frame.column(name)?.i64()?)) };
        let (starts, ends, gpus) = (integers("start_ns")?, integers("end_ns")?, integers("gpu")?);
        let (streams, queues) = (integers("stream_id")?, integers("queue_id")?);
        let names = frame.column("kernel_name")?.cast(&DataType::String)?;
        begins.push(starts.get(0).unwrap_or_default());
        for (row, name) in names.str()?.iter().enumerate() {
            let (Some(start_ns), Some(end_ns)) = (starts.get(row), ends.get(row)) else { continue };
            let name = name.unwrap_or_default();
            if !lanes.contains_key(name) {
                lanes.insert(name.to_owned(), BTreeMap::new());
            }
            let Some(of_name) = lanes.get_mut(name) else { continue };
            let lane = of_name.entry((part, gpus.get(row))).or_insert_with(|| Lane::of(part, process.node));
            lane.push(row as u32, Call { start_ns, end_ns }, streams.get(row), queues.get(row));
        }
    }
    let communicators = lanes
        .into_values()
        .enumerate()
        .flat_map(|(name, lanes)| told_apart(name, lanes.into_values().collect()))
        .collect::<Vec<_>>();
    let places = placed(parts, &begins, &communicators);
    parts.iter().zip(places).map(|((_, frame), places)| with_places(frame, &places)).collect()
}

/// The communicators of a kernel. Kernels do not record theirs: those on streams of their own have one each, if every GPU
/// has the same streams, or as many with as many calls each; else queues are tried, else there is one.
fn told_apart(name: usize, lanes: Vec<Lane>) -> Vec<Communicator> {
    for (keys, by_id) in [(true, true), (true, false), (false, false)] {
        let split: Vec<Vec<(Option<i64>, Lane)>> =
            lanes.iter().map(|lane| lane.split(if keys { &lane.streams } else { &lane.queues })).collect();
        let count = split.first().map_or(0, Vec::len);
        if count < 2 || split.iter().any(|lanes| lanes.len() != count) {
            continue;
        }
        let ids = |lanes: &[(Option<i64>, Lane)]| lanes.iter().map(|(key, _)| *key).collect::<BTreeSet<_>>();
        let calls = |lanes: &[(Option<i64>, Lane)]| lanes.iter().map(|(_, lane)| lane.rows.len()).collect::<Vec<_>>();
        let fits = match (by_id, split.split_first()) {
            (true, Some((first, rest))) => rest.iter().all(|lanes| ids(lanes) == ids(first)),
            (false, Some((first, rest))) => rest.iter().all(|lanes| calls(lanes) == calls(first)),
            (_, None) => false,
        };
        if !fits {
            continue;
        }
        let mut communicators: Vec<Communicator> =
            (0..count as i64).map(|number| Communicator { name, number, lanes: Vec::new() }).collect();
        for mut lanes in split {
            if by_id {
                lanes.sort_by_key(|(key, _)| *key);
            }
            for (communicator, (_, lane)) in communicators.iter_mut().zip(lanes) {
                communicator.lanes.push(lane);
            }
        }
        return communicators;
    }
    vec![Communicator { name, number: 0, lanes }]
}

/// A collective before it has a number.
struct Collective {
    /// Time since the first communication kernel of the process that has most of its calls.
    since_ns: i64,
    name: usize,
    communicator: i64,
    ordinal: usize,
    /// Part, row and how it was matched, of every call.
    rows: Vec<(usize, u32, Option<Basis>)>,
    expected: i64,
}

/// What is told about every row of every part.
fn placed(parts: &[Part<'_>], begins: &[i64], communicators: &[Communicator]) -> Vec<Vec<Option<Place>>> {
    let mut places: Vec<Vec<Option<Place>>> = parts.iter().map(|(_, frame)| vec![None; frame.height()]).collect();
    let mut collectives = Vec::new();
    for communicator in communicators {
        let expected = communicator.lanes.len() as i64;
        for lane in &communicator.lanes {
            for (ordinal, row) in (0..).zip(&lane.rows) {
                let place = Place {
                    communicator: communicator.number,
                    ordinal,
                    collective: None,
                    basis: None,
                    gpus: 1,
                    expected,
                };
                set(&mut places, lane.part, *row, |slot| *slot = Some(place));
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

fn set(places: &mut [Vec<Option<Place>>], part: usize, row: u32, change: impl FnOnce(&mut Option<Place>)) {
    if let Some(slot) = places.get_mut(part).and_then(|rows| rows.get_mut(row as usize)) {
        change(slot);
    }
}

/// The collectives of a communicator: one per call of the GPU that has most, and what others have of it.
fn matched(communicator: &Communicator, begins: &[i64]) -> Vec<Collective> {
    let most = communicator.lanes.iter().map(|lane| lane.rows.len()).max().unwrap_or_default();
    let Some((at, reference)) = communicator.lanes.iter().enumerate().find(|(_, lane)| lane.rows.len() == most) else {
        return Vec::new();
    };
    let begin_ns = begins.get(reference.part).copied().unwrap_or_default();
    let mut collectives: Vec<Collective> = reference
        .calls
        .iter()
        .zip(&reference.rows)
        .enumerate()
        .map(|(ordinal, (call, row))| Collective {
            since_ns: call.start_ns.saturating_sub(begin_ns),
            name: communicator.name,
            communicator: communicator.number,
            ordinal,
            rows: vec![(reference.part, *row, None)],
            expected: communicator.lanes.len() as i64,
        })
        .collect();
    for (_, lane) in communicator.lanes.iter().enumerate().filter(|(other, _)| *other != at) {
        let (basis, partners) = partners(&reference.calls, &lane.calls, lane.node == reference.node);
        for (row, partner) in lane.rows.iter().zip(partners) {
            if let Some(collective) = partner.and_then(|partner| collectives.get_mut(partner as usize)) {
                collective.rows.push((lane.part, *row, Some(basis)));
            }
        }
    }
    for collective in &mut collectives {
        // The call of the reference is matched as the others are; alone it is not.
        let by_time = collective.rows.iter().any(|(_, _, basis)| *basis == Some(Basis::Time));
        let basis = if by_time { Basis::Time } else { Basis::Order };
        if let (true, Some(first)) = (collective.rows.len() > 1, collective.rows.first_mut()) {
            first.2 = Some(basis);
        }
    }
    collectives
}

fn with_places(frame: &DataFrame, places: &[Option<Place>]) -> Result<DataFrame> {
    let whole = |name, value: fn(&Place) -> i64| {
        column(name, places.iter().map(|place| place.as_ref().map_or(0, value)).collect())
    };
    let collectives = places.iter().map(|place| place.and_then(|place| place.collective));
    let dictionary = Basis::ALL.map(|basis| Some(basis.word().to_owned()));
    let codes = places
        .iter()
        .map(|place| place.and_then(|place| place.basis))
        .map(|basis| Basis::ALL.iter().position(|known| Some(*known) == basis));
    let mut frame = frame.clone();
    frame.hstack_mut(&[
        whole("communicator", |place| place.communicator),
        whole("ordinal", |place| place.ordinal),
        integers("collective", collectives).into_series().into_column(),
        dictionary_column("matched_by", &dictionary, codes)?,
        whole("gpus", |place| place.gpus),
        whole("expected_gpus", |place| place.expected),
    ])?;
    Ok(frame)
}
