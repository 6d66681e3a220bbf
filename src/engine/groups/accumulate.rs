//! Adds rows to groups, and makes the tables that groupings stand for.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;
use polars::sql::sql_expr;

use super::keys::{Key, Numbered, of_all, of_column};
use super::recognise::{Aggregate, Grouping, Output};
use super::statistics::{OutOfRange, Statistics, Values};
use super::value::{Kind, Value};
use crate::trace::frames::categorical;

/// Groups of which more would take more memory than the rows: then the engine had better do it.
const MOST_GROUPS: usize = 1 << 18;

/// The rows of one group.
#[derive(Clone, Default)]
struct Group {
    rows: u64,
    statistics: Vec<Statistics>,
    values: Vec<Values>,
}

/// Groupings of one table with the same filters, as far as rows were added.
pub struct Pass<'a> {
    filters: &'a BTreeSet<Value>,
    groupings: Vec<Groups<'a>>,
    /// Whether a value could not be computed: what is wrong with it the engine says better.
    failed: bool,
}

impl<'a> Pass<'a> {
    /// No rows yet; the filters are those of the first grouping.
    pub fn new(filters: &'a BTreeSet<Value>, groupings: &[&'a Grouping]) -> Self {
        Self { filters, groupings: groupings.iter().map(|grouping| Groups::new(grouping)).collect(), failed: false }
    }

    /// The columns it needs of every row.
    pub fn columns(&self) -> BTreeSet<&'static str> {
        self.values().flat_map(|value| value.columns.iter().copied()).collect()
    }

    fn values(&self) -> impl Iterator<Item = &'a Value> {
        self.groupings.iter().flat_map(Groups::values).chain(self.filters)
    }

    /// Adds the rows of a frame that meet the filters.
    ///
    /// # Errors
    /// When a column is missing or has another type than its declaration.
    pub fn add(&mut self, frame: &DataFrame) -> Result<()> {
        let Ok(frame) = self.values_of(frame) else {
            self.failed = true;
            return Ok(());
        };
        let keys: BTreeSet<&str> =
            self.groupings.iter().flat_map(|groups| groups.keys.iter().map(|key| key.text.as_str())).collect();
        let numbered: BTreeMap<&str, Numbered> =
            keys.into_iter().map(|name| Ok((name, of_column(frame.column(name)?)?))).collect::<Result<_>>()?;
        self.groupings.iter_mut().try_for_each(|groups| groups.add(&frame, &numbered))
    }

    /// The rows that meet the filters, with all values.
    fn values_of(&self, frame: &DataFrame) -> Result<DataFrame> {
        let frame = filtered(&computed(frame, self.filters.iter())?, self.filters)?;
        computed(&frame, self.groupings.iter().flat_map(Groups::values))
    }

    /// Adds all rows of another part of the table.
    pub fn absorb(&mut self, other: Self) {
        self.failed |= other.failed;
        self.groupings.iter_mut().zip(other.groupings).for_each(|(one, other)| one.merge(other));
    }

    /// The tables of the groupings; `None` where a sum is out of range, or a value could not be computed.
    ///
    /// # Errors
    /// When polars cannot build a table.
    pub fn finish(self) -> Result<Option<Vec<DataFrame>>> {
        if self.failed {
            return Ok(None);
        }
        self.groupings.into_iter().map(Groups::finish).collect()
    }
}

/// The groups of one grouping.
struct Groups<'a> {
    grouping: &'a Grouping,
    /// The shared dictionary, which is forgotten when nobody holds it, and the codes with it.
    dictionary: DataType,
    /// Keys in the order of the outputs.
    keys: Vec<&'a Value>,
    /// Values of which there are statistics.
    summed: Vec<&'a Value>,
    /// Those of them of which there is the deviation.
    squared: BTreeSet<&'a Value>,
    /// Values of which all are kept.
    kept: Vec<&'a Value>,
    groups: BTreeMap<Vec<Key>, Group>,
}

