//! Properties that reading by templates guarantees for any bytes.

use super::{IntColumn, Runner, Shape, Stop, Wanted};
use crate::json::PADDING;
use crate::rocprofv3_json::parsing::records::{Activity, Dispatch, Surveyed};

const DISPATCH: [Wanted; 8] = [
    wanted(&["dispatch_info.dispatch_id"]),
    wanted(&["dispatch_info.agent_id"]),
    wanted(&["dispatch_info.grid_size.y"]),
    Wanted { paths: &["correlation_id?internal", "correlation_id!"], zero_is_none: true, counts: false },
    wanted(&["correlation_id?external"]),
    wanted(&["start_timestamp"]),
    wanted(&["stream_id"]),
    wanted(&["thread_id"]),
];
const ACTIVITY: [Wanted; 5] = [
    Wanted { paths: &["args"], zero_is_none: true, counts: true },
    wanted(&["start_timestamp", "timestamp"]),
    wanted(&["end_timestamp", "timestamp"]),
    wanted(&["bytes", "allocation_size"]),
    wanted(&["operation"]),
];
const OBJECTS: &[&str] = &["dispatch_info", "dispatch_info.workgroup_size", "dispatch_info.grid_size"];

const fn wanted(paths: &'static [&'static str]) -> Wanted {
    Wanted { paths, zero_is_none: false, counts: false }
}

fn dispatch(bytes: &[u8], values: &mut [Option<i64>]) -> Option<usize> {
    let mut records = serde_json::Deserializer::from_slice(bytes).into_iter::<Dispatch>();
    let record = records.next()?.ok()?;
    let length = records.byte_offset();
    std::str::from_utf8(bytes.get(..length)?).ok()?;
    let info = record.dispatch_info;
    let read = [
        info.dispatch_id.0,
        info.agent_id.0,
        info.grid_size.y.0,
        record.correlation_id.internal.nonzero(),
        record.correlation_id.external.0,
        record.start_timestamp.0,
        record.stream_id.0,
        record.thread_id.0,
    ];
    values.iter_mut().zip(read).for_each(|(value, read)| *value = read);
    Some(length)
}

fn activity(bytes: &[u8], values: &mut [Option<i64>]) -> Option<usize> {
    let mut records = serde_json::Deserializer::from_slice(bytes).into_iter::<Activity>();
    let record = records.next()?.ok()?;
    let length = records.byte_offset();
    std::str::from_utf8(bytes.get(..length)?).ok()?;
    let args = serde_json::from_slice::<Surveyed>(bytes.get(..length)?).ok()?.args.0;
    let read = [
        (args > 0).then_some(args as i64),
        record.start(),
        record.end(),
        record.bytes.0.or(record.allocation_size.0),
        record.operation.0,
    ];
    values.iter_mut().zip(read).for_each(|(value, read)| *value = read);
    Some(length)
}

/// Records read by templates have the same values and ends as with the general parser alone.
pub fn json_template(bytes: &[u8]) {
    let length = bytes.len();
    let padded = [bytes, &[0; PADDING]].concat();
    let dispatches = Shape { wanted: &DISPATCH, objects: OBJECTS, times: None, general: &dispatch };
    let calls = Shape { wanted: &ACTIVITY, objects: OBJECTS, times: Some((1, 2, true)), general: &activity };
    for shape in [dispatches, calls] {
        let Some(mut runner) = Runner::new(shape, &padded) else { continue };
        let run = runner.run(&padded, 0, length);
        let columns: Vec<Vec<Option<i64>>> = run.columns.iter().map(|column| column.rows().collect()).collect();
        let mut expected: Vec<IntColumn> = vec![IntColumn::default(); shape.wanted.len()];
        let (mut records, mut at, mut stop) = (0, 0, Stop::Limit);
        let mut values = vec![None; shape.wanted.len()];
        let blanks =
            |at: usize| padded.iter().skip(at).take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count();
        while at < length {
            values.fill(None);
            let Some(own) = padded.get(at..).and_then(|rest| (shape.general)(rest, &mut values)) else {
                stop = Stop::Unclear;
                break;
            };
            let comma = at + own + blanks(at + own);
            if padded.get(comma) != Some(&b',') {
                stop = Stop::NoComma;
                break;
            }
            records += 1;
            if shape.keeps(&values) {
                expected.iter_mut().zip(&values).for_each(|(column, value)| column.push(*value));
            }
            at = comma + 1 + blanks(comma + 1);
        }
        let expected: Vec<Vec<Option<i64>>> = expected.iter().map(|column| column.rows().collect()).collect();
        assert_eq!((run.records, run.end, run.stop), (records, at, stop));
        assert_eq!(columns, expected);
        // Where a guess finds a record, the general parser finds one too.
        if let Some(guess) = runner.guess(&padded, length / 2) {
            assert!(padded.get(guess..).is_some_and(|rest| (shape.general)(rest, &mut values).is_some()), "at {guess}");
        }
    }
}
