//! Writes the records as rocpd SQLite databases, schema 3.0.0.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use rusqlite::{Connection, Statement, params};

use crate::model::{Activity, Allocation, Copy, Dispatch, Mark, Region, Setup, Sink, domain};
use crate::rocpd_setup::write_setup;

const SCHEMA: &str = include_str!("schema.sql");
const HOSTILE: &str = include_str!("hostile.sql");

/// The plain views rocprofv3 puts over the suffixed tables; also the list of tables.
const TABLES: [&str; 20] = [
    "metadata",
    "string",
    "info_node",
    "info_process",
    "info_thread",
    "info_agent",
    "info_queue",
    "info_stream",
    "info_pmc",
    "info_code_object",
    "info_kernel_symbol",
    "track",
    "event",
    "arg",
    "pmc_event",
    "region",
    "sample",
    "kernel_dispatch",
    "memory_copy",
    "memory_allocate",
];

/// One database file, open for writing in a single transaction.
pub struct RocpdFile {
    connection: Connection,
    suffixes: Vec<String>,
}

impl RocpdFile {
    /// Replaces the file at `path`.
    pub fn create(path: &Path, page_size: u32) -> Result<Self> {
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
        }
        if path.exists() {
            fs::remove_file(path).with_context(|| format!("cannot replace {}", path.display()))?;
        }
        let connection = Connection::open(path).with_context(|| format!("cannot create {}", path.display()))?;
        // A half-written file is thrown away, so durability would only cost time.
        connection.execute_batch(&format!(
            "PRAGMA page_size = {page_size}; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; \
             PRAGMA locking_mode = EXCLUSIVE; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -65536; BEGIN"
        ))?;
        Ok(Self { connection, suffixes: Vec::new() })
    }

    /// Adds the tables of one more process and writes what is known before it runs.
    pub fn add_process<'file>(&'file mut self, setup: &Setup) -> Result<RocpdWriter<'file>> {
        let suffix = format!("_{}", setup.process.guid.replace('-', "_"));
        let schema = fill(SCHEMA, &suffix, &setup.process.guid);
        self.connection.execute_batch(&schema).context("schema.sql")?;
        self.suffixes.push(suffix.clone());
        RocpdWriter::new(&self.connection, setup, &suffix)
    }

    /// Damages the tables of all processes as `hostile.sql` says.
    pub fn make_hostile(&self) -> Result<()> {
        for suffix in &self.suffixes {
            let guid = suffix.trim_start_matches('_').replace('_', "-");
            let script = fill(HOSTILE, suffix, &guid);
            self.connection.execute_batch(&script).context("hostile.sql")?;
        }
        Ok(())
    }

    /// Creates the views over all processes.
    pub fn add_views(&self) -> Result<()> {
        for table in TABLES {
            let selects = self.suffixes.iter();
            let union: Vec<String> = selects.map(|suffix| format!("SELECT * FROM rocpd_{table}{suffix}")).collect();
            let union = union.join(" UNION ALL ");
            self.connection.execute_batch(&format!("CREATE VIEW rocpd_{table} AS {union}"))?;
        }
        Ok(())
    }

    /// Ends the transaction.
    pub fn close(self, vacuum: bool) -> Result<()> {
        self.connection.execute_batch("COMMIT")?;
        if vacuum {
            self.connection.execute_batch("VACUUM")?;
        }
        let closed = self.connection.close();
        closed.map_err(|(_, error)| error).context("cannot close the database")
    }
}

/// Fills in a script. Comments and line breaks go, because SQLite keeps the text of a CREATE in the file.
fn fill(script: &str, suffix: &str, guid: &str) -> String {
    let lines = script.lines().map(str::trim);
    let kept: Vec<&str> = lines.filter(|line| !line.starts_with("--")).collect();
    kept.join(" ").replace("{suffix}", suffix).replace("{guid}", guid)
}

/// The last ids given, which are also numbers of rows, and the rows of the tables whose ids the activities bring.
#[derive(Debug, Default)]
struct LastIds {
    event: i64,
    argument: i64,
    counter_value: i64,
    activities: u64,
}

/// Writes the activities of one process.
pub struct RocpdWriter<'file> {
    connection: &'file Connection,
    suffix: String,
    guid: String,
    node_id: i64,
    process_id: i64,
    strings: BTreeMap<&'static str, i64>,
    last: LastIds,
    event: Statement<'file>,
    region: Statement<'file>,
    argument: Statement<'file>,
    dispatch: Statement<'file>,
    counter_value: Statement<'file>,
    copy: Statement<'file>,
    allocation: Statement<'file>,
    sample: Statement<'file>,
}

