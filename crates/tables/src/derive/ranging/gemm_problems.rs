//! The table `gemm_problems`: matrix products that hipBLASLt and rocBLAS named in ROCTx ranges and marks.

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{categories, constant_cat, floats, integers};
use crate::derive::{Build, DerivedTable, Frames, Needs, RowsWhen, needed};
use wavesieve_model::analysis::bench_lines::{GemmProblem, gemm_problem, may_be_bench_line};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows_when: RowsWhen::any(&["regions", "marks"]).if_found(),
    ..DerivedTable::new(&tables::ranging::GEMM_PROBLEMS, needs, Build::Alone(build))
};

fn needs() -> Needs {
    vec![
        ("regions", vec!["region_id", "message", "tid", "start_ns", "valid"]),
        ("marks", vec!["mark_id", "message", "tid", "time_ns"]),
    ]
}

fn build(_process: &Process, tables: &Frames) -> Result<DataFrame> {
    let regions = needed(tables, "regions")?.clone().lazy().filter(col("valid"));
    let mut frame = named(regions, "range", "region_id", "start_ns")?;
    frame.vstack_mut(&named(needed(tables, "marks")?.clone().lazy(), "mark", "mark_id", "time_ns")?)?;
    Ok(frame)
}

/// The problems named in texts of one table.
fn named(rows: LazyFrame, owner: &str, key: &str, time: &str) -> Result<DataFrame> {
    let logged = rows.filter(col("message").str().contains_literal(lit("-bench "))).collect()?;
    let texts = logged.column("message")?.str()?;
    let problems = texts.iter().map(|text| text.filter(|text| may_be_bench_line(text)).and_then(gemm_problem));
    let (places, problems): (Vec<IdxSize>, Vec<GemmProblem>) =
        (0..).zip(problems).filter_map(|(place, problem)| Some((place, problem?))).unzip();
    let of_marker = logged.take(&IdxCa::from_vec("".into(), places))?;
    let whole = |name: &str, value: &dyn Fn(&GemmProblem) -> Option<i64>| integers(name, problems.iter().map(value));
    let word = |name: &str, value: &dyn for<'a> Fn(&GemmProblem<'a>) -> Option<&'a str>| {
        categories(name, problems.iter().map(value))
    };
    Ok(DataFrame::new_infer_height(vec![
        constant_cat("owner", Some(owner), problems.len())?,
        of_marker.column(key)?.clone().with_name("owner_id".into()),
        of_marker.column("tid")?.clone(),
        of_marker.column(time)?.clone().with_name("time_ns".into()),
        word("library", &|problem| Some(problem.library))?,
        whole("m", &|problem| problem.m),
        whole("n", &|problem| problem.n),
        whole("k", &|problem| problem.k),
        whole("batch", &|problem| problem.batch),
        whole("problems", &|problem| Some(problem.problems)),
        word("trans_a", &|problem| problem.trans_a)?,
        word("trans_b", &|problem| problem.trans_b)?,
        word("a_type", &|problem| problem.a_type)?,
        word("b_type", &|problem| problem.b_type)?,
        word("d_type", &|problem| problem.d_type)?,
        word("compute_type", &|problem| problem.compute_type)?,
        whole("solution_index", &|problem| problem.solution_index),
        floats("flop", problems.iter().map(|problem| Some(problem.flop))),
    ])?)
}
