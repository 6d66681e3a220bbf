//! Kernel names of results in their readable form, for screens. Files keep the full names.

use std::collections::BTreeSet;

use polars::prelude::{Column, DataFrame, DataType};

use wavesieve_model::analysis::kernel_names::{ReadableNames, kernel_of_position, kernels_in_row, renamed_position};

use super::run::Answer;

/// Columns that hold names of kernels.
const KERNEL_COLUMNS: [&str; 4] = ["kernel_name", "kernel_before", "kernel_after", "captured_name"];
/// Columns that hold names of kernels and of other things, with the columns that distinguish them.
const MIXED: [(&str, &str); 2] = [("name", "kind"), ("name", "source")];
/// Values of these columns in rows that name a kernel.
const KERNEL_KINDS: [&str; 5] = ["kernel", "kernels", "fill", "launch_latency", "queue_wait"];
/// Column with several kernels in a row.
const CHAIN: &str = "chain";
/// Column with the place behind a kernel.
const POSITION: &str = "position";

impl Answer {
    /// The readable names of its kernels; none if names of another form were requested.
    pub fn readable_names(&self) -> ReadableNames {
        readable_names([self])
    }

    /// The same with these names in place of the full ones.
    pub fn shown_with(&self, names: &ReadableNames) -> Self {
        let Self { frame, columns, is_readable } = self;
        Self { frame: with_readable_names(frame, names), columns: columns.clone(), is_readable: *is_readable }
    }
}

/// The readable names of the kernels of several results that are shown together.
pub fn readable_names<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> ReadableNames {
    let mut found: BTreeSet<String> = BTreeSet::new();
    for answer in answers.into_iter().filter(|answer| answer.is_readable) {
        let frame = &answer.frame;
        for name in KERNEL_COLUMNS {
            found.extend(frame.column(name).ok().and_then(|column| column.unique().ok()).iter().flat_map(texts));
        }
        for (name, kind) in MIXED {
            let Some((names, kinds)) = frame.column(name).ok().zip(frame.column(kind).ok()) else { continue };
            let rows = texts_by_row(names).into_iter().zip(texts_by_row(kinds));
            let is_kernel = |kind: &Option<String>| kind.as_deref().is_some_and(|kind| KERNEL_KINDS.contains(&kind));
            found.extend(rows.filter(|(_, kind)| is_kernel(kind)).filter_map(|(name, _)| name));
        }
        for chain in frame.column(CHAIN).iter().flat_map(|column| texts(column)) {
            found.extend(kernels_in_row(&chain).into_iter().map(str::to_owned));
        }
        for label in frame.column(POSITION).ok().filter(is_text).into_iter().flat_map(texts) {
            found.extend(kernel_of_position(&label).map(|(kernel, _)| kernel.to_owned()));
        }
    }
    ReadableNames::new(found.iter().map(String::as_str))
}

/// A table with readable names of kernels in place of full ones, in all columns of texts.
pub fn with_readable_names(frame: &DataFrame, names: &ReadableNames) -> DataFrame {
    let mut shown = frame.clone();
    if names.is_empty() {
        return shown;
    }
    for column in frame.columns().iter().filter(is_text) {
        let is_position = column.name().as_str() == POSITION;
        let renamed = |label: &str| renamed_position(label, |kernel| names.shown(kernel).into_owned());
        let form = |text: &str| {
            let label = if is_position { renamed(text) } else { None };
            label.unwrap_or_else(|| names.shown(text).into_owned())
        };
        let texts: Vec<Option<String>> = texts_by_row(column).iter().map(|text| text.as_deref().map(&form)).collect();
        // A column of the same name and length always fits.
        let _ = shown.with_column(Column::new(column.name().clone(), texts));
    }
    shown
}

fn is_text(column: &&Column) -> bool {
    matches!(column.dtype(), DataType::String | DataType::Categorical(_, _) | DataType::Enum(_, _))
}

fn texts_by_row(column: &Column) -> Vec<Option<String>> {
    let Ok(column) = column.cast(&DataType::String) else { return Vec::new() };
    column.str().map(|texts| texts.iter().map(|text| text.map(str::to_owned)).collect()).unwrap_or_default()
}

fn texts(column: &Column) -> Vec<String> {
    texts_by_row(column).into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use polars::prelude::df;

    use super::*;

    #[test]
    fn only_kernels_get_readable_names() {
        let frame = df!(
            "name" => [Some("void ns::add<float>(int)"), Some("aten::add_"), None],
            "kind" => ["kernel", "operator", "kernel"],
            "chain" => ["ns::mul(int) > void ns::add<float>(int)", "", "x"],
            "position" => [Some("after ns::mul(int) with grid 64x1x1"), Some("graph node 3"), None],
        )
        .unwrap();
        let answer = Answer { frame, columns: Vec::new(), is_readable: true };
        let shown = answer.shown_with(&answer.readable_names()).frame;
        assert_eq!(texts(shown.column("name").unwrap()), ["add<float>", "aten::add_"]);
        assert_eq!(texts(shown.column("chain").unwrap()), ["mul > add<float>", "", "x"]);
        assert_eq!(texts(shown.column("position").unwrap()), ["after mul with grid 64x1x1", "graph node 3"]);
        let full = Answer { is_readable: false, ..answer };
        assert!(full.readable_names().is_empty());
    }
}