impl<'a> Groups<'a> {
    fn new(grouping: &'a Grouping) -> Self {
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
        let (summed, kept) = (summed.into_iter().collect(), kept.into_iter().collect());
        Self { grouping, dictionary: categorical(), keys, summed, squared, kept, groups: BTreeMap::new() }
    }

    fn values(&self) -> impl Iterator<Item = &'a Value> {
        self.keys.iter().chain(&self.summed).chain(&self.kept).copied()
    }

    fn add(&mut self, frame: &DataFrame, numbered: &BTreeMap<&str, Numbered>) -> Result<()> {
        if self.groups.len() > MOST_GROUPS {
            return Ok(());
        }
        let keys: Vec<&Numbered> = self.keys.iter().filter_map(|key| numbered.get(key.text.as_str())).collect();
        let numbered = of_all(&keys, frame.height());
        let mut groups: Vec<Group> = numbered
            .keys
            .iter()
            .map(|key| {
                self.groups.remove(key).unwrap_or_else(|| Group {
                    rows: 0,
                    statistics: vec![Statistics::default(); self.summed.len()],
                    values: vec![Values::default(); self.kept.len()],
                })
            })
            .collect();
        for row in &numbered.rows {
            if let Some(group) = groups.get_mut(*row as usize) {
                group.rows += 1;
            }
        }
        for (at, value) in self.summed.iter().enumerate() {
            let mut statistics: Vec<Statistics> =
                groups.iter_mut().filter_map(|group| group.statistics.get_mut(at).map(std::mem::take)).collect();
            let values = frame.column(&value.text)?;
            match self.squared.contains(value) {
                true => each(values, &numbered.rows, &mut statistics, Statistics::add_squared)?,
                false => each(values, &numbered.rows, &mut statistics, Statistics::add)?,
            }
            for (group, statistics) in groups.iter_mut().zip(statistics) {
                if let Some(place) = group.statistics.get_mut(at) {
                    *place = statistics;
                }
            }
        }
        for (at, value) in self.kept.iter().enumerate() {
            let mut values: Vec<Values> =
                groups.iter_mut().filter_map(|group| group.values.get_mut(at).map(std::mem::take)).collect();
            each(frame.column(&value.text)?, &numbered.rows, &mut values, Values::add)?;
            for (group, values) in groups.iter_mut().zip(values) {
                if let Some(place) = group.values.get_mut(at) {
                    *place = values;
                }
            }
        }
        // A frame without rows has a number without rows.
        let filled = numbered.keys.into_iter().zip(groups).filter(|(_, group)| group.rows > 0);
        self.groups.extend(filled);
        Ok(())
    }

    fn merge(&mut self, other: Self) {
        if self.groups.len() > MOST_GROUPS {
            return;
        }
        for (key, group) in other.groups {
            match self.groups.get_mut(&key) {
                None => {
                    self.groups.insert(key, group);
                }
                Some(own) => {
                    own.rows += group.rows;
                    own.statistics.iter_mut().zip(&group.statistics).for_each(|(own, other)| own.merge(other));
                    own.values.iter_mut().zip(group.values).for_each(|(own, other)| own.merge(other));
                }
            }
        }
    }

    /// The table, one row per group in the order of the keys; `None` where a sum is out of range, or there are too many.
    fn finish(mut self) -> Result<Option<DataFrame>> {
        if self.groups.len() > MOST_GROUPS {
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
                Output::Aggregate(aggregate) => {
                    match aggregated(&mut self.groups, &self.summed, &self.kept, aggregate) {
                        Ok(column) => column.with_name(name.as_str().into()),
                        Err(OutOfRange) => return Ok(None),
                    }
                }
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
    if key.kind != Kind::Text {
        return Ok(values.into_column());
    }
    let codes = values.cast(&DataType::UInt32)?;
    let texts = CategoricalChunked::<Categorical32Type>::from_cats_and_dtype(codes.u32()?.clone(), dictionary.clone());
    Ok(texts.into_column())
}

/// The frame with the values that are not among its columns.
fn computed<'v>(frame: &DataFrame, values: impl Iterator<Item = &'v Value>) -> Result<DataFrame> {
    let values: BTreeSet<&Value> = values.filter(|value| frame.column(&value.text).is_err()).collect();
    if values.is_empty() {
        return Ok(frame.clone());
    }
    let expression = |value: &&Value| {
        let data_type = if value.kind == Kind::Truth { DataType::Boolean } else { DataType::Int64 };
        Ok(sql_expr(&value.text)?.cast(data_type).alias(value.text.as_str()))
    };
    let expressions: Vec<Expr> = values.iter().map(expression).collect::<PolarsResult<_>>()?;
    Ok(frame.clone().lazy().with_columns(expressions).collect()?)
}

