//! Counters of the kernels of a process, from a trace or from counter passes next to it.

use std::collections::BTreeMap;

use anyhow::Result;
use itertools::izip;
use polars::prelude::*;

use super::model::CounterDigest;
use wavesieve_model::analysis::statistics::blocks::block_means;
use wavesieve_tables::columns::values::I64Values;

/// Values of each counter by kernel, in the order of the dispatches.
pub(super) type CounterValues = BTreeMap<(String, String), Vec<f64>>;

/// Adds the values of a process.
pub(super) fn add_counters(dispatches: &DataFrame, counters: &DataFrame, all: &mut CounterValues) -> Result<()> {
    let ids = |frame: &DataFrame| -> Result<(I64Values, I64Values)> {
        let of = |name: &str| -> Result<I64Values> { Ok(I64Values::new(frame.column(name)?.i64()?)) };
        Ok((of("pass")?, of("dispatch_id")?))
    };
    if counters.height() == 0 {
        return Ok(());
    }
    let names = dispatches.column("kernel_name")?.cast(&DataType::String)?;
    let (passes, dispatch_ids) = ids(dispatches)?;
    let kernel_of: BTreeMap<(i64, i64), &str> = izip!(passes.iter(), dispatch_ids.iter(), names.str()?.iter())
        .filter_map(|(pass, dispatch, name)| Some(((pass?, dispatch?), name?)))
        .collect();
    let counter_names = counters.column("counter")?.cast(&DataType::String)?;
    let (passes, dispatch_ids) = ids(counters)?;
    let values = counters.column("value")?.f64()?;
    let mut rows: Vec<(&str, &str, (i64, i64), f64)> = Vec::new();
    for (pass, dispatch, counter, value) in
        izip!(passes.iter(), dispatch_ids.iter(), counter_names.str()?.iter(), values.iter())
    {
        let (Some(pass), Some(dispatch), Some(counter), Some(value)) = (pass, dispatch, counter, value) else {
            continue;
        };
        if let Some(kernel) = kernel_of.get(&(pass, dispatch)).filter(|_| value.is_finite()) {
            rows.push((kernel, counter, (pass, dispatch), value));
        }
    }
    rows.sort_by(|one, other| (one.0, one.1, one.2).cmp(&(other.0, other.1, other.2)));
    for (kernel, counter, _, value) in rows {
        all.entry((kernel.to_owned(), counter.to_owned())).or_default().push(value);
    }
    Ok(())
}

/// Sums the values up.
pub(super) fn finished(all: CounterValues) -> Vec<CounterDigest> {
    let digest = |((kernel, counter), values): ((String, String), Vec<f64>)| CounterDigest {
        kernel,
        counter,
        dispatches: values.len() as i64,
        sum: values.iter().sum(),
        blocks: block_means(&values),
    };
    all.into_iter().map(digest).collect()
}
