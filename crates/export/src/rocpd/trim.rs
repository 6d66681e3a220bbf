//! A part of databases: the chosen rows, and all rows that they refer to.

use std::path::Path;

use anyhow::{Context, Result};

use super::enclosing::keep_enclosing;
use super::marks::{Mark, Marks, keep};
use super::output::{OutputDatabase, Written};
use super::partition::{Copied, Copying, is_activity, is_instant};
use super::processes::KeptProcess;
use super::references::{copy_referenced, is_referenced};
use super::row_choice::{REGIONS, RowChoice, chooses_work, listed};
use super::structure::{Partition, SourceTable, structure};
use super::views::Views;
use wavesieve_input::{RocpdFile, quoted};
use wavesieve_model::schema::domain::domain_of_category;
use wavesieve_tables::trace::Trace;
use wavesieve_tables::trace::selection::Filters;

/// Writes the rows that a trace of databases keeps.
///
/// # Errors
/// When an input is damaged or the output cannot be written; then nothing is left behind.
pub fn trim(files: &[RocpdFile], trace: &Trace, output: &Path, keep_environment: bool) -> Result<Written> {
    let database = OutputDatabase::create(output)?;
    let (mut written, mut views) = (Written::default(), Views::default());
    for file in files {
        database.with_source(file, || {
            let mut structure = structure(database.connection(), file)?;
            let processes =
                |partition: &Partition| KeptProcess::of_partition(trace, &file.shown(), &partition.facts.suffix);
            structure.partitions.retain(|partition| !processes(partition).is_empty());
            written.note_others(file, &structure);
            for partition in &structure.partitions {
                let processes = processes(partition);
                let copying = Copying { connection: database.connection(), partition, keep_environment };
                copying.create()?;
                let trimming = Trimming::new(&copying, trace.choice(), &processes)?;
                written.count(trimming.copy()?);
            }
            if !structure.partitions.is_empty() {
                views.take(&structure);
            }
            Ok(())
        })?;
    }
    if written.events == 0 {
        // The earlier output stays.
        return Ok(written);
    }
    written.note_views(&views.create(database.connection())?);
    written.bytes = database.finish()?;
    Ok(written)
}

/// A partition that is copied in part.
struct Trimming<'a> {
    copying: &'a Copying<'a>,
    filters: &'a Filters,
    processes: &'a [KeptProcess<'a>],
    /// Values that mark the rows of each process, if the partition has several processes.
    owners: Option<Vec<Owner>>,
    /// Whether a process of the partition is left out.
    is_partial: bool,
    marks: Marks,
    /// A join that provides the correlation id of the event of a row, if filters choose rows.
    join: Option<String>,
}

impl<'a> Trimming<'a> {
    fn new(copying: &'a Copying<'a>, filters: &'a Filters, processes: &'a [KeptProcess<'a>]) -> Result<Self> {
        let is_track_based = copying.partition.facts.is_track_based;
        let owner = |process: &KeptProcess<'_>| {
            let rows = copying.rows_of(process)?;
            // Tracks of schema 4.1.0 name the process by its own id.
            let pids = rows.iter().copied().chain(is_track_based.then_some(process.pid)).collect();
            Ok(Owner { rows, pids })
        };
        let owners: Vec<Owner> = processes.iter().map(owner).collect::<Result<_>>()?;
        let all = copying.partition.table("info_process").map_or(Ok(0), |table| {
            let count = format!("SELECT count(*) FROM source.{}", quoted(&table.name));
            copying.connection.query_row(&count, [], |row| row.get::<_, usize>(0))
        })?;
        let is_partial = owners.iter().map(|owner| owner.rows.len()).sum::<usize>() < all;
        let event = copying.partition.table("event").filter(|event| event.has_all(&["id", "stack_id"]));
        let join = |event: &SourceTable| format!(include_str!("sql/stack_of_event.sql"), event = quoted(&event.name));
        let join = event.filter(|_| filters.chooses_rows()).map(|event| join(event).trim_end().to_owned());
        let (owners, marks) = ((all > 1).then_some(owners), Marks::new(copying.connection)?);
        Ok(Self { copying, filters, processes, owners, is_partial, marks, join })
    }

    fn copy(&self) -> Result<Copied> {
        if !self.filters.chooses_rows() && !self.is_partial {
            return self.copying.copy_all(self.processes);
        }
        let mut copied = Copied::default();
        let tables = &self.copying.partition.tables;
        let (regions, work): (Vec<_>, Vec<_>) =
            tables.iter().filter(|table| is_activity(table)).partition(|table| table.base == REGIONS);
        for table in &work {
            copied.add(table, self.copy_activity(table, None)?);
        }
        let launching = self.find_launching(&work, &regions)?;
        for table in &regions {
            copied.add(table, self.copy_activity(table, launching.as_deref())?);
        }
        for table in tables.iter().filter(|table| is_instant(table)) {
            let chosen = self.of_processes(table, &|choice| choice.condition_of_instants());
            let calls = Mark::Stack.is_kept(STACK);
            let launching = launching.as_ref().filter(|_| table.has("event_id")).map(|_| calls.as_str());
            copied.add(table, self.copy_with_launching(table, chosen, launching)?);
        }
        self.copy_others(&mut copied)?;
        let referenced = copy_referenced(self.copying)?;
        copied.rows += referenced.rows;
        Ok(copied)
    }

