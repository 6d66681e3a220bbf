//! The views of a database that is written: one over the partitions for each table, and the ones about data that AMD's tools read.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use rusqlite::Connection;

use super::collection::version_key;
use super::structure::{Declared, SourceColumn, Structure};
use wavesieve_input::quoted;

/// Views for databases whose inputs have none.
const OWN_VIEWS: &str = data!("share/rocpd/views.sql");
/// Maximum number of tables that one SELECT joins; SQLite refuses more than 500.
const MOST_JOINED: usize = 400;

/// A table of a partition.
struct PartitionTable {
    name: String,
    columns: Vec<SourceColumn>,
}

/// Sources of the views.
#[derive(Default)]
pub(super) struct Views {
    /// Tables by base name, in the order of their first appearance.
    bases: Vec<(String, Vec<PartitionTable>)>,
    /// Views of the inputs, with the version of each.
    data: BTreeMap<String, (Vec<u64>, Declared)>,
    indexes: BTreeMap<String, Declared>,
}

impl Views {
    /// Adds the tables and views of an input. Of views with the same name, the one of the highest version is kept.
    pub(super) fn take(&mut self, structure: &Structure) {
        for partition in &structure.partitions {
            for table in &partition.tables {
                let part = PartitionTable { name: table.name.clone(), columns: table.columns.clone() };
                match self.bases.iter_mut().find(|(base, _)| *base == table.base) {
                    Some((_, parts)) => parts.push(part),
                    None => self.bases.push((table.base.clone(), vec![part])),
                }
                for index in &table.indexes {
                    self.indexes.entry(index.name.clone()).or_insert_with(|| index.clone());
                }
            }
        }
        let versions = structure.partitions.iter().map(|partition| version_key(partition.facts.version.as_deref()));
        let version = versions.max().unwrap_or_default();
        for view in &structure.views {
            let known = self.data.get(&view.name).is_some_and(|(known, _)| *known >= version);
            if !known {
                self.data.insert(view.name.clone(), (version.clone(), view.clone()));
            }
        }
    }

    /// Creates indexes and views. Returns the names of views of the inputs that cannot be read.
    pub(super) fn create(self, connection: &Connection) -> Result<Vec<String>> {
        connection.execute_batch("BEGIN")?;
        for index in self.indexes.values() {
            connection.execute_batch(&index.sql).with_context(|| format!("cannot create index {}", index.name))?;
        }
        let bases: Vec<String> = self.bases.iter().map(|(base, _)| format!("rocpd_{base}")).collect();
        for (name, (_, parts)) in bases.iter().zip(&self.bases) {
            let sql = format!("CREATE VIEW {} AS\n{}", quoted(name), union(parts));
            connection.execute_batch(&sql).with_context(|| format!("cannot create view {name}"))?;
        }
        let carried: Vec<Declared> =
            self.data.into_values().map(|(_, view)| view).filter(|view| !bases.contains(&view.name)).collect();
        let own = if carried.is_empty() { own_views() } else { Vec::new() };
        let is_carried = own.is_empty();
        let views = if is_carried { carried } else { own };
        let readable = readable(connection, &views)?;
        let (created, other): (Vec<&Declared>, Vec<&Declared>) =
            views.iter().partition(|view| readable.contains(&view.name));
        for view in created {
            connection.execute(&view.sql, []).with_context(|| format!("cannot create view {}", view.name))?;
        }
        connection.execute_batch("COMMIT")?;
        // Our own views whose tables a database lacks are not a loss.
        Ok(if is_carried { other.into_iter().map(|view| view.name.clone()).collect() } else { Vec::new() })
    }
}

/// Names of the views that can be read. They are tried on empty tables in memory, so that none leaves free pages
/// behind.
fn readable(connection: &Connection, views: &[Declared]) -> Result<Vec<String>> {
    let trial = Connection::open_in_memory()?;
    let mut statement = connection.prepare(include_str!("sql/tables.sql").trim_end())?;
    let declarations = statement.query_map([], |row| row.get::<_, String>(0))?;
    for declaration in declarations {
        trial.execute_batch(&declaration?)?;
    }
    let mut names: Vec<&str> =
        views.iter().filter(|view| trial.execute(&view.sql, []).is_ok()).map(|view| view.name.as_str()).collect();
    loop {
        let is_readable = |name: &&str| trial.prepare(&format!("SELECT * FROM {}", quoted(name))).is_ok();
        let (readable, other): (Vec<&str>, Vec<&str>) = names.into_iter().partition(is_readable);
        if other.is_empty() {
            return Ok(readable.into_iter().map(str::to_owned).collect());
        }
        // Views may read other views that are dropped.
        for name in other {
            trial.execute_batch(&format!("DROP VIEW {}", quoted(name)))?;
        }
        names = readable;
    }
}

