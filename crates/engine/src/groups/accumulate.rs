//! Adds rows to groups, and builds the tables of groupings.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;
use polars::sql::sql_expr;

use super::counted::{Wanted, counted};
use super::grouped::Groups;
use super::keys::{Key, Numbered, of_all, of_column};
use super::recognize::Grouping;
use super::value::{Value, ValueKind};

/// Several groupings share groups with all of their keys only if these groups average at least this many rows. With more groups, assigning
/// them to the groupings takes as long as grouping the rows.
const ROWS_PER_GROUP: usize = 64;

/// Groupings of one table with the same filters, and the rows added so far.
pub struct Pass<'a> {
    filters: &'a BTreeSet<Value>,
    groupings: Vec<Groups<'a>>,
    /// Whether a value could not be computed. The engine then reports a better error.
    failed: bool,
}

impl<'a> Pass<'a> {
    /// A pass without rows; the filters are those of the first grouping.
    pub fn new(filters: &'a BTreeSet<Value>, groupings: &[&'a Grouping]) -> Self {
        Self { filters, groupings: groupings.iter().map(|grouping| Groups::new(grouping)).collect(), failed: false }
    }

    /// The columns that it needs of every row.
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
        for family in families(&self.groupings, &numbered) {
            let of_finest = of_keys(&family.keys, &numbered, frame.height());
            let is_shared = of_finest.keys.len().saturating_mul(ROWS_PER_GROUP) <= frame.height();
            if is_shared || family.groupings.len() == 1 {
                self.count(&frame, &family.keys, of_finest, &family.groupings)?;
                continue;
            }
            for place in family.groupings {
                let Some(groups) = self.groupings.get(place) else { continue };
                let keys = groups.keys.clone();
                self.count(&frame, &keys, of_keys(&keys, &numbered, frame.height()), &[place])?;
            }
        }
        Ok(())
    }

    /// Adds rows that are numbered by some keys to groupings whose keys are among them.
    fn count(&mut self, frame: &DataFrame, keys: &[&'a Value], numbered: Numbered, groupings: &[usize]) -> Result<()> {
        let counting = |place: &&usize| self.groupings.get(**place).is_some_and(|groups| !groups.are_too_many());
        let places: Vec<usize> = groupings.iter().filter(counting).copied().collect();
        let wanted = places.iter().filter_map(|place| self.groupings.get(*place)).map(|groups| &groups.wanted);
        let wanted = Wanted::by_any(wanted);
        let counted = counted(frame, numbered, &wanted)?;
        if let [place] = places.as_slice() {
            if let Some(groups) = self.groupings.get_mut(*place) {
                let of_key = projection(keys, &groups.keys);
                counted.into_iter().for_each(|(key, group)| groups.add(of_key(&key), group));
            }
            return Ok(());
        }
        for place in places {
            let Some(groups) = self.groupings.get_mut(place) else { continue };
            let of_key = projection(keys, &groups.keys);
            for (key, group) in &counted {
                groups.add(of_key(key), group.narrowed(&wanted, &groups.wanted));
            }
        }
        Ok(())
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

    /// The tables of the groupings; `None` if a sum is out of range, or a value could not be computed.
    pub fn finish(self) -> Result<Option<Vec<DataFrame>>> {
        if self.failed {
            return Ok(None);
        }
        self.groupings.into_iter().map(Groups::finish).collect()
    }
}

/// Groupings that can share the groups of all their keys.
struct Family<'a> {
    keys: Vec<&'a Value>,
    groupings: Vec<usize>,
}

/// Families of groupings: the first has all keys of the others, except for keys that are the same in all rows.
fn families<'a>(groupings: &[Groups<'a>], numbered: &BTreeMap<&str, Numbered>) -> Vec<Family<'a>> {
    let differs = |key: &&&Value| numbered.get(key.text.as_str()).is_none_or(|numbered| numbered.keys.len() > 1);
    let differing = |groups: &Groups<'a>| groups.keys.iter().filter(differs).count();
    let mut order: Vec<(usize, &Groups<'a>)> = groupings.iter().enumerate().collect();
    order.sort_by_key(|(_, groups)| std::cmp::Reverse(differing(groups)));
    let mut families: Vec<Family<'a>> = Vec::new();
    for (place, groups) in order {
        let has_all =
            |family: &&mut Family<'a>| groups.keys.iter().filter(differs).all(|key| family.keys.contains(key));
        let family = match families.iter_mut().find(has_all) {
            Some(family) => family,
            None => families.push_mut(Family { keys: Vec::new(), groupings: Vec::new() }),
        };
        family.groupings.push(place);
        for key in &groups.keys {
            if !family.keys.contains(key) {
                family.keys.push(key);
            }
        }
    }
    families
}

fn of_keys(keys: &[&Value], numbered: &BTreeMap<&str, Numbered>, height: usize) -> Numbered {
    let columns: Vec<&Numbered> = keys.iter().filter_map(|key| numbered.get(key.text.as_str())).collect();
    of_all(&columns, height)
}

/// Selects some of all keys from the key of a group.
fn projection(all: &[&Value], some: &[&Value]) -> impl Fn(&Vec<Key>) -> Vec<Key> + use<> {
    let places: Vec<usize> = some.iter().filter_map(|key| all.iter().position(|other| other == key)).collect();
    move |key| places.iter().filter_map(|place| key.get(*place).copied()).collect()
}

