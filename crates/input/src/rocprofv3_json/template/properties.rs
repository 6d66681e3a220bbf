//! Properties that reading by templates guarantees for any bytes.

use super::{IntColumn, Runner, Stop};
use crate::json::PADDING;
use crate::rocprofv3_json::layout::Selected;
use crate::rocprofv3_json::layouts::{Activity, Dispatch, Surveyed};
use crate::rocprofv3_json::structure::gathered::Keep;

/// Records read by templates have the same values and ends as with the general parser alone.
pub fn json_template(bytes: &[u8]) {
    let dispatches = Selected::new::<Dispatch>(Keep::Every, |_| true);
    let calls = Selected::new::<Activity>(Keep::WithLength, |_| true);
    let surveyed = Selected::new::<Surveyed>(Keep::Every, |_| true);
    for selected in [&dispatches, &calls, &surveyed] {
        check(selected, bytes);
    }
}

/// Compares a run with the general parser, if there is a template for the first record. Returns whether there is a template.
pub(super) fn check(selected: &Selected, bytes: &[u8]) -> bool {
    let length = bytes.len();
    let padded = [bytes, &[0; PADDING]].concat();
    let Some(mut runner) = Runner::new(selected, &padded) else { return false };
    let run = runner.run(&padded, 0, length);
    let columns: Vec<Vec<Option<i64>>> = run.columns.iter().map(rows).collect();
    let mut expected = vec![Vec::new(); selected.fields.len()];
    let (mut records, mut at, mut stop) = (0, 0, Stop::Limit);
    let mut values = vec![None; selected.fields.len()];
    let blanks =
        |at: usize| padded.iter().skip(at).take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count();
    while at < length {
        values.fill(None);
        let Some(own) = padded.get(at..).and_then(|rest| selected.general(rest, &mut values)) else {
            stop = Stop::Unclear;
            break;
        };
        let comma = at + own + blanks(at + own);
        if padded.get(comma) != Some(&b',') {
            stop = Stop::NoComma;
            break;
        }
        records += 1;
        if selected.keeps(&values) {
            expected.iter_mut().zip(&values).for_each(|(column, value)| column.push(*value));
        }
        at = comma + 1 + blanks(comma + 1);
    }
    assert_eq!((run.records, run.end, run.stop), (records, at, stop));
    assert_eq!(columns, expected);
    // If a guess finds a record, the general parser also finds one there.
    if let Some(guess) = runner.guess(&padded, length / 2) {
        assert!(padded.get(guess..).is_some_and(|rest| selected.general(rest, &mut values).is_some()), "at {guess}");
    }
    true
}

/// The values of a column.
pub(super) fn rows(column: &IntColumn) -> Vec<Option<i64>> {
    column.iter().map(|value| value.copied()).collect()
}
