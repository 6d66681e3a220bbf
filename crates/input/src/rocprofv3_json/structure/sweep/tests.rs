use std::io::Read;

use proptest::prelude::*;

use super::*;
use crate::json::Spool;
use crate::rocprofv3_json::layouts::Dispatch;

fn small(chunk: u64) -> ChunkSizes {
    ChunkSizes {
        part: 4_096,
        block: 700,
        chunk,
        short_overlap: 100,
        overlap: 2_000,
        before: 64,
        most_chunks: 7,
        worthwhile: 100,
        penalty: (50, 10_000),
    }
}

/// Compares a scan with the scanner alone, and the gathered columns with the general parser. Returns the number of gathered records.
fn check(bytes: &[u8], pace: ChunkSizes) -> u64 {
    let place = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(place.path(), bytes).unwrap();
    let file = InputFile::open(place.path(), &mut Spool::default()).unwrap();
    let selected = Selected::new::<Dispatch>(Keep::Every, |columns| columns.contains(&"start_ns"));
    let sections = vec!["buffer_records.kernel_dispatch".to_owned()];
    let gather = Gather { sections, selected: &selected };
    let swept = scan_at(&file, &[gather], &pace).unwrap();
    let mut scanner = Scanner::new(pace.part);
    scanner.feed(bytes);
    let alone = scanner.finish();
    assert_eq!((swept.truncated, swept.flaw, swept.length), (alone.truncated, alone.flaw, alone.length));
    assert_eq!(swept.processes.len(), alone.processes.len());
    let mut gathered = 0;
    for (swept, alone) in swept.processes.iter().zip(&alone.processes) {
        assert_eq!(swept.sections.len(), alone.sections.len());
        for (swept, alone) in swept.sections.iter().zip(&alone.sections) {
            let place = |section: &crate::rocprofv3_json::structure::index::Section| {
                (section.name.clone(), section.is_array, section.start, section.end, section.rows)
            };
            assert_eq!(place(swept), place(alone));
            let rows: u64 = swept.parts().iter().map(|part| part.rows).sum();
            assert_eq!(rows, alone.rows);
            let parts = swept.parts();
            for first in 0..parts.len() {
                let taken = file.gathered.take(&parts[first..], &swept.name, &["start", "dispatch_id"], Keep::Every);
                let Some((columns, count)) = taken else { continue };
                let rows: u64 = parts[first..first + count].iter().map(|part| part.rows).sum();
                gathered += rows;
                assert_eq!(columns[0].len() as u64, rows);
                let mut at = parts[first].start as usize;
                for (start, id) in columns[0].rows().zip(columns[1].rows()) {
                    let mut values = [None; 3];
                    at += selected.general(&bytes[at..], &mut values).unwrap();
                    at += bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == b',').count();
                    assert_eq!(values[..2], [id, start]);
                }
            }
        }
    }
    gathered
}

fn fixture() -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/two_nodes_json/node0/4100_results.json.gz");
    let mut whole = Vec::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_end(&mut whole).unwrap();
    whole
}

#[test]
fn a_trace_is_gathered_whatever_the_chunks() {
    let whole = fixture();
    for chunk in [300, 1_000, 4_099, 1 << 20] {
        assert!(check(&whole, small(chunk)) > 50, "{chunk}");
    }
    check(&whole, PACE);
}

#[test]
fn damage_is_where_the_scanner_alone_finds_it() {
    let whole = fixture();
    for round in 0..40_usize {
        let mut bytes = whole.clone();
        for damage in 0..=round % 4 {
            let at = (round * 7_919 + damage * 104_729) % bytes.len();
            bytes[at] = b"\"\\{}[],\ny"[(round + damage) % 9];
        }
        if round % 5 == 0 {
            bytes.truncate((round + 1) * 15_013 % bytes.len());
        }
        check(&bytes, small(500 + 100 * round as u64));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn records_in_texts_and_lists_mislead_nobody(
        kinds in prop::collection::vec(0_usize..8, 10..80), chunk in 60_u64..600, separator in ", ?\n?",
        cut in prop::option::weighted(0.3, any::<prop::sample::Index>()),
    ) {
        let records: Vec<String> = kinds.iter().enumerate().map(|(number, kind)| {
            let plain = format!(r#"{{"start_timestamp":{number},"dispatch_info":{{"dispatch_id":{kind}}}}}"#);
            match kind {
                0 => format!(r#"{{"start_timestamp":{number},"nested":[{plain},{plain},{plain}]}}"#),
                1 => format!(r#"{{"start_timestamp":{number},"text":"{}"}}"#, [plain.as_str(); 3].join(",").replace('"', "\\\"")),
                2 => format!(r#"{{"start_timestamp":{number},"text":",{{\"start_timestamp\":5}},"}}"#),
                3 => "7".to_owned(),
                _ => plain,
            }
        }).collect();
        let text = format!(
            r#"{{"rocprofiler-sdk-tool":[{{"buffer_records":{{"kernel_dispatch":[{}],"hip_api":[{}]}}}}]}}"#,
            records.join(&separator), records.join(&separator)
        );
        let cut = cut.map_or(text.len(), |cut| cut.index(text.len()));
        check(&text.as_bytes()[..cut], small(chunk));
    }
}
