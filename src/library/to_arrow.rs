//! Frames as record batches.

use arrow::array::RecordBatch;
use polars::prelude::DataFrame;

use super::error::Error;
use wavesieve_tables::columns::arrow_bridge::record_batch;

/// A frame as a record batch of the re-exported `arrow`, without copying columns of one chunk.
///
/// ```
/// use wavesieve::Trace;
///
/// let trace = Trace::open(["fixtures/two_nodes"])?;
/// let batch = wavesieve::to_arrow(&trace.table("kernel_summary").top(3).run()?)?;
/// assert_eq!(batch.num_rows(), 3);
/// # Ok::<(), wavesieve::Error>(())
/// ```
///
/// # Errors
/// [`Error::Failed`] if arrow has no type for a column.
pub fn to_arrow(frame: &DataFrame) -> Result<RecordBatch, Error> {
    Ok(record_batch(frame)?)
}
