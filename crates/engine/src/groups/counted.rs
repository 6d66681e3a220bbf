//! Adds up the rows of a frame, group by group.

use std::collections::BTreeSet;

use anyhow::Result;
use polars::prelude::{Column, DataFrame};

use super::keys::{Key, Numbered};
use super::statistics::{Statistics, Values};
use super::value::Value;

/// The rows of one group.
#[derive(Clone, Default)]
pub struct Group {
    /// Number of rows.
    pub rows: u64,
    /// Statistics of each summed value.
    pub statistics: Vec<Statistics>,
    /// Kept values.
    pub values: Vec<Values>,
}

impl Group {
    /// Adds the rows of another group with the same wanted values.
    pub fn merge(&mut self, other: Self) {
        self.rows += other.rows;
        self.statistics.iter_mut().zip(&other.statistics).for_each(|(own, other)| own.merge(other));
        self.values.iter_mut().zip(other.values).for_each(|(own, other)| own.merge(other));
    }

    /// The same group, reduced from the `known` values to the `wanted` ones.
    pub fn narrowed(&self, known: &Wanted<'_>, wanted: &Wanted<'_>) -> Self {
        fn chosen<T: Clone>(known: &[&Value], of_known: &[T], wanted: &[&Value]) -> Vec<T> {
            let of = |value: &&Value| of_known.get(known.iter().position(|other| other == value)?).cloned();
            wanted.iter().filter_map(of).collect()
        }
        Self {
            rows: self.rows,
            statistics: chosen(&known.summed, &self.statistics, &wanted.summed),
            values: chosen(&known.kept, &self.values, &wanted.kept),
        }
    }
}

/// Values that groups need of their rows.
#[derive(Default)]
pub struct Wanted<'a> {
    /// Values that need statistics.
    pub summed: Vec<&'a Value>,
    /// Values whose statistics need squares for the deviation.
    pub squared: BTreeSet<&'a Value>,
    pub kept: Vec<&'a Value>,
}

impl<'a> Wanted<'a> {
    pub(crate) fn by_any<'w>(all: impl Iterator<Item = &'w Self> + Clone) -> Self
    where
        'a: 'w,
    {
        let distinct = |values: BTreeSet<&'a Value>| values.into_iter().collect();
        Self {
            summed: distinct(all.clone().flat_map(|wanted| &wanted.summed).copied().collect()),
            squared: all.clone().flat_map(|wanted| &wanted.squared).copied().collect(),
            kept: distinct(all.flat_map(|wanted| &wanted.kept).copied().collect()),
        }
    }
}

/// The keys and groups of the rows of a frame, by the numbers of the groups.
///
/// # Errors
/// When a column is missing or does not hold integers.
pub fn counted(frame: &DataFrame, numbered: Numbered, wanted: &Wanted<'_>) -> Result<Vec<(Vec<Key>, Group)>> {
    let mut groups = vec![Group::default(); numbered.keys.len()];
    for row in &numbered.rows {
        if let Some(group) = groups.get_mut(*row as usize) {
            group.rows += 1;
        }
    }
    for value in &wanted.summed {
        let values = frame.column(&value.text)?;
        let mut statistics = vec![Statistics::default(); groups.len()];
        match wanted.squared.contains(value) {
            true => each(values, &numbered.rows, &mut statistics, Statistics::add_squared)?,
            false => each(values, &numbered.rows, &mut statistics, Statistics::add)?,
        }
        groups.iter_mut().zip(statistics).for_each(|(group, statistics)| group.statistics.push(statistics));
    }
    for value in &wanted.kept {
        let mut values = vec![Values::default(); groups.len()];
        each(frame.column(&value.text)?, &numbered.rows, &mut values, Values::add)?;
        groups.iter_mut().zip(values).for_each(|(group, values)| group.values.push(values));
    }
    // In a frame without rows, a number may have no rows.
    Ok(numbered.keys.into_iter().zip(groups).filter(|(_, group)| group.rows > 0).collect())
}

/// Number of rows that are handled together: rows of one group often follow one another.
const RUN: usize = 128;

/// Adds the integers of a column to the groups of their rows.
fn each<T: Default>(column: &Column, rows: &[u32], groups: &mut [T], add: impl Fn(&mut T, i64)) -> Result<()> {
    let values = column.i64()?.rechunk();
    let values = values.downcast_as_array();
    let is_null = |row: usize| values.validity().is_some_and(|valid| !valid.get_bit(row));
    let of_rows = values.values().chunks(RUN).zip(rows.chunks(RUN));
    for (first_row, (values_of_run, rows)) in (0..).step_by(RUN).zip(of_rows) {
        let values = || (first_row..).zip(values_of_run).filter(|(row, _)| !is_null(*row)).map(|(_, value)| *value);
        let rows_with_values = || (first_row..).zip(rows.iter().zip(values_of_run)).filter(|(row, _)| !is_null(*row));
        let only = rows.first().filter(|first| rows.iter().all(|row| row == *first));
        match only.map(|only| groups.get_mut(*only as usize)) {
            Some(Some(place)) => {
                // A local copy stays in registers.
                let mut group = std::mem::take(place);
                values().for_each(|value| add(&mut group, value));
                *place = group;
            }
            Some(None) => {}
            None => rows_with_values().for_each(|(_, (row, value))| {
                if let Some(group) = groups.get_mut(*row as usize) {
                    add(group, *value);
                }
            }),
        }
    }
    Ok(())
}
