//! Properties that the parser of rocprofiler-compute's counters guarantees for any bytes. Each function panics if one is violated.

use std::collections::BTreeSet;
use std::io::Write as _;

use super::columns::Col;
use super::counter_file::CounterFile;
use super::header::{Header, Layout};
use super::native;
use super::rows::scan;
use super::survey::Survey;
use super::system::System;
use super::workload::Workload;
use crate::common::csv::{CsvFile, Parsed, float, start};

/// Every row is either visited or counted as bad. No counter has two columns, and no pass has a dispatch twice. In a file without quotes,
/// the values are the fields between commas.
pub fn compute_rows(bytes: &[u8]) {
    let Ok(mut stored) = tempfile::NamedTempFile::new() else { return };
    if stored.write_all(bytes).is_err() {
        return;
    }
    let file = CsvFile { path: stored.path().to_owned(), shown: "file".to_owned() };
    let _ = System::read(&file).map(|system| system.gpu(0));
    let Ok((record, _)) = start(&file) else { return };
    let header = Header::new(&record, "SQ_LEVEL_WAVES");
    let names: BTreeSet<&str> = header.counters.iter().map(|counter| counter.name.as_str()).collect();
    assert_eq!(names.len(), header.counters.len());
    let positions: BTreeSet<usize> = header.counters.iter().map(|counter| counter.position).collect();
    assert!(header.repeats.iter().all(|repeat| !positions.contains(&repeat.position)));
    assert!(header.repeats.iter().all(|repeat| header.counters.get(repeat.of).is_some()));

    let mut shown: Vec<(i64, Vec<Option<f64>>)> = Vec::new();
    let mut visit = |row: &super::rows::UnderstoodRow<'_>| shown.push((row.dispatch, row.values.to_vec()));
    let counters = CounterFile::Csv(file);
    let Ok(flaws) = scan(&counters, &header, &mut visit) else { return };
    assert_eq!(flaws.good, shown.len() as u64);
    let is_plain = !bytes.iter().any(|byte| matches!(byte, b'"' | b'\r' | 0x1f | 0x8b));
    if is_plain && header.layout == Some(Layout::Wide) {
        for (dispatch, values) in &shown {
            assert!(is_in(bytes, &header, *dispatch, values), "{dispatch}");
        }
    }
    let workload = Workload { files: vec![counters], ..Workload::default() };
    let Ok(survey) = Survey::new(&workload) else { return };
    let runs: BTreeSet<(i64, i64)> = survey.runs.iter().map(|run| (run.pass, run.dispatch)).collect();
    assert_eq!(runs.len(), survey.runs.len());
    assert!(survey.runs.iter().all(|run| run.kernel < survey.kernels.len() && run.pass < survey.passes));
    assert!(header.layout != Some(Layout::Wide) || survey.runs.len() == shown.len());
}

/// The machine description in a JSON object gives a valid GPU: its numbers are positive, and its names are not empty.
pub fn compute_system(bytes: &[u8]) {
    let Ok(system) = System::from_json(&String::from_utf8_lossy(bytes)) else { return };
    let gpu = system.gpu(3);
    assert_eq!((gpu.agent_id, gpu.absolute_index), (3, Some(3)));
    let numbers =
        [gpu.cu_count, gpu.num_xcc, gpu.simd_per_cu, gpu.max_waves_per_simd, gpu.wave_size, gpu.max_clock_mhz];
    assert!(numbers.into_iter().flatten().all(|number| number > 0), "{gpu:?}");
    assert!(!gpu.name.is_empty() && gpu.product_name.is_none_or(|name| !name.is_empty()));
}

/// Whether a line holds these values of a dispatch.
fn is_in(bytes: &[u8], header: &Header, dispatch: i64, values: &[Option<f64>]) -> bool {
    let Some(place) = header.position(Col::Dispatch) else { return false };
    bytes.split(|byte| *byte == b'\n').any(|line| {
        let fields: Vec<&[u8]> = line.split(|byte| *byte == b',').collect();
        let value = |at: usize| match float(fields.get(at).copied().unwrap_or_default()) {
            Parsed::Value(value) => Some(value),
            _ => None,
        };
        let named = crate::common::csv::integer(fields.get(place).copied().unwrap_or_default());
        named == Parsed::Value(dispatch)
            && header.counters.iter().zip(values).all(|(counter, wanted)| value(counter.position) == *wanted)
    })
}

/// Three files of a process of the native tool, with NUL between them: every row that is visited has the fields of its value, its dispatch
/// and its kernel, and no pass has a dispatch twice.
pub fn compute_native(bytes: &[u8]) {
    let Ok(folder) = tempfile::tempdir() else { return };
    let mut parts = bytes.splitn(3, |byte| *byte == 0);
    let mut files = Vec::new();
    for kind in ["counters", "dispatch", "kernel_symbols"] {
        let path = folder.path().join(format!("{kind}_a_7.csv"));
        if std::fs::write(&path, parts.next().unwrap_or_default()).is_err() {
            return;
        }
        files.push(CsvFile { shown: kind.to_owned(), path });
    }
    let (passes, incomplete) = native::passes(&mut files);
    let taken = 3 - files.len();
    assert_eq!((passes.len(), incomplete.len()), (usize::from(taken == 3), usize::from(taken == 1 || taken == 2)));
    let [pass] = passes.as_slice() else { return };
    let width = native::NativePass::header().len();
    let is_quoted = bytes.iter().any(|byte| matches!(byte, b'"' | 0x1f | 0x8b));
    let mut shown = 0_u64;
    let flaws = pass.scan(&mut |row| {
        assert_eq!(row.len(), width);
        assert_eq!(row.get(0), Some(&b"7"[..]));
        let is_recorded = |field: &[u8]| field.is_empty() || bytes.windows(field.len()).any(|part| part == field);
        assert!(is_quoted || row.iter().skip(1).all(is_recorded));
        shown += 1;
        Ok(())
    });
    let Ok(flaws) = flaws else { return };
    assert!(flaws.good >= shown);
    let files = vec![CounterFile::Native(pass.clone())];
    let workload = Workload { files, incomplete, ..Workload::default() };
    let Ok(survey) = Survey::new(&workload) else { return };
    let runs: BTreeSet<(i64, i64)> = survey.runs.iter().map(|run| (run.pass, run.dispatch)).collect();
    assert_eq!(runs.len(), survey.runs.len());
    assert!(survey.runs.len() as u64 <= shown);
}
