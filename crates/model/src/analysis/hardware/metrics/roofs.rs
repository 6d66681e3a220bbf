//! Measured roofs, which rocprofiler-compute's micro-benchmark writes to `roofline.csv`.

use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RoofFile {
    roofs: BTreeMap<String, String>,
}

/// Why measured roofs cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{file} holds no measured roofs: {reason}; name the roofline.csv of rocprofiler-compute")]
pub struct RoofError {
    file: String,
    reason: String,
}

/// Peaks by the id of the metric that they bound: bytes per ns or operations per ns, the mean over the devices measured.
///
/// # Errors
/// When the text is not CSV, or has none of the columns of `share/metrics/measured_roofs.toml`.
pub fn measured_roofs(text: &str, file_label: &str) -> Result<BTreeMap<String, f64>, RoofError> {
    let wrong = |reason: String| RoofError { file: file_label.to_owned(), reason };
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).flexible(true).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| wrong(error.to_string()))?.clone();
    let metric_of: Vec<Option<&String>> = header.iter().map(metric_of).collect();
    if metric_of.iter().all(Option::is_none) {
        return Err(wrong("it has none of their columns, such as HBMBw".to_owned()));
    }
    let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for record in reader.records() {
        let record = record.map_err(|error| wrong(error.to_string()))?;
        for (value, metric) in record.iter().zip(&metric_of) {
            let value = value.parse::<f64>().ok().filter(|value| value.is_finite() && *value > 0.0);
            if let (Some(metric), Some(value)) = (metric, value) {
                let (sum, count) = sums.entry((*metric).clone()).or_default();
                *sum += value;
                *count += 1.0;
            }
        }
    }
    if sums.is_empty() {
        return Err(wrong("none of its roofs is a number above 0".to_owned()));
    }
    Ok(sums.into_iter().map(|(metric, (sum, count))| (metric, sum / count)).collect())
}

/// The metric that a column bounds.
fn metric_of(column: &str) -> Option<&'static String> {
    let mut known = shared!(RoofFile, "share/metrics/measured_roofs.toml").roofs.iter();
    known
        .find(|(name, _)| name.eq_ignore_ascii_case(column))
        .map(|(_, metric)| metric)
        .filter(|metric| !metric.is_empty())
}