fn filtered(frame: &DataFrame, filters: &BTreeSet<Value>) -> Result<DataFrame> {
    let mut frame = frame.clone();
    for filter in filters {
        let chosen = frame.column(&filter.text)?.bool()?.clone();
        if chosen.null_count() > 0 || !chosen.all() {
            frame = frame.filter(&chosen)?;
        }
    }
    Ok(frame)
}

/// Adds the integers of a column to those of the groups that their rows belong to.
fn each<T: Default>(column: &Column, rows: &[u32], groups: &mut [T], add: impl Fn(&mut T, i64)) -> Result<()> {
    let values = column.i64()?;
    if let [only] = groups {
        // By itself it stays in registers.
        let mut group = std::mem::take(only);
        values.iter().flatten().for_each(|value| add(&mut group, value));
        *only = group;
        return Ok(());
    }
    let mut put = |row: &u32, value: i64| {
        if let Some(group) = groups.get_mut(*row as usize) {
            add(group, value);
        }
    };
    if values.null_count() == 0 {
        rows.iter().zip(values.into_no_null_iter()).for_each(|(row, value)| put(row, value));
    } else {
        rows.iter().zip(values.iter()).for_each(|(row, value)| value.into_iter().for_each(|value| put(row, value)));
    }
    Ok(())
}

