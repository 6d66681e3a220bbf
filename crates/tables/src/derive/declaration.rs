//! Declaration of a derived table, in its own file: its needs, how it is built, and how filters and messages treat it.

use std::collections::BTreeSet;

use anyhow::Result;
use polars::prelude::DataFrame;

use super::{Frames, OnDemandTables};
use crate::columns::reading::Keep;
use wavesieve_model::analysis::hardware::metrics::EffectiveDefinitions;
use wavesieve_model::schema::Table;
use wavesieve_model::schema::process::Process;

/// Source tables and the columns that are needed of each.
pub type Needs = Vec<(&'static str, Vec<&'static str>)>;

/// Columns of a derived table that are requested.
pub type Wanted = BTreeSet<&'static str>;

pub struct DerivedTable {
    /// Its name, key and columns.
    pub table: &'static Table,
    /// The source columns that it is built from, first those of the table that it is about: without rows there it has none either.
    pub needs: fn() -> Needs,
    /// The same where only some columns are requested, if that is more than to leave out columns that are handed on.
    pub needs_of: Option<fn(&Wanted) -> Needs>,
    /// Pass-through columns of the first needed table: one that is not requested is not built.
    pub passthrough: &'static [&'static str],
    /// How it is built.
    pub build: Build,
    /// Meaning of its rows for filters.
    pub rows: Rows,
    /// The tables that own its rows, where it has few columns of its own to choose by.
    pub owners: &'static [Owner],
    /// Whether a window that cuts calls makes another table, which is then built from the cut calls.
    pub is_of_cut_calls: bool,
    /// When it has rows.
    pub rows_when: RowsWhen,
    /// Why it may have no rows though its source tables have some.
    pub why_empty: WhyEmpty,
}

impl DerivedTable {
    /// A table of time accounting about which nothing else is to be declared.
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

    /// How it is built over all processes, if it is.
    pub fn joint(&self) -> Option<&Joint> {
        if let Build::Joint(joint) = &self.build { Some(joint) } else { None }
    }

    /// The tables that it is built with, if there are such.
    pub fn family(&self) -> Option<&'static Family> {
        if let Build::Family(family) = self.build { Some(family) } else { None }
    }
}

/// How a derived table is built, always without `process` and `rank`.
pub enum Build {
    /// From the tables of a process.
    Alone(fn(&Process, &Frames) -> Result<DataFrame>),
    /// With other tables that are made of the same parts, in one pass.
    Family(&'static Family),
    /// Over all processes.
    Joint(Joint),
    /// From what is known about a process before anything is read.
    Facts(fn(&Process) -> Result<DataFrame>),
    /// By the checks, which see every table as it is read.
    Checks,
}

/// Tables that are made of the same parts, and are built together where several are requested.
pub struct Family {
    /// Builds some of them, in the order of their names.
    pub build: fn(&Process, &Frames, &[&'static str]) -> Result<Vec<DataFrame>>,
}

/// The part of a process that counts for a joint table.
pub type ProcessPart<'a> = (&'a Process, DataFrame);

/// How a table is built whose rows depend on all processes: what counts of each is taken out of its source tables, and then
/// all of that is related.
pub struct Joint {
    /// The source columns that the rows may call for: what counts of a process is taken out of these if they are read anyway,
    /// otherwise they are read when they are called for.
    pub optional_needs: fn() -> Needs,
    /// Extracts the part of a process from the tables that are always needed, and others if these call for them. Columns that are only
    /// handed on may be left out if they are not among the wanted columns.
    pub extract: fn(&Process, &Frames, &dyn OnDemandTables, &Wanted) -> Result<DataFrame>,
    /// The rows of every process, from what counts of all.
    pub relate: fn(&[ProcessPart<'_>], &EffectiveDefinitions) -> Result<Vec<DataFrame>>,
    /// Which rows of its only source table count for the wanted columns, where not all do.
    pub keep: fn(&Wanted) -> Option<Keep>,
}

/// Meaning of the rows of a derived table for filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Time accounting: a window cuts them whatever its mode, so that they still add up.
    TimeAccounting,
    /// Events: a window keeps or leaves them as it does those of source tables, and what they count stays that of the whole event.
    Events,
    /// Parts of the run that events are chosen by: a condition leaves them as they are.
    RunParts,
    /// Descriptions of what events refer to; a filter need not choose among them.
    Descriptions,
}

/// A table whose rows own rows of another, and by which columns.
pub struct Owner {
    /// The owning table.
    pub table: &'static str,
    /// Columns of the owned and of the owning table.
    pub keys: &'static [(&'static str, &'static str)],
    /// The column that names the owner and its value for rows of this one, where there are several.
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

/// Which source tables must have rows for a derived table to have some; `info` lists queries by it.
#[derive(Clone, Copy, Debug)]
pub struct RowsWhen {
    /// All of these must have rows.
    pub all: &'static [&'static str],
    /// One of these must, if there are any.
    pub any: &'static [&'static str],
    /// There are rows only if what the table looks for is found.
    pub searches: bool,
}

impl RowsWhen {
    /// Rows in every trace.
    pub const ALWAYS: Self = Self { all: &[], any: &[], searches: false };

    /// Rows where all of these have some.
    pub const fn all(all: &'static [&'static str]) -> Self {
        Self { all, ..Self::ALWAYS }
    }

    /// Rows where one of these has some.
    pub const fn any(any: &'static [&'static str]) -> Self {
        Self { any, ..Self::ALWAYS }
    }

    /// The same, if what the table looks for is found.
    pub const fn if_found(self) -> Self {
        Self { searches: true, ..self }
    }
}

/// Why a derived table may have no rows though its source tables have some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyEmpty {
    /// Nothing is known beyond what it is made from.
    Unexplained,
    /// The reason.
    Because(&'static str),
    /// Nothing is wrong: GPUs never waited, recording never stopped, nothing ran next to anything, or all dispatches took as long
    /// as others of their kind.
    AllIsWell,
}
