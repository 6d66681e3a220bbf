//! `args` from the texts of arguments.

use anyhow::Result;
use polars::prelude::*;

use super::arg_texts::parse;
use super::calls::Words;
use super::reading::Reading;
use crate::common::Texts;
use crate::common::sqlite::{Condition, integer, text};
use wavesieve_tables::columns::frames::constant_cat;

/// Texts that may be those of the file.
pub(crate) enum TextLookup<'a> {
    /// All of the file.
    Shared(&'a Texts),
    /// Those just read.
    Own(Texts),
}

impl TextLookup<'_> {
    pub fn get(&self) -> &Texts {
        match self {
            Self::Shared(texts) => texts,
            Self::Own(texts) => texts,
        }
    }
}

/// Texts of arguments and markers; of the table that holds nothing else, only those that the condition chooses.
pub fn texts_of<'a>(reading: &mut Reading<'a>, condition: &Condition) -> Result<TextLookup<'a>> {
    if reading.capture.container.args_table() == "string" {
        return Ok(TextLookup::Shared(reading.strings()?));
    }
    let columns = reading.read("ustring", &[text("string")], condition)?;
    Ok(TextLookup::Own(Texts::new(&columns.integers("id"), &columns.texts("string"))))
}

/// Assembles the arguments of all calls but markers, whose text is their message.
pub fn read(reading: &mut Reading<'_>) -> Result<()> {
    let wanted = [integer("args_id"), integer("apiName_id"), integer("domain_id")];
    let calls = reading.read_own(&wanted, Condition::all())?;
    let texts = texts_of(reading, &Condition::all())?;
    let mut words = Words::new(reading)?;
    let (ids, args) = (calls.integers("id"), calls.integers("args_id"));
    let (names, domains) = (calls.integers("apiName_id"), calls.integers("domain_id"));
    let mut owners = Vec::new();
    let mut positions = Vec::new();
    let mut pairs: Vec<(String, String)> = Vec::new();
    for ((id, args), (name, domain)) in ids.iter().zip(args.iter()).zip(names.iter().zip(domains.iter())) {
        let text = texts.get().get(args).filter(|text| !text.is_empty());
        if let Some(text) = text.filter(|_| !words.is_marker(name, domain)) {
            for (position, pair) in (0..).zip(parse(text)) {
                owners.push(id.unwrap_or(-1));
                positions.push(position);
                pairs.push(pair);
            }
        }
    }
    reading.set_height(owners.len());
    reading.put("owner", constant_cat("owner", Some("region"), owners.len())?);
    reading.put("owner_id", Int64Chunked::from_vec("".into(), owners).into_series());
    reading.put("position", Int64Chunked::from_vec("".into(), positions).into_series());
    reading.put_texts("name", pairs.iter().map(|(name, _)| Some(name.as_str())))?;
    let values = StringChunked::from_iter_values("".into(), pairs.iter().map(|(_, value)| value.as_str()));
    reading.put("value", values.into_series());
    Ok(())
}