/// The frame with the values that it lacks as further columns.
fn computed<'v>(frame: &DataFrame, values: impl Iterator<Item = &'v Value>) -> Result<DataFrame> {
    let values: BTreeSet<&Value> = values.filter(|value| frame.column(&value.text).is_err()).collect();
    if values.is_empty() {
        return Ok(frame.clone());
    }
    let expression = |value: &&Value| {
        let data_type = if value.kind == ValueKind::Truth { DataType::Boolean } else { DataType::Int64 };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::groups::grouped::MAX_GROUPS;
    use crate::groups::recognize::recognize;
    use crate::parsed::ParsedStatement;
    use wavesieve_tables::columns::frames::categorical;

    fn together<'a>(parts: impl IntoIterator<Item = Pass<'a>>) -> Pass<'a> {
        let merged = parts.into_iter().reduce(|mut all, part| {
            all.absorb(part);
            all
        });
        merged.unwrap()
    }

    fn grouped(frames: &[DataFrame], body: &str) -> DataFrame {
        let recognized = recognize(&ParsedStatement::new(format!("WITH g AS ({body}) SELECT * FROM g"))).unwrap();
        let groupings: Vec<&Grouping> = recognized.groupings.iter().collect();
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
        assert!(
            recognize(&ParsedStatement::new(format!("WITH g AS ({body}) SELECT * FROM g"))).is_none(),
            "a number there is a place"
        );
        let body = body.replace("1 AS every_row, ", "").replace(", 1", "");
        let frame = grouped(&[part([0, 5, 7], [3, 25, 6]), part([1, 0, 2], [8, 9, 2])], &body);
        let integers =
            |name: &str| -> Vec<i64> { frame.column(name).unwrap().i64().unwrap().into_no_null_iter().collect() };
        assert_eq!((integers("gpu"), integers("short"), integers("short_ns")), (vec![0, 1], vec![3, 1], vec![19, 0]));
        let lower: Vec<Option<f64>> = frame.column("lower").unwrap().f64().unwrap().iter().collect();
        assert_eq!(lower, [Some(6.0), Some(0.0)]);
    }

    #[test]
    fn groupings_worked_out_of_one_another_are_those_of_the_rows() {
        let body =
            |keys: &str, more: &str| format!("SELECT {keys}, COUNT(*) AS calls{more} FROM kernels GROUP BY {keys}");
        let bodies = [
            body("gpu", ", SUM(duration_ns) AS total, MAX(start_ns) AS last"),
            body("gpu, queue_id, kernel_name", ", MIN(duration_ns) AS low"),
            body(
                "process, kernel_name",
                ", MEDIAN(CAST(duration_ns AS DOUBLE)) AS middle, MEDIAN(CAST(start_ns AS DOUBLE)) AS centre",
            ),
            body(
                "process",
                ", STDDEV(CAST(duration_ns AS DOUBLE)) AS spread, MEDIAN(CAST(duration_ns AS DOUBLE)) AS middle",
            ),
            body("stream_id", ", SUM(duration_ns) AS total"),
        ];
        let steps: Vec<String> = bodies.iter().enumerate().map(|(at, body)| format!("g{at} AS ({body})")).collect();
        let all: Vec<String> = (0..bodies.len()).map(|at| format!("SELECT calls FROM g{at}")).collect();
        let sql = format!("WITH {} {}", steps.join(", "), all.join(" UNION ALL "));
        let recognized = recognize(&ParsedStatement::new(sql)).unwrap();
        let groupings: Vec<&Grouping> = recognized.groupings.iter().collect();
        assert_eq!(groupings.len(), bodies.len());
        // Many rows to a group, then few.
        for rows in [3000_i64, 100] {
            let column = |divisor: i64, count: i64| (0..rows).map(move |row| row / divisor % count);
            let optional: Vec<Option<i64>> = column(11, 4).map(|gpu| (gpu != 3).then_some(gpu)).collect();
            let names: Vec<&str> = column(7, 3).map(|name| if name == 0 { "a" } else { "b" }).collect();
            let integers = |divisor, count| column(divisor, count).collect::<Vec<i64>>();
            let mut frame =
                df!("process" => vec![7_i64; rows as usize], "gpu" => optional, "queue_id" => integers(5, 2),
                "stream_id" => integers(1, rows), "kernel_name" => names, "start_ns" => integers(1, 997),
                "duration_ns" => integers(3, 41))
                .unwrap();
            let texts = frame.column("kernel_name").unwrap().cast(&categorical()).unwrap();
            frame.with_column(texts).unwrap();
            let filters = &groupings[0].filters;
            let of = |groupings: &[&Grouping]| {
                let parts = [frame.head(Some(rows as usize / 3)), frame.tail(Some(rows as usize / 2))];
                let passes = parts.iter().map(|part| {
                    let mut pass = Pass::new(filters, groupings);
                    pass.add(part).unwrap();
                    pass
                });
                together(passes).finish().unwrap().unwrap()
            };
            let together = of(&groupings);
            for (grouping, found) in groupings.iter().zip(together) {
                let alone = of(&[grouping]).remove(0);
                assert!(found.equals_missing(&alone), "{found} {alone}");
            }
        }
    }

    #[test]
    fn too_many_groups_are_left_to_the_engine() {
        let recognized =
            recognize(&"WITH g AS (SELECT gpu, COUNT(*) AS n FROM kernels GROUP BY gpu) SELECT * FROM g".into())
                .unwrap();
        let groupings: Vec<&Grouping> = recognized.groupings.iter().collect();
        let filters = &groupings[0].filters;
        let of = |from: i64, to: i64| {
            let mut pass = Pass::new(filters, &groupings);
            pass.add(&df!("gpu" => (from..to).collect::<Vec<i64>>()).unwrap()).unwrap();
            pass
        };
        let most = MAX_GROUPS as i64;
        assert_eq!(together([of(0, most), of(0, most)]).finish().unwrap().unwrap()[0].height(), MAX_GROUPS);
        assert!(together([of(0, most), of(5, most + 1), of(0, 1)]).finish().unwrap().is_none());
    }
}
