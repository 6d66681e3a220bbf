//! Points of kernels and of the whole workload on the roofline, and the measured ceilings. The file gives them no ids, so they get new ones
//! here.

use anyhow::Result;
use serde_json::Value;

use super::owner::OwnedBy;
use super::reading::Reading;
use super::recorded::{Metric, Recorded};
use super::rooflines_of_kernels;
use crate::common::sqlite::real;

/// Columns of both tables of points, with their units; the last four are new in schema 3.
const POINTS: [(&str, &str); 10] = [
    ("total_flops", "GFLOP/s"),
    ("l0_cache_data", "FLOP/byte"),
    ("l1_cache_data", "FLOP/byte"),
    ("l2_cache_data", "FLOP/byte"),
    ("hbm_cache_data", "FLOP/byte"),
    ("lds_cache_data", "FLOP/byte"),
    ("kernel_rank", "count"),
    ("dispatch_count", "count"),
    ("total_duration_ns", "ns"),
    ("percent_runtime", "percent"),
];
const TABLE: &str = "Roofline";
const VALUE: &str = "Value";

/// Adds the stated points and ceilings.
pub fn read(reading: &mut Reading<'_>, recorded: &mut Recorded) -> Result<()> {
    let wanted = POINTS.map(|(name, _)| real(name));
    let of_kernels = reading.read_own("kernel_roofline_data", OwnedBy::Kernel, &wanted)?;
    let of_workload = reading.read_own("workload_roofline_data", OwnedBy::Workload, &wanted)?;
    let kernels = of_kernels.integers("kernel_uuid");
    for (name, unit) in POINTS {
        let (points, all) = (of_kernels.reals(name), of_workload.reals(name));
        if points.null_count() == points.len() && all.null_count() == all.len() {
            continue;
        }
        let metric = recorded.add_metric(metric("roofline", name, "Points", Some(unit)));
        for (kernel, point) in kernels.iter().zip(points.iter()).filter(|(_, point)| point.is_some()) {
            recorded.add(kernel, Some(metric), Some(VALUE), point);
        }
        for point in all.iter().filter(Option::is_some) {
            recorded.add(None, Some(metric), Some(VALUE), point);
        }
    }
    let measured = rooflines_of_kernels::read_ceilings(reading, recorded)?;
    // Schema 3 has these in tables too.
    for (name, value) in
        ceilings(reading.workload.ceilings.as_deref()).into_iter().filter(|(name, _)| !measured.contains(name))
    {
        let metric = recorded.add_metric(metric("roofline_ceiling", &name, "Measured ceilings", None));
        recorded.add(None, Some(metric), Some("Peak"), value);
    }
    rooflines_of_kernels::read(reading, recorded)
}

/// A metric of the roofline.
pub(super) fn metric(kind: &str, name: &str, sub_table: &str, unit: Option<&str>) -> Metric {
    Metric {
        id: Some(format!("{kind}.{name}")),
        name: Some(name.to_owned()),
        table: Some(TABLE.to_owned()),
        sub_table: Some(sub_table.to_owned()),
        description: None,
        unit: unit.map(str::to_owned),
    }
}

/// Members of a JSON object whose values are numbers.
fn ceilings(text: Option<&str>) -> Vec<(String, Option<f64>)> {
    let parsed = text.and_then(|text| serde_json::from_str::<Value>(text).ok());
    let Some(Value::Object(members)) = parsed else { return Vec::new() };
    let numbers = members.into_iter().filter(|(_, value)| value.is_number());
    numbers.map(|(name, value)| (name, value.as_f64())).collect()
}

/// Whether a text of ceilings has members that are not read.
pub(crate) fn has_unread_ceilings(text: Option<&str>) -> bool {
    match text.map(serde_json::from_str::<Value>) {
        None | Some(Ok(Value::Null)) => false,
        Some(Ok(Value::Object(members))) => members.values().any(|value| !value.is_number() && !value.is_null()),
        Some(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::{ceilings, has_unread_ceilings};

    #[test]
    fn ceilings_are_numbers() {
        let text = Some(r#"{"HBMBw": 4200.5, "note": "x", "L2Bw": 7}"#);
        assert_eq!(ceilings(text), [("HBMBw".to_owned(), Some(4200.5)), ("L2Bw".to_owned(), Some(7.0))]);
        assert!(has_unread_ceilings(text) && has_unread_ceilings(Some("{")) && has_unread_ceilings(Some("[1]")));
        assert!(
            !has_unread_ceilings(None)
                && !has_unread_ceilings(Some("null"))
                && !has_unread_ceilings(Some("{\"a\": 1}"))
        );
        assert!(ceilings(Some("[1, 2]")).is_empty());
    }
}
