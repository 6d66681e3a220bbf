//! Declaration of a derived table, in its own file: its needs, its builder, and its treatment by filters and messages.

use std::collections::BTreeSet;

use anyhow::Result;
use polars::prelude::DataFrame;

use super::{Frames, OnDemandTables};
use crate::columns::reading::Keep;
use wavesieve_model::analysis::hardware::metrics::EffectiveDefinitions;
use wavesieve_model::schema::Table;
use wavesieve_model::schema::process::Process;

/// Source tables and the needed columns of each.
pub type Needs = Vec<(&'static str, Vec<&'static str>)>;

/// Columns of a derived table that are requested.
pub type Wanted = BTreeSet<&'static str>;

pub struct DerivedTable {
    /// Its name, key and columns.
    pub table: &'static Table,
    /// The source columns that it is built from, starting with its subject table: if that is empty, so is the derived table.
    pub needs: fn() -> Needs,
    /// The same if only some columns are requested; `None` if omitting pass-through columns is enough.
    pub needs_of: Option<fn(&Wanted) -> Needs>,
    /// Pass-through columns of the first needed table: one that is not requested is not built.
    pub passthrough: &'static [&'static str],
    /// How it is built.
    pub build: Build,
    /// Meaning of its rows for filters.
    pub rows: Rows,
    /// The tables that own its rows, if it has few columns of its own to filter by.
    pub owners: &'static [Owner],
    /// Whether a window that cuts calls changes the table, which is then built from the cut calls.
    pub is_of_cut_calls: bool,
    /// When it has rows.
    pub rows_when: RowsWhen,
    /// Why it may be empty although its source tables have rows.
    pub why_empty: WhyEmpty,
}

impl DerivedTable {
    /// A table of time accounting with default declarations.
    pub const fn new(table: &'static Table, needs: fn() -> Needs, build: Build) -> Self {
        Self {
            table,
            needs,
            needs_of: None,
            passthrough: &[],
            build,
            rows: Rows::TimeAccounting,
            owners: &[],
            is_of_cut_calls: false,
            rows_when: RowsWhen::ALWAYS,
            why_empty: WhyEmpty::Unexplained,
        }
    }

    /// The source columns that the `wanted` columns are built from. Pass-through columns that are
    /// not wanted are not read; the built table then lacks them.
    pub(crate) fn needs_of(&self, wanted: &Wanted) -> Needs {
        if let Some(needs_of) = self.needs_of {
            return needs_of(wanted);
        }
        let mut needs = (self.needs)();
        if let Some((_, columns)) = needs.first_mut() {
            columns.retain(|name| wanted.contains(name) || !self.passthrough.contains(name));
        }
        needs
    }

    /// Its builder over all processes, if it has one.
    pub fn joint(&self) -> Option<&Joint> {
        if let Build::Joint(joint) = &self.build { Some(joint) } else { None }
    }

    /// The family that it is built with, if any.
    pub fn family(&self) -> Option<&'static Family> {
        if let Build::Family(family) = self.build { Some(family) } else { None }
    }
}

