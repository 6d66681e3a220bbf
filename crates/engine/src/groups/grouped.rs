//! The groups of a grouping, and its table.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;

use super::counted::{Group, Wanted};
use super::keys::Key;
use super::recognize::{Aggregate, Grouping, Output};
use super::statistics::OutOfRange;
use super::value::{Value, ValueKind};
use wavesieve_tables::columns::frames::categorical;

/// Maximum number of groups. More would take more memory than the rows, so the engine runs the grouping instead.
pub(crate) const MAX_GROUPS: usize = 1 << 18;

pub struct Groups<'a> {
    grouping: &'a Grouping,
    /// The shared dictionary with its codes. polars drops the dictionary without this reference.
    dictionary: DataType,
    /// Keys in the order of the outputs.
    pub keys: Vec<&'a Value>,
    /// Values that the outputs need.
    pub wanted: Wanted<'a>,
    groups: BTreeMap<Vec<Key>, Group>,
}

impl<'a> Groups<'a> {
    /// Groups without rows.
    pub fn new(grouping: &'a Grouping) -> Self {
        let (mut keys, mut summed, mut kept) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        let mut squared = BTreeSet::new();
        for (_, output) in &grouping.outputs {
            match output {
                Output::Key(key) => keys.push(key),
                Output::Aggregate(Aggregate::Count) => {}
                Output::Aggregate(Aggregate::Median(value) | Aggregate::Quantile(value, _)) => {
                    kept.insert(value);
                }
                Output::Aggregate(Aggregate::Deviation(value)) => {
                    summed.insert(value);
                    squared.insert(value);
                }
                Output::Aggregate(
                    Aggregate::Counted(value) | Aggregate::Sum(value) | Aggregate::Min(value) | Aggregate::Max(value),
                ) => {
                    summed.insert(value);
                }
            }
        }
        let wanted = Wanted { summed: summed.into_iter().collect(), squared, kept: kept.into_iter().collect() };
        Self { grouping, dictionary: categorical(), keys, wanted, groups: BTreeMap::new() }
    }

    /// The values that the grouping needs of every row.
    pub fn values(&self) -> impl Iterator<Item = &'a Value> {
        self.keys.iter().chain(&self.wanted.summed).chain(&self.wanted.kept).copied()
    }

    /// Whether there are so many groups that no more rows are added.
    pub(crate) fn are_too_many(&self) -> bool {
        self.groups.len() > MAX_GROUPS
    }

    /// Adds rows to a group.
    pub fn add(&mut self, key: Vec<Key>, group: Group) {
        match self.groups.entry(key) {
            Entry::Vacant(place) => {
                place.insert(group);
            }
            Entry::Occupied(own) => own.into_mut().merge(group),
        }
    }

    /// Adds all rows of another part of the table.
    pub fn merge(&mut self, other: Self) {
        if !self.are_too_many() {
            other.groups.into_iter().for_each(|(key, group)| self.add(key, group));
        }
    }

    /// The table, one row per group in the order of the keys; `None` if a sum is out of range, or if there are too many groups.
    pub fn finish(mut self) -> Result<Option<DataFrame>> {
        if self.are_too_many() {
            return Ok(None);
        }
        let mut columns = Vec::with_capacity(self.grouping.outputs.len());
        let mut keys = 0;
        for (name, output) in &self.grouping.outputs {
            let column = match output {
                Output::Key(key) => {
                    let at = keys;
                    keys += 1;
                    let values = self.groups.keys().map(|key| key.get(at).copied().flatten());
                    key_column(key, &self.dictionary, Int64Chunked::from_iter_options(name.as_str().into(), values))?
                }
                Output::Aggregate(aggregate) => match aggregated(&mut self.groups, &self.wanted, aggregate) {
                    Ok(column) => column.with_name(name.as_str().into()),
                    Err(OutOfRange) => return Ok(None),
                },
            };
            columns.push(column);
        }
        let frame = DataFrame::new(self.groups.len(), columns)?;
        let by = self.grouping.outputs.iter().filter(|(_, output)| matches!(output, Output::Key(_)));
        let by: Vec<&str> = by.map(|(name, _)| name.as_str()).collect();
        Ok(Some(frame.sort(by, SortMultipleOptions::default())?))
    }
}

fn key_column(key: &Value, dictionary: &DataType, values: Int64Chunked) -> Result<Column> {
    if key.kind != ValueKind::Text {
        return Ok(values.into_column());
    }
    let codes = values.cast(&DataType::UInt32)?;
    let texts = CategoricalChunked::<Categorical32Type>::from_cats_and_dtype(codes.u32()?.clone(), dictionary.clone());
    Ok(texts.into_column())
}

fn aggregated(
    groups: &mut BTreeMap<Vec<Key>, Group>,
    wanted: &Wanted<'_>,
    aggregate: &Aggregate,
) -> Result<Column, OutOfRange> {
    let (summed, kept) = (wanted.summed.as_slice(), wanted.kept.as_slice());
    let place = |values: &[&Value], wanted: &Value| values.iter().position(|value| *value == wanted);
    let statistics = |value: &Value| {
        let at = place(summed, value);
        groups.values().map(move |group| at.and_then(|at| group.statistics.get(at)).cloned().unwrap_or_default())
    };
    let name = PlSmallStr::EMPTY;
    let integers =
        |values: Vec<Option<i64>>| Int64Chunked::from_iter_options(name.clone(), values.into_iter()).into_column();
    let floats =
        |values: Vec<Option<f64>>| Float64Chunked::from_iter_options(name.clone(), values.into_iter()).into_column();
    Ok(match aggregate {
        Aggregate::Count => integers(groups.values().map(|group| i64::try_from(group.rows).ok()).collect()),
        Aggregate::Counted(column) => integers(statistics(column).map(|all| i64::try_from(all.count()).ok()).collect()),
        Aggregate::Sum(column) => integers(statistics(column).map(|all| all.sum()).collect::<Result<_, _>>()?),
        Aggregate::Min(column) => integers(statistics(column).map(|all| all.min()).collect()),
        Aggregate::Max(column) => integers(statistics(column).map(|all| all.max()).collect()),
        Aggregate::Deviation(column) => {
            floats(statistics(column).map(|all| all.deviation()).collect::<Result<_, _>>()?)
        }
        Aggregate::Median(column) => {
            let at = place(kept, column);
            floats(groups.values_mut().map(|group| group.values.get_mut(at?)?.median()).collect())
        }
        Aggregate::Quantile(column, thousandths) => {
            let at = place(kept, column);
            let quantile = |group: &mut Group| group.values.get_mut(at?)?.quantile(f64::from(*thousandths) / 1000.0);
            floats(groups.values_mut().map(quantile).collect())
        }
    })
}
