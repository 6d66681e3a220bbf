//! The list of formats.

use std::path::Path;

use anyhow::Result;

use super::content::Content;
use super::format::{Format, Opened, Opening, Recognized};
use super::head::Head;
use crate::common::sqlite::Reader;
use crate::dataset::Dataset;
use crate::{att, compute_database, kineto, perfetto, rocpd, rocprof_compute, rocprofv3_csv, rocprofv3_json, rpd};

/// A format whose captures are single files, plain or compressed, which their first bytes identify.
struct OfHead {
    head: Head,
    open: fn(&Opening<'_>) -> Result<Opened>,
}

impl Format for OfHead {
    fn recognize(&self, content: &mut Content) -> Option<Recognized> {
        matches!(content, Content::Head(head) if *head == self.head).then(|| Recognized::capture(self.open))
    }
}

/// All formats. RPD comes before rocpd, because some of its tables have names of rocpd tables.
pub(crate) static FORMATS: [&dyn Format; 10] = [
    &Dataset,
    &rpd::Rpd,
    &rocpd::Rocpd,
    &rocprofv3_json::RocprofJson,
    &OfHead { head: Head::Kineto, open: kineto::open },
    &OfHead { head: Head::Perfetto, open: perfetto::open },
    &rocprofv3_csv::RocprofCsv,
    &rocprof_compute::ComputeCounters,
    &OfHead { head: Head::AttStatistics, open: att::open },
    &compute_database::ComputeDatabase,
];

/// The recognized content of a file or directory, and the position of its format in the list.
pub fn recognize(path: &Path, reader: Reader) -> (usize, Recognized) {
    let mut content = Content::detect(path, reader);
    let asked = |(at, format): (usize, &&dyn Format)| Some((at, format.recognize(&mut content)?));
    let known = FORMATS.iter().enumerate().find_map(asked);
    known.unwrap_or_else(|| (FORMATS.len(), content.unread().into()))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::dataset::{DATASET_FORMAT, MANIFEST};
    use crate::rocpd::Rocpd;

    #[test]
    fn every_format_recognises_what_is_of_it_and_no_other_does() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(MANIFEST), format!("{{\"format\": \"{DATASET_FORMAT}\"}}")).unwrap();
        let rpd = directory.path().join("one.rpd");
        let connection = rusqlite::Connection::open(&rpd).unwrap();
        connection.execute_batch("CREATE TABLE rocpd_api (id INTEGER); CREATE TABLE rocpd_op (id INTEGER)").unwrap();
        drop(connection);
        let analysis = directory.path().join("analysis.db");
        let connection = rusqlite::Connection::open(&analysis).unwrap();
        connection.execute_batch(include_str!("../../../export/src/compute_database/sql/schema.sql")).unwrap();
        connection.execute_batch("INSERT INTO compute_workload (workload_id) VALUES (1)").unwrap();
        drop(connection);
        let perfetto = directory.path().join("trace");
        let seed = std::fs::read("../../tests/fuzz/seeds/perfetto_document/000").unwrap();
        std::fs::write(&perfetto, &seed[1..]).unwrap();
        let fixture = |path: &str| PathBuf::from("../../fixtures").join(path);
        let of_formats = [
            directory.path().to_owned(),
            rpd,
            fixture("merged/merged.db"),
            fixture("two_nodes_json/node0/4100_results.json.gz"),
            fixture("kineto_two_ranks/node0/4100.pt.trace.json.gz"),
            perfetto,
            fixture("thread_trace/4100_kernel_trace.csv"),
            fixture("profile/pmc_perf.csv"),
            fixture("thread_trace/stats_ui_output_agent_4_dispatch_3.csv"),
            analysis,
        ];
        assert_eq!(of_formats.len(), FORMATS.len());
        for (at, path) in of_formats.iter().enumerate() {
            let takers: Vec<usize> = (0..FORMATS.len())
                .filter(|other| FORMATS[*other].recognize(&mut Content::detect(path, Reader::Auto)).is_some())
                .collect();
            assert!(takers.contains(&at) && recognize(path, Reader::Auto).0 == at, "{}: {takers:?}", path.display());
            // The list has RPD first, because its tables are named like rocpd tables.
            assert!(takers.len() == 1 || takers == [1, 2], "{}: {takers:?}", path.display());
        }
        assert!(Rocpd.recognize(&mut Content::detect(Path::new("Cargo.toml"), Reader::Auto)).is_none());
        assert!(matches!(recognize(Path::new("Cargo.toml"), Reader::Auto), (10, Recognized::UnreadContent(_))));
    }
}