    /// Copies chosen rows, and those that launched chosen work.
    fn copy_activity(&self, table: &SourceTable, launching: Option<&str>) -> Result<usize> {
        let domains = Some(&self.filters.domains).filter(|domains| table.base == REGIONS && !domains.is_empty());
        // Without calls the names of categories are not read.
        let domains = domains.filter(|_| !chooses_work(self.filters));
        let category = domains
            .map(|domains| self.of_domains(domains))
            .transpose()
            .context("cannot read the names of categories")?;
        let chosen = self.of_processes(table, &|choice| choice.condition(table, category.as_deref()));
        self.copy_with_launching(table, chosen, launching)
    }

    /// Copies rows that are chosen, or launched chosen work.
    fn copy_with_launching(
        &self,
        table: &SourceTable,
        chosen: Option<String>,
        launching: Option<&str>,
    ) -> Result<usize> {
        let cut = |column: &str| self.cut(table, column);
        let (Some(chosen), Some(launching), Some(join)) = (&chosen, launching, &self.join) else {
            return self.copying.copy_marked(table, "", chosen.as_deref(), &cut);
        };
        let owned = self.of_processes(table, &|_| None).map(|owned| format!(" AND ({owned})"));
        let condition = format!("({chosen}) OR (({launching}){})", owned.unwrap_or_default());
        self.copying.copy_marked(table, join, Some(&condition), &cut)
    }