impl<'file> RocpdWriter<'file> {
    fn new(connection: &'file Connection, setup: &Setup, suffix: &str) -> Result<Self> {
        let strings = write_setup(connection, setup, suffix)?;
        let insert = |table: &str, columns: &str| {
            let marks = vec!["?"; columns.split(',').count()].join(",");
            connection
                .prepare(&format!("INSERT INTO rocpd_{table}{suffix} ({columns}) VALUES ({marks})"))
                .with_context(|| format!("rocpd_{table}"))
        };
        Ok(Self {
            connection,
            suffix: suffix.to_owned(),
            guid: setup.process.guid.clone(),
            node_id: setup.node.id,
            process_id: setup.process.pid,
            strings,
            last: LastIds::default(),
            event: insert("event", "id,guid,category_id,stack_id,parent_stack_id,correlation_id,extdata")?,
            region: insert("region", "id,guid,nid,pid,tid,start,\"end\",name_id,event_id")?,
            argument: insert("arg", "id,guid,event_id,position,type,name,value,extdata")?,
            dispatch: insert(
                "kernel_dispatch",
                "id,guid,nid,pid,tid,agent_id,kernel_id,dispatch_id,queue_id,stream_id,start,\"end\",private_segment_size,\
                 group_segment_size,workgroup_size_x,workgroup_size_y,workgroup_size_z,grid_size_x,grid_size_y,grid_size_z,\
                 region_name_id,event_id",
            )?,
            counter_value: insert("pmc_event", "id,guid,event_id,pmc_id,value")?,
            copy: insert(
                "memory_copy",
                "id,guid,nid,pid,tid,start,\"end\",name_id,dst_agent_id,dst_address,src_agent_id,src_address,size,stream_id,event_id",
            )?,
            allocation: insert(
                "memory_allocate",
                "id,guid,nid,pid,tid,agent_id,type,level,start,\"end\",address,size,queue_id,stream_id,event_id,extdata",
            )?,
            sample: insert("sample", "id,guid,track_id,timestamp,event_id")?,
        })
    }

