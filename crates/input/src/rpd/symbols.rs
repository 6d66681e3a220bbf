//! Names of kernels. RPD has no symbols: an operation names a string, which serves as the kernel's id.

use std::collections::BTreeSet;

use anyhow::Result;
use polars::prelude::*;

use super::ops::{Joined, Ops};
use super::reading::Reading;
use crate::common::sqlite::{Condition, Wanted, integer};
use crate::common::{IdIndex, SymbolNames, placeholder};
use wavesieve_model::analysis::kernel_names::strip_kd;

/// Columns that the kernel ids are made from.
pub(crate) const KERNEL_ID_SOURCES: [Wanted; 2] = [integer("description_id"), integer("opType_id")];

/// Kernel ids of dispatches: the string of the description, otherwise the kernel name of the launch, otherwise the string of the type, as
/// for fills; -1 if none is known.
pub fn kernel_ids(reading: &mut Reading<'_>, ops: &Ops) -> Result<Int64Chunked> {
    let strings = reading.strings()?;
    let named = |id: Option<i64>| id.filter(|id| strings.get(Some(*id)).is_some_and(|name| !name.is_empty()));
    let described: Vec<Option<i64>> = ops.columns.integers("description_id").iter().map(named).collect();
    let launched: Int64Chunked = if described.iter().all(Option::is_some) || ops.calls.null_count() == ops.calls.len() {
        Int64Chunked::full_null("".into(), described.len())
    } else {
        let launches =
            Joined::read(reading, "kernelapi", "api_ptr_id", &[integer("kernelName_id")], &Condition::all())?;
        launches.integers("kernelName_id", &ops.calls)
    };
    let types = ops.columns.integers("opType_id");
    Ok(described
        .into_iter()
        .zip(launched.iter().zip(types.iter()))
        .map(|(described, (launched, op_type))| Some(described.or(named(launched)).or(op_type).unwrap_or(-1)))
        .collect_ca("kernel_id".into()))
}

/// Kernels with their ids and names.
pub struct Symbols {
    pub ids: Vec<i64>,
    pub names: SymbolNames,
    pub index: IdIndex,
}

impl Symbols {
    /// Names every id that is a string.
    pub fn read(reading: &mut Reading<'_>, kernel_ids: &Int64Chunked) -> Result<Self> {
        let strings = reading.strings()?;
        let distinct: BTreeSet<i64> = kernel_ids.iter().flatten().collect();
        let mut symbols = Self { ids: Vec::new(), names: SymbolNames::default(), index: IdIndex::new(&[]) };
        for id in distinct {
            if let Some(name) = strings.get(Some(id)) {
                let full = if name.is_empty() { placeholder(id) } else { strip_kd(name).to_owned() };
                symbols.names.push(full, None, None);
                symbols.ids.push(id);
            }
        }
        symbols.index = IdIndex::new(&symbols.ids);
        Ok(symbols)
    }
}
