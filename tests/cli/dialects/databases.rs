//! Small databases of every dialect, from SQL.

use rusqlite::Connection;
use tempfile::TempDir;

/// Schema 3.0.0.
pub const TABLES: &str = include_str!("../../../examples/generate_trace/schema.sql");
/// A process with a little of everything.
pub const BASE: &str = include_str!("base.sql");

/// A database in a directory of its own, which goes with it.
pub struct Built {
    pub directory: TempDir,
    pub path: String,
}

/// A partition of a database.
#[derive(Clone, Copy)]
pub struct Partition<'a> {
    pub guid: &'a str,
    pub version: &'a str,
    pub scripts: &'a [&'a str],
}

pub const GUID: &str = "00000135-fbe0-7be0-9db7-25c2efbbca00";

impl Partition<'_> {
    /// Creates and fills the tables of the partition.
    pub fn write(&self, connection: &Connection) {
        let suffix = format!("_{}", self.guid.replace('-', "_"));
        for script in self.scripts {
            let sql =
                script.replace("{suffix}", &suffix).replace("{guid}", self.guid).replace("{version}", self.version);
            connection.execute_batch(&sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
        }
    }
}

/// A database of these partitions.
pub fn build(partitions: &[Partition<'_>]) -> Built {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("1_results.db");
    let connection = Connection::open(&path).unwrap();
    for partition in partitions {
        partition.write(&connection);
    }
    connection.close().unwrap();
    Built { path: path.to_str().unwrap().to_owned(), directory }
}

/// A database of one partition of schema 3 with more in it.
pub fn schema_3(version: &str, more: &[&str]) -> Built {
    // NICs are allowed from 3.0.1 on.
    let tables = TABLES.replace("('CPU', 'GPU')", "('CPU', 'GPU', 'NIC')");
    let scripts: Vec<&str> = [tables.as_str(), BASE].into_iter().chain(more.iter().copied()).collect();
    build(&[Partition { guid: GUID, version, scripts: &scripts }])
}

/// SQL files added to the one of [`schema_3`]: telemetry, matrix products, steps of a server, fills, repetitions, memory, events
/// of the driver and calls of MPI.
pub const SAMPLED: [&str; 10] = [
    include_str!("../quality/clocks.sql"),
    include_str!("../quality/driver.sql"),
    include_str!("../quality/fills.sql"),
    include_str!("../quality/gemms.sql"),
    include_str!("../quality/counters.sql"),
    include_str!("../quality/inference.sql"),
    include_str!("../quality/links.sql"),
    include_str!("../quality/memory.sql"),
    include_str!("../quality/mpi.sql"),
    include_str!("../quality/power.sql"),
];

/// A database with telemetry, named matrix products and fills, which no fixture has.
pub fn sampled() -> Built {
    schema_3("3.0.0", &SAMPLED)
}
