use polars::prelude::{Column, DataFrame};

use super::write;
use crate::charts::Chart;
use crate::document::{Block, Document, Drawn, Input, Provenance, Section, Table};
use wavesieve_engine::findings::{QueryRequest, RunViews};
use wavesieve_engine::{ColumnUnit, OutputColumn};

const RANKS: i64 = 1000;

/// Rows like those of a page about a thousand ranks, with long names.
fn table(id: String) -> Block {
    let rows = 0..50_i64;
    let name = |row: i64| format!("void kernel_{row}<{}>", "float, ".repeat(40));
    let columns = vec![
        Column::new("kernel_name".into(), rows.clone().map(name).collect::<Vec<String>>()),
        Column::new("total_ns".into(), rows.clone().map(|row| row * 1_234_567).collect::<Vec<i64>>()),
        Column::new("pct".into(), rows.map(|row| row as f64).collect::<Vec<f64>>()),
    ];
    let column = |name: &str, unit| OutputColumn { name: name.to_owned(), unit, doc: "what it is".to_owned() };
    Block::Table(Box::new(Table {
        id,
        title: "Kernels".to_owned(),
        about: String::new(),
        question: None,
        command: None,
        columns: vec![
            column("kernel_name", ColumnUnit::Name),
            column("total_ns", ColumnUnit::Nanoseconds),
            column("pct", ColumnUnit::Percent),
        ],
        frame: DataFrame::new(50, columns).unwrap(),
        total_rows: 100_000,
        key: vec!["kernel_name".to_owned()],
    }))
}

fn chart(id: String, chart: Chart) -> Block {
    Block::Chart(Box::new(Drawn { id, question: Some(QueryRequest::new("time_breakdown")), command: None, chart }))
}

#[test]
fn a_page_of_a_thousand_ranks_is_small() {
    let name = |rank: i64| format!("rank {rank}");
    let cells = |rank: i64| (0..60).map(|bin| Some(((rank * 7 + bin * 13) % 100) as f64)).collect::<Vec<_>>();
    let section = |number: usize| Section {
        id: format!("section-{number}"),
        title: "A section".to_owned(),
        about: "What it shows.".to_owned(),
        blocks: vec![
            chart(
                format!("map_{number}"),
                Chart::utilization("map", (0.0, 1e9), (0..RANKS).map(|rank| (name(rank), cells(rank)))),
            ),
            chart(
                format!("time_{number}"),
                Chart::time_by_rank("time", (0..RANKS).map(|rank| (name(rank), [4e6, 3e6, 2e6, 1e6]))),
            ),
            table(format!("kernels_{number}")),
            table(format!("others_{number}")),
        ],
    };
    let input = |rank: i64| Input {
        path: format!("/scratch/project/traces/2026-01-01/job-123456/node{rank}/41000_results.db"),
        format: "rocpd".to_owned(),
        schema_version: Some("3.0.0".to_owned()),
        rank,
        hostname: Some(format!("node{rank}")),
        gpus: vec!["gfx942".to_owned()],
        is_thread_trace: false,
    };
    let document = Document {
        title: "A thousand ranks".to_owned(),
        summary: "Nothing stands out.".to_owned(),
        views: RunViews::default(),
        head: Vec::new(),
        notes: Vec::new(),
        is_judged: true,
        tier: 1,
        figures: Vec::new(),
        findings: Vec::new(),
        sections: (0..12).map(section).collect(),
        names: Default::default(),
        timeline: None,
        provenance: Provenance { inputs: (0..RANKS).map(input).collect(), processes: 1000, ..Provenance::default() },
    };
    let mut page = Vec::new();
    write(&document, &mut page).unwrap();
    assert!(page.len() <= 5_000_000, "{} bytes", page.len());
    assert!(String::from_utf8(page).unwrap().contains("1000 inputs"));
}