/// The rows of the tables of all partitions.
fn union(parts: &[PartitionTable]) -> String {
    let names = |part: &PartitionTable| part.columns.iter().map(|column| column.name.clone()).collect::<Vec<String>>();
    let is_alike = parts.windows(2).all(|pair| matches!(pair, [one, other] if names(one) == names(other)));
    let columns = columns_of_all(parts);
    let select = |part: &PartitionTable| {
        let values = match is_alike {
            true => "*".to_owned(),
            false => columns.iter().map(|column| value(part, column)).collect::<Vec<String>>().join(", "),
        };
        format!("SELECT {values} FROM {}", quoted(&part.name))
    };
    let selects: Vec<String> = parts.iter().map(select).collect();
    join(&selects)
}

fn join(selects: &[String]) -> String {
    if selects.len() <= MOST_JOINED {
        return selects.join("\nUNION ALL\n");
    }
    let joined: Vec<String> =
        selects.chunks(MOST_JOINED).map(|chunk| format!("SELECT * FROM (\n{}\n)", join(chunk))).collect();
    join(&joined)
}

/// The columns of all parts: first those of the part with most of them.
fn columns_of_all(parts: &[PartitionTable]) -> Vec<SourceColumn> {
    let widest = parts.iter().rev().max_by_key(|part| part.columns.len());
    let mut columns: Vec<SourceColumn> = widest.map(|part| part.columns.clone()).unwrap_or_default();
    for column in parts.iter().flat_map(|part| &part.columns) {
        if !columns.iter().any(|known| known.name == column.name) {
            columns.push(column.clone());
        }
    }
    columns
}

/// A column of a part, or what stands for one that it lacks.
fn value(part: &PartitionTable, column: &SourceColumn) -> String {
    let name = quoted(&column.name);
    match (part.columns.iter().any(|own| own.name == column.name), &column.default) {
        (true, _) => name,
        (false, Some(default)) if column.name != "guid" => format!("{default} AS {name}"),
        (false, _) => format!("NULL AS {name}"),
    }
}

/// Our own views.
fn own_views() -> Vec<Declared> {
    let statements = OWN_VIEWS.split(";\n").filter_map(|statement| {
        let sql = statement.get(statement.find("CREATE VIEW ")?..)?;
        let name = sql.split_whitespace().nth(2)?.to_owned();
        Some(Declared { name, sql: sql.to_owned() })
    });
    statements.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str, columns: &[(&str, Option<&str>)]) -> PartitionTable {
        let column = |(name, default): &(&str, Option<&str>)| SourceColumn {
            name: (*name).to_owned(),
            default: default.map(str::to_owned),
        };
        PartitionTable { name: name.to_owned(), columns: columns.iter().map(column).collect() }
    }

    #[test]
    fn partitions_of_one_layout_are_joined_as_they_are() {
        let parts = [part("a", &[("id", None)]), part("b", &[("id", None)])];
        assert_eq!(union(&parts), "SELECT * FROM \"a\"\nUNION ALL\nSELECT * FROM \"b\"");
    }

    #[test]
    fn a_column_that_a_partition_lacks_has_its_default() {
        let parts = [part("a", &[("id", None)]), part("b", &[("id", None), ("graph", Some("0")), ("pass", None)])];
        assert_eq!(
            union(&parts),
            "SELECT \"id\", 0 AS \"graph\", NULL AS \"pass\" FROM \"a\"\nUNION ALL\n\
             SELECT \"id\", \"graph\", \"pass\" FROM \"b\""
        );
    }

    #[test]
    fn more_partitions_than_sqlite_joins_at_once_are_nested() {
        let parts: Vec<PartitionTable> = (0..900).map(|at| part(&format!("t{at}"), &[("id", None)])).collect();
        let connection = Connection::open_in_memory().unwrap();
        for part in &parts {
            let insert = format!("CREATE TABLE {0} (id INTEGER); INSERT INTO {0} VALUES (1)", part.name);
            connection.execute_batch(&insert).unwrap();
        }
        let count = format!("SELECT count(*) FROM ({})", union(&parts));
        let count: i64 = connection.query_row(&count, [], |row| row.get(0)).unwrap();
        assert_eq!(count, 900);
    }

    #[test]
    fn our_views_have_names() {
        let names: Vec<String> = own_views().into_iter().map(|view| view.name).collect();
        assert!(names.len() > 15 && names.contains(&"top_kernels".to_owned()), "{names:?}");
    }
}
