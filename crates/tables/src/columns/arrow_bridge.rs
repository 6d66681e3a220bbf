//! Arrays between polars and the arrow crate, through the Arrow C data interface: no copy, no conversion.

use anyhow::{Context, Result};
use arrow::array::{Array, ArrayRef, NullArray, RecordBatch, make_array};
use arrow::datatypes::{Field, Schema};
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use polars::prelude::{Column, CompatLevel, DataFrame, DataType, PlSmallStr, Series};
use polars_arrow::ffi as polars_ffi;
use std::sync::Arc;

// Both sides define the C structures of the Arrow specification with `repr(C)`, so that they have the same layout.
const _: () = assert!(size_of::<FFI_ArrowArray>() == size_of::<polars_ffi::ArrowArray>());
const _: () = assert!(size_of::<FFI_ArrowSchema>() == size_of::<polars_ffi::ArrowSchema>());

/// A polars series over the memory of an arrow array.
///
/// # Errors
/// When polars does not know the type.
pub fn series_from_array(name: &str, array: &dyn Array) -> Result<Series> {
    let (ffi_array, ffi_schema) = to_ffi(&array.to_data()).context("cannot export an arrow array")?;
    // SAFETY: both types are the ArrowArray and ArrowSchema of the C data interface (same size, checked above, and
    // `repr(C)` with the fields of the specification). Ownership moves: the originals are consumed by value, and the
    // release callback is carried along and called once by the new owner.
    let (ffi_array, ffi_schema) = unsafe {
        (
            std::mem::transmute::<FFI_ArrowArray, polars_ffi::ArrowArray>(ffi_array),
            std::mem::transmute::<FFI_ArrowSchema, polars_ffi::ArrowSchema>(ffi_schema),
        )
    };
    // SAFETY: the structures were just exported from a valid array, so they describe it correctly.
    let array = unsafe {
        let field = polars_ffi::import_field_from_c(&ffi_schema)?;
        polars_ffi::import_array_from_c(ffi_array, field.dtype)?
    };
    Ok(Series::from_arrow(PlSmallStr::from_str(name), array)?)
}

/// A record batch over the memory of one chunk of a data frame, columns in order.
///
/// # Errors
/// When a column cannot be expressed in arrow.
pub fn record_batch(frame: &DataFrame) -> Result<RecordBatch> {
    let mut fields = Vec::with_capacity(frame.width());
    let mut arrays = Vec::with_capacity(frame.width());
    for column in frame.columns() {
        let array = array_from_column(column)?;
        fields.push(Field::new(column.name().as_str(), array.data_type().clone(), true));
        arrays.push(array);
    }
    let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(frame.height()));
    Ok(RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)?)
}

/// An arrow array over the memory of a column of one chunk.
///
/// # Errors
/// When the column cannot be expressed in arrow.
pub fn array_from_column(column: &Column) -> Result<ArrayRef> {
    // polars exports a buffer for this type, which the arrow crate refuses.
    if *column.dtype() == DataType::Null {
        return Ok(Arc::new(NullArray::new(column.len())));
    }
    let series = column.as_materialized_series().rechunk();
    let field = series.dtype().to_arrow_field(series.name().clone(), CompatLevel::oldest());
    let array = series.to_arrow(0, CompatLevel::oldest());
    let ffi_schema = polars_ffi::export_field_to_c(&field);
    let ffi_array = polars_ffi::export_array_to_c(array);
    // SAFETY: as in `series_from_array`, in the other direction.
    let (ffi_array, ffi_schema) = unsafe {
        (
            std::mem::transmute::<polars_ffi::ArrowArray, FFI_ArrowArray>(ffi_array),
            std::mem::transmute::<polars_ffi::ArrowSchema, FFI_ArrowSchema>(ffi_schema),
        )
    };
    // SAFETY: the structures were just exported from a valid array, so they describe it correctly.
    let data = unsafe { from_ffi(ffi_array, &ffi_schema) }
        .with_context(|| format!("cannot express column {} in arrow", column.name()))?;
    Ok(make_array(data))
}
