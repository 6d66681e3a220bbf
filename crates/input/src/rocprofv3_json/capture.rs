//! One process of a file: its sections, the mapping from handles to agents, and the small tables that are read once.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use anyhow::Result;
use serde::de::DeserializeOwned;

use super::census::Census;
use super::file::InputFile;
use super::kinds::Kinds;
use super::parts::{Collected, Collector, read_object, read_section};
use super::structure::index::{ProcessIndex, Section};
use super::structure::roles::Roles;
use super::symbols::Symbols;
use crate::common::Replays;
use wavesieve_model::schema::anomaly::{Anomaly, Damage, Severity};

/// A process of a file.
pub struct Capture {
    pub file: Arc<InputFile>,
    /// Path as given or found, for messages.
    pub path: String,
    /// Damage to the file as a whole; any part may be missing.
    pub structural: Vec<Damage>,
    /// Its sections.
    pub process: ProcessIndex,
    /// The role of each section of records.
    pub roles: Roles,
    /// Agent id by handle.
    pub agents: BTreeMap<i64, i64>,
    /// Passes of the dispatches that were run again to collect more counters.
    pub replays: Replays,
    /// Names of kinds and operations.
    pub kinds: OnceLock<(Kinds, SectionAnomalies)>,
    /// Kernel symbols.
    pub symbols: OnceLock<(Symbols, SectionAnomalies)>,
    /// Threads, queues, streams and numbers of calls.
    pub census: OnceLock<(Census, SectionAnomalies)>,
}

/// Anomalies of sections that were read.
#[derive(Clone, Debug, Default)]
pub(crate) struct SectionAnomalies {
    /// Anomalies of the records.
    pub anomalies: Vec<Anomaly>,
    /// Records that could not be read.
    pub damage: Vec<Damage>,
}

impl SectionAnomalies {
    /// Adds the anomalies of another read.
    pub fn extend(&mut self, other: &Self) {
        self.anomalies.extend(other.anomalies.iter().cloned());
        self.damage.extend(other.damage.iter().cloned());
    }

    fn lossy(&mut self, section: &str, count: usize) {
        let detail = "texts contain invalid UTF-8, shown as U+FFFD";
        self.note("invalid_utf8", Severity::Info, section, count, detail);
    }

    /// Adds a note about records that were left out because of other records with the same key.
    pub fn repeated(&mut self, section: &str, count: usize, detail: &str) {
        self.note("repeated_record", Severity::Warning, section, count, detail);
    }

    fn note(&mut self, check_id: &'static str, severity: Severity, section: &str, count: usize, detail: &str) {
        if count > 0 {
            self.anomalies.push(Anomaly {
                check_id,
                severity,
                table_name: section.to_owned(),
                count: i64::try_from(count).unwrap_or(i64::MAX),
                first_key: None,
                detail: detail.to_owned(),
            });
        }
    }
}

impl Capture {
    /// Reads the records of a section, each part into a `new` collection. Anomalies go to `findings`.
    pub fn records<R: DeserializeOwned, T: Send>(
        &self,
        section: &Section,
        findings: &mut SectionAnomalies,
        new: impl Fn() -> T + Sync,
        push: impl Fn(&mut T, R) + Sync,
    ) -> Result<Vec<T>> {
        self.collect(section, findings, &Collector { new: &new, push: &push, shortcuts: None })
    }

    /// Works like [`Capture::records`], with shortcuts if the collector has them.
    pub(crate) fn collect<R: DeserializeOwned, T: Send>(
        &self,
        section: &Section,
        findings: &mut SectionAnomalies,
        collector: &Collector<'_, R, T>,
    ) -> Result<Vec<T>> {
        let collected = read_section(&self.file, section, collector)?;
        findings.lossy(&section.name, collected.lossy);
        findings.damage.extend(self.damage(section, &collected));
        Ok(collected.output)
    }

    fn damage<T>(&self, section: &Section, collected: &Collected<T>) -> Option<Damage> {
        let cause = collected.first_cause.as_ref()?;
        // If brackets do not match, records fall into pieces, and there may be more pieces than records.
        let cause = match (collected.bad as u64, section.rows) {
            (bad, rows) if bad > rows => format!("{bad} elements of it are not records; {cause}"),
            (bad, rows) => format!("{bad} of {rows} records cannot be parsed; {cause}"),
        };
        Some(Damage { path: self.path.clone(), part: section.name.clone(), cause })
    }

    /// Gathers the results of `keep` for the records of all sections with this name.
    pub fn gather<R: DeserializeOwned, T: Send>(
        &self,
        name: &str,
        findings: &mut SectionAnomalies,
        keep: impl Fn(R) -> T + Sync,
    ) -> Result<Vec<T>> {
        let mut all = Vec::new();
        for section in self.process.named(name) {
            let push = |kept: &mut Vec<T>, record: R| kept.push(keep(record));
            let parts = self.records(section, findings, Vec::new, push)?;
            all.extend(parts.into_iter().flatten());
        }
        Ok(all)
    }

    /// Reads the first object with this name.
    pub fn object<T: DeserializeOwned>(&self, name: &str, findings: &mut SectionAnomalies) -> Result<Option<T>> {
        let Some(section) = self.process.named(name).next() else { return Ok(None) };
        let (value, lossy) = read_object(&self.file, section)?;
        findings.lossy(name, usize::from(lossy));
        if value.is_none() {
            findings.damage.push(Damage {
                path: self.path.clone(),
                part: name.to_owned(),
                cause: "cannot be parsed".to_owned(),
            });
        }
        Ok(value)
    }

    /// The value of a cache, computed on first use.
    ///
    /// # Errors
    /// The errors of `make`.
    pub fn cached<T>(
        cache: &OnceLock<(T, SectionAnomalies)>,
        make: impl FnOnce(&mut SectionAnomalies) -> Result<T>,
    ) -> Result<(&T, &SectionAnomalies)> {
        if cache.get().is_none() {
            let mut findings = SectionAnomalies::default();
            let value = make(&mut findings)?;
            let _ = cache.set((value, findings));
        }
        match cache.get() {
            Some((value, findings)) => Ok((value, findings)),
            None => anyhow::bail!("internal: a cache is empty after it was filled"),
        }
    }
}