    /// Writes when the process ended; returns the rows of all activity tables.
    pub fn finish(self, end_ns: u64) -> Result<u64> {
        let update = format!(r#"UPDATE rocpd_info_process{} SET fini = ?1, "end" = ?1"#, self.suffix);
        self.connection.execute(&update, [end_ns as i64])?;
        let last = &self.last;
        Ok((last.event + last.argument + last.counter_value) as u64 + last.activities)
    }

    fn string(&self, text: &str) -> Result<i64> {
        let id = self.strings.get(text).copied();
        id.with_context(|| format!("string {text:?} was not announced"))
    }

    fn event(&mut self, category: &str, stack: (i64, i64), extdata: &str) -> Result<i64> {
        let category_id = self.string(category)?;
        self.last.event += 1;
        self.last.activities += 1;
        let row = params![self.last.event, self.guid, category_id, stack.0, stack.1, 0, extdata];
        self.event.execute(row)?;
        Ok(self.last.event)
    }

    fn region(&mut self, region: &Region) -> Result<()> {
        let extdata = message_json(region.message.as_deref());
        let stack = (region.id, region.parent_id);
        let event_id = self.event(region.domain, stack, &extdata)?;
        let name_id = self.string(region.name)?;
        self.region.execute(params![
            region.id,
            self.guid,
            self.node_id,
            self.process_id,
            region.thread_id,
            region.start_ns as i64,
            region.end_ns as i64,
            name_id,
            event_id,
        ])?;
        for (argument, position) in region.arguments.iter().zip(0_i64..) {
            self.last.argument += 1;
            let extdata = match argument.name {
                "stream" => stream_json(&argument.value),
                _ => "{}".to_owned(),
            };
            self.argument.execute(params![
                self.last.argument,
                self.guid,
                event_id,
                position,
                argument.type_name,
                argument.name,
                argument.value,
                extdata,
            ])?;
        }
        Ok(())
    }

    fn dispatch(&mut self, dispatch: &Dispatch) -> Result<()> {
        let stack = (dispatch.correlation_id, dispatch.correlation_id);
        let event_id = self.event(domain::KERNEL, stack, "{}")?;
        let empty_id = self.string("")?;
        let [workgroup_x, workgroup_y, workgroup_z] = dispatch.workgroup;
        let [grid_x, grid_y, grid_z] = dispatch.grid;
        self.dispatch.execute(params![
            dispatch.id,
            self.guid,
            self.node_id,
            self.process_id,
            dispatch.thread_id,
            dispatch.agent_id,
            dispatch.kernel_id,
            dispatch.id,
            dispatch.queue_id,
            dispatch.stream_id,
            dispatch.start_ns as i64,
            dispatch.end_ns as i64,
            dispatch.scratch_bytes,
            dispatch.lds_bytes,
            workgroup_x,
            workgroup_y,
            workgroup_z,
            grid_x,
            grid_y,
            grid_z,
            empty_id,
            event_id,
        ])?;
        for values in &dispatch.counters {
            for value in &values.instances {
                self.last.counter_value += 1;
                let id = self.last.counter_value;
                self.counter_value.execute(params![id, self.guid, event_id, values.counter_id, value])?;
            }
        }
        Ok(())
    }

    fn copy(&mut self, copy: &Copy) -> Result<()> {
        let stack = (copy.correlation_id, copy.correlation_id);
        let event_id = self.event(domain::COPY, stack, "{}")?;
        let name_id = self.string(copy.name)?;
        self.copy.execute(params![
            copy.id,
            self.guid,
            self.node_id,
            self.process_id,
            copy.thread_id,
            copy.start_ns as i64,
            copy.end_ns as i64,
            name_id,
            copy.target_agent_id,
            copy.target_address,
            copy.source_agent_id,
            copy.source_address,
            copy.bytes,
            copy.stream_id,
            event_id,
        ])?;
        Ok(())
    }

    fn allocation(&mut self, allocation: &Allocation) -> Result<()> {
        let category = match allocation.level {
            "SCRATCH" => domain::SCRATCH,
            _ => domain::ALLOCATION,
        };
        let stack = (allocation.correlation_id, allocation.correlation_id);
        let event_id = self.event(category, stack, "{}")?;
        let extdata = match allocation.flags {
            Some(flags) => serde_json::json!({ "flags": flags }).to_string(),
            None => "{}".to_owned(),
        };
        let row = params![
            allocation.id,
            self.guid,
            self.node_id,
            self.process_id,
            allocation.thread_id,
            allocation.agent_id,
            allocation.operation,
            allocation.level,
            allocation.start_ns as i64,
            allocation.end_ns as i64,
            allocation.address,
            allocation.bytes,
            allocation.queue_id,
            0,
            event_id,
            extdata,
        ];
        self.allocation.execute(row)?;
        Ok(())
    }

    /// Writes the value of a sensor, on the track of the first thread.
    pub fn sample(&mut self, category: &str, time_ns: u64, counter_id: i64, value: f64) -> Result<()> {
        let event_id = self.event(category, (0, 0), "{}")?;
        self.last.counter_value += 1;
        let id = self.last.counter_value;
        self.sample.execute(params![id, self.guid, self.process_id, time_ns as i64, event_id])?;
        self.counter_value.execute(params![id, self.guid, event_id, counter_id, value])?;
        Ok(())
    }

    fn mark(&mut self, mark: &Mark) -> Result<()> {
        let extdata = message_json(Some(&mark.message));
        let event_id = self.event(domain::MARKER, (mark.correlation_id, 0), &extdata)?;
        // One track per thread, its id being the thread's.
        let row = params![mark.id, self.guid, mark.thread_id, mark.time_ns as i64, event_id];
        self.sample.execute(row)?;
        Ok(())
    }
}

impl Sink for RocpdWriter<'_> {
    fn record(&mut self, activity: &Activity) -> Result<()> {
        match activity {
            Activity::Region(region) => self.region(region),
            Activity::Dispatch(dispatch) => self.dispatch(dispatch),
            Activity::Copy(copy) => self.copy(copy),
            Activity::Allocation(allocation) => self.allocation(allocation),
            Activity::Mark(mark) => self.mark(mark),
        }
    }
}

fn message_json(message: Option<&str>) -> String {
    match message {
        Some(message) => serde_json::json!({ "message": message }).to_string(),
        None => "{}".to_owned(),
    }
}

fn stream_json(handle: &str) -> String {
    let stream_id = i64::from_str_radix(handle.trim_start_matches("0x"), 16).unwrap_or(0);
    serde_json::json!({ "stream_id": stream_id }).to_string()
}