    /// Combines a condition for the rows of each process.
    fn of_processes(
        &self,
        table: &SourceTable,
        condition: &dyn Fn(&RowChoice<'_>) -> Option<String>,
    ) -> Option<String> {
        let choice = |process| RowChoice { filters: self.filters, process };
        let Some(owners) = &self.owners else {
            return self.processes.first().and_then(|process| condition(&choice(process)));
        };
        let of = |(process, owner): (&KeptProcess<'_>, &Owner)| {
            let owned = self.owned(table, owner);
            match condition(&RowChoice { filters: self.filters, process }) {
                Some(condition) => format!("({owned} AND {condition})"),
                None => owned,
            }
        };
        Some(self.processes.iter().zip(owners).map(of).collect::<Vec<String>>().join(" OR "))
    }

    /// Condition for rows of a process.
    fn owned(&self, table: &SourceTable, owner: &Owner) -> String {
        let pids = listed(&owner.pids);
        let track = self.copying.partition.table("track").filter(|track| track.has("pid"));
        match track {
            _ if table.has("pid") => format!("pid IN ({pids})"),
            Some(track) if table.has("track_id") => {
                format!("track_id IN (SELECT id FROM source.{} WHERE pid IN ({pids}))", quoted(&track.name))
            }
            _ => "1".to_owned(),
        }
    }

    fn cut(&self, table: &SourceTable, column: &str) -> Option<String> {
        if !self.filters.clips() {
            return None;
        }
        let choice = |process| RowChoice { filters: self.filters, process };
        let Some(owners) = &self.owners else {
            return self.processes.first().and_then(|process| choice(process).cut(table, column));
        };
        let cases = self.processes.iter().zip(owners).filter_map(|(process, owner)| {
            let cut = RowChoice { filters: self.filters, process }.cut(table, column)?;
            Some(format!("WHEN {} THEN {cut}", self.owned(table, owner)))
        });
        let cases: Vec<String> = cases.collect();
        (!cases.is_empty()).then(|| format!("CASE {} ELSE \"{column}\" END", cases.join(" ")))
    }

    /// Condition for rows whose event is of one of these domains.
    fn of_domains(&self, domains: &[String]) -> Result<String> {
        let partition = self.copying.partition;
        let (Some(string), Some(event)) = (partition.table("string"), partition.table("event")) else {
            return Ok("0".to_owned());
        };
        let (string, event) = (quoted(&string.name), quoted(&event.name));
        let sql = format!(include_str!("sql/category_names.sql"), string = string, event = event);
        let mut statement = self.copying.connection.prepare(&sql)?;
        let names = statement.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
        let mut ids = Vec::new();
        for name in names {
            let (id, name) = name?;
            if domains.contains(&domain_of_category(&name)) {
                ids.push(id.to_string());
            }
        }
        let ids = ids.join(", ");
        Ok(format!("(SELECT named.category_id FROM source.{event} AS named WHERE named.id = event_id) IN ({ids})"))
    }

    /// Notes which calls launched chosen work, and, if filters choose GPU work, the calls around them. Returns the
    /// condition for these calls.
    fn find_launching(&self, work: &[&SourceTable], regions: &[&SourceTable]) -> Result<Option<String>> {
        let Some(join) = &self.join else { return Ok(None) };
        let connection = self.copying.connection;
        let note = |sql: String| connection.query_row(&sql, [], |row| row.get::<_, i64>(0));
        let keep = keep(&[(Mark::Stack, STACK.to_owned())]).unwrap_or_default();
        for table in work.iter().filter(|table| table.has("event_id")) {
            let table = quoted(&table.name);
            note(format!(include_str!("sql/note_stacks.sql"), keep = keep, table = table, join = join))?;
        }
        let mut condition = Mark::Stack.is_kept(STACK);
        if chooses_work(self.filters) {
            self.note_parents(&note)?;
            for table in regions {
                keep_enclosing(connection, table, join, &self.marks)?;
            }
            condition = format!("{condition} OR {}", Mark::Enclosing.is_kept("id"));
        }
        if !self.filters.domains.is_empty() {
            condition = format!("({condition}) AND {}", self.of_domains(&self.filters.domains)?);
        }
        Ok(Some(condition))
    }

    /// Notes the recorded parents of calls that launched chosen work, and the parents of those.
    fn note_parents(&self, note: &dyn Fn(String) -> rusqlite::Result<i64>) -> Result<()> {
        let event = self.copying.partition.table("event").filter(|event| event.has("parent_stack_id"));
        let Some(event) = event else { return Ok(()) };
        let launching = Mark::Stack.is_kept("stack_id");
        let (mark, event) = (Mark::Stack as usize, quoted(&event.name));
        let parents = format!(include_str!("sql/note_parents.sql"), mark = mark, event = event, launching = launching);
        let known = || self.marks.with(Mark::Stack, |stacks| stacks.len());
        let mut before = None;
        while before != Some(known()) {
            before = Some(known());
            note(parents.clone())?;
        }
        Ok(())
    }

    /// Copies events of rows that were copied, what belongs to these events, and descriptions.
    fn copy_others(&self, copied: &mut Copied) -> Result<()> {
        let is_other = |table: &&SourceTable| !is_activity(table) && !is_instant(table) && !is_referenced(table);
        let events = |table: &SourceTable| {
            let texts = table.has("category_id").then(|| (Mark::Text, "category_id".to_owned()));
            Mark::Event.is_kept_with("id", &texts.into_iter().collect::<Vec<_>>())
        };
        // Only ids between the first and the last are tested.
        let between = self.marks.with(Mark::Event, |events| events.bounds());
        let between = between.map_or("0".to_owned(), |(first, last)| format!("id BETWEEN {first} AND {last}"));
        for table in self.copying.partition.tables.iter().filter(is_other) {
            let condition = match table.base.as_str() {
                "metadata" => {
                    copied.add(table, self.copying.copy_metadata(self.processes)?);
                    continue;
                }
                "event" => Some(format!("{between} AND {}", events(table))),
                "info_process" => self.of_kept("id"),
                base if base.starts_with("info_") && table.has("pid") => self.of_kept("pid"),
                _ if table.has("event_id") => Some(self.of_events(table)),
                _ => None,
            };
            // Their events are noted already, and what events refer to is noted with the condition.
            let is_noted = |column: &str| column == "event_id" || table.base == "event" && column == "category_id";
            let own = |column: &str| is_noted(column).then(|| quoted(column));
            copied.add(table, self.copying.copy_marked(table, "", condition.as_deref(), &own)?);
        }
        Ok(())
    }

    /// Condition for rows whose event is kept, or of a sample that is.
    fn of_events(&self, table: &SourceTable) -> String {
        let samples = self.copying.partition.table("sample").filter(|_| table.has("sample_id"));
        let of_samples = samples.map(|samples| {
            format!(" OR (event_id IS NULL AND sample_id IN (SELECT id FROM main.{}))", quoted(&samples.name))
        });
        format!("{}{}", Mark::Event.is_kept("event_id"), of_samples.unwrap_or_default())
    }

    /// Condition for descriptions of kept processes, if others are left out.
    fn of_kept(&self, column: &str) -> Option<String> {
        let owners = self.owners.as_ref().filter(|_| self.is_partial)?;
        let ids: Vec<i64> =
            owners.iter().flat_map(|owner| if column == "id" { &owner.rows } else { &owner.pids }).copied().collect();
        Some(format!("{column} IN ({})", listed(&ids)))
    }
}

/// Values that mark the rows of a process.
struct Owner {
    /// Row ids of the process.
    rows: Vec<i64>,
    /// Values of columns that name the process.
    pids: Vec<i64>,
}

/// Column of the join with the correlation id of a row.
pub(super) const STACK: &str = "launching_stack";