fn aggregated(
    groups: &mut BTreeMap<Vec<Key>, Group>,
    summed: &[&Value],
    kept: &[&Value],
    aggregate: &Aggregate,
) -> Result<Column, OutOfRange> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::groups::recognise::recognise;

    fn together<'a>(parts: impl IntoIterator<Item = Pass<'a>>) -> Pass<'a> {
        let merged = parts.into_iter().reduce(|mut all, part| {
            all.absorb(part);
            all
        });
        merged.unwrap()
    }

    fn grouped(frames: &[DataFrame], body: &str) -> DataFrame {
        let recognised = recognise(&format!("WITH g AS ({body}) SELECT * FROM g")).unwrap();
        let groupings: Vec<&Grouping> = recognised.groupings.iter().collect();
        let filters = &groupings[0].filters;
        let all = together(frames.iter().map(|frame| {
            let mut part = Pass::new(filters, &groupings);
            part.add(frame).unwrap();
            part
        }));
        all.finish().unwrap().unwrap().remove(0)
    }

    #[test]
    fn parts_are_added_up() {
        let part = |names: [&str; 3], durations: [i64; 3], valid: [bool; 3]| {
            let mut frame =
                df!("kernel_name" => names, "duration_ns" => durations, "valid" => valid, "gpu" => [0_i64, 0, 1])
                    .unwrap();
            let texts = frame.column("kernel_name").unwrap().cast(&categorical()).unwrap();
            frame.with_column(texts).unwrap();
            frame
        };
        let parts = [
            part(["b", "a", "b"], [5, 7, 1], [true; 3]),
            part(["a", "a", "c"], [1, 100, 9], [true, false, true]),
            part(["d", "d", "d"], [1, 1, 1], [false; 3]),
        ];
        let body = "SELECT kernel_name, COUNT(*) AS calls, SUM(duration_ns) AS total, MIN(duration_ns) AS low, \
                    MAX(duration_ns) AS high, MEDIAN(CAST(duration_ns AS DOUBLE)) AS middle, \
                    STDDEV(CAST(duration_ns AS DOUBLE)) AS spread FROM kernels WHERE valid GROUP BY kernel_name";
        let frame = grouped(&parts, body);
        let integers =
            |name: &str| -> Vec<i64> { frame.column(name).unwrap().i64().unwrap().into_no_null_iter().collect() };
        assert_eq!(integers("calls"), [2, 2, 1]);
        assert_eq!(integers("total"), [8, 6, 9]);
        assert_eq!((integers("low"), integers("high")), (vec![1, 1, 9], vec![7, 5, 9]));
        let floats = |name: &str| -> Vec<Option<f64>> { frame.column(name).unwrap().f64().unwrap().iter().collect() };
        assert_eq!(floats("middle"), [Some(4.0), Some(3.0), Some(9.0)]);
        assert_eq!(floats("spread"), [Some(18.0_f64.sqrt()), Some(8.0_f64.sqrt()), None]);
        let names = frame.column("kernel_name").unwrap().cast(&DataType::String).unwrap();
        assert_eq!(names.str().unwrap().iter().flatten().collect::<Vec<_>>(), ["a", "b", "c"]);
    }

    #[test]
    fn what_is_computed_of_rows_is_added_up() {
        let part = |starts: [i64; 3], ends: [i64; 3]| {
            df!("start_ns" => starts, "end_ns" => ends, "gpu" => [0_i64, 0, 1]).unwrap()
        };
        let body = "SELECT gpu, 1 AS every_row, COUNT(CASE WHEN end_ns - start_ns < 10 THEN 1 END) AS short, \
                    SUM(CASE WHEN end_ns - start_ns < 10 THEN end_ns - start_ns ELSE 0 END) AS short_ns, \
                    QUANTILE_CONT(CAST(end_ns - start_ns AS DOUBLE), 0.25) AS lower \
                    FROM kernels WHERE end_ns >= start_ns GROUP BY gpu, 1";
        assert!(recognise(&format!("WITH g AS ({body}) SELECT * FROM g")).is_none(), "a number there is a place");
        let body = body.replace("1 AS every_row, ", "").replace(", 1", "");
        let frame = grouped(&[part([0, 5, 7], [3, 25, 6]), part([1, 0, 2], [8, 9, 2])], &body);
        let integers =
            |name: &str| -> Vec<i64> { frame.column(name).unwrap().i64().unwrap().into_no_null_iter().collect() };
        assert_eq!((integers("gpu"), integers("short"), integers("short_ns")), (vec![0, 1], vec![3, 1], vec![19, 0]));
        let lower: Vec<Option<f64>> = frame.column("lower").unwrap().f64().unwrap().iter().collect();
        assert_eq!(lower, [Some(6.0), Some(0.0)]);
    }

    #[test]
    fn too_many_groups_are_left_to_the_engine() {
        let recognised =
            recognise("WITH g AS (SELECT gpu, COUNT(*) AS n FROM kernels GROUP BY gpu) SELECT * FROM g").unwrap();
        let groupings: Vec<&Grouping> = recognised.groupings.iter().collect();
        let filters = &groupings[0].filters;
        let of = |from: i64, to: i64| {
            let mut pass = Pass::new(filters, &groupings);
            pass.add(&df!("gpu" => (from..to).collect::<Vec<i64>>()).unwrap()).unwrap();
            pass
        };
        let most = MOST_GROUPS as i64;
        assert_eq!(together([of(0, most), of(0, most)]).finish().unwrap().unwrap()[0].height(), MOST_GROUPS);
        assert!(together([of(0, most), of(5, most + 1), of(0, 1)]).finish().unwrap().is_none());
    }
}