/// Builder of a derived table, always without `process` and `rank`.
pub enum Build {
    /// From the tables of a process.
    Alone(fn(&Process, &Frames) -> Result<DataFrame>),
    /// Together with other tables that share the same parts, in one pass.
    Family(&'static Family),
    /// Over all processes.
    Joint(Joint),
    /// From facts about a process that are known before anything is read.
    Facts(fn(&Process) -> Result<DataFrame>),
    /// By the checks, which receive every table as it is read.
    Checks,
}

/// Builds the named tables of a family.
type BuildFamily = fn(&Process, &Frames, &dyn OnDemandTables, &[&'static str]) -> Result<Vec<DataFrame>>;

/// Tables that share the same parts, and are built together if several are requested.
pub struct Family {
    /// Builds the named tables, in that order, and reads others if those that are always needed call for them.
    pub build: BuildFamily,
    /// The source columns that tables may call for, see [`Joint::optional_needs`].
    pub optional_needs: fn() -> Needs,
}

/// The part of a process that a joint table needs.
pub type ProcessPart<'a> = (&'a Process, DataFrame);

/// Builder of a table whose rows depend on all processes: first extracts the needed part of each process, then relates all parts.
pub struct Joint {
    /// The source columns that rows may call for. Parts of a process are extracted from them if they are read anyway, otherwise they are
    /// read on demand.
    pub optional_needs: fn() -> Needs,
    /// Extracts the part of a process from the tables that are always needed, and others if these call for them. Pass-through columns may
    /// be omitted if they are not requested.
    pub extract: fn(&Process, &Frames, &dyn OnDemandTables, &Wanted) -> Result<DataFrame>,
    /// The rows of every process, from the parts of all.
    pub relate: fn(&[ProcessPart<'_>], &EffectiveDefinitions) -> Result<Vec<DataFrame>>,
    /// Filter for rows of its only source table that the requested columns need, if not all count.
    pub keep: fn(&Wanted) -> Option<Keep>,
}

/// Meaning of the rows of a derived table for filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Time accounting: a window cuts them whatever its mode, so that they still add up.
    TimeAccounting,
    /// Events: a window keeps or drops them like rows of source tables, and their counts stay those of the whole event.
    Events,
    /// Parts of the run that select events: a condition does not change them.
    RunParts,
    /// Descriptions of what events refer to; filters do not need to filter them.
    Descriptions,
}

/// A table whose rows own rows of another, and by which columns.
pub struct Owner {
    /// The owning table.
    pub table: &'static str,
    /// Columns of the owned and of the owning table.
    pub keys: &'static [(&'static str, &'static str)],
    /// The column that names the owner, and its value for rows of this owner, if there are several.
    pub word: Option<(&'static str, &'static str)>,
}

impl Owner {
    /// The dispatch that a row is about.
    pub const KERNEL: Self = Self { table: "kernels", keys: &[("dispatch_id", "dispatch_id")], word: None };
    /// The region that a row is about.
    pub const REGION: Self = Self { table: "regions", keys: &[("region_id", "region_id")], word: None };
    /// The kernels and copies that rows are about, distinguished by `kind`.
    pub const WORK: [Self; 2] = [
        Self { table: "kernels", keys: &[("target_id", "dispatch_id")], word: Some(("kind", "kernel")) },
        Self { table: "memory_copies", keys: &[("target_id", "copy_id")], word: Some(("kind", "copy")) },
    ];
}

/// Source tables that must have rows for a derived table to have some; `info` lists queries by this.
#[derive(Clone, Copy, Debug)]
pub struct RowsWhen {
    /// All of these must have rows.
    pub all: &'static [&'static str],
    /// One of these must have rows, if there are any.
    pub any: &'static [&'static str],
    /// There are rows only if the table finds what it looks for.
    pub searches: bool,
}

impl RowsWhen {
    /// Rows in every trace.
    pub const ALWAYS: Self = Self { all: &[], any: &[], searches: false };

    /// Rows if all of these have some.
    pub const fn all(all: &'static [&'static str]) -> Self {
        Self { all, ..Self::ALWAYS }
    }

    /// Rows if one of these has some.
    pub const fn any(any: &'static [&'static str]) -> Self {
        Self { any, ..Self::ALWAYS }
    }

    /// The same, if the table finds what it looks for.
    pub const fn if_found(self) -> Self {
        Self { searches: true, ..self }
    }
}

/// Why a derived table may be empty although its source tables have rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyEmpty {
    /// No reason is known beyond its source tables.
    Unexplained,
    /// The reason.
    Because(&'static str),
    /// Nothing is wrong: GPUs never waited, recording never stopped, nothing overlapped, or no dispatch was slower than similar ones.
    AllIsWell,
}
