//! Values of an answer by column and row.

use anyhow::{Context, Result};
use polars::prelude::{Column, DataFrame, DataType};

use wavesieve_engine::Answer;

/// The columns of an answer.
pub(super) struct AnswerRows(DataFrame);

impl AnswerRows {
    pub(super) fn new(answer: Answer) -> Self {
        Self(answer.frame)
    }

    pub(super) fn height(&self) -> usize {
        self.0.height()
    }

    fn column(&self, name: &str, data_type: &DataType) -> Result<Column> {
        let column = self.0.column(name).with_context(|| format!("the answer has no column {name}"))?;
        Ok(column.cast(data_type)?)
    }

    pub(super) fn integers(&self, name: &str) -> Result<Vec<Option<i64>>> {
        Ok(self.column(name, &DataType::Int64)?.i64()?.iter().collect())
    }

    /// Finite values; others count as missing.
    pub(super) fn floats(&self, name: &str) -> Result<Vec<Option<f64>>> {
        let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
        Ok(self.column(name, &DataType::Float64)?.f64()?.iter().map(finite).collect())
    }

    pub(super) fn texts(&self, name: &str) -> Result<Vec<Option<String>>> {
        Ok(self.column(name, &DataType::String)?.str()?.iter().map(|text| text.map(str::to_owned)).collect())
    }
}
