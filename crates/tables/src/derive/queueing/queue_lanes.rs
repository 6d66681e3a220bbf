//! Lanes that dispatches wait in.

use crate::columns::values::I64Values;
use wavesieve_model::analysis::numbering::dense_groups::DenseGroups;

/// Groups rows by their lane: the queue of a GPU, or its stream if no queue is known.
pub(crate) fn queue_lanes(gpus: &I64Values, queues: &I64Values, streams: &I64Values) -> DenseGroups {
    let lanes = gpus.kinds().and(&queues.kinds());
    if queues.present().is_none() {
        return lanes;
    }
    let streams = streams.iter().zip(queues.iter());
    lanes.and_of(streams.map(|(stream, queue)| stream.filter(|_| queue.is_none())))
}
