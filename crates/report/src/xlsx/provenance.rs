//! The provenance of a workbook, as a table.

use anyhow::{Context as _, Result};
use polars::prelude::df;

use crate::document::{Document, Input};
use crate::full_tables::FullTable;
use wavesieve_engine::{ColumnUnit, OutputColumn};

/// A row of the table.
#[derive(Default)]
struct ProvenanceRow<'a> {
    what: &'static str,
    subject: String,
    input: Option<&'a Input>,
    reason: Option<String>,
}

/// The version, the inputs, and the missing parts with reasons.
pub(crate) fn provenance_table(document: &Document) -> Result<FullTable> {
    let provenance = &document.provenance;
    let version = ProvenanceRow {
        what: "program",
        subject: format!("wavesieve {}", provenance.version),
        ..ProvenanceRow::default()
    };
    let tier = ProvenanceRow { what: "tier", subject: document.tier.to_string(), ..ProvenanceRow::default() };
    let inputs = provenance.inputs.iter();
    let inputs = inputs.map(|input| ProvenanceRow {
        what: "input",
        subject: input.path.clone(),
        input: Some(input),
        ..ProvenanceRow::default()
    });
    let missing = |what: &'static str, pairs: &'_ [(String, String)]| {
        let row = move |(subject, reason): &'_ (String, String)| ProvenanceRow {
            what,
            subject: subject.clone(),
            reason: Some(reason.clone()),
            ..ProvenanceRow::default()
        };
        pairs.iter().map(row).collect::<Vec<ProvenanceRow<'_>>>()
    };
    let left_out = missing("left out", &provenance.left_out);
    let failures = missing("not answered", &provenance.failures);
    let damage = provenance.damage.iter().map(|damage| ProvenanceRow {
        what: "damaged",
        subject: damage.clone(),
        ..ProvenanceRow::default()
    });
    let rows: Vec<ProvenanceRow<'_>> =
        [version, tier].into_iter().chain(inputs).chain(damage).chain(left_out).chain(failures).collect();
    let of_input = |of: &dyn Fn(&Input) -> Option<String>| -> Vec<Option<String>> {
        rows.iter().map(|row| row.input.and_then(of)).collect()
    };
    let frame = df!(
        "what" => rows.iter().map(|row| row.what).collect::<Vec<&str>>(),
        "subject" => rows.iter().map(|row| row.subject.as_str()).collect::<Vec<&str>>(),
        "rank" => rows.iter().map(|row| row.input.map(|input| input.rank)).collect::<Vec<Option<i64>>>(),
        "hostname" => of_input(&|input| input.hostname.clone()),
        "gpus" => of_input(&|input| Some(input.gpus.join(" "))),
        "format" => of_input(&|input| Some(input.format.clone())),
        "schema_version" => of_input(&|input| input.schema_version.clone()),
        "reason" => rows.iter().map(|row| row.reason.as_deref()).collect::<Vec<Option<&str>>>(),
    )
    .context("internal: the columns of the provenance differ in length")?;
    let columns = [
        ("what", ColumnUnit::Text, "what the row is about"),
        ("subject", ColumnUnit::Text, "the version, the file, the damage, the section or the query"),
        ("rank", ColumnUnit::Id, "rank of the process"),
        ("hostname", ColumnUnit::Text, "machine of the process"),
        ("gpus", ColumnUnit::Text, "GPUs of the process"),
        ("format", ColumnUnit::Text, "format of the file"),
        ("schema_version", ColumnUnit::Text, "version of its schema"),
        ("reason", ColumnUnit::Text, "why it is left out or not answered"),
    ];
    let columns = columns.map(|(name, unit, doc)| OutputColumn::new(name, unit, doc)).to_vec();
    let about = "What was read, by which version, and what is missing and why.";
    Ok(FullTable::new("provenance", "Provenance", about, columns, frame))
}
