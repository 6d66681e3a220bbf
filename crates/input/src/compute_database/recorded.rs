//! `recorded_metrics`: numbers that the file states for kernels and for the whole workload.

use anyhow::Result;
use polars::prelude::*;

use super::reading::Reading;
use super::{metrics, pc_sampling, rooflines};
use crate::common::Words;
use wavesieve_model::schema::anomaly::Severity;
use wavesieve_tables::columns::frames::{dictionary_column, text_column_from_dictionary};

const NAMES: &[&str] = &["kernel_name", "short_name"];

/// The metric that a value belongs to.
#[derive(Clone, Debug, Default)]
pub struct Metric {
    pub id: Option<String>,
    pub name: Option<String>,
    pub table: Option<String>,
    pub sub_table: Option<String>,
    pub description: Option<String>,
    pub unit: Option<String>,
}

/// A word of a metric.
type WordOf = fn(&Metric) -> &Option<String>;

struct Value {
    /// Null for the whole workload.
    kernel: Option<i64>,
    /// Its place among the metrics.
    metric: Option<usize>,
    value: Option<f64>,
}

/// Metrics in their order, and their values.
#[derive(Default)]
pub struct Recorded {
    metrics: Vec<Metric>,
    values: Vec<Value>,
    /// Names of the values.
    names: Words,
}

impl Recorded {
    /// Adds a metric and returns its place.
    pub(crate) fn add_metric(&mut self, metric: Metric) -> usize {
        self.metrics.push(metric);
        self.metrics.len() - 1
    }

    /// Adds a value; a number that is not finite becomes null.
    pub fn add(&mut self, kernel: Option<i64>, metric: Option<usize>, name: Option<&str>, value: Option<f64>) {
        self.names.push(name.map(Into::into));
        self.values.push(Value { kernel, metric, value: value.filter(|value| value.is_finite()) });
    }
}

/// Assembles metrics, rooflines and counts of PC samples, in this order.
pub fn read(reading: &mut Reading<'_>) -> Result<()> {
    let mut recorded = Recorded::default();
    metrics::read(reading, &mut recorded)?;
    rooflines::read(reading, &mut recorded)?;
    pc_sampling::read(reading, &mut recorded)?;
    put(reading, &recorded)
}

fn put(reading: &mut Reading<'_>, recorded: &Recorded) -> Result<()> {
    let values = &recorded.values;
    reading.set_height(values.len());
    reading.put_integers("kernel_id", values.iter().map(|value| value.kernel));
    put_kernels(reading, values)?;
    // Values of unknown metrics come first.
    let ordinal = |value: &Value| Some(value.metric.map_or(0, |metric| metric as i64 + 1));
    reading.put_integers("ordinal", values.iter().map(ordinal));
    let words: [(&'static str, WordOf); 5] = [
        ("metric_id", |metric| &metric.id),
        ("metric", |metric| &metric.name),
        ("table_name", |metric| &metric.table),
        ("sub_table_name", |metric| &metric.sub_table),
        ("unit", |metric| &metric.unit),
    ];
    let metrics = || values.iter().map(|value| value.metric);
    for (name, word) in words {
        reading.put_with(name, || {
            let dictionary: Vec<Option<String>> = recorded.metrics.iter().map(|metric| word(metric).clone()).collect();
            Ok(dictionary_column(name, &dictionary, metrics())?)
        })?;
    }
    reading.put_with("description", || {
        let texts: Vec<Option<String>> = recorded.metrics.iter().map(|metric| metric.description.clone()).collect();
        Ok(text_column_from_dictionary("description", &texts, metrics())?)
    })?;
    reading.put_with("value_name", || recorded.names.categories("value_name"))?;
    let numbers = values.iter().map(|value| value.value);
    reading.put("value", Float64Chunked::from_iter_options("value".into(), numbers));
    Ok(())
}

fn put_kernels(reading: &mut Reading<'_>, values: &[Value]) -> Result<()> {
    if !reading.wants(NAMES) {
        return Ok(());
    }
    let symbols = reading.symbols();
    let place = |value: &Value| value.kernel.and_then(|kernel| symbols.index.position(kernel));
    let wanted = reading.wanted();
    let forms = symbols.names.forms(reading.context.categories, &|name| wanted.contains(name));
    for (name, dictionary) in forms.columns() {
        reading.put_with(name, || Ok(dictionary_column(name, dictionary, values.iter().map(place))?))?;
    }
    let unknown = values.iter().filter(|value| value.kernel.is_some() && place(value).is_none()).count();
    let detail = "values refer to a missing kernel, which has no name";
    reading.note("missing_symbol", Severity::Warning, unknown, None, detail);
    Ok(())
}
