//! Columns that rules read, and ranks that their titles name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use polars::prelude::{Column, DataFrame, IntoColumn, NamedFrom, Series};

use super::{answer, collected};
use crate::declarations::ColumnUnit;
use crate::findings::answers::Answers;
use crate::findings::judge::judge;
use crate::findings::query_request::QueryRequest;
use crate::findings::questions;
use crate::findings::rule_book::RuleBook;
use crate::findings::run_views::RunViews;
use crate::{Answer, Registry};

/// Values of text columns that rules look for.
const TEXTS: [&str; 26] = [
    "host_bound",
    "launch_delay",
    "sync",
    "no_record",
    "paused",
    "tail",
    "set_up",
    "steady",
    "prefill",
    "decode",
    "pause",
    "yes",
    "no",
    "H2D",
    "D2H",
    "compute",
    "idle",
    "late",
    "slow_kernels",
    "more_work",
    "error",
    "warning",
    "info",
    "communication",
    "range",
    "ncclDevKernel_Generic_1",
];

fn columns_of(question: &QueryRequest) -> BTreeSet<String> {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    let registry = REGISTRY.get_or_init(|| Registry::builtin().unwrap());
    let declaration = &registry.get(&question.query).unwrap().declaration;
    let own = declaration.columns.iter().map(|column| &column.name);
    // Another grouping takes the place of columns to group by.
    let own = own.filter(|name| question.by.is_none() || !declaration.dimensions.contains(name));
    own.chain(question.by.as_ref().unwrap_or(&declaration.by)).cloned().collect()
}

/// Fails if the query of a question does not have a column.
pub fn check_column(question: &QueryRequest, column: &str) {
    let columns = columns_of(question);
    assert!(columns.contains(column), "{} by {:?} has no column {column}", question.query, question.by);
}

/// Every rule over answers with all columns, in which each of the texts appears. Reading another column fails.
#[test]
fn rules_read_columns_that_their_queries_have() {
    let registry = Registry::builtin().unwrap();
    let answer_of = |question: QueryRequest| {
        let declared = &registry.get(&question.query).unwrap().declaration.columns;
        let is_text = |name: &str| {
            let unit = declared.iter().find(|column| column.name == name).map(|column| column.unit);
            matches!(unit, Some(ColumnUnit::Text | ColumnUnit::Name))
        };
        let columns: Vec<Column> = columns_of(&question)
            .iter()
            .map(|name| match is_text(name) {
                true => Series::new(name.as_str().into(), TEXTS).into_column(),
                false => {
                    Series::new(name.as_str().into(), (1..=TEXTS.len() as i64).collect::<Vec<i64>>()).into_column()
                }
            })
            .collect();
        let frame = DataFrame::new(TEXTS.len(), columns).unwrap();
        let columns = declared.clone();
        (question, Answer { frame, columns, is_readable: false })
    };
    let given: BTreeMap<QueryRequest, Answer> =
        crate::findings::judge::questions().into_iter().map(answer_of).collect();
    let answers = Answers::by_hand(given, BTreeSet::new());
    let book = RuleBook::builtin().unwrap();
    let findings = judge(&answers, &registry, &book, &collected(), &RunViews::new(&answers, &book)).unwrap();
    let rules: BTreeSet<&str> = findings.iter().map(|finding| finding.rule.as_str()).collect();
    assert!(!rules.is_empty());
}

/// Findings take their rank from `rank`, or from `worst_rank` if it stands out: titles name it by these values too.
#[test]
fn titles_name_the_rank_of_their_finding() {
    for (id, rule) in RuleBook::builtin().unwrap().iter() {
        for part in rule.title.split("rank {{").skip(1) {
            let name = part.split_whitespace().next().unwrap_or_default();
            assert!(["rank", "worst_rank"].contains(&name), "{id}: {name}");
        }
    }
}

/// One rank that always comes last is the rank of the finding; ranks that take turns are not.
#[test]
fn waiting_for_one_rank_is_about_it() {
    let spans = "rank gpu span_ns busy_ns idle_ns compute_ns comm_ns copy_ns exposed_comm_ns exposed_copy_ns lead_ns tail_ns busy_pct idle_pct
                 0 0 1000000 1000000 0 1000000 0 0 0 0 0 0 100.0 0.0\n1 0 1000000 1000000 0 1000000 0 0 0 0 0 0 100.0 0.0";
    let rank = |last: [i64; 2]| {
        let arrivals = format!(
            "rank gpu kernel_name matched last_calls last_pct late_ns wait_ns\n\
             0 0 nccl 60 {} 10.5 5 5\n1 0 nccl 60 {} 10.5 5 5",
            last[0], last[1]
        );
        let collectives = "kernel_name matched total_ns cost_ns wait_ns wait_pct\nnccl 120 900000 20000 400000 50.0";
        let registry = Registry::builtin().unwrap();
        let given = |query: &str, text: &str| answer(query, text, &registry).1;
        let answers = BTreeMap::from([
            (questions::time_question(), given("time_breakdown", spans)),
            (questions::arrivals(), given("collective_summary", &arrivals)),
            (questions::collectives(), given("collective_summary", collectives)),
        ]);
        let answers = Answers::by_hand(answers, BTreeSet::new());
        let book = RuleBook::builtin().unwrap();
        let findings = judge(&answers, &registry, &book, &collected(), &RunViews::new(&answers, &book)).unwrap();
        let own = findings.iter().find(|finding| finding.rule == "collective_wait").unwrap();
        (own.rank, own.title.contains("rank 1"))
    };
    assert_eq!(rank([0, 60]), (Some(1), true));
    assert_eq!(rank([30, 30]), (None, false));
}
